//! `hitl-gate hook`: asks an approver about one call of a harness, as the command of its hook.
//!
//! The question is one of the gate in a pipe: the call is its only line, and the harness gets the outcome in its own
//! form. If no approver is connected, the harness asks by itself.

use super::gate::{Askers, Gate, HoldScope, HoldSettings, Policy};
use super::notify::Notifier;
use super::{NAME, approver_places, open_approvers};
use crate::cmd::audit::Audit;
use crate::cmd::caller::RefusalForm;
use crate::cmd::hook::{
    HookEvent, HookFailure, HookOptions, answer, judge_hook, note_event, policy, shortened, with_history,
};
use crate::cmd::options::Limit;
use crate::cmd::passage::Passage;
use crate::cmd::rules_file::{JudgedCall, RulesFile};
use crate::cmd::session_file::SessionFile;
use pipewright_io::between::{FarEndpoint, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Limits, Line, Piece};
use pipewright_policy::Verdict;
use pipewright_policy::marks::{Marks, mark};
use pipewright_record::hook::{HookAnswer, HookCall, OwnToolUse, WrittenAnswer};
use pipewright_record::json::{Object, raw};
use pipewright_record::{Fields, recognise};
use pipewright_sys::ancestry::Family;
use pipewright_sys::descriptor::Descriptor;
use pipewright_sys::lock;
use pipewright_sys::signal::Signals;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub struct HookArguments {
    #[command(flatten)]
    hook: HookOptions,
    /// Deny a call that nobody has answered within this time, which is less than the harness's own limit [default: 5 s less than the
    /// limit that the harness has without settings]
    #[arg(long, value_name = "DURATION")]
    timeout: Option<Limit>,
    /// Deny a call that needs approval if no approver is connected, in place of leaving it to the harness
    #[arg(long)]
    required: bool,
    /// Write every question and answer to this file before it takes effect. Several hooks may share it
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// Run this program when a call begins to wait for a person
    #[arg(long, value_name = "COMMAND")]
    notify: Option<String>,
}

/// How long the hooks of other calls may use the audit.
const AUDIT_TIMEOUT: Duration = Duration::from_secs(10);
/// What is left of the harness's limit for the answer.
const MARGIN: u64 = 5;
/// What the session's file is for.
const PURPOSE: &str = "session-rules";

/// Reads the call, asks, and writes the answer.
pub fn run(arguments: HookArguments, signals: &Signals, report: &Arc<Report>) -> Result<Status, Failure> {
    let decided = catch_unwind(AssertUnwindSafe(|| decide(&arguments, signals, report)));
    answer(decided.unwrap_or_else(|_| Err(arguments.hook.failure("no decision: an internal error"))))
}

fn decide(arguments: &HookArguments, signals: &Signals, report: &Arc<Report>) -> Result<WrittenAnswer, HookFailure> {
    let input = arguments.hook.input()?;
    let mut rules = arguments.hook.open_rules(report)?;
    let hook = match arguments.hook.event(&input, report)? {
        HookEvent::Call(hook) => hook,
        HookEvent::After(result) => {
            note_event(&result.name, report);
            return Ok(result.call.harness.no_opinion());
        }
        HookEvent::Other(harness) => {
            return Ok(harness.map_or(WrittenAnswer::Text(String::new()), |harness| harness.no_opinion()));
        }
    };
    let blocked = |why: String| HookFailure { harness: Some(hook.harness), why };
    let own_tool = hook.harness.own_tool(&hook.call().map_or(String::new(), |call| call.tool.into_owned()));
    // The harness asks about calls that we would not; its own questions to its user are its own.
    let may_be_left = !hook.event.asks_itself || own_tool == Some(OwnToolUse::Notes);
    let judged = with_history(NAME, &hook, &mut rules, |rules| {
        let (judged, line) = judged_line(&hook, rules.as_ref())?;
        let is_left = judged.decision.verdict == Verdict::Allow && may_be_left;
        if let (Some(rules), Ok(call), true) = (rules, hook.call(), is_left) {
            rules.passes(&call, &judged.counted, true);
        }
        Ok((judged, line))
    });
    let (judged, line) = judged.and_then(|judged| judged).map_err(blocked)?;
    let decision = &judged.decision;
    match decision.verdict {
        Verdict::Deny => {
            let reason = format!("{} ({})", shortened(&decision.reason), decision.rule);
            return Ok(hook.answer(&HookAnswer::Deny(&reason)));
        }
        Verdict::Allow if may_be_left => return Ok(hook.answer(&HookAnswer::NoOpinion)),
        Verdict::Allow | Verdict::Confirm => {}
    }
    ask(arguments, hook, (line, judged.counted), rules, signals, report)
}

