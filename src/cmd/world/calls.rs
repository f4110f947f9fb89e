//! The unanswered calls of a world: the order of their answers, the far side that works on each, and its deadline.

use super::far_side::{FarSide, FarSideLoss, MAX_LINGER, SentCall};
use super::queue::{Queue, Queued};
use super::restarts::Restarts;
use super::times::Times;
use crate::cmd::refusal::Refusal;
use pipewright_io::report::{Failure, Report};
use pipewright_record::{Call, OwnedCall};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A call that was sent: the index of its far side, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FarCall {
    pub far: usize,
    pub id: u64,
}

/// The result of sending a call.
pub enum SendResult {
    /// The call was sent under this number. Without a `timeout`, the world itself enforces the time limit.
    Sent { id: u64, timeout: Option<Duration>, is_repeatable: bool },
    /// The call is not sent.
    Refused(Refusal),
    /// The call cannot be sent now.
    Later,
}

/// What was cancelled.
pub(super) enum CancelResult {
    /// A call that was sent under this number.
    Sent(FarCall),
    /// A call that was not sent.
    Unsent,
    /// Nothing: no call has this id.
    Unknown,
}

/// A call without an answer.
pub struct WaitingCall {
    pub call: OwnedCall,
    /// The index of its far side.
    pub far: usize,
    /// Its number at the far side, after it was sent.
    number: Option<FarCall>,
    /// When it was first sent.
    sent_at: Option<Instant>,
    /// Whether it is sent once more, since the far side has not carried it out.
    is_sent_once_more: bool,
}

/// A line of the near side, until its answer is written.
enum Line {
    Call(WaitingCall),
    /// The answer to write, with its line feed.
    Ready(Vec<u8>),
}

impl Line {
    fn ready(answer: &str) -> Line {
        Line::Ready(format!("{answer}\n").into_bytes())
    }

    /// An answer to a call; empty for a JSON-RPC notification.
    fn answer(call: &Call<'_>, answer: &str) -> Line {
        if call.wants_answer() { Line::ready(answer) } else { Line::Ready(Vec::new()) }
    }
}

impl Queued for Line {
    fn call(&self) -> Option<&OwnedCall> {
        match self {
            Line::Call(waiting) => Some(&waiting.call),
            Line::Ready(_) => None,
        }
    }

    fn size(&self) -> usize {
        match self {
            Line::Call(waiting) => waiting.call.size(),
            Line::Ready(line) => line.len(),
        }
    }
}

/// The calls of a world.
pub struct Calls {
    lines: Queue<Line>,
    /// The number of lines at the front that contain no unsent call.
    settled: usize,
    fars: Vec<FarSide>,
    /// Whether answers are written as they come, not in the order of the calls.
    unordered: bool,
    report: Arc<Report>,
}

impl Calls {
    /// `fars` has the restarts of each far side; `None` if it is never restarted.
    pub fn new(fars: impl IntoIterator<Item = Option<Restarts>>, unordered: bool, report: Arc<Report>) -> Calls {
        let fars = fars.into_iter().map(FarSide::new).collect();
        Calls { lines: Queue::default(), settled: 0, fars, unordered, report }
    }

    /// The number of far sides.
    pub fn fars(&self) -> usize {
        self.fars.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.fars.iter().all(|far| far.flights.is_empty())
    }

    /// Whether reading should pause.
    pub fn is_full(&self) -> bool {
        self.lines.is_full()
    }

    pub fn restarts(&mut self, far: usize) -> Option<&mut Restarts> {
        self.fars[far].restarts.as_mut()
    }

    /// How often a far side was restarted; `None` if it is never restarted.
    pub fn epoch(&self, far: usize) -> Option<u64> {
        self.fars[far].restarts.as_ref().map(Restarts::epoch)
    }

    /// The number of calls that a far side works on.
    pub fn in_flight(&self, far: usize) -> usize {
        self.fars[far].flights.len()
    }

    /// The number of the call at a far side, if it works on exactly one.
    pub fn only_flight(&self, far: usize) -> Option<u64> {
        let flights = &self.fars[far].flights;
        flights.keys().next().filter(|_| flights.len() == 1).copied()
    }

