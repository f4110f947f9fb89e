//! The commands: their names, arguments and work. The programs in `src/bin` only call [`main`].

#[cfg(all(unix, feature = "gates"))]
pub mod agent_acp;
#[cfg(all(unix, feature = "chat"))]
pub mod agent_chat;
#[cfg(unix)]
mod agent_logs;
#[cfg(unix)]
pub mod agent_loop;
#[cfg(all(unix, feature = "gates", feature = "serve"))]
pub mod agent_serve;
#[cfg(all(unix, feature = "gates"))]
mod agents;
#[cfg(all(unix, feature = "gates"))]
mod approver;
#[cfg(feature = "gates")]
pub mod audit;
#[cfg(all(unix, feature = "browser"))]
pub mod browser_bridge;
#[cfg(feature = "gates")]
mod browser_pages;
mod call_arguments;
#[cfg(feature = "gates")]
mod caller;
pub mod distribution;
#[cfg(all(unix, any(feature = "browser", feature = "mcp")))]
mod environment;
mod events;
#[cfg(feature = "jq")]
pub mod filter;
pub mod godot_bridge;
#[cfg(all(unix, feature = "gates"))]
pub mod hitl_gate;
#[cfg(feature = "gates")]
mod hook;
#[cfg(unix)]
mod http_token;
#[cfg(feature = "jq")]
pub mod jsonl_log;
pub mod jsonl_mask;
#[cfg(feature = "jq")]
pub mod jsonl_record;
#[cfg(all(unix, feature = "http"))]
pub mod llm_pipe;
pub mod log_file;
#[cfg(all(unix, feature = "mcp"))]
pub mod mcp_pipe;
#[cfg(unix)]
pub mod mcp_serve;
#[cfg(all(unix, any(feature = "browser", feature = "mcp")))]
mod media_folder;
#[cfg(all(unix, feature = "http"))]
mod models;
#[cfg(not(unix))]
mod needs_unix;
pub mod options;
#[cfg(feature = "gates")]
mod passage;
mod pending_writes;
#[cfg(feature = "gates")]
pub mod policy_check;
mod refusal;
#[cfg(feature = "jq")]
pub mod replay;
#[cfg(feature = "gates")]
mod rules_file;
#[cfg(feature = "gates")]
mod session_file;
#[cfg(all(unix, feature = "gates"))]
mod sessions;
mod silence;
mod spire_screen;
pub mod sts_proxy;
#[cfg(unix)]
pub mod tool_call;
pub mod valid_actions;
#[cfg(feature = "gates")]
mod working_tree;
mod world;

#[cfg(not(unix))]
pub use needs_unix::{
    agent_acp, agent_chat, agent_loop, agent_serve, browser_bridge, hitl_gate, llm_pipe, mcp_pipe, mcp_serve, tool_call,
};

use clap::ArgMatches;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_sys::descriptor::stdout;
use pipewright_sys::signal;
use pipewright_sys::signal::Signals;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// A command, for `src/bin`, the man pages, the completions and the tests of the line contract.
#[derive(Debug)]
pub struct Command {
    /// The program's name.
    pub name: &'static str,
    /// Its arguments.
    pub clap: fn() -> clap::Command,
    /// Runs it, with the signals that end the process.
    pub run: fn(&ArgMatches, &Signals) -> Result<Status, Failure>,
}

