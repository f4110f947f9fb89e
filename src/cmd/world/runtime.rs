//! The stage of a world: sends calls from the near side to the far side and returns the results.

use super::calls::{Calls, CancelResult, SendResult};
use super::intake::{self, Intake, IntakeItem, time_limit};
use super::{Restarts, World};
use crate::cmd::refusal::Refusal;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::Piece;
use pipewright_record::{Call, Kind, ListTools, Unreadable, cancelled_id};
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// When to check a late call again, if the far side waits for an answer from the near side.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// The most unsent bytes for a far side before reading pauses.
const MAX_UNSENT: usize = 8 << 20;
/// The most waiting requests for the list of tools before reading pauses.
const MAX_LIST_REQUESTS: usize = 1024;

/// How calls are executed.
pub struct RuntimeSettings {
    /// The time limit of a call without its own timeout; `None` means no limit.
    pub timeout: Option<Duration>,
    /// The deadline of the run.
    pub deadline: Option<Instant>,
    /// The most calls that a far side works on at once.
    pub in_flight: usize,
    /// Whether answers are written as they come, not in the order of the calls.
    pub unordered: bool,
    pub max_depth: usize,
    /// Whether there is no near side, so that no calls come.
    pub without_near: bool,
}

/// A world as a [`Stage`].
pub struct Runtime<W> {
    world: W,
    calls: Calls,
    settings: RuntimeSettings,
    intake: Intake,
    near_ended: bool,
    /// The `request_id` of each unanswered `list_tools`.
    list_requests: Vec<Option<Box<RawValue>>>,
    report: Arc<Report>,
}

impl<W: World> Runtime<W> {
    /// `fars` has the restarts of each far side; `None` if it is never restarted.
    pub fn new(
        world: W,
        fars: impl IntoIterator<Item = Option<Restarts>>,
        settings: RuntimeSettings,
        report: Arc<Report>,
    ) -> Runtime<W> {
        let calls = Calls::new(fars, settings.unordered, Arc::clone(&report));
        let (intake, near_ended) = (Intake::new(settings.max_depth), settings.without_near);
        Runtime { world, calls, settings, intake, near_ended, list_requests: Vec::new(), report }
    }

    fn take(&mut self, piece: &Piece<'_>, out: &mut Out) {
        self.calls.extend_linger();
        match self.intake.read(piece) {
            IntakeItem::Blank | IntakeItem::Skipped => {}
            IntakeItem::Refused(kind, error) => self.refuse_line(piece.number(), kind, &error),
            IntakeItem::Call(_, call) => self.take_call(&call, piece.number()),
            IntakeItem::Record(text) => self.take_record(text, piece, out),
        }
    }

    fn take_call(&mut self, call: &Call<'_>, line_number: u64) {
        let routed = self.world.route(call);
        let far = *routed.as_ref().unwrap_or(&0);
        let refusal = if call.requires_approval {
            Some(Refusal::new(
                Kind::NeedsApproval,
                "it still requires approval: put hitl-gate in front of this command",
            ))
        } else {
            let timeout = || intake::timeout(call).err().map(|why| Refusal::new(Kind::BadInput, why));
            routed.err().or_else(timeout)
        };
        let Some(mut refusal) = refusal else { return self.calls.push(far, call) };
        self.report.fault(format_args!("stdin:{line_number}"), &refusal.message);
        refusal.code = refusal.code.or_else(|| self.world.code(refusal.kind));
        self.calls.push_refused(far, call, &refusal);
    }

    fn take_record(&mut self, text: &str, piece: &Piece<'_>, out: &mut Out) {
        if let Some(id) = cancelled_id(text) {
            return self.cancel(id.get(), out);
        }
        match ListTools::read(text) {
            Ok(Some(request)) => self.list_requests.push(request.request_id.map(ToOwned::to_owned)),
            Ok(None) => match self.world.take_record(text, &mut self.calls, out) {
                Ok(false) => self.calls.push_passed(piece.raw()),
                Ok(true) => {}
                Err(why) => self.report.fault(format_args!("stdin:{}", piece.number()), why),
            },
            Err(error) => self.refuse_line(piece.number(), Kind::BadInput, &error),
        }
    }

    /// Reports an unreadable line, and answers it as far as a call can be recognized in it.
    fn refuse_line(&mut self, number: u64, kind: Kind, error: &Unreadable) {
        self.report.fault(format_args!("stdin:{number}"), error);
        self.calls.push_ready(&self.world.refuse_line(error, kind, number));
    }

    fn cancel(&mut self, id: &str, out: &mut Out) {
        let refusal = self.refusal(Kind::Cancelled, "it was cancelled");
        match self.calls.cancel(id, &refusal) {
            CancelResult::Sent(number) => self.world.cancel(number, "cancelled", out),
            CancelResult::Unsent => {}
            CancelResult::Unknown => {
                self.report.note(format_args!("cancel: no call {id} is waiting"));
                self.report.fail();
            }
        }
    }

    fn refusal(&self, kind: Kind, message: impl Into<String>) -> Refusal {
        Refusal { code: self.world.code(kind), ..Refusal::new(kind, message) }
    }