    fn sent(&self, number: FarCall) -> Option<&WaitingCall> {
        self.lines.iter().find_map(|line| match line {
            Line::Call(waiting) if waiting.number == Some(number) => Some(waiting),
            _ => None,
        })
    }

    /// The call that was sent under this number.
    pub fn call(&self, number: FarCall) -> Option<&OwnedCall> {
        self.sent(number).map(|waiting| &waiting.call)
    }

    /// When it was sent.
    pub fn sent_at(&self, number: FarCall) -> Option<Instant> {
        self.sent(number)?.sent_at
    }

    /// A line came, so more may follow: extends the time until far sides that are lost permanently end the run.
    pub(super) fn extend_linger(&mut self) {
        for over in self.fars.iter_mut().filter_map(|far| far.over.as_mut()) {
            over.until = (Instant::now() + over.patience).min(over.latest);
        }
    }

    /// Adds a call.
    pub(super) fn push(&mut self, far: usize, call: &Call<'_>) {
        self.lines.push(Line::Call(WaitingCall {
            call: call.into(),
            far,
            number: None,
            sent_at: None,
            is_sent_once_more: false,
        }));
    }

    /// Adds a line that is passed on unchanged.
    pub(super) fn push_passed(&mut self, raw: &[u8]) {
        let mut raw = raw.to_vec();
        if !raw.ends_with(b"\n") {
            raw.push(b'\n');
        }
        self.lines.push(Line::Ready(raw));
    }

    /// Adds the answer to a line, without its line feed.
    pub(super) fn push_ready(&mut self, answer: &str) {
        self.lines.push(Line::ready(answer));
    }

    /// Adds a call that is refused immediately.
    pub(super) fn push_refused(&mut self, far: usize, call: &Call<'_>, refusal: &Refusal) {
        let times = Times { sent_at: None, epoch: self.epoch(far) };
        self.lines.push(Line::answer(call, &times.refuse(call, refusal)));
    }

    /// Passes each unsent call to `send`, in order, until `send` returns `None`.
    pub(super) fn send(&mut self, mut send: impl FnMut(&WaitingCall) -> Option<SendResult>) {
        let Calls { lines, settled, fars, report, .. } = self;
        let mut all_settled = true;
        lines.change(*settled, |line| {
            let is_settled = match line {
                Line::Call(waiting) if waiting.number.is_none() => match send(waiting) {
                    None => return ControlFlow::Break(()),
                    Some(SendResult::Later) => false,
                    Some(SendResult::Refused(refusal)) => {
                        report.fail();
                        *line = refused(waiting, &refusal, fars);
                        true
                    }
                    Some(SendResult::Sent { id, timeout, is_repeatable }) => {
                        waiting.number = Some(FarCall { far: waiting.far, id });
                        waiting.sent_at.get_or_insert_with(Instant::now);
                        let until = timeout.map(|timeout| Instant::now() + timeout);
                        fars[waiting.far].insert(id, SentCall { timeout, until, is_repeatable });
                        true
                    }
                },
                _ => true,
            };
            all_settled &= is_settled;
            *settled += usize::from(all_settled);
            ControlFlow::Continue(())
        });
    }

