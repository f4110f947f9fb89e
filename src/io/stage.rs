//! A stage: what a gate, a recorder or a proxy does with what passes it. The same stage stands in a pipe or between
//! two sides ([`between`](super::between)); it decides, and never touches a stream itself.

use super::between::Program;
use super::lines::Piece;
use super::outgoing::Outgoing;
use super::report::{Failure, Status};
use super::signal::Signal;
use super::sink::Progress;
use std::collections::BTreeMap;
use std::io;
use std::process::ExitStatus;
use std::time::Instant;

/// Where something comes from or goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Whoever started us, over our stdin and stdout; or a client of a [`Listener`](super::between::Listener), the one that is
    /// chosen in [`Out::near`].
    Near,
    /// The child that we wrap: its stdout and stdin. With several, the one that is chosen in [`Out::far`].
    Far,
    /// The child's stderr, where [`Ends::hears_errors`](super::between::Ends::hears_errors); what is sent here goes to our own.
    FarError,
    /// The person at the terminal.
    Person,
    /// Whoever answers on a channel of their own ([`Ends::answers`](super::between::Ends::answers)); nothing can be sent there.
    Answers,
}

/// What a stage is told, one thing at a time.
#[derive(Debug)]
pub enum Event<'a> {
    /// The child was started (again).
    Started,
    /// A client of a [`Listener`](super::between::Listener) has connected: [`Out::near`] is its number.
    Joined,
    /// A line, or part of an over-long one.
    Piece(Side, Piece<'a>),
    /// A side will say nothing more. Each client that joined closes exactly once; it may still read, until the stage calls
    /// [`Out::close_near`] or the client is [`Event::Broken`].
    Closed(Side),
    /// A side takes nothing more: what is sent to it from now on is dropped. A client breaks at most once, before or after it
    /// has closed.
    Broken(Side, io::Error),
    /// The child has ended, and all that it said has been delivered (of what a grandchild says on its stdout, what came
    /// soon after).
    Exited(ExitStatus),
    /// [`Stage::deadline`] has passed.
    Due,
    /// We are asked to end; the run stops after this.
    Signal(Signal),
    /// SIGHUP, where [`Ends::reopens`](super::between::Ends::reopens): files are to be opened anew.
    Reopen,
}

/// Decides about everything that passes.
pub trait Stage: Send {
    /// Takes one event, and says in `out` what is to be sent where. Where there are several far sides, or clients, [`Out::far`] or
    /// [`Out::near`] is the one that the event is about.
    ///
    /// # Errors
    /// A [`Failure`] ends the run with its status; what this call said in `out` is still sent.
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure>;

    /// Called once for all events of one read, before anything that was said about them leaves: the place to
    /// make things durable.
    ///
    /// # Errors
    /// As [`Stage::on`].
    fn commit(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// The far side could not be started, or not started again: why. The run ends with this failure, unless the stage has
    /// something to do first and gives none.
    ///
    /// # Errors
    /// As [`Stage::on`].
    fn not_started(&mut self, failure: Failure, _out: &mut Out) -> Result<(), Failure> {
        Err(failure)
    }

    /// Called last, when the child has ended and all that can still be written is: the place to close accounts. `out` says
    /// how much was written; what is sent now goes nowhere.
    fn end(&mut self, _out: &Out) {}

    /// When to be woken by [`Event::Due`] next; asked after every event.
    fn deadline(&self) -> Option<Instant> {
        None
    }
}

/// So much is decided before it is sent.
const FULL: usize = 1 << 20;
/// Of our own lines, so much may wait for the end of a line that is passed on in parts, before the near side is read no
/// further.
const MUCH: usize = 8 << 20;

/// What a stage wants done.
#[derive(Debug, Default)]
pub struct Out {
    /// Those that are there, or have been sent anything, by number.
    nears: BTreeMap<usize, ToNear>,
    /// The near side that [`Side::Near`] means.
    near_at: usize,
    errors: Outgoing,
    person: Outgoing,
    /// As many as there are, or as have been sent anything.
    fars: Vec<ToFar>,
    /// The far side that [`Side::Far`] means.
    far_at: usize,
    /// So many far sides there are, with those that are to be added.
    pub(super) far_count: usize,
    /// The programs of the far sides that are to be added.
    pub(super) added: Vec<Program>,
    /// In a plain pipe everything goes to stdout, in the order in which it was said.
    joined: bool,
    /// A near side that was held is held no longer.
    pub(super) released: bool,
    /// What was sent to our stderr before waits for its reader.
    pub(super) errors_wait: bool,
    pub(super) stop: Option<Status>,
}

/// What is wanted of a near side.
#[derive(Debug, Default)]
pub(super) struct ToNear {
    pub(super) outgoing: Outgoing,
    /// What was sent to it before.
    pub(super) progress: Progress,
    hold: bool,
    pub(super) close: bool,
}

/// What is wanted of a far side.
#[derive(Debug, Default)]
pub(super) struct ToFar {
    pub(super) outgoing: Outgoing,
    /// What was sent to it before.
    pub(super) progress: Progress,
    /// Its reader is not reading: it decides, or waits for whoever reads us.
    pub(super) waits: bool,
    pub(super) replace: Option<Replace>,
    pub(super) close: bool,
}

/// What comes in place of a child that is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replace {
    /// It is started anew.
    Anew,
    /// Nothing.
    Never,
}