/// The decision about the call, and its line with marks.
fn judged_line(hook: &HookCall, rules: Option<&RulesFile>) -> Result<(JudgedCall, String), String> {
    let call = hook.call().map_err(|why| format!("stdin: {why}"))?;
    let judged = judge_hook(&call, &policy(hook)?, rules);
    let target = judged.acts.target.as_ref().map(|target| target.json());
    let policy = judged.decision.json();
    let marks = Marks { target: target.as_deref(), policy: Some(&policy), requires_approval: true };
    let line = mark(&call, &hook.record, &marks).map_err(|why| format!("stdin: {why}"))?;
    Ok((judged, line))
}

fn ask(
    arguments: &HookArguments,
    hook: HookCall,
    (line, counted): (String, Vec<String>),
    mut rules: Option<RulesFile>,
    signals: &Signals,
    report: &Arc<Report>,
) -> Result<WrittenAnswer, HookFailure> {
    let harness = hook.harness;
    let blocked = move |failure: Failure| HookFailure { harness: Some(harness), why: failure.message };
    let family = Family::of_this_process();
    let caller = family.caller();
    let limits = Limits::default();
    let limits = Limits { max_line: limits.max_line.max(line.len() * 2), ..limits };
    let opened = open_approvers(approver_places(true), family, limits, report).map_err(blocked)?;
    let Some((approvers, answers)) = opened.filter(|(approvers, _)| approvers.is_present()) else {
        let why = "a person has to approve this first, and no approver is connected (hitl-gate attach)";
        if arguments.required {
            return Ok(hook.answer(&HookAnswer::Deny(why)));
        }
        note_passed(&hook, &mut rules, &counted, false).map_err(|why| HookFailure { harness: Some(harness), why })?;
        return Ok(hook.answer(&HookAnswer::NoOpinion));
    };
    let audit = Audit::open_shared(arguments.audit.as_deref(), NAME, AUDIT_TIMEOUT, report).map_err(blocked)?;
    let notifier = arguments.notify.as_deref().map(|command| Notifier::new(command, report)).transpose();
    let usual = Duration::from_secs(harness.limit.saturating_sub(MARGIN));
    let settings = HoldSettings {
        timeout: arguments.timeout.map_or(Some(usual), |limit| limit.0),
        hold: HoldScope::All,
        hold_limit: None,
        limits,
        near_answers: false,
        remember: None,
        caller,
    };
    let people = Askers {
        asker: None,
        no_terminal: String::new(),
        elicitation: None,
        approvers: Some(approvers),
        has_channel: false,
        notifier: notifier.map_err(blocked)?,
        how_to_approve: None,
        how_to_be_asked: None,
    };
    let builtin = policy(&hook).map_err(|why| HookFailure { harness: Some(harness), why })?;
    let passage = Passage::new(limits.max_depth, RefusalForm::Result, None, audit, Arc::clone(report));
    let mut gate = Gate::new(settings, people, Policy { builtin, rules }, passage);
    let remembered = remembered(&hook);
    for rule in &remembered {
        // A rule that cannot be read allows nothing.
        let _ = gate.session_rules.add(rule);
    }
    let outcome = Arc::new(Mutex::new(None));
    let outcome_of_stage = Arc::clone(&outcome);
    let stage =
        HookStage { gate, hook, line: Some(line), printed: Vec::new(), remembered, counted, outcome: outcome_of_stage };
    let sides = Sides {
        far: FarEndpoint::child(Vec::new()),
        answers: vec![Descriptor::new(answers)],
        stays: true,
        limits,
        drains: true,
        ..Sides::default()
    };
    between(Box::new(stage), sides, signals, report).map_err(blocked)?;
    let outcome = lock(&outcome).take();
    outcome
        .ok_or_else(|| HookFailure { harness: Some(harness), why: "the question ended without an answer".to_owned() })
}