    /// Answers the call that was sent under this number; false if it already has an answer.
    pub fn answer(&mut self, number: FarCall, answer: impl FnOnce(&Call<'_>, Times) -> String) -> bool {
        if self.fars[number.far].remove(number.id).is_none() {
            return false;
        }
        let (fars, mut answer) = (&self.fars, Some(answer));
        self.lines.change(0, |line| match line {
            Line::Call(waiting) if waiting.number == Some(number) => {
                if let Some(answer) = answer.take() {
                    let call = waiting.call.call();
                    *line = Line::answer(&call, &answer(&call, times(waiting, fars)));
                }
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        });
        true
    }

    /// Refuses the call that was sent under this number; false if it already has an answer.
    pub fn refuse(&mut self, number: FarCall, refusal: &Refusal) -> bool {
        let found = self.answer(number, |call, times| times.refuse(call, refusal));
        if found {
            self.report.fail();
        }
        found
    }

    /// Refuses the calls for which `is_it` is true; returns whether there were any.
    fn refuse_those(&mut self, is_it: impl Fn(&WaitingCall) -> bool, refusal: &Refusal) -> bool {
        let (fars, mut any) = (&mut self.fars, false);
        self.lines.change(0, |line| {
            if let Line::Call(waiting) = line
                && is_it(waiting)
            {
                any = true;
                waiting.number.map(|FarCall { far, id }| fars[far].remove(id));
                *line = refused(waiting, refusal, fars);
            }
            ControlFlow::Continue(())
        });
        any
    }

    /// Refuses every call without an answer; returns whether there were any.
    pub fn refuse_all(&mut self, refusal: &Refusal) -> bool {
        self.refuse_those(|_| true, refusal)
    }

    /// Refuses the call with this id (JSON text).
    pub(super) fn cancel(&mut self, id: &str, refusal: &Refusal) -> CancelResult {
        let Some(position) = self.lines.position(id) else { return CancelResult::Unknown };
        let (fars, mut index, mut number) = (&self.fars, 0, None);
        self.lines.change(0, |line| {
            if let Line::Call(waiting) = line
                && index == position
            {
                number = waiting.number;
                *line = refused(waiting, refusal, fars);
            }
            index += 1;
            if index > position { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.report.fail();
        let Some(FarCall { far, id }) = number else { return CancelResult::Unsent };
        self.fars[far].remove(id);
        CancelResult::Sent(FarCall { far, id })
    }

    /// Changes the number of a call that was sent, and restarts its time limit.
    pub fn renumber(&mut self, number: FarCall, again: FarCall) {
        if let Some(flight) = self.fars[number.far].remove(number.id) {
            let until = flight.timeout.map(|timeout| Instant::now() + timeout);
            self.fars[again.far].insert(again.id, SentCall { until, ..flight });
            self.set_number(number, Some(again));
        }
    }

    fn set_number(&mut self, number: FarCall, again: Option<FarCall>) {
        self.lines.change(0, |line| match line {
            Line::Call(waiting) if waiting.number == Some(number) => {
                waiting.number = again;
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        });
    }

    /// The far side is about to be lost, and has certainly not carried out this call: it is sent once more after a
    /// restart. The second time, it is refused like a call that was not sent.
    pub fn send_once_more(&mut self, number: FarCall) {
        let Some(flight) = self.fars[number.far].flights.get_mut(&number.id) else { return };
        self.lines.change(0, |line| match line {
            Line::Call(waiting) if waiting.number == Some(number) => {
                flight.is_repeatable |= !std::mem::replace(&mut waiting.is_sent_once_more, true);
                waiting.sent_at = None;
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        });
    }

    /// Stops the clock of a call that waits for something other than the far side.
    pub fn suspend(&mut self, number: FarCall) {
        let far = &mut self.fars[number.far];
        if let Some(flight) = far.remove(number.id) {
            far.insert(number.id, SentCall { until: None, ..flight });
        }
    }

    /// Restarts the time limits of a far side's calls: it was not the far side that was late.
    pub fn restart_timeouts(&mut self, far: usize) {
        let (now, far) = (Instant::now(), &mut self.fars[far]);
        for (_, id) in std::mem::take(&mut far.deadlines) {
            if let Some(flight) = far.flights.get_mut(&id) {
                flight.until = flight.timeout.map(|timeout| now + timeout);
                far.deadlines.extend(flight.until.map(|until| (until, id)));
            }
        }
    }

    /// Gives late calls time until `until`.
    pub(super) fn postpone(&mut self, far: usize, now: Instant, until: Instant) {
        for FarCall { id, .. } in self.late(far, now) {
            let far = &mut self.fars[far];
            if let Some(flight) = far.remove(id) {
                far.insert(id, SentCall { until: Some(until), ..flight });
            }
        }
    }

    /// The calls of a far side whose time has passed.
    pub(super) fn late(&self, far: usize, now: Instant) -> Vec<FarCall> {
        let deadlines = self.fars[far].deadlines.iter();
        deadlines.take_while(|(until, _)| *until <= now).map(|(_, id)| FarCall { far, id: *id }).collect()
    }

    /// A far side was lost. Its calls are refused, except repeatable ones if it `is_restarted`.
    pub fn far_side_lost(&mut self, far: usize, refusal: &Refusal, is_restarted: bool) {
        let lost: Vec<(u64, bool)> =
            self.fars[far].flights.iter().map(|(id, flight)| (*id, flight.is_repeatable)).collect();
        for (id, is_repeatable) in lost {
            if is_restarted && is_repeatable {
                self.fars[far].remove(id);
                self.set_number(FarCall { far, id }, None);
                self.settled = 0;
            } else {
                self.refuse(FarCall { far, id }, refusal);
            }
        }
    }

    /// A far side is lost permanently: calls for it are refused. After all far sides are lost, the run ends with
    /// `failure` when no call comes for `patience`: calls may be on their way.
    pub fn give_up(&mut self, far: usize, refusal: Refusal, failure: Failure, patience: Duration) {
        let now = Instant::now();
        let (until, latest) = (now + patience, now + MAX_LINGER);
        self.fars[far].over = Some(FarSideLoss { refusal, failure, patience, until, latest, was_needed: false });
    }

    /// Whether a far side is lost permanently.
    pub fn is_over(&self, far: usize) -> bool {
        self.fars[far].over.is_some()
    }

    /// Why far sides are lost permanently.
    pub fn loss_reasons(&self) -> Option<String> {
        let why: Vec<&str> = self.fars.iter().filter_map(|far| Some(&*far.over.as_ref()?.failure.message)).collect();
        (!why.is_empty()).then(|| why.join("; "))
    }

    /// Whether all far sides are lost permanently.
    pub fn are_all_over(&self) -> bool {
        self.fars.iter().all(|far| far.over.is_some())
    }

    /// Refuses the calls for far sides that are lost permanently.
    pub(super) fn refuse_over(&mut self) {
        for far in 0..self.fars.len() {
            let Some(refusal) = self.fars[far].over.as_ref().map(|over| over.refusal.clone()) else { continue };
            if self.refuse_those(|waiting| waiting.far == far, &refusal) {
                self.report.fail();
                if let Some(over) = &mut self.fars[far].over {
                    over.was_needed = true;
                }
            }
        }
    }

    /// Whether all far sides are lost permanently and the wait for further calls is over.
    pub(super) fn is_linger_over(&self, now: Instant) -> bool {
        self.fars.iter().all(|far| far.over.as_ref().is_some_and(|over| over.until <= now))
    }

    /// The failure that ends the run after far sides are lost; of several far sides, only one that was needed counts.
    pub(super) fn take_failure(&mut self) -> Option<Failure> {
        let is_one_of_several = self.fars.len() > 1;
        let over = self.fars.iter_mut().filter_map(|far| far.over.take());
        over.filter(|over| over.was_needed || !is_one_of_several).map(|over| over.failure).next()
    }

    /// The next deadline of a call, a restart, or the run.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let calls = self.fars.iter().filter_map(|far| far.deadlines.first().map(|(until, _)| *until));
        let alive = self.fars.iter().filter(|far| far.over.is_none());
        let restarts = alive.filter_map(|far| far.restarts.as_ref()?.deadline());
        // The end of the run, if no far side is left.
        let over = self.fars.iter().map(|far| far.over.as_ref().map(|over| over.until));
        let end = if over.clone().all(|until| until.is_some()) { over.max().flatten() } else { None };
        calls.chain(restarts).chain(end).min()
    }

    /// Moves the answers that may be written to `to`.
    pub(super) fn drain(&mut self, to: &mut Vec<u8>) {
        let leave = |line| {
            if let Line::Ready(mut line) = line {
                to.append(&mut line);
            }
        };
        if self.unordered {
            self.settled = 0;
            return self.lines.take(|line| matches!(line, Line::Ready(_)), leave);
        }
        let mut leave = leave;
        while matches!(self.lines.first(), Some(Line::Ready(_))) {
            self.lines.pop().map(&mut leave);
            self.settled = self.settled.saturating_sub(1);
        }
    }
}

fn times(waiting: &WaitingCall, fars: &[FarSide]) -> Times {
    Times { sent_at: waiting.sent_at, epoch: fars[waiting.far].restarts.as_ref().map(Restarts::epoch) }
}

fn refused(waiting: &WaitingCall, refusal: &Refusal, fars: &[FarSide]) -> Line {
    let call = waiting.call.call();
    Line::answer(&call, &times(waiting, fars).refuse(&call, refusal))
}