impl Out {
    /// For a plain pipe: all sides are stdout.
    pub(super) fn joined() -> Out {
        Out { joined: true, ..Out::default() }
    }

    /// Whether it is a plain pipe, with nobody on the other side.
    pub fn is_pipe(&self) -> bool {
        self.joined
    }

    /// The far side that [`Side::Far`] means, in the order of [`Ends::far`](super::between::Ends::far): the one that the event is
    /// about, else the first, or the one that the stage has chosen.
    pub fn far(&self) -> usize {
        self.far_at
    }

    /// Chooses the far side that [`Side::Far`] means until the end of the event.
    pub fn choose_far(&mut self, far: usize) {
        self.far_at = far;
    }

    /// The near side that [`Side::Near`] means: 0 is our own stdin and stdout; the clients of a
    /// [`Listener`](super::between::Listener) have numbers from 1 on, and none is used again. It is the one that the event is
    /// about, else 0, or the one that the stage has chosen. What is sent to a client that has gone is dropped.
    pub fn near(&self) -> usize {
        self.near_at
    }

    /// Chooses the near side that [`Side::Near`] means until the end of the event.
    pub fn choose_near(&mut self, near: usize) {
        self.near_at = near;
    }

    pub(super) fn near_mut(&mut self, near: usize) -> &mut ToNear {
        self.nears.entry(near).or_default()
    }

    /// Drops what is wanted of the near sides that are not `kept`.
    pub(super) fn keep_nears(&mut self, kept: impl Fn(usize) -> bool) {
        self.nears.retain(|&near, _| kept(near));
    }

    pub(super) fn far_mut(&mut self, far: usize) -> &mut ToFar {
        if self.fars.len() <= far {
            self.fars.resize_with(far + 1, ToFar::default);
        }
        &mut self.fars[far]
    }

    /// What is waiting to be sent to `side`; append to it to send. Where a stage both passes lines on to a side and adds its
    /// own, it uses [`Out::pass`] and [`Out::add_line`] instead.
    pub fn to(&mut self, side: Side) -> &mut Vec<u8> {
        &mut self.outgoing(side).bytes
    }

    /// Passes a line, or a part of one, on to `side` as it came.
    pub fn pass(&mut self, side: Side, piece: &Piece<'_>) {
        self.outgoing(side).pass(piece);
    }

    /// Adds a line of our own, without its line feed, to what is sent to `side`: behind the line that is passing there in
    /// parts, and on a line of its own where the last one had no line feed.
    pub fn add_line(&mut self, side: Side, line: &str) {
        self.outgoing(side).add_line(line);
    }

    /// Drops what is waiting to be sent to any side.
    pub(super) fn clear(&mut self) {
        let nears = self.nears.values_mut().map(|near| &mut near.outgoing);
        let fars = self.fars.iter_mut().map(|far| &mut far.outgoing);
        nears.chain(fars).chain([&mut self.errors, &mut self.person]).for_each(|side| side.bytes.clear());
    }

    /// Lines that are passing in parts will not be continued: what waits for their end is sent.
    pub(super) fn give_up_parts(&mut self) {
        let nears = self.nears.values_mut().map(|near| &mut near.outgoing);
        let fars = self.fars.iter_mut().map(|far| &mut far.outgoing);
        nears.chain(fars).chain([&mut self.errors, &mut self.person]).for_each(Outgoing::give_up_part);
    }

    fn outgoing(&mut self, side: Side) -> &mut Outgoing {
        match side {
            _ if self.joined => &mut self.near_mut(0).outgoing,
            // Nothing can be sent to who answers.
            Side::Near | Side::Answers => &mut self.near_mut(self.near_at).outgoing,
            Side::Far => &mut self.far_mut(self.far_at).outgoing,
            Side::FarError => &mut self.errors,
            Side::Person => &mut self.person,
        }
    }

