//! The stage: other lines pass at once, a call in its turn, and a marked call when it is approved.

use super::asker::Asker;
use super::elicitation::Elicitation;
use super::gate_event::GateEvent;
use super::held::Held;
use super::notify::Notifier;
use super::repetition::Kept;
use crate::approvals::Question;
use crate::cmd::caller::{Refusal, RefuseAs};
use crate::cmd::deliveries::Deliveries;
use crate::cmd::events::Events;
use crate::cmd::rules_file::Judged;
use crate::cmd::world::intake::{Intake, Read};
use crate::cmd::world::queue::Queue;
use crate::io::approvers::Approvers;
use crate::io::child::{describe, exit_code};
use crate::io::lines::{Limits, Line, Piece};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::json::Object;
use crate::policy::audit::By;
use crate::policy::rules::SessionRules;
use crate::record::{Call, Form, HitlResponse, Kind, Unreadable, cancelled_id, is_decision, looks_like_json_rpc};
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

const HOW_TO_BE_ASKED: &str =
    "to let a person answer, use --approver and run `hitl-gate attach` in another terminal, or use --answers FIFO";

/// Which calls are held while a person is asked about one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Hold {
    /// All that follow it, so that calls pass in their order
    All,
    /// Only those that need a person's approval
    Call,
}

/// How calls are held.
pub struct Settings {
    /// How long a person may take; `None` is forever.
    pub timeout: Option<Duration>,
    pub hold: Hold,
    /// How long a JSON-RPC call is held before its caller is asked to repeat it; `None` is forever.
    pub hold_limit: Option<Duration>,
    pub refuse_as: RefuseAs,
    pub limits: Limits,
    /// Whether the caller may answer.
    pub near_answers: bool,
    /// Whether the client's own user is asked, too.
    pub asks_client: bool,
}

