//! `policy-check`: judges calls before they are carried out, and marks those that need a person's approval.

pub mod cases;
mod classify;
mod clients;
mod discovery;
mod gate;
mod hook;
mod summary;
mod tools;
pub(super) mod verdict_output;
mod verify;

use super::audit::Audit;
use super::caller::CallerOptions;
use super::options::LimitOptions;
use super::passage::Passage;
use super::rules_file::RulesOptions;
use super::working_tree::{home, resolve, runs_nothing};
use super::{Command, needs_input, usage};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use discovery::Discovery;
use gate::{ConfirmAction, Gate, GateMode, GateSettings};
use pipewright_io::between::{FarEndpoint, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::Limits;
use pipewright_policy::annotations::Annotations;
use pipewright_policy::builtin::Builtin;
use pipewright_policy::working_folder::WorkingFolder;
use pipewright_sys::signal::Signals;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use summary::Summary;

/// Judge calls: pass harmless ones, and mark those that need a person's approval (to delete, send or pay)
///
/// Reads records, one per line, and judges each call, in any form ({"tool","args"}, tool_call, Godot's {"cmd","args"}, JSON-RPC's
/// tools/call). Calls that only look, move or type pass. Destructive calls, judged in seventy languages by the tool's name, its
/// arguments and the element that it acts on, and calls that are not known, are marked "requires_approval":true, with the reasons in
/// "policy", for the hitl-gate that follows. Calls that the rules deny, and lines that cannot be read with certainty, are answered with
/// an error and do not pass. Other records pass byte for byte.
///
/// With -- CMD ARGS, which may be any MCP server, policy-check wraps CMD. It then also reads the answers, and looks up which element
/// a number or a reference in a call means. SIGHUP reads the rules again.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// The program to wrap, with its arguments; without it, calls pass from stdin to stdout
    #[arg(last = true, value_name = "CMD ARGS")]
    command: Vec<OsString>,
    #[command(flatten)]
    rules: RulesOptions,
    /// What to do with a call that needs a person's approval: mark it for the hitl-gate that follows, or refuse it. By default a JSON-RPC
    /// call is refused, since a server that does not know about marks would carry it out
    #[arg(long, value_enum)]
    confirm: Option<ConfirmAction>,
    /// Whether verdicts take effect. `observe` prints a summary of each tool's calls and verdicts on stderr at the end
    #[arg(long, value_enum, default_value_t = GateMode::Enforce)]
    mode: GateMode,
    /// Trust the wrapped server: do not ask about a tool that it annotates with "readOnlyHint": true, unless the tool's name contains a
    /// word for deleting, sending, paying or the like. Also do not ask about a tool without annotations whose name has no verb
    #[arg(long)]
    trust_hints: bool,
    /// Print each verdict, with its reason, on stderr
    #[arg(long)]
    explain: bool,
    /// Write every verdict to this file before it takes effect. Each line holds the hash of the line before; check the file with
    /// `policy-check verify`
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    #[command(flatten)]
    caller: CallerOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Classify elements of a page ({"role"?,"name","value"?,"locale"?,"context"?}, one per line): whether activating them is destructive, of what kind, and why
    Classify(classify::ClassifyArguments),
    /// Judge the call that a harness's hook gets on stdin (Claude Code, Codex, Gemini CLI, ...): ask, deny, or leave it to the harness
    Hook(hook::HookArguments),
    /// Settings with which harnesses run the hook
    Hooks(clients::install::HooksArguments),
    /// Show which harnesses run the hook, and try it with a harmless and a dangerous call as each harness would
    Doctor(clients::doctor::DoctorArguments),
    /// Check that audit files are unchanged, and that no call passed without its approval
    Verify(verify::VerifyArguments),
    /// Print how each tool of a server, or of a list, is judged, and why
    Tools(tools::ToolsArguments),
    /// Try rules on cases ({"call","verdict","rule"?}, one per line), and count the cases that match each rule
    Test(cases::TestArguments),
}

const NAME: &str = "policy-check";
const AFTER_HELP: &str = "\
Examples:
  A gate in front of an MCP server:
    calls | policy-check | hitl-gate | mcp-pipe -- SERVER
  The same for any MCP client, which starts this as its server:
    policy-check --confirm mark -- hitl-gate -- npx -y @playwright/mcp
  Why is a person asked about this call?
    echo '{\"tool\":\"run_command\",\"args\":{\"command\":\"rm -rf x\"}}' | policy-check --explain
  Which tools of a server will be asked about, and a rules file to start from:
    policy-check tools -- npx -y @modelcontextprotocol/server-everything
    policy-check tools --starter-rules < list.json > rules.toml
  Is a button dangerous?
    echo '{\"role\":\"button\",\"name\":\"Zahlungspflichtig bestellen\"}' | policy-check classify

Rules (see pipewright(7) for all conditions):
    [[rule]]
    id = \"own-folder\"
    verdict = \"allow\"
    instead_of_builtin = true
    tool = [\"read_text_file\", \"write_file\"]
    arguments = { \".path\" = { within = \"/home/me/project\" } }

Exit status:
  0 success; 1 a call was refused, or a line could not be read; 2 wrong usage, or the rules could not be read; 3 CMD \
  could not be started; with CMD, its own status if that is not 0. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    let report = Arc::new(Report::new(NAME, false));
    match arguments.action {
        Some(Action::Classify(own)) => return classify::run(&own, signals, &report),
        Some(Action::Hook(own)) => return hook::run(own, &report),
        Some(Action::Hooks(own)) => return clients::install::run(&own, &report),
        Some(Action::Doctor(own)) => return clients::doctor::run(&own, &report),
        Some(Action::Verify(own)) => return verify::run(&own, signals, &report),
        Some(Action::Tools(own)) => return tools::run(own, signals, &report),
        Some(Action::Test(own)) => return cases::run(&own, &report),
        None => {}
    }
    needs_input("calls")?;
    let wraps = !arguments.command.is_empty();
    if arguments.trust_hints && !wraps {
        return Err(usage(
            "--trust-hints needs -- CMD: in a pipe, the gate does not receive the server's list of tools",
        ));
    }
    let discovery = wraps.then(|| Discovery::new(arguments.trust_hints)).transpose();
    let discovery = discovery.map_err(|error| Failure::new(Status::Fault, format_args!("/dev/urandom: {error}")))?;
    let limits = Limits::from(arguments.limits);
    let rules = arguments.rules.open(&report)?;
    let reopens = rules.is_some();
    let (confirm, mode, explain) = (arguments.confirm, arguments.mode, arguments.explain);
    let settings = GateSettings { confirm, mode, explain, wraps };
    let audit = Audit::open_some(arguments.audit.as_deref(), NAME, &report)?;
    let events = arguments.caller.open_events(!wraps, &report)?;
    let passage = Passage::new(limits.max_depth, arguments.caller.refuse_as, events, audit, Arc::clone(&report));
    let gate = Gate {
        settings,
        builtin: Builtin::new(wraps).with_place(WorkingFolder {
            folder: None,
            home: home(),
            runs_nothing: Some(runs_nothing),
            resolve: Some(resolve),
        }),
        rules,
        annotations: Annotations::new(arguments.trust_hints),
        discovery,
        summary: Summary::default(),
        passage,
    };
    let far = FarEndpoint::child(arguments.command);
    between(Box::new(gate), Sides { far, limits, reopens, drains: true, ..Sides::default() }, signals, &report)
}