    /// What was sent to the near or a far side before, and what is to be sent.
    fn sent_to(&self, side: Side) -> (Progress, usize) {
        let sent = match side {
            Side::Far if !self.joined => self.fars.get(self.far_at).map(|far| (far.progress, &far.outgoing)),
            Side::Near | Side::Far => self.nears.get(&self.near_at).map(|near| (near.progress, &near.outgoing)),
            Side::FarError => Some((Progress::default(), &self.errors)),
            Side::Person | Side::Answers => Some((Progress::default(), &self.person)),
        };
        sent.map_or((Progress::default(), 0), |(progress, outgoing)| (progress, outgoing.bytes.len()))
    }

    /// How much that was said to the near or the far side waits for a reader that takes its time.
    pub fn unsent(&self, side: Side) -> usize {
        let (before, bytes) = self.sent_to(side);
        before.waiting + bytes
    }

    /// How many bytes have been sent to the near or the far side so far, with those that are still to be written.
    pub fn sent(&self, side: Side) -> u64 {
        let (before, bytes) = self.sent_to(side);
        before.appended + bytes as u64
    }

    /// How many of them had been written when this event came.
    pub fn written(&self, side: Side) -> u64 {
        self.sent_to(side).0.written
    }

    /// Whether what the far side has said waits for a reader of ours that takes its time: it may have said more than we have
    /// heard.
    pub fn far_waits(&self) -> bool {
        let readers_wait = self.errors_wait || self.nears.values().any(|near| near.progress.is_behind());
        readers_wait && self.fars.get(self.far_at).is_some_and(|far| far.waits)
    }

    /// What is waiting to be sent on to the other side of what came from `from`.
    pub fn onward(&mut self, from: Side) -> &mut Vec<u8> {
        self.to(match from {
            Side::Near => Side::Far,
            Side::Far | Side::Person | Side::Answers => Side::Near,
            Side::FarError => Side::FarError,
        })
    }

    /// Ends the child (where it still runs) and starts it anew.
    pub fn respawn(&mut self) {
        self.far_mut(self.far_at).replace = Some(Replace::Anew);
    }

    /// Ends the child, where it still runs. The stage gets no [`Event::Exited`] of it.
    pub fn end_far(&mut self) {
        self.far_mut(self.far_at).replace = Some(Replace::Never);
    }

    /// Adds a program as a far side, which is started soon, and gives its number. What is sent to it before [`Event::Started`] is lost. Needs
    /// [`Ends::adds_far_sides`](super::between::Ends::adds_far_sides).
    pub fn add_far(&mut self, program: Program) -> usize {
        self.added.push(program);
        self.far_count += 1;
        self.far_count - 1
    }

    /// Closes the child's stdin once all that was sent to it is written.
    pub fn close_far(&mut self) {
        self.far_mut(self.far_at).close = true;
    }

    /// Reads no more of the near side: whoever still writes to us finds the pipe closed. A client is disconnected once all that
    /// was sent to it is written.
    pub fn close_near(&mut self) {
        self.near_mut(self.near_at).close = true;
    }

    /// Whether the stage has closed this near side.
    pub(super) fn closes_near(&self, near: usize) -> bool {
        self.nears.get(&near).is_some_and(|near| near.close)
    }

    /// Reads the near side no further until this is taken back: whoever writes to us waits, and no more piles up here than
    /// what one read brought.
    pub fn hold_near(&mut self, hold: bool) {
        let held = std::mem::replace(&mut self.near_mut(self.near_at).hold, hold);
        self.released |= held && !hold;
    }

    /// Whether this near side is to be read no further for now.
    pub(super) fn holds_near(&self, near: usize) -> bool {
        self.nears.get(&near).is_some_and(|near| near.hold) || self.holds_all()
    }

    /// Whether no near side is to be read for now: too much waits for the end of a line.
    pub(super) fn holds_all(&self) -> bool {
        self.sides().any(|side| side.waiting() > MUCH)
    }

    /// Ends the run: what was sent is written, the child is ended.
    pub fn stop(&mut self, status: Status) {
        self.stop.get_or_insert(status);
    }

    /// Whether so much is waiting that it is better sent before more is decided.
    pub(super) fn is_full(&self) -> bool {
        self.sides().map(|side| side.bytes.len()).sum::<usize>() >= FULL
    }

    fn sides(&self) -> impl Iterator<Item = &Outgoing> {
        let nears = self.nears.values().map(|near| &near.outgoing);
        nears.chain(self.fars.iter().map(|far| &far.outgoing)).chain([&self.errors, &self.person])
    }

    /// Whether the run has been told to end.
    pub fn stopped(&self) -> bool {
        self.stop.is_some()
    }
}
