//! `hitl-gate`: calls that are marked wait for a person, who approves, edits or rejects them.

mod answer;
mod asker;
mod attach;
mod channel;
mod decide;
mod elicitation;
mod gate;
mod gate_event;
mod held;
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
use super::options::{LimitOptions, duration};
use super::rules_file::{Judged, RulesFile, RulesOptions, judge};
use super::{Command, needs_input};
use crate::cmd::options::Color;
use crate::io::ancestry::{self, Family};
use crate::io::approvers::{Approvers, Place, VARIABLE};
use crate::io::between::{Ends, Way, between};
use crate::io::lines::Limits;
use crate::io::lock;
use crate::io::private;
use crate::io::report::{Failure, Report, Status};
use crate::io::signal::Signals;
use crate::io::terminal::{Terminal, expect_to_borrow};
use crate::policy::Verdict;
use crate::policy::annotations::Hint;
use crate::policy::builtin::Builtin;
use crate::record::Call;
use asker::Asker;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use gate::{Gate, Hold, Settings};
use notify::Notifier;
use std::ffi::OsString;
use std::io::PipeReader;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Hold calls until a person approves them
///
/// Stands in a pipe of calls, or wraps the side that carries them out (-- CMD ARGS). A call that is marked "requires_approval":true waits,
/// and so do the calls behind it; everything else passes, byte for byte. A person is asked on the terminal, one call at a time, and
/// approves, edits its arguments, or rejects it; a rejected call is answered with an error (kind "rejected") that says why. When stdin
/// ends, what waits is still asked about; but an MCP client that closes it has hung up, and its calls are rejected.
///
/// While a call waits, its caller gets {"type":"status","status":"waiting_human","call_id":...}. An MCP client gets progress notifications
/// instead, if it sent a progressToken, and after --hold-limit a result that says to repeat the call: the person's answer counts for one
/// repetition with the same arguments, within --timeout.
///
/// Another program may ask instead: it reads the status records (waiting_human, with a nonce), and answers on --answers with
/// {"type":"hitl_response", "call_id":..., "nonce":"...", "action":"approve|edit|reject", "edited_arguments"?:{}, "replace"?:true, "feedback"?:"..."}.
/// edited_arguments are merged over the call's own at the top level; with "replace":true they are all of the arguments. The side that
/// makes the calls can't answer. With --approver, or where PIPEWRIGHT_APPROVALS names the socket of a client, a person is asked there.
/// Where there is nobody to ask, calls are rejected at once, and they are when nobody answers in time.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// The side that carries out calls, with its arguments; without it, calls pass from stdin to stdout
    #[arg(last = true, value_name = "CMD ARGS")]
    command: Vec<OsString>,

    /// The person's terminal [default: /dev/tty, where there is one]
    #[arg(long, value_name = "PATH")]
    tty: Option<PathBuf>,
    /// Colour on the person's terminal
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// Who is asked. `client` also has the MCP client ask its own user (elicitation), and believes what the client answers
    #[arg(long, value_name = "WHO", value_enum, default_value_t = Ask::Person)]
    ask: Ask,
    /// Ask in `hitl-gate attach`, which runs in any other terminal of this user, and may be started later; no terminal is opened then but
    /// that of --tty
    #[arg(long)]
    approver: bool,
    /// Offer to write a rule that allows calls for the session to this rules file as well
    #[arg(long, value_name = "FILE")]
    remember: Option<PathBuf>,
    /// Run this program when a call begins to wait, unless it still runs; it is split into words as by a shell, and has no input
    #[arg(long, value_name = "COMMAND")]
    notify: Option<String>,
    /// Take answers from a FIFO as well; `stdin` lets the side that makes the calls answer
    #[arg(long, value_name = "FIFO|stdin")]
    answers: Option<PathBuf>,
    /// Reject a call that nobody has answered for after this time; 0 is for ever
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    timeout: Duration,
    /// Which calls wait while a person is asked about one
    #[arg(long, value_enum, default_value_t = Hold::All)]
    hold: Hold,
    /// Answer a JSON-RPC call that has been held for so long: it is to be repeated, and the person's answer counts for the repetition.
    /// Most MCP clients give up after 60 s; 0 is for ever
    #[arg(long, value_name = "DURATION", default_value = "55s", value_parser = duration)]
    hold_limit: Duration,
    #[command(flatten)]
    rules: RulesOptions,
    /// Write every question and answer to this file before it takes effect, each line chained to the one before by its hash; `policy-check
    /// verify` reads it
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    #[command(flatten)]
    caller: CallerOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Ask {
    /// The person at the terminal or in `hitl-gate attach`, or a program on --answers
    Person,
    /// The user of the MCP client as well, where the client supports that
    Client,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Answer, at this terminal, what all gates of this user that run with --approver ask
    Attach(attach::AttachArguments),
}

const NAME: &str = "hitl-gate";
const HOW_TO_APPROVE: &str = "a call waits for approval: to answer, run `hitl-gate attach` in another terminal";
const AFTER_HELP: &str = "\
Examples:
  What policy-check has marked is asked about, and the rest goes through:
    calls | policy-check | hitl-gate | mcp-pipe -- SERVER
  A guard before an MCP server, for any client:
    policy-check --confirm mark -- hitl-gate -- npx @playwright/mcp
  The same where the client has no terminal; `hitl-gate attach` in another one answers:
    policy-check --confirm mark -- hitl-gate --approver -- npx @playwright/mcp
  Somebody else answers, in a program of theirs:
    mkfifo answers; calls | hitl-gate --answers answers --events questions.jsonl | mcp-pipe -- SERVER

