//! The stage: other lines pass at once, a call in its turn, and a marked call when it is approved.

use super::asker::Asker;
use super::elicitation::Elicitation;
use super::held::HeldCall;
use super::notify::Notifier;
use super::repetition::KeptDecision;
use crate::cmd::events::Events;
use crate::cmd::passage::Passage;
use crate::cmd::refusal::Refusal;
use crate::cmd::rules_file::{JudgedCall, RulesFile, judge};
use crate::cmd::world::intake::IntakeItem;
use crate::cmd::world::queue::Queue;
use pipewright_clients::approvals::Question;
use pipewright_io::approvers::Approvers;
use pipewright_io::report::{Failure, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Limits, Line, Piece};
use pipewright_policy::Verdict;
use pipewright_policy::annotations::{Annotations, Hint};
use pipewright_policy::audit::{self, Did, SettledBy, Subject};
use pipewright_policy::builtin::Builtin;
use pipewright_policy::rules::SessionRules;
use pipewright_record::{
    Call, ErrorRecord, Form, HitlResponse, Kind, Record, Unreadable, cancelled_id, is_decision, looks_like_json_rpc,
};
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Which calls are held while a person is asked about one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum HoldScope {
    /// All that follow it, so that calls pass in their order
    All,
    /// Only those that need a person's approval
    Call,
}

/// How calls are held.
pub struct HoldSettings {
    /// How long a person may take; `None` is forever.
    pub timeout: Option<Duration>,
    pub hold: HoldScope,
    /// How long a JSON-RPC call is held before its caller is asked to repeat it; `None` is forever.
    pub hold_limit: Option<Duration>,
    pub limits: Limits,
    /// Whether the caller may answer.
    pub near_answers: bool,
    /// The rules file to which a person may write a rule for the session.
    pub remember: Option<PathBuf>,
    /// The process that makes the calls, for people.
    pub caller: Option<String>,
}

/// What nobody can approve is denied by it.
pub struct Policy {
    pub builtin: Builtin,
    pub rules: Option<RulesFile>,
}

/// The open question, which is about the first held call.
pub(super) struct PendingQuestion {
    /// The nonce of an answer on the channel.
    pub(super) nonce: String,
    /// The nonce of the terminal's answer, which no other process gets.
    pub(super) terminal_nonce: String,
    /// The question as approvers get it.
    pub(super) question: Question,
    /// The hash of the arguments that were shown.
    pub(super) sha256: String,
    pub(super) until: Option<Instant>,
}

pub struct Gate {
    pub(super) settings: HoldSettings,
    pub(super) passage: Passage,
    pub(super) people: Askers,
    /// The held calls; the first one is asked about.
    pub(super) calls: Queue<HeldCall>,
    /// Decisions on calls whose callers have not repeated them yet.
    pub(super) kept: Vec<KeptDecision>,
    pub(super) pending: Option<PendingQuestion>,
    /// The rules that allow calls until the end of the run.
    pub(super) session_rules: SessionRules,
    /// The lists of tools that pass, and what they tell about changes.
    pub(super) lists: Annotations,
    pub(super) policy: Policy,
    near_ended: bool,
    far_closed: bool,
}

/// Who can be asked, and how people learn of it.
pub struct Askers {
    pub asker: Option<Asker>,
    /// Why there is no terminal.
    pub no_terminal: String,
    /// The requests to the client's own user, with `--ask client`.
    pub elicitation: Option<Elicitation>,
    /// The approvers, who are asked over a socket.
    pub approvers: Option<Approvers>,
    /// Whether an answer may still come on a channel.
    pub has_channel: bool,
    pub notifier: Option<Notifier>,
    /// A hint that is reported when a call is held for the first time.
    pub how_to_approve: Option<&'static str>,
    /// A hint that is reported when a call is rejected for the first time because nobody can be asked.
    pub how_to_be_asked: Option<&'static str>,
}

impl Askers {
    /// Whether a person is asked directly, at the terminal or through an approver.
    pub(super) fn has_person(&self) -> bool {
        self.asker.is_some() || self.approvers.is_some()
    }
}

impl PendingQuestion {
    /// The question's record for approvers.
    pub(super) fn record(&self) -> String {
        self.question.record()
    }
}

impl Gate {
    pub fn new(settings: HoldSettings, people: Askers, policy: Policy, passage: Passage) -> Gate {
        Gate {
            settings,
            passage,
            people,
            calls: Queue::default(),
            kept: Vec::new(),
            pending: None,
            session_rules: SessionRules::default(),
            lists: Annotations::default(),
            policy,
            near_ended: false,
            far_closed: false,
        }
    }