/// Every command.
pub const ALL: &[Command] = &[
    #[cfg(feature = "gates")]
    agent_acp::COMMAND,
    #[cfg(feature = "chat")]
    agent_chat::COMMAND,
    agent_loop::COMMAND,
    #[cfg(all(feature = "gates", feature = "serve"))]
    agent_serve::COMMAND,
    #[cfg(feature = "browser")]
    browser_bridge::COMMAND,
    godot_bridge::COMMAND,
    #[cfg(feature = "gates")]
    hitl_gate::COMMAND,
    #[cfg(feature = "jq")]
    jsonl_log::COMMAND,
    jsonl_mask::COMMAND,
    #[cfg(feature = "jq")]
    jsonl_record::COMMAND,
    #[cfg(feature = "http")]
    llm_pipe::COMMAND,
    #[cfg(feature = "mcp")]
    mcp_pipe::COMMAND,
    mcp_serve::COMMAND,
    #[cfg(feature = "gates")]
    policy_check::COMMAND,
    #[cfg(feature = "jq")]
    replay::COMMAND,
    sts_proxy::COMMAND,
    tool_call::COMMAND,
    valid_actions::COMMAND,
];

/// The text of `--version` after the name, with the commit if it is known. `-V` prints the version alone, and so do the
/// man pages, which are the same for every commit.
const VERSION: &str = env!("PIPEWRIGHT_VERSION");

/// Reads the arguments, runs the command, reports its failure, and gives the exit status.
pub fn main(command: &Command) -> ExitCode {
    let report = Report::new(command.name, false);
    let definition = wrap_for_stdout(take_negative_numbers((command.clap)().long_version(VERSION)));
    let wraps = definition.get_positionals().any(clap::Arg::is_last_set);
    let matches = match definition.try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return answer_usage(&if wraps { with_dashes(error) } else { error }, &report).into(),
    };
    let held = Signals::hold().map_err(Failure::not_started);
    match held.and_then(|signals| (command.run)(&matches, &signals)) {
        Ok(Status::Signal(signal)) => signal::die_of(signal),
        Ok(status) => status.into(),
        Err(failure) => {
            report.say(&failure);
            failure.status.into()
        }
    }
}

/// The greatest width of help, in columns.
const MAX_HELP_WIDTH: usize = 100;

/// Wraps help to the width of the terminal that stdout is. If stdout is not a terminal, clap would take the width of
/// stdin's or stderr's, and the lines in a pipe would depend on the window.
fn wrap_for_stdout(command: clap::Command) -> clap::Command {
    let command = command.max_term_width(MAX_HELP_WIDTH);
    if std::io::stdout().is_terminal() { command } else { command.term_width(MAX_HELP_WIDTH) }
}

/// Passes a negative number to the option that it is given to, whose error names its values. Without this, clap
/// suggests to put it after `--`, which would start a program of that name.
fn take_negative_numbers(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|option| {
        let takes = option.get_action().takes_values() && !option.is_positional();
        option.allow_negative_numbers(takes)
    });
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    names.into_iter().fold(command, |command, name| command.mut_subcommand(name, take_negative_numbers))
}

/// Suggests the missing `--` before a command to wrap.
fn with_dashes(mut error: clap::Error) -> clap::Error {
    let unexpected = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    if error.kind() == ErrorKind::UnknownArgument && !unexpected.starts_with('-') {
        let tip = format!("to start '{unexpected}', put '--' before it");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// A failure before anything was started: what in the arguments, files or environment is wrong, and what to do.
pub fn usage(message: impl Display) -> Failure {
    Failure::new(Status::Usage, message)
}

/// Refuses a stdin that is a terminal, if `what` is to be piped in.
///
/// # Errors
/// [`usage`] if it is one.
pub(crate) fn needs_input(what: &str) -> Result<(), Failure> {
    if std::io::stdin().is_terminal() {
        return Err(usage(format_args!("stdin is a terminal: pipe {what} in (see --help)")));
    }
    Ok(())
}

/// Help and version go to stdout with status 0; everything else is a usage error.
fn answer_usage(error: &clap::Error, report: &Report) -> Status {
    if !matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // clap's own message names the option and its values.
        let _ = error.print();
        return Status::Usage;
    }
    let text = error.render().to_string();
    match stdout().and_then(|mut stdout| stdout.write_all(text.as_bytes())) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            report.say(format_args!("stdout: {error}"));
            Status::Fault
        }
        _ => Status::Success,
    }
}
