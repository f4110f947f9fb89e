//! `policy-check hook`: judges one tool call of an agent harness, as the command of its hook.
//!
//! Without an opinion the harness decides by its own settings. `allow` would switch its question off, so by default the
//! hook never gives it.

use super::NAME;
use crate::cmd::audit::{Audit, AuditWriter};
use crate::cmd::browser_pages;
use crate::cmd::events::Events;
use crate::cmd::hook::{
    HookEvent, HookFailure, HookOptions, answer_within, judge_hook, note_event, policy, shortened, with_history,
};
use crate::cmd::rules_file::{JudgedCall, RulesFile};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_policy::annotations::Hint;
use pipewright_policy::audit::{Did, Event, Mode, Subject, digest};
use pipewright_policy::builtin::{Builtin, may_disclose};
use pipewright_policy::request::PolicyRequest;
use pipewright_policy::rules::CallOutcome;
use pipewright_policy::snapshot::id_value;
use pipewright_policy::{Decision, Verdict};
use pipewright_record::hook::{HookAnswer, HookCall, HookResult, WrittenAnswer};
use pipewright_record::{Call, Record};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub struct HookArguments {
    #[command(flatten)]
    hook: HookOptions,
    /// Allow calls that only read, in place of leaving them to the harness's own settings; never files that hold secrets, and
    /// never what contacts another machine
    #[arg(long)]
    allow_reads: bool,
    /// Nobody is there to be asked (a run without a terminal, CI): deny calls that would be asked about
    #[arg(long)]
    unattended: bool,
    /// Write every verdict to this file before it takes effect, as the gate in a pipe does. Several hooks may share it
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// Write a record about each call that needs approval to a file (appended to) or `stderr`; `-` is refused, since stdout has the answer
    #[arg(long, value_name = "FILE|stderr|-")]
    events: Option<String>,
}

/// Every harness waits longer than this, 30 s at least.
const DECISION_TIMEOUT: Duration = Duration::from_secs(20);
/// How long the hooks of other calls may use the audit.
const AUDIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads the call, and writes the decision.
pub fn run(arguments: HookArguments, report: &Arc<Report>) -> Result<Status, Failure> {
    let (harness, report) = (arguments.hook.harness(), Arc::clone(report));
    answer_within(DECISION_TIMEOUT, harness, move || decide(&arguments, &report))
}

fn decide(arguments: &HookArguments, report: &Arc<Report>) -> Result<WrittenAnswer, HookFailure> {
    let failed = |failure: Failure| arguments.hook.failure(failure);
    let input = arguments.hook.input();
    let mut rules = arguments.hook.open_rules(report)?;
    let mut audit = Audit::open_shared(arguments.audit.as_deref(), NAME, AUDIT_TIMEOUT, report).map_err(failed)?;
    let mut events = open_events(arguments, report).map_err(failed)?;
    let (input, event) = match input.map(|input| (arguments.hook.event(&input, report), input)) {
        Ok((Ok(event), input)) => (input, event),
        Ok((Err(failure), input)) => return Err(unreadable(failure, &input, audit)),
        Err(failure) => return Err(unreadable(failure, "", audit)),
    };
    drop(input);
    let hook = match event {
        HookEvent::Call(hook) => hook,
        HookEvent::After(result) => {
            note_outcome(&result, &mut rules, report);
            match browser_pages::take(&result) {
                Ok(true) => {}
                Ok(false) => note_event(&result.name, report),
                Err(error) => report.note(format_args!("the page of a browser is not kept: {error}")),
            }
            return Ok(result.call.harness.no_opinion());
        }
        HookEvent::Other(harness) => {
            return Ok(harness.map_or(WrittenAnswer::Text(String::new()), |harness| harness.no_opinion()));
        }
    };
    let blocked = |why: String| HookFailure { harness: Some(hook.harness), why };
    let call = hook.call().map_err(|why| blocked(format!("stdin: {}", shortened(&why.to_string()))))?;
    let builtin = policy(&hook).map_err(blocked)?;
    let can_ask = hook.event.can_ask() && !arguments.unattended;
    let judged = with_history(NAME, &hook, &mut rules, |rules| {
        let judged = judge_hook(&call, &builtin, rules.as_ref());
        let verdict = judged.decision.verdict;
        if let Some(rules) = rules
            && (verdict == Verdict::Allow || verdict == Verdict::Confirm && can_ask)
        {
            rules.passes(&call, &judged.counted, verdict == Verdict::Allow);
        }
        judged
    });
    let judged = judged.map_err(blocked)?;
    let decision = &judged.decision;
    let may_allow = arguments.allow_reads && only_reads(&hook, &call, &builtin, &judged);
    if let Some(audit) = &mut audit {
        let written = audit.write(&verdict(&call, decision, can_ask)).and_then(|()| audit.end());
        written.map_err(|error| blocked(format!("cannot write the verdict (--audit): {error}")))?;
    }
    if let Some(events) = events.as_mut().filter(|_| decision.verdict == Verdict::Confirm) {
        let target = judged.acts.target.as_ref();
        let request = PolicyRequest { about: call.about(), tool_name: &call.tool, policy: decision, target };
        events.write_record(&request.json());
    }
    let reason = format!("{} ({})", shortened(&decision.reason), decision.rule);
    let unasked = format!("a person has to approve this first, and cannot be asked from here: {reason}");
    Ok(hook.answer(&match decision.verdict {
        Verdict::Allow if may_allow => HookAnswer::Allow(&reason),
        Verdict::Allow => HookAnswer::NoOpinion,
        Verdict::Confirm if can_ask => HookAnswer::Ask(&reason),
        Verdict::Confirm => HookAnswer::Deny(&unasked),
        Verdict::Deny => HookAnswer::Deny(&reason),
    }))
}

