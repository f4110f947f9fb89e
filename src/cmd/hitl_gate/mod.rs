//! `hitl-gate`: holds marked calls until a person approves, edits or rejects them.

mod answer;
mod asker;
mod attach;
mod channel;
mod decide;
mod elicitation;
mod gate;
mod held;
mod hook;
mod notify;
mod progress;
mod records;
mod remember;
mod repetition;
mod session_rules;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;

use super::audit::Audit;
use super::caller::CallerOptions;
use super::options::{Limit, LimitOptions};
use super::passage::Passage;
use super::rules_file::RulesOptions;
use super::working_tree::{home, resolve};
use super::{Command, needs_input, usage};
use crate::cmd::options::Color;
use asker::Asker;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use elicitation::Elicitation;
use gate::{Askers, Gate, HoldScope, HoldSettings, Policy};
use notify::Notifier;
use pipewright_io::approvers::{ApproverPlace, Approvers, VARIABLE};
use pipewright_io::between::{FarEndpoint, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::Limits;
use pipewright_policy::builtin::Builtin;
use pipewright_policy::working_folder::WorkingFolder;
use pipewright_sys::ancestry::Family;
use pipewright_sys::descriptor::Descriptor;
use pipewright_sys::signal::Signals;
use pipewright_sys::terminal::{Terminal, expect_to_borrow};
use pipewright_sys::{ancestry, private};
use std::ffi::OsString;
use std::io::PipeReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Hold calls until a person approves them
///
/// Reads calls on stdin and writes to stdout those that may pass, or wraps the program that carries them out (-- CMD ARGS). A call that is
/// marked "requires_approval":true (by policy-check) is held, and so are the calls after it; everything else passes, byte for byte. A person is asked on
/// the terminal, one call at a time, and approves the call, edits its arguments, or rejects it. A rejected call is answered with an
/// error (kind "rejected") that gives the reason. After the end of stdin the held calls are still asked about, unless the caller is an
/// MCP client: its calls are rejected.
///
/// While a call is held, its caller gets {"type":"status","status":"waiting_human","call_id":...}. An MCP client gets progress
/// notifications instead, if it sent a progressToken. After --hold-limit it gets a result that asks it to repeat the call. The person's
/// answer then counts for one repetition with the same arguments, within --timeout.
///
/// Another program may answer instead: it reads the status records (waiting_human, with a nonce) and writes to --answers:
/// {"type":"hitl_response", "call_id":..., "nonce":"...", "action":"approve|edit|reject", "edited_arguments"?:{}, "replace"?:true,
/// "feedback"?:"..."}. edited_arguments are merged over the call's own at the top level; with "replace":true they replace all of its
/// arguments. The caller itself can answer only with `--answers stdin`. With --approver, a person is asked in `hitl-gate attach`. If
/// PIPEWRIGHT_APPROVALS names the socket of a client (such as agent-chat), a person is asked in that client. A call is rejected if
/// nobody can be asked or nobody answers in time.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// The program that carries out calls, with its arguments; without it, calls pass from stdin to stdout
    #[arg(last = true, value_name = "CMD ARGS")]
    command: Vec<OsString>,

    /// The person's terminal [default: /dev/tty, if there is one]
    #[arg(long, value_name = "PATH")]
    tty: Option<PathBuf>,
    /// Colour on the person's terminal
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Who is asked. `client` also lets the MCP client ask its own user (elicitation), and trusts the client's answer
    #[arg(long, value_name = "WHO", value_enum, default_value_t = AskWhom::Person)]
    ask: AskWhom,
    /// Ask in `hitl-gate attach`, which runs in any other terminal of this user and may be started later. The gate then opens no terminal
    /// of its own, unless --tty names one
    #[arg(long)]
    approver: bool,
    /// If the person allows calls for the session, offer to write that rule to this rules file as well
    #[arg(long, value_name = "FILE")]
    remember: Option<PathBuf>,
    /// Run this program when a call begins to wait for a person, unless it is still running; the text is split into words as by a shell, but no shell runs it; stdin is empty
    #[arg(long, value_name = "COMMAND")]
    notify: Option<String>,
    /// Also read answers from this FIFO; `stdin` lets the caller itself answer
    #[arg(long, value_name = "FIFO|stdin")]
    answers: Option<PathBuf>,
    /// Reject a call that nobody has answered within this time; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "5m")]
    timeout: Limit,
    /// Which calls are held while a person is asked about one
    #[arg(long, value_enum, default_value_t = HoldScope::All)]
    hold: HoldScope,
    /// Answer a JSON-RPC call that has been held for this long: the client is asked to repeat it, and the person's answer counts for the
    /// repetition. Most MCP clients give up after 60 s; 0 means no limit
    #[arg(long, value_name = "DURATION", default_value = "55s")]
    hold_limit: Limit,
    #[command(flatten)]
    rules: RulesOptions,
    /// Write every question and answer to this file before it takes effect. Each line holds the hash of the line before; check the file
    /// with `policy-check verify`
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    #[command(flatten)]
    caller: CallerOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum AskWhom {
    /// The person at the terminal or in `hitl-gate attach`, or a program on --answers
    Person,
    /// The user of the MCP client as well, where the client supports that
    Client,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Answer the questions of this user's gates that run with --approver, at this terminal
    Attach(attach::AttachArguments),
    /// Ask about the call that a harness's hook gets on stdin (Claude Code, Codex, ...), and answer the harness. Without an approver: no opinion
    Hook(hook::HookArguments),
}

const NAME: &str = "hitl-gate";
const HOW_TO_APPROVE: &str = "a call waits for approval: run `hitl-gate attach` in another terminal to answer";
const HOW_TO_BE_ASKED: &str =
    "to let a person answer, use --approver and run `hitl-gate attach` in another terminal, or use --answers FIFO";
const AFTER_HELP: &str = "\
Examples:
  Ask about the calls that policy-check has marked, and pass the rest:
    calls | policy-check | hitl-gate | mcp-pipe -- SERVER
  Guard an MCP server, for any client:
    policy-check --confirm mark -- hitl-gate -- npx @playwright/mcp
  The same if the client has no terminal; answer with `hitl-gate attach` in another one:
    policy-check --confirm mark -- hitl-gate --approver -- npx @playwright/mcp
  Answer with a program of your own:
    mkfifo answers; calls | hitl-gate --answers answers --events questions.jsonl | mcp-pipe -- SERVER

Exit status:
  0 success; 1 a call was rejected, or a line or an answer was refused; 2 wrong usage; 3 CMD could not be started, or \
  --tty is not a terminal; with CMD, its own status if that is not 0. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    let report = Arc::new(Report::new(NAME, false));
    private::protect_process().map_err(Failure::not_started)?;
    match arguments.action {
        Some(Action::Attach(own)) => return attach::run(&own, signals, &report),
        Some(Action::Hook(own)) => return hook::run(own, signals, &report),
        None => {}
    }
    needs_input("calls")?;
    let limits = Limits::from(arguments.limits);
    let is_wrap = !arguments.command.is_empty();
    let near_answers = arguments.answers.as_deref() == Some(Path::new("stdin"));
    let family = Family::of_this_process();
    let settings = HoldSettings {
        timeout: arguments.timeout.0,
        hold: arguments.hold,
        hold_limit: arguments.hold_limit.0,
        limits,
        near_answers,
        remember: arguments.remember.clone(),
        caller: family.caller(),
    };
    let events = arguments.caller.open_events(!is_wrap || near_answers, &report)?;
    if near_answers && events.is_none() {
        return Err(usage(
            "--answers stdin: the questions are written nowhere; add --events, or remove --records errors",
        ));
    }
    if let Some(path) = &arguments.remember {
        remember::read(path).map_err(|why| usage(format_args!("--remember: {why}")))?;
    }
    let mut answers = Vec::new();
    if let (Some(path), false) = (&arguments.answers, near_answers) {
        let opened = channel::open(path);
        answers.push(opened.map_err(|error| usage(format_args!("--answers: {}: {error}", path.display())))?);
    }
    let has_channel = !answers.is_empty();
    let places = approver_places(arguments.approver);
    let mut terminal_reset = None;
    let (asker, no_terminal) = match terminal_to_ask_at(arguments.tty.as_deref(), !places.is_empty())? {
        Ok(tty) => {
            expect_to_borrow();
            let (asker, typed, reset) =
                Asker::new(tty, arguments.color.is_enabled(), limits).map_err(Failure::not_started)?;
            answers.push(Descriptor::new(typed));
            terminal_reset = Some(reset);
            (Some(asker), String::new())
        }
        Err(why) => (None, why),
    };
    let approvers = open_approvers(places, family, limits, &report)?.map(|(approvers, approver_answers)| {
        answers.push(Descriptor::new(approver_answers));
        approvers
    });
    if is_wrap {
        ancestry::adopt_orphans().map_err(Failure::not_started)?;
    }
    let rules = arguments.rules.open(&report)?;
    let place = WorkingFolder { home: home(), resolve: Some(resolve), ..WorkingFolder::default() };
    let policy = Policy { builtin: Builtin::behind_gate().with_place(place), rules };
    let audit = Audit::open_some(arguments.audit.as_deref(), NAME, &report)?;
    let passage = Passage::new(limits.max_depth, arguments.caller.refuse_as, events, audit, Arc::clone(&report));
    let people = Askers {
        asker,
        no_terminal,
        elicitation: (arguments.ask == AskWhom::Client).then(Elicitation::default),
        approvers,
        has_channel,
        notifier: arguments.notify.as_deref().map(|command| Notifier::new(command, &report)).transpose()?,
        how_to_approve: arguments.approver.then_some(HOW_TO_APPROVE),
        how_to_be_asked: Some(HOW_TO_BE_ASKED),
    };
    let gate = Gate::new(settings, people, policy, passage);
    let far = FarEndpoint::child(arguments.command);
    let sides = Sides { far, answers, stays: true, limits, drains: true, ..Sides::default() };
    let ended = between(Box::new(gate), sides, signals, &report);
    if let Some(terminal_reset) = terminal_reset {
        terminal_reset.wait();
    }
    ended
}