    /// Reports to the caller that its call waits for a person, or no longer does, unless all events go there. (MCP
    /// clients get progress.)
    pub(super) fn send_notice(&self, call: &Call<'_>, notice: &str, out: &mut Out) {
        if call.form != Form::JsonRpc && !self.passage.events.as_ref().is_some_and(Events::is_stdout) {
            out.add_line(Side::NEAR, notice);
        }
    }

    /// Passes a line of the near side on.
    pub(super) fn pass(&self, line: &Line<'_>, out: &mut Out) {
        out.pass(Side::FAR, &Piece::Line(*line));
    }

    /// Writes an event to the audit before any byte is passed on. An error refuses the call.
    pub(super) fn audit<'e>(&mut self, event: impl FnOnce() -> audit::Event<'e>) -> Result<(), Failure> {
        let failed = |error| Failure::new(Status::Fault, format_args!("--audit: {error}"));
        self.passage.audit(event).map_err(failed)
    }

    /// Checks that the policy does not deny a call, as it came or as a person has edited it.
    pub(super) fn check_policy(&self, call: &Call<'_>) -> Result<JudgedCall, String> {
        let judged = judge(call, &self.policy.builtin, self.policy.rules.as_ref(), Hint::None);
        let JudgedCall { decision, .. } = &judged;
        match decision.verdict {
            Verdict::Deny => Err(format!("the policy denies this: {} ({})", decision.reason, decision.rule)),
            Verdict::Allow | Verdict::Confirm => Ok(judged),
        }
    }

    /// Takes a line of the near side.
    fn take(&mut self, piece: &Piece<'_>, out: &mut Out) {
        match (self.passage.read(piece), piece) {
            (IntakeItem::Refused(kind, error), _) => self.refuse_line(piece.number(), kind, &error, out),
            (IntakeItem::Record(text), Piece::Line(line)) => self.take_other(text, line, out),
            (IntakeItem::Call(_, call), Piece::Line(line)) => self.take_call(&call, line, out),
            (IntakeItem::Blank, _) => out.pass(Side::FAR, piece),
            // A call or a record is a line.
            (IntakeItem::Call(..) | IntakeItem::Record(_) | IntakeItem::Skipped, _) => {}
        }
    }

    fn take_call(&mut self, call: &Call<'_>, line: &Line<'_>, out: &mut Out) {
        if let Err(why) = self.check_policy(call) {
            self.passage.report.fault(format_args!("stdin:{}", line.number()), format_args!("{}: {why}", call.tool));
            return self.answer(call, Kind::Denied, &why, out);
        }
        // A call whose caller has an answer holds nothing back.
        let is_held_back = self.settings.hold == HoldScope::All && self.calls.iter().any(|held| !held.is_answered);
        if !call.requires_approval && !is_held_back {
            return self.pass_call(call, line, out);
        }
        let held = HeldCall::new(line, call, self.settings.hold_limit);
        let new = if held.marked { self.take_repetition(held, out) } else { Some(held) };
        if let Some(held) = new {
            self.calls.push(held);
        }
    }

    /// Takes a call that is about to pass. Others may have passed since it was judged.
    ///
    /// # Errors
    /// Why the policy denies it now.
    pub(super) fn passes(&mut self, call: &Call<'_>) -> Result<(), String> {
        if !self.policy.rules.as_ref().is_some_and(RulesFile::has_history) {
            return Ok(());
        }
        let JudgedCall { counted, .. } = self.check_policy(call)?;
        if let Some(rules) = &mut self.policy.rules {
            rules.passes(call, &counted, true);
        }
        Ok(())
    }

    /// Passes a call that needs no approval.
    pub(super) fn pass_call(&mut self, call: &Call<'_>, line: &Line<'_>, out: &mut Out) {
        if let Err(why) = self.passes(call) {
            self.passage.report.fault(format_args!("stdin:{}", line.number()), format_args!("{}: {why}", call.tool));
            return self.answer(call, Kind::Denied, &why, out);
        }
        let passed = || audit::Event::Passed { subject: Subject::of(call), required_approval: false };
        match self.audit(passed) {
            Ok(()) => self.passage.pass(line, call, Did::Passed, out),
            Err(failure) => {
                self.passage.report.fault(format_args!("stdin:{}", line.number()), &failure);
                self.answer(call, Kind::Denied, &not_audited(&failure), out);
            }
        }
    }

    /// Takes a record that is not a call.
    fn take_other(&mut self, body: &str, line: &Line<'_>, out: &mut Out) {
        let place = format!("stdin:{}", line.number());
        // In a pipe, the gate before this one writes them, too.
        if !out.is_pipe() && is_decision(body) {
            return self.refuse_record(&place, None, NOT_THE_CALLERS, out);
        }
        match HitlResponse::read(body) {
            Ok(None) => {}
            answer if self.settings.near_answers => return self.take_answer(&place, answer, out),
            answer => {
                let why = "the caller may not answer for a person (--answers stdin would allow it)";
                let id = answer.ok().flatten().and_then(|answer| answer.call_id);
                return self.refuse_record(&place, id, why, out);
            }
        }
        if self.take_elicited(&place, body, out) {
            return;
        }
        self.lists.observe_request(body);
        match cancelled_id(body).and_then(|id| self.calls.position(id.get())) {
            Some(index) => self.cancel(index, out),
            None => self.pass(line, out),
        }
    }

    /// Answers a record that does not pass with an error record.
    fn refuse_record(&mut self, place: &str, call_id: Option<&RawValue>, why: &str, out: &mut Out) {
        self.passage.report.fault(place, why);
        out.add_line(Side::NEAR, &ErrorRecord::about(call_id, None, why).json());
    }

    /// Reports a line that can't be read, and answers it like a call.
    fn refuse_line(&mut self, number: u64, kind: Kind, error: &Unreadable, out: &mut Out) {
        self.passage.report.fault(format_args!("stdin:{number}"), error);
        out.add_line(Side::NEAR, &error.refusal(kind, number));
    }

    /// Answers a call that does not pass.
    pub(super) fn answer(&mut self, call: &Call<'_>, kind: Kind, message: &str, out: &mut Out) {
        self.passage.report.fail();
        self.passage.refuse(call, &Refusal::new(kind, message), out);
    }

    /// No more calls come. Held calls may still be approved, with two exceptions: an MCP client that closes this side
    /// has disconnected, and answers on stdin cannot come any more.
    fn near_closed(&mut self, out: &mut Out) {
        self.near_ended = true;
        self.end_repetitions(out);
        let is_json_rpc = self.calls.first().is_some_and(|held| looks_like_json_rpc(held.line().body()));
        if self.settings.near_answers && !self.people.has_person() {
            self.refuse_all(Kind::Rejected, "stdin has ended, and the answer was to come from there", out);
        } else if is_json_rpc && !out.is_pipe() {
            self.refuse_all(Kind::Rejected, "stdin has ended: the client has disconnected", out);
        }
    }

    /// The other side accepts no more lines: answers the held calls, and those that had passed and were not written.
    fn answer_undelivered(&mut self, out: &mut Out) {
        if let Some(why) = self.passage.broken().map(str::to_owned) {
            self.refuse_all(Kind::Lost, &why, out);
            self.passage.answer_undelivered(out);
        }
    }

    /// The steps after every event.
    fn after_event(&mut self, out: &mut Out) {
        self.answer_undelivered(out);
        self.withdraw_elicited(out);
        self.advance(out);
        if self.pending.is_some() && self.calls.is_full() && self.settings.near_answers && !self.people.has_person() {
            let why = "no answer came within a thousand more lines of stdin";
            self.reject_first(SettledBy::Nobody, why, out);
            self.advance(out);
        }
        out.hold_near(0, self.calls.is_full());
        if self.near_ended && self.calls.is_empty() {
            if out.is_pipe() {
                out.stop(self.passage.report.finish());
            } else if !std::mem::replace(&mut self.far_closed, true) {
                out.close_far(0);
            }
        }
    }
}