Exit status:
  0 all well; 1 something was rejected or refused; 2 usage; 3 CMD can't be started, or --tty is no terminal; \
  with CMD its own where that isn't 0. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn usage(message: impl std::fmt::Display) -> Failure {
    Failure::new(Status::Usage, message)
}

fn not_started(error: std::io::Error) -> Failure {
    Failure::new(Status::NotStarted, error)
}

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    let report = Arc::new(Report::new(NAME, false));
    private::protect_process().map_err(not_started)?;
    if let Some(Action::Attach(own)) = &arguments.action {
        return attach::run(own, signals, &report);
    }
    needs_input("calls")?;
    let limits = Limits::from(arguments.limits);
    let is_wrap = !arguments.command.is_empty();
    let near_answers = arguments.answers.as_deref() == Some(Path::new("stdin"));
    let unless_zero = |duration: Duration| Some(duration).filter(|duration| !duration.is_zero());
    let settings = Settings {
        timeout: unless_zero(arguments.timeout),
        hold: arguments.hold,
        hold_limit: unless_zero(arguments.hold_limit),
        refuse_as: arguments.caller.refuse_as,
        limits,
        near_answers,
        asks_client: arguments.ask == Ask::Client,
    };
    let events = arguments.caller.open_events(!is_wrap || near_answers, &report)?;
    if near_answers && events.is_none() {
        return Err(usage("--answers stdin: the questions go nowhere; give --events, or leave out --records errors"));
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
    let places = approver_places(&arguments);
    let mut farewell = None;
    let asker = match terminal_to_ask_at(arguments.tty.as_deref(), !places.is_empty())? {
        Ok(tty) => {
            expect_to_borrow();
            let (asker, typed, goodbye) = Asker::new(tty, arguments.color.wanted(), limits).map_err(not_started)?;
            answers.push(OwnedFd::from(typed).into());
            farewell = Some(goodbye);
            Ok(asker)
        }
        Err(why) => Err(why),
    };
    let family = Family::of_this_process();
    let approvers = open_approvers(places, family, limits, &report)?.map(|(approvers, said)| {
        answers.push(OwnedFd::from(said).into());
        approvers
    });
    if is_wrap {
        ancestry::adopt_orphans().map_err(not_started)?;
    }
    let rules = arguments.rules.open(&report)?;
    let judge: gate::Judge = Box::new(move |call| judge_undenied(call, rules.as_ref()));
    let audit = arguments.audit.as_deref().map(|path| Audit::open(path, NAME, &report)).transpose()?;
    let audit = Arc::new(Mutex::new(audit));
    let kept = Arc::clone(&audit);
    let notebook: gate::Notebook = Box::new(move |event| match &mut *lock(&kept) {
        Some(audit) => gate_event::write(&event, audit),
        None => Ok(()),
    });
    let friends = (judge, notebook);
    let mut gate = Gate::new(settings, asker, has_channel, events, friends, Arc::clone(&report));
    gate.approvers = approvers;
    gate.remember = arguments.remember;
    gate.notifier = arguments.notify.as_deref().map(|command| Notifier::new(command, &report)).transpose()?;
    gate.caller = family.caller();
    gate.how_to_approve = arguments.approver.then_some(HOW_TO_APPROVE);
    let far = Way::child(arguments.command);
    let ends = Ends { far, answers, stays: true, limits, ..Ends::default() };
    let ended = between(Box::new(gate), ends, signals, &report);
    if let Some(farewell) = farewell {
        farewell.wait();
    }
    if let Some(Err(error)) = lock(&audit).take().map(Audit::end) {
        report.fault("--audit", error);
    }
    ended
}

/// Judges a call as it came, and as a person has edited it: what the policy denies nobody can approve.
fn judge_undenied(call: &Call<'_>, rules: Option<&RulesFile>) -> Result<Judged, String> {
    let judged = judge(call, &Builtin::default(), rules, Hint::None);
    let Judged { decision, .. } = &judged;
    match decision.verdict {
        Verdict::Deny => Err(format!("the policy denies this: {} ({})", decision.reason, decision.rule)),
        Verdict::Allow | Verdict::Confirm => Ok(judged),
    }
}

/// Where approvers are looked for.
fn approver_places(arguments: &Arguments) -> Vec<Place> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    let named = named.map(|path| Place::Socket(path.into()));
    named.into_iter().chain(arguments.approver.then_some(Place::Folders)).collect()
}

fn open_approvers(
    places: Vec<Place>,
    family: Family,
    limits: Limits,
    report: &Arc<Report>,
) -> Result<Option<(Approvers, PipeReader)>, Failure> {
    if places.is_empty() {
        return Ok(None);
    }
    if !ancestry::IS_KNOWN {
        report.note("this system does not tell who started an approver: any program of this user can approve");
    }
    Approvers::new(places, family, limits.max_line, Arc::clone(report)).map(Some).map_err(not_started)
}

/// The terminal of the person; where approvers are asked, only one that was named.
fn terminal_to_ask_at(named: Option<&Path>, has_approvers: bool) -> Result<Result<PathBuf, String>, Failure> {
    if has_approvers && named.is_none() { Ok(Err(String::new())) } else { terminal_path(named) }
}

/// Where the person sits; else why nobody does. One that was named must be there.
fn terminal_path(named: Option<&Path>) -> Result<Result<PathBuf, String>, Failure> {
    let path = named.unwrap_or(Path::new("/dev/tty"));
    match Terminal::open(path) {
        Ok(_) => Ok(Ok(path.to_owned())),
        Err(failure) if named.is_some() => Err(failure),
        Err(failure) => Ok(Err(failure.to_string())),
    }
}