/// Where to look for approvers.
fn approver_places(in_windows: bool) -> Vec<ApproverPlace> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    let named = named.map(|path| ApproverPlace::Socket(path.into()));
    named.into_iter().chain(in_windows.then_some(ApproverPlace::Folders)).collect()
}

fn open_approvers(
    places: Vec<ApproverPlace>,
    family: Family,
    limits: Limits,
    report: &Arc<Report>,
) -> Result<Option<(Approvers, PipeReader)>, Failure> {
    if places.is_empty() {
        return Ok(None);
    }
    if !ancestry::IS_KNOWN {
        report.note(
            "this system does not report which process started an approver: any program of this user can approve",
        );
    }
    Approvers::new(places, family, limits.max_line, Arc::clone(report)).map(Some).map_err(Failure::not_started)
}

/// The terminal of the person; if approvers are asked, only one that was named.
fn terminal_to_ask_at(named: Option<&Path>, has_approvers: bool) -> Result<Result<PathBuf, String>, Failure> {
    if has_approvers && named.is_none() { Ok(Err(String::new())) } else { terminal_path(named) }
}

/// The path of the person's terminal, or why it cannot be used. A terminal that was named must exist.
fn terminal_path(named: Option<&Path>) -> Result<Result<PathBuf, String>, Failure> {
    let path = named.unwrap_or(Path::new("/dev/tty"));
    match Terminal::open(path) {
        Ok(_) => Ok(Ok(path.to_owned())),
        Err(error) if named.is_some() => Err(Failure::not_started(error)),
        Err(failure) => Ok(Err(failure.to_string())),
    }
}
