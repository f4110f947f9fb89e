//! `tool-call`: makes one call from a shell, in a world that it starts or in one that a session keeps running.

mod one_shot;
mod request;
mod result;
mod session;
mod table;

use super::options::Limit;
use super::{Command, call_arguments};
use crate::cmd::usage;
use clap::{ArgGroup, ArgMatches, CommandFactory, FromArgMatches, Parser};
use pipewright_io::output::Output;
use pipewright_io::printable::printable;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_record::{Kind, ToolError, ToolList};
use pipewright_sys::signal::Signals;
use pipewright_sys::terminal::width;
use request::Request;
use session::Session;
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{IsTerminal, stdout};
use std::sync::Arc;

/// Call one tool of a world, from a shell
///
/// Starts a world (browser-bridge, godot-bridge, mcp-pipe, any of them behind gates), makes one call, prints the result, and ends the
/// world. With --start, a world keeps running in the background as a session. --session calls it from any number of shells; a browser's
/// page or a game keeps its state between the calls.
///
/// Prints the text of a result on a terminal, and the tool_result record otherwise. An error's message is also printed on stderr.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP, override_usage = USAGE)]
#[command(group = ArgGroup::new("action").required(true))]
pub struct Arguments {
    /// The tool to call
    #[arg(group = "action")]
    tool: Option<String>,
    /// The tool's arguments. VALUE is JSON if it parses (index=3, open=true, name='"3"'), else text; @FILE reads the text from a file, @-
    /// from stdin
    #[arg(value_name = "KEY=VALUE")]
    pairs: Vec<String>,
    /// The world to start, with its arguments: any command that takes calls, with or without gates
    #[arg(last = true, value_name = "WORLD ARGS")]
    world: Vec<OsString>,
    /// All arguments of the tool, as a JSON object
    #[arg(long, value_name = "OBJECT", conflicts_with_all = ["pairs", "list", "start", "stop", "sessions"])]
    json: Option<String>,
    /// Print the world's tools as a table: name, first sentence of the description, and arguments; optional ones are in brackets
    #[arg(long, group = "action")]
    list: bool,

    /// Call the world of this session
    #[arg(long, value_name = "NAME", value_parser = session::name, conflicts_with_all = ["world", "start", "stop", "sessions"], help_heading = "Sessions")]
    session: Option<String>,
    /// Start the world in the background, as a session of this name; returns when the world has listed its tools
    #[arg(long, value_name = "NAME", value_parser = session::name, requires = "world", group = "action", help_heading = "Sessions")]
    start: Option<String>,
    /// With --start: end the session after this time without a call; 0 disables this
    #[arg(long, value_name = "DURATION", default_value = "30m", conflicts_with_all = ["tool", "list", "stop", "sessions"], help_heading = "Sessions")]
    idle_timeout: Limit,
    /// With --start: keep the session after the shell (the leader of the terminal's session) has ended
    #[arg(long, conflicts_with_all = ["tool", "list", "stop", "sessions"], help_heading = "Sessions")]
    detach: bool,
    /// End a session
    #[arg(long, value_name = "NAME", value_parser = session::name, conflicts_with = "world", group = "action", help_heading = "Sessions")]
    stop: Option<String>,
    /// Print the sessions that are running: name, process, age and command
    #[arg(long, conflicts_with = "world", group = "action", help_heading = "Sessions")]
    sessions: bool,

    /// Print the text of the result, even if stdout is not a terminal
    #[arg(long, conflicts_with_all = ["list", "start", "stop", "sessions"], help_heading = "Output")]
    text: bool,
    /// Print the tool_result record (with --list, the tool_list record), even on a terminal
    #[arg(long, conflicts_with_all = ["text", "start", "stop", "sessions"], help_heading = "Output")]
    json_out: bool,

    /// Run as the background process of --start
    #[arg(long, value_name = "NAME", value_parser = session::name, group = "action", hide = true)]
    serve: Option<String>,
    /// End with this process
    #[arg(long, value_name = "PID", requires = "serve", hide = true)]
    owner: Option<i32>,
}

const NAME: &str = "tool-call";
const USAGE: &str = "tool-call TOOL [KEY=VALUE]... [-- WORLD ARGS]
       tool-call TOOL [KEY=VALUE]... --session NAME
       tool-call --list [--session NAME | -- WORLD ARGS]
       tool-call --start NAME [OPTIONS] -- WORLD ARGS
       tool-call --stop NAME | --sessions";
const AFTER_HELP: &str = "\
A session ends with --stop, when it is idle, when its world ends, and when the terminal session (setsid) of the shell \
that started it ends. Use --detach in a program that runs each of its commands in a new terminal session. Calls of a \
session pass the same gates as other calls. There is no terminal in the background: a gate that has to ask a person \
rejects the call, unless it has --approver, --answers FIFO or --tty.