const NOT_THE_CALLERS: &str = "only a gate may report the outcome of a call, not the caller";

/// The answer to a call that could not be audited.
pub(super) fn not_audited(failure: &Failure) -> String {
    format!("it does not pass, since it could not be recorded: {failure}")
}

impl Stage for Gate {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(Side::NEAR, piece) => self.take(&piece, out),
            Event::Piece(Side::Answers, piece) => self.take_answer_line(&piece, out),
            Event::Piece(_, piece) => {
                if let Piece::Line(line) = &piece {
                    self.lists.observe_answer(line.body());
                    self.end_rules_of_changed_tools();
                }
                out.pass(Side::NEAR, &piece);
            }
            Event::Closed(Side::NEAR) => self.near_closed(out),
            // The terminal's own pipe ends with the run; this was the other one.
            Event::Closed(Side::Answers) => self.channel_closed(out),
            Event::Due => self.due(out),
            Event::Signal(signal) => {
                self.refuse_all(Kind::Rejected, &format!("hitl-gate was ended ({signal})"), out);
                return Ok(());
            }
            Event::Broken(Side::NEAR, _) => {
                self.refuse_all(Kind::Rejected, "nobody reads the answer any more", out);
                return Ok(());
            }
            event => self.passage.take_loss(&event, out),
        }
        self.after_event(out);
        Ok(())
    }

    fn end(&mut self, out: &Out) {
        self.passage.end(out);
    }

    fn deadline(&self) -> Option<Instant> {
        let waiting = self.calls.iter().filter(|held| !held.is_answered);
        let due = waiting.flat_map(|held| [held.answer_by, held.progress.as_ref().map(|progress| progress.next)]);
        due.chain([self.pending.as_ref().and_then(|pending| pending.until)]).flatten().min()
    }
}