    /// Refuses late calls, and handles all other deadlines.
    fn due(&mut self, out: &mut Out) -> Result<(), Failure> {
        let now = Instant::now();
        if self.settings.deadline.is_some_and(|deadline| deadline <= now) {
            let why = "the time limit of the run is over (--deadline)";
            self.calls.refuse_all(&self.refusal(Kind::Timeout, why));
            self.list_what_is_known(out);
            self.calls.drain(out.to(Side::NEAR));
            return Err(Failure::new(Status::Deadline, why));
        }
        for far in 0..self.calls.fars() {
            if self.calls.is_over(far) {
                continue;
            }
            if out.far_waits(far) {
                // The far side may already have answered: our own reader is not reading.
                self.calls.restart_timeouts(far);
                self.world.restart_timeouts(far);
            } else if self.world.waits_for_near(far) {
                self.calls.postpone(far, now, now + LOOK_AGAIN);
            }
            self.give_up_late_calls(far, now, out);
            if let Some(restart) = self.calls.restarts(far).and_then(|restarts| restarts.take_due(now)) {
                restart.note.into_iter().for_each(|note| self.report.note(note));
                out.respawn(far);
            }
            self.world.due(far, &mut self.calls, out);
        }
        Ok(())
    }

    fn give_up_late_calls(&mut self, far: usize, now: Instant, out: &mut Out) {
        let late = self.calls.late(far, now);
        for number in &late {
            let why = self.world.late_message(far, self.calls.sent_at(*number));
            self.world.cancel(*number, "timeout", out);
            self.calls.refuse(*number, &self.refusal(Kind::Timeout, why));
        }
        if !late.is_empty() {
            self.world.timed_out(far, &mut self.calls, out);
        }
    }

    /// The common steps after every event.
    fn after_event(&mut self, out: &mut Out) -> Result<(), Failure> {
        self.calls.refuse_over();
        self.answer_list_tools(out);
        self.send(out);
        self.world.advance(&mut self.calls, self.near_ended, out);
        self.calls.drain(out.to(Side::NEAR));
        let is_full = self.calls.is_full() || self.list_requests.len() >= MAX_LIST_REQUESTS;
        let holds = is_full || self.is_far_backed_up(out);
        out.hold_near(0, holds);
        self.end(out)
    }

    fn answer_list_tools(&mut self, out: &mut Out) {
        if self.list_requests.is_empty() {
            return;
        }
        if self.calls.are_all_over() || self.world.find_tools(out) {
            self.list_what_is_known(out);
        }
    }

    /// Whether a far side that is not reading has too many unsent bytes.
    fn is_far_backed_up(&self, out: &Out) -> bool {
        (0..self.calls.fars()).any(|far| out.unsent(Side::Far(far)) > MAX_UNSENT)
    }

    /// Answers requests for the list of tools with the known tools: every request gets an answer, even if no world is
    /// left.
    fn list_what_is_known(&mut self, out: &mut Out) {
        let tools = self.world.tools();
        let error = self.calls.loss_reasons();
        for request_id in self.list_requests.drain(..) {
            let request = ListTools { request_id: request_id.as_deref() };
            out.add_line(Side::NEAR, &request.answer(self.world.name(), &tools, error.as_deref()));
        }
    }

    /// Sends the calls that may be sent now.
    fn send(&mut self, out: &mut Out) {
        let Runtime { world, calls, settings, .. } = self;
        let room = |far| if calls.is_over(far) { 0 } else { settings.in_flight.saturating_sub(calls.in_flight(far)) };
        let mut room: Vec<usize> =
            (0..calls.fars()).map(|far| if world.takes_calls(far) { room(far) } else { 0 }).collect();
        if room.iter().all(|room| *room == 0) {
            return;
        }
        calls.send(|waiting| {
            let far = waiting.far;
            if room[far] == 0 {
                return room.iter().any(|room| *room > 0).then_some(SendResult::Later);
            }
            let timeout = time_limit(&waiting.call.call(), settings.timeout);
            let sending = world.send(far, &waiting.call, timeout, out);
            match sending {
                SendResult::Sent { .. } => room[far] -= 1,
                // Later calls to the same far side must not overtake it.
                SendResult::Later => room[far] = 0,
                SendResult::Refused(_) => {}
            }
            Some(sending)
        });
    }

    /// Ends the run when everything is answered and no more will come, or no far side is left.
    fn end(&mut self, out: &mut Out) -> Result<(), Failure> {
        let is_done =
            self.near_ended && self.calls.is_empty() && self.list_requests.is_empty() && !self.world.is_busy();
        let mut has_ended = is_done;
        for far in (0..self.calls.fars()).filter(|_| is_done) {
            if !self.calls.is_over(far) {
                has_ended &= self.world.ask_to_end(far, out);
            }
        }
        if !has_ended && !self.calls.is_linger_over(Instant::now()) {
            return Ok(());
        }
        match self.calls.take_failure() {
            Some(failure) => Err(failure),
            None => {
                out.stop(self.report.finish());
                Ok(())
            }
        }
    }
}

impl<W: World> Stage for Runtime<W> {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(Side::NEAR, piece) => self.take(&piece, out),
            Event::Closed(Side::NEAR) => self.near_ended = true,
            Event::Due => self.due(out)?,
            Event::Signal(_) => {
                let why = format!("{} was interrupted", self.report.command());
                self.calls.refuse_all(&self.refusal(Kind::Cancelled, why));
                self.list_what_is_known(out);
                self.world.on(event, &mut self.calls, out)?;
            }
            event => self.world.on(event, &mut self.calls, out)?,
        }
        self.after_event(out)
    }

    fn not_started(&mut self, far: usize, failure: Failure, out: &mut Out) -> Result<(), Failure> {
        self.world.not_started(far, failure, &mut self.calls, out);
        self.after_event(out)
    }

    fn deadline(&self) -> Option<Instant> {
        let world = if self.calls.are_all_over() { None } else { self.world.deadline() };
        [self.calls.deadline(), world, self.settings.deadline].into_iter().flatten().min()
    }
}