/// A call that the harness has asked about was carried out.
fn note_outcome(result: &HookResult, rules: &mut Option<RulesFile>, report: &Report) {
    let Ok(call) = result.call.call() else { return };
    let Some(id) = call.id.and_then(|id| id_value(id.get())) else { return };
    let outcome = if result.output.is_some() { CallOutcome::Done } else { CallOutcome::Failed };
    let noted = with_history(NAME, &result.call, rules, |rules| {
        if let Some(rules) = rules {
            rules.history.settle(&id, outcome);
        }
    });
    if let Err(why) = noted {
        report.note(why);
    }
}

fn open_events(arguments: &HookArguments, report: &Arc<Report>) -> Result<Option<Events>, Failure> {
    match arguments.events.as_deref() {
        Some("-") => Err(crate::cmd::usage("--events: stdout is for the answer of the hook; name a file, or stderr")),
        Some(to) => Events::open_beside(to, report).map(Some),
        None => Ok(None),
    }
}

/// Whether a call only reads, and gives nothing away by that.
fn only_reads(hook: &HookCall, call: &Call<'_>, builtin: &Builtin, judged: &JudgedCall) -> bool {
    // A rule that allows more than reading does not make it reading.
    judged.acts.is_read_only()
        && builtin.judge(call, Hint::None).0.verdict == Verdict::Allow
        && !may_disclose(call, hook.folder.as_deref())
}

fn verdict<'a>(call: &'a Call<'_>, decision: &'a Decision, can_ask: bool) -> Event<'a> {
    Event::Verdict {
        subject: Subject::of(call),
        form: Some(call.form),
        verdict: decision.verdict,
        rule: &decision.rule,
        reason: decision.plain_reason(),
        kind: decision.kind,
        severity: decision.severity,
        mode: Mode::Enforce,
        did: match decision.verdict {
            Verdict::Allow => Did::Passed,
            Verdict::Confirm if can_ask => Did::Marked,
            Verdict::Confirm | Verdict::Deny => Did::Refused,
        },
    }
}

/// Records that an input cannot be read, as the gate does in a pipe.
fn unreadable(failure: HookFailure, input: &str, audit: Option<Box<dyn AuditWriter>>) -> HookFailure {
    let Some(mut audit) = audit else { return failure };
    let event = Event::Verdict {
        subject: Subject { call_id: None, tool: None, digest: digest(input) },
        form: None,
        verdict: Verdict::Deny,
        rule: "builtin.unreadable",
        reason: &failure.why,
        kind: None,
        severity: None,
        mode: Mode::Enforce,
        did: Did::Refused,
    };
    // The call is blocked, also if that cannot be written.
    let _ = audit.write(&event).and_then(|()| audit.end());
    failure
}