Examples:
  One call:
    tool-call browser_extract -- browser-bridge http://127.0.0.1:8000/
  The same in a browser that stays open:
    tool-call --start shop -- policy-check -- hitl-gate -- browser-bridge http://127.0.0.1:8000/
    tool-call --session shop browser_list_interactives
    tool-call --session shop browser_overlay_act index=3
    tool-call --stop shop
  List the tools:
    tool-call --list --session shop

Exit status:
  0 success; 1 the call failed; 2 wrong usage; 3 the world or the session could not be started, or the session does \
  not exist; 4 the world or the session was lost before it answered. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    let report = Arc::new(Report::new(NAME, false));
    let Arguments { idle_timeout, detach, sessions, .. } = arguments;
    if let Some(name) = &arguments.serve {
        return session::serve(
            &Session::named(name)?,
            arguments.world,
            idle_timeout,
            arguments.owner,
            signals,
            &report,
        );
    }
    if let Some(name) = &arguments.start {
        let list = session::start(&Session::named(name)?, arguments.world, idle_timeout, !detach, &report)?;
        report.note(format_args!("session '{name}' is running; tools: {}", tools(&list)?.tools.len()));
        return Ok(Status::Success);
    }
    if let Some(name) = &arguments.stop {
        return Session::named(name)?.stop().map(|()| Status::Success);
    }
    let print = |text: &str| print(text, signals, &report);
    if sessions {
        return print(&Session::running()?.iter().map(Session::describe).collect::<String>());
    }
    let Arguments { list, text, json_out, .. } = arguments;
    let line = match ask(arguments, signals, &report)? {
        Ok(line) => line,
        Err(status) => return Ok(status),
    };
    let is_record = json_out || !(list || text || stdout().is_terminal());
    let shown = match (is_record, list) {
        (true, _) => line.clone(),
        (false, true) => table::table(&tools(&line)?, width(stdout())),
        (false, false) => result::read(&line)?.map(|result| result::plain(result.get())).unwrap_or_default(),
    };
    let printed = print(&shown)?;
    if list && let Some(error) = tools(&line)?.error {
        report.say(format_args!("{}: {error}", Kind::StartFailed.name()));
        return Ok(Status::NotStarted);
    }
    match if list { None } else { result::read(&line)?.err() } {
        None => Ok(printed),
        Some(ToolError { kind, message, .. }) => {
            report.say(format_args!("{kind}: {message}"));
            Ok(if kind == Kind::StartFailed.name() { Status::NotStarted } else { Status::Fault })
        }
    }
}

fn tools(line: &str) -> Result<ToolList<'_>, Failure> {
    let why = match ToolList::read(line) {
        Ok(Some(list)) => return Ok(list),
        Ok(None) => "it is another record".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(Failure::new(Status::Fault, format_args!("the world's list of tools cannot be read: {why}")))
}

/// Sends the request to the chosen world or session. Gives the line that answers it, or the status if a signal ended
/// the run first.
fn ask(
    arguments: Arguments,
    signals: &Signals,
    report: &Arc<Report>,
) -> Result<std::result::Result<String, Status>, Failure> {
    let request = match arguments.tool {
        None => Request::Tools,
        Some(tool) => {
            let json = arguments.json.as_deref().map(call_arguments::object);
            Request::Call {
                tool,
                arguments: json.unwrap_or_else(|| {
                    call_arguments::pairs(&arguments.pairs, "; before a world to start, put '--'")
                })?,
            }
        }
    };
    match &arguments.session {
        Some(name) => Session::named(name)?.ask(&request).map(Ok),
        None if arguments.world.is_empty() => Err(usage("which world? --session NAME, or -- WORLD ARGS")),
        None => one_shot::ask(request, arguments.world, signals, report),
    }
}

/// Writes to stdout, with a line feed at the end; control characters are escaped on a terminal.
fn print(text: &str, signals: &Signals, report: &Report) -> Result<Status, Failure> {
    let is_terminal = stdout().is_terminal();
    let output = Output::open(signals)?;
    let written = output.write(|out| {
        for line in text.split_inclusive('\n') {
            let line = line.strip_suffix('\n').unwrap_or(line);
            let line = if is_terminal { printable(line) } else { Cow::Borrowed(line) };
            out.extend_from_slice(line.as_bytes());
            out.push(b'\n');
        }
    });
    match written.and_then(|()| output.flush()) {
        Ok(()) => Ok(Status::Success),
        Err(closed) => closed.end(report),
    }
}