/// Keeps in the history of the session that these rules count a call. If it is not certain, the harness may still
/// refuse it.
fn note_passed(
    hook: &HookCall,
    rules: &mut Option<RulesFile>,
    counted: &[String],
    is_certain: bool,
) -> Result<(), String> {
    with_history(NAME, hook, rules, |rules| {
        if let (Some(rules), Ok(call)) = (rules, hook.call()) {
            rules.passes(&call, counted, is_certain);
        }
    })
}

/// The rules that a person has allowed for the harness's session.
fn remembered(hook: &HookCall) -> Vec<String> {
    serde_json::from_str(&SessionFile::read(PURPOSE, hook)).unwrap_or_default()
}

/// The gate with one call, whose outcome is the answer for the harness.
struct HookStage {
    gate: Gate,
    hook: HookCall,
    /// Until the call is taken.
    line: Option<String>,
    /// What the gate has printed.
    printed: Vec<u8>,
    /// The rules of the session when the call came.
    remembered: Vec<String>,
    /// The rules that count the call, if it passes.
    counted: Vec<String>,
    outcome: Arc<Mutex<Option<WrittenAnswer>>>,
}

impl Stage for HookStage {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        if let Some(line) = self.line.take() {
            self.gate.on(Event::Piece(Side::NEAR, Piece::Line(Line::new(line.as_bytes(), 1))), out)?;
        }
        self.gate.on(event, out)?;
        self.printed.append(out.to(Side::NEAR));
        if out.stopped() {
            self.gate.passage.are_delivered();
            *lock(&self.outcome) = self.answer();
            self.remember();
            self.note_approved();
        }
        Ok(())
    }

    fn end(&mut self, out: &Out) {
        self.gate.end(out);
    }

    fn deadline(&self) -> Option<Instant> {
        self.gate.deadline()
    }
}

impl HookStage {
    /// The last record of the gate: the call, if it passes, or else an error.
    fn last(&self) -> Option<&str> {
        std::str::from_utf8(&self.printed).ok()?.lines().rfind(|line| !line.trim().is_empty())
    }

    /// The answer according to that record.
    fn answer(&self) -> Option<WrittenAnswer> {
        let last = self.last()?;
        let Ok(Some(call)) = recognise(last) else {
            let fields = Fields::read(last).ok()?;
            let why = fields.text("error").or_else(|| fields.object("error")?.text("message"));
            return Some(self.hook.answer(&HookAnswer::Deny(&why.unwrap_or_else(|| "it was rejected".to_owned()))));
        };
        let asked = self.hook.call().ok()?;
        let arguments = call.arguments_text();
        Some(match (arguments == asked.arguments_text(), self.hook.event.can_change()) {
            (true, _) => self.hook.answer(&HookAnswer::Allow("a person approved it")),
            (false, true) => self.hook.answer(&HookAnswer::AllowWith(arguments)),
            (false, false) => {
                let why = Object::default().put("arguments", raw(arguments)).end();
                let why = format!("a person approves this call only with these arguments; make it so: {why}");
                self.hook.answer(&HookAnswer::Deny(&why))
            }
        })
    }

    /// Keeps in the history of the session that the call passes. If it cannot be kept, the call is blocked.
    fn note_approved(&mut self) {
        let mut rules = self.gate.policy.rules.take();
        if let Some(Ok(Some(_))) = self.last().map(recognise)
            && let Err(why) = note_passed(&self.hook, &mut rules, &self.counted, true)
        {
            *lock(&self.outcome) = Some(self.hook.harness.block(&why));
        }
    }

    /// Keeps the rules of the session for the hooks of its later calls, without those that were revoked.
    fn remember(&self) {
        let now: Vec<&String> = self.gate.session_rules.iter().map(|rule| &rule.text).collect();
        let is_same = now.len() == self.remembered.len() && now.iter().all(|rule| self.remembered.contains(rule));
        if is_same {
            return;
        }
        let written = SessionFile::open(PURPOSE, &self.hook).and_then(|mut file| {
            let mut all: Vec<String> = serde_json::from_str(&file.text()?).unwrap_or_default();
            // Other hooks may have added some.
            all.retain(|rule| now.contains(&rule) || !self.remembered.contains(rule));
            let new: Vec<String> = now.into_iter().filter(|rule| !all.contains(rule)).cloned().collect();
            all.extend(new);
            file.replace(&serde_json::to_string(&all)?)
        });
        if let Err(error) = written {
            self.gate.passage.report.note(format_args!("the rules of the session are not kept: {error}"));
        }
    }
}