/// Judges a call, as it came or as it was edited; gives the reason if the policy denies it.
pub type Judge = Box<dyn Fn(&Call<'_>) -> Result<Judged, String> + Send>;
/// Audits an event before it takes effect.
pub type AuditSink = Box<dyn FnMut(GateEvent<'_>) -> Result<(), Failure> + Send>;

/// The open question, which is about the first held call.
pub(super) struct Pending {
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
    pub(super) settings: Settings,
    pub(super) report: Arc<Report>,
    /// The held calls; the first one is asked about.
    pub(super) calls: Queue<Held>,
    /// Decisions on calls whose callers have not repeated them yet.
    pub(super) kept: Vec<Kept>,
    pub(super) pending: Option<Pending>,
    pub(super) asker: Option<Asker>,
    /// The requests to the client's own user, with `--ask client`.
    pub(super) elicitation: Option<Elicitation>,
    /// The approvers, who are asked over a socket.
    pub(super) approvers: Option<Approvers>,
    /// The rules that allow calls until the end of the run.
    pub(super) session_rules: SessionRules,
    /// The rules file to which a person may write such a rule.
    pub(super) remember: Option<PathBuf>,
    pub(super) notifier: Option<Notifier>,
    /// The process that makes the calls, for people.
    pub(super) caller: Option<String>,
    /// A hint that is reported when a call is held for the first time.
    pub(super) how_to_approve: Option<&'static str>,
    /// A hint that is reported when a call is rejected for the first time because nobody can be asked.
    pub(super) how_to_be_asked: Option<&'static str>,
    /// Why there is no terminal.
    pub(super) no_terminal: String,
    /// Whether an answer may still come on a channel.
    pub(super) has_channel: bool,
    /// The output for the gate's own records; with `None` they are not written.
    events: Option<Events>,
    judge: Judge,
    audit_sink: AuditSink,
    intake: Intake,
    near_ended: bool,
    far_closed: bool,
    pub(super) deliveries: Deliveries,
    /// Why the other side accepts no more lines.
    broken: Option<String>,
}

impl Pending {
    /// The question's record for approvers.
    pub(super) fn record(&self) -> String {
        self.question.record()
    }
}

impl Gate {
    pub fn new(
        settings: Settings,
        asker: Result<Asker, String>,
        has_channel: bool,
        events: Option<Events>,
        (judge, audit_sink): (Judge, AuditSink),
        report: Arc<Report>,
    ) -> Gate {
        let (asker, no_terminal) = match asker {
            Ok(asker) => (Some(asker), String::new()),
            Err(why) => (None, why),
        };
        let elicitation = settings.asks_client.then(Elicitation::default);
        Gate {
            intake: Intake::new(settings.limits.max_depth),
            settings,
            report,
            calls: Queue::default(),
            kept: Vec::new(),
            pending: None,
            asker,
            elicitation,
            approvers: None,
            session_rules: SessionRules::default(),
            remember: None,
            notifier: None,
            caller: None,
            how_to_approve: None,
            how_to_be_asked: Some(HOW_TO_BE_ASKED),
            no_terminal,
            has_channel,
            events,
            judge,
            audit_sink,
            near_ended: false,
            far_closed: false,
            deliveries: Deliveries::default(),
            broken: None,
        }
    }

    /// Writes a record to the output for events.
    pub(super) fn send_event(&mut self, record: &str, out: &mut Out) {
        if let Some(events) = &mut self.events {
            events.take_record(record, out);
        }
    }

    /// Reports to the caller that its call waits for a person, or no longer does, unless all events go there. (MCP clients get progress.)
    pub(super) fn send_notice(&self, call: &Call<'_>, notice: &str, out: &mut Out) {
        if call.form != Form::JsonRpc && !self.events.as_ref().is_some_and(Events::is_stdout) {
            out.add_line(Side::Near, notice);
        }
    }

    /// Passes a line of the near side on.
    pub(super) fn pass(&self, line: &Line<'_>, out: &mut Out) {
        out.pass(Side::Far, &Piece::Line(*line));
    }

    /// Writes an event to the audit before any byte is passed on. An error refuses the call.
    pub(super) fn audit(&mut self, event: GateEvent<'_>) -> Result<(), Failure> {
        (self.audit_sink)(event)
    }

    /// Checks that the policy does not deny a call, as it came or as a person has edited it.
    pub(super) fn check_policy(&self, call: &Call<'_>) -> Result<Judged, String> {
        (self.judge)(call)
    }

    /// Takes a line of the near side.
    fn take(&mut self, piece: &Piece<'_>, out: &mut Out) {
        match (self.intake.read(piece), piece) {
            (Read::Refused(kind, error), _) => self.refuse_line(piece.number(), kind, &error, out),
            (Read::Record(text), Piece::Line(line)) => self.take_other(text, line, out),
            (Read::Call(_, call), Piece::Line(line)) => self.take_call(&call, line, out),
            (Read::Blank, _) => out.pass(Side::Far, piece),
            // A call or a record is a line.
            (Read::Call(..) | Read::Record(_) | Read::Skipped, _) => {}
        }
    }

    fn take_call(&mut self, call: &Call<'_>, line: &Line<'_>, out: &mut Out) {
        if let Err(why) = self.check_policy(call) {
            self.report.fault(format_args!("stdin:{}", line.number()), format_args!("{}: {why}", call.tool));
            return self.answer(call, Kind::Denied, &why, out);
        }
        // A call whose caller has an answer holds nothing back.
        let is_held_back = self.settings.hold == Hold::All && self.calls.iter().any(|held| !held.is_answered);
        if !call.requires_approval && !is_held_back {
            return self.pass_call(call, line, out);
        }
        let held = Held::new(line, call, self.settings.hold_limit);
        let new = if held.marked { self.take_repetition(held, out) } else { Some(held) };
        if let Some(held) = new {
            self.calls.push(held);
        }
    }

    /// Passes a call that needs no approval.
    pub(super) fn pass_call(&mut self, call: &Call<'_>, line: &Line<'_>, out: &mut Out) {
        match self.audit(GateEvent::Passed { call }) {
            Ok(()) => self.deliveries.pass(line, call, false, out),
            Err(failure) => {
                self.report.fault(format_args!("stdin:{}", line.number()), &failure);
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
        match cancelled_id(body).and_then(|id| self.calls.position(id.get())) {
            Some(index) => self.cancel(index, out),
            None => self.pass(line, out),
        }
    }

    /// Answers a record that does not pass with an error record.
    fn refuse_record(&mut self, place: &str, call_id: Option<&RawValue>, why: &str, out: &mut Out) {
        self.report.fault(place, why);
        let context = Object::default().put_some("call_id", call_id).end();
        let error = Object::default().text("type", "error").put("context", context).text("content", why);
        out.add_line(Side::Near, &error.end());
    }

    /// Reports a line that can't be read, and answers it like a call.
    fn refuse_line(&mut self, number: u64, kind: Kind, error: &Unreadable, out: &mut Out) {
        self.report.fault(format_args!("stdin:{number}"), error);
        out.add_line(Side::Near, &error.refusal(kind, number));
    }

    /// Answers a call that does not pass.
    pub(super) fn answer(&mut self, call: &Call<'_>, kind: Kind, message: &str, out: &mut Out) {
        self.report.fail();
        self.settings.refuse_as.refuse(call, &Refusal::new(kind, message), out);
    }

    /// No more calls come. Held calls may still be approved, with two exceptions: an MCP client that closes this side has
    /// disconnected, and answers on stdin cannot come any more.
    fn near_closed(&mut self, out: &mut Out) {
        self.near_ended = true;
        self.end_repetitions(out);
        let is_json_rpc = self.calls.first().is_some_and(|held| looks_like_json_rpc(held.line().body()));
        if self.settings.near_answers && !self.has_person() {
            self.refuse_all(Kind::Rejected, "stdin has ended, and the answer was to come from there", out);
        } else if is_json_rpc && !out.is_pipe() {
            self.refuse_all(Kind::Rejected, "stdin has ended: the client has disconnected", out);
        }
    }

    /// The other side accepts no more lines: answers the held calls, and those that had passed and were not written.
    fn answer_undelivered(&mut self, out: &mut Out) {
        let Some(why) = self.broken.clone() else { return };
        self.refuse_all(Kind::Lost, &why, out);
        let why = format!("it was not delivered: {why}");
        for passed in self.deliveries.take_undelivered(out) {
            let call = passed.call.call();
            self.audit_undelivered(&call);
            self.report.fault(format_args!("stdin:{}", passed.number), format_args!("{}: {why}", call.tool));
            self.answer(&call, Kind::Lost, &why, out);
        }
    }

    fn audit_undelivered(&mut self, call: &Call<'_>) {
        if let Err(failure) = self.audit(GateEvent::Undelivered { call }) {
            self.report.fault("--audit", failure);
        }
    }

    /// The steps after every event.
    fn go_on(&mut self, out: &mut Out) {
        self.answer_undelivered(out);
        self.withdraw_elicited(out);
        self.advance(out);
        if self.pending.is_some() && self.calls.is_full() && self.settings.near_answers && !self.has_person() {
            let why = "no answer came within a thousand more lines of stdin";
            self.reject_first(By::Nobody, why, out);
            self.advance(out);
        }
        out.hold_near(self.calls.is_full());
        if self.near_ended && self.calls.is_empty() {
            if out.is_pipe() {
                out.stop(self.report.finish());
            } else if !std::mem::replace(&mut self.far_closed, true) {
                out.close_far();
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
            Event::Piece(Side::Near, piece) => self.take(&piece, out),
            Event::Piece(Side::Answers, piece) => self.take_answer_line(&piece, out),
            Event::Piece(_, piece) => out.pass(Side::Near, &piece),
            Event::Closed(Side::Near) => self.near_closed(out),
            // The terminal's own pipe ends with the run; this was the other one.
            Event::Closed(Side::Answers) => self.channel_closed(out),
            Event::Due => self.due(out),
            Event::Exited(status) => {
                self.broken.get_or_insert_with(|| format!("the other side has ended ({})", describe(status)));
                out.stop(Status::Child(exit_code(status)));
            }
            Event::Broken(Side::Far, error) => {
                self.broken = Some(format!("the other side accepts no more lines ({error})"));
                // As in a pipe: the next write to our stdin fails.
                out.close_near();
            }
            Event::Signal(signal) => {
                self.refuse_all(Kind::Rejected, &format!("hitl-gate was ended ({signal})"), out);
                return Ok(());
            }
            Event::Broken(Side::Near, _) => {
                self.refuse_all(Kind::Rejected, "nobody reads the answer any more", out);
                return Ok(());
            }
            Event::Joined | Event::Started | Event::Closed(_) | Event::Broken(..) | Event::Reopen => {}
        }
        self.go_on(out);
        Ok(())
    }

    fn end(&mut self, out: &Out) {
        for passed in self.deliveries.take_undelivered(out) {
            self.audit_undelivered(&passed.call.call());
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let waiting = self.calls.iter().filter(|held| !held.is_answered);
        let due = waiting.flat_map(|held| [held.answer_by, held.progress.as_ref().map(|progress| progress.next)]);
        due.chain([self.pending.as_ref().and_then(|pending| pending.until)]).flatten().min()
    }
}
