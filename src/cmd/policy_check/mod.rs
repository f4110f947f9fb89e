//! `policy-check`: judges calls before they are carried out, and marks those that a person is to be asked about.

mod cases;
mod classify;
mod discovery;
mod gate;
mod hook;
mod summary;
mod tools;
pub(super) mod verdict_output;
mod verify;

use super::audit::Audit;
use super::caller::CallerOptions;
use super::deliveries::Deliveries;
use super::options::LimitOptions;
use super::rules_file::RulesOptions;
use super::world::intake::Intake;
use super::{Command, needs_input};
use crate::io::between::{Ends, Way, between};
use crate::io::lines::Limits;
use crate::io::report::{Failure, Report, Status};
use crate::io::signal::Signals;
use crate::policy::annotations::Annotations;
use crate::policy::builtin::Builtin;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use discovery::Discovery;
use gate::{Confirm, Gate, Mode, Settings};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use summary::Summary;

/// Judge calls: let pass what is harmless, ask about what deletes, sends or pays
///
/// Reads records, one a line, and judges each call, in every form ({"tool","args"}, tool_call, Godot's {"cmd","args"}, JSON-RPC's
/// tools/call): what only looks, moves or types passes; what is destructive (as its tool's name, its arguments and the element that it acts on
/// tell, in seventy languages), and what isn't known, is marked "requires_approval":true, with the reasons in "policy", for a
/// hitl-gate behind this; what the rules deny, or can't be read for certain, is answered with an error and doesn't pass. Other
/// records pass byte for byte.
///
/// With -- CMD ARGS it stands between the caller and CMD, which may be any MCP server. Then it sees the answers as well, and can tell
/// which element a number or a reference in a call means. SIGHUP reads the rules again.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    rules: RulesOptions,
    /// What becomes of a call that a person is to be asked about: it is marked for the hitl-gate that follows, or refused. A JSON-RPC
    /// call is refused where nothing is said, since a server that knows nothing of marks would carry it out
    #[arg(long, value_enum)]
    confirm: Option<Confirm>,
    /// `observe` judges, lets everything pass, and ends with a summary of each tool's calls and verdicts on stderr
    #[arg(long, value_enum, default_value_t = Mode::Enforce)]
    mode: Mode,
    /// Believe the wrapped server: do not ask about a tool that it annotates with "readOnlyHint": true, unless the tool's name says that
    /// it deletes, sends, pays or the like; nor about one without annotations whose name has no verb
    #[arg(long)]
    trust_hints: bool,
    /// Tell each verdict, and why, on stderr
    #[arg(long)]
    explain: bool,
    /// Write every verdict to this file before it takes effect, each line chained to the one before by its hash; `policy-check verify` reads it
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    #[command(flatten)]
    caller: CallerOptions,
    #[command(flatten)]
    limits: LimitOptions,
    /// Stand between the caller and this program
    #[arg(last = true, value_name = "CMD ARGS")]
    command: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Say of names ({"role"?,"name","locale"?,"context"?}, one a line) whether activating them is destructive, of what kind, and why
    Classify(classify::ClassifyArguments),
    /// Judge the tool call of a PreToolUse hook of Claude Code, on stdin: allow, ask or deny
    Hook(hook::HookArguments),
    /// Check that audits hold, and that no call passed without its approval
    Verify(verify::VerifyArguments),
    /// Say how each tool of a server, or of a list, is judged, and why
    Tools(tools::ToolsArguments),
    /// Try rules on cases ({"call","verdict","rule"?}, one a line), and count which rules they are about
    Test(cases::TestArguments),
}

const NAME: &str = "policy-check";
const AFTER_HELP: &str = "\
Examples:
  A gate before an MCP server:
    calls | policy-check | hitl-gate | mcp-pipe -- SERVER
  The same for an MCP client that knows nothing of us, which starts this as its server:
    policy-check --confirm mark -- hitl-gate -- npx -y @playwright/mcp
  Why is this asked about?
    echo '{\"tool\":\"run_command\",\"args\":{\"command\":\"rm -rf x\"}}' | policy-check --explain
  Which tools of a server will be asked about, and a rules file to start from:
    policy-check tools -- npx -y @modelcontextprotocol/server-everything
    policy-check tools --starter-rules < list.json > rules.toml
  Is a button dangerous?
    echo '{\"role\":\"button\",\"name\":\"Zahlungspflichtig bestellen\"}' | policy-check classify

Rules (see pipewright(7) for all that they can say):
  [[rule]]
  id = \"own-folder\"
  verdict = \"allow\"
  instead_of_builtin = true
  tool = [\"read_text_file\", \"write_file\"]
  arguments = { \".path\" = { within = \"/home/me/project\" } }

Exit status:
  0 all well; 1 a call was refused, or a line couldn't be read; 2 usage, or rules that can't be read; 3 CMD can't be started; \
  with CMD its own where that isn't 0. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::new(Status::Usage, error);
    let arguments = Arguments::from_arg_matches(matches).map_err(|error| usage(&error))?;
    let report = Arc::new(Report::new(NAME, false));
    match arguments.action {
        Some(Action::Classify(own)) => return classify::run(&own, signals, &report),
        Some(Action::Hook(own)) => return hook::run(own, &report),
        Some(Action::Verify(own)) => return verify::run(&own, signals, &report),
        Some(Action::Tools(own)) => return tools::run(own, signals, &report),
        Some(Action::Test(own)) => return cases::run(&own, &report),
        None => {}
    }
    needs_input("calls")?;
    let wraps = !arguments.command.is_empty();
    if arguments.trust_hints && !wraps {
        return Err(usage(
            &"--trust-hints goes with -- CMD: in a pipe, the gate does not see what the server says of its tools",
        ));
    }
    let discovery = wraps.then(|| Discovery::new(arguments.trust_hints)).transpose();
    let discovery = discovery.map_err(|error| Failure::new(Status::Fault, format_args!("/dev/urandom: {error}")))?;
    let limits = Limits::from(arguments.limits);
    let rules = arguments.rules.open(&report)?;
    let reopens = rules.is_some();
    let (confirm, mode, explain) = (arguments.confirm, arguments.mode, arguments.explain);
    let settings = Settings { confirm, mode, explain, refuse_as: arguments.caller.refuse_as, wraps };
    let gate = Gate {
        settings,
        builtin: Builtin::new(wraps),
        rules,
        annotations: Annotations::new(arguments.trust_hints),
        discovery,
        summary: Summary::default(),
        audit: arguments.audit.as_deref().map(|path| Audit::open(path, NAME, &report)).transpose()?,
        events: arguments.caller.open_events(!wraps, &report)?,
        report: Arc::clone(&report),
        intake: Intake::new(limits.max_depth),
        deliveries: Deliveries::default(),
        broken: None,
    };
    let far = Way::child(arguments.command);
    between(Box::new(gate), Ends { far, limits, reopens, ..Ends::default() }, signals, &report)
}
