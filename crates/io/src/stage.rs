//! A stage: the logic of a gate, a recorder or a proxy. The same stage runs as a filter in a pipe or between
//! two sides ([`between`](super::between)); it decides, and never uses a stream itself.

use super::between::Program;
use super::outgoing::Outgoing;
use super::report::{Failure, Status};
use super::sink::Progress;
use pipewright_lines::Piece;
use pipewright_sys::signal::Signal;
use std::collections::BTreeMap;
use std::io;
use std::process::ExitStatus;
use std::time::Instant;

/// The source or destination of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Our own stdin and stdout, with the number 0; or a client of a [`Listener`](super::between::Listener): these have
    /// numbers from 1 on, which are never reused. Output for a client that has disconnected is dropped.
    Near(usize),
    /// A child that we wrap: its stdout and stdin. The number is its index in
    /// [`Sides::far`](super::between::Sides::far), or what [`Out::add_far`] has returned.
    Far(usize),
    /// The stderr of the child with this number, if [`Sides::receives_errors`](super::between::Sides::receives_errors);
    /// output for it goes to our own stderr.
    FarError(usize),
    /// The person at the terminal.
    Person,
    /// A channel of answers ([`Sides::answers`](super::between::Sides::answers)); nothing can be sent there.
    Answers,
}

impl Side {
    /// Our own stdin and stdout.
    pub const NEAR: Side = Side::Near(0);
    /// The only child, or the first.
    pub const FAR: Side = Side::Far(0);
    /// The stderr of [`Side::FAR`].
    pub const FAR_ERROR: Side = Side::FarError(0);
}

/// An event for a stage.
#[derive(Debug)]
pub enum Event<'a> {
    /// The child of this far side was started (again).
    Started(usize),
    /// A client of a [`Listener`](super::between::Listener) has connected, as the near side with this number.
    Joined(usize),
    /// A line, or part of an over-long one.
    Piece(Side, Piece<'a>),
    /// A side will send nothing more. Each client that joined closes exactly once; it may still read, until the stage
    /// calls [`Out::close_near`] or the client is [`Event::Broken`].
    Closed(Side),
    /// A side cannot be written to any more: output for it is dropped. A client breaks at most once, before or after it
    /// has closed.
    Broken(Side, io::Error),
    /// The child of this far side has ended, and all its output has been delivered (output of a grandchild on the same
    /// stdout only if it came soon after).
    Exited(usize, ExitStatus),
    /// [`Stage::deadline`] has passed.
    Due,
    /// A signal requested the end; the run stops after this event.
    Signal(Signal),
    /// SIGHUP, if [`Sides::reopens`](super::between::Sides::reopens): files are to be reopened.
    Reopen,
}

/// Decides on all traffic.
pub trait Stage: Send {
    /// Takes one event, and puts the resulting output in `out`.
    ///
    /// # Errors
    /// A [`Failure`] ends the run with its status; the output of this call is still sent.
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure>;

    /// Called once for all events of one read, before any of their output is written: the place to
    /// make things durable.
    ///
    /// # Errors
    /// As [`Stage::on`].
    fn commit(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// A far side could not be started or restarted. The run ends with this failure, unless the stage has
    /// something to do first and returns `Ok`.
    ///
    /// # Errors
    /// As [`Stage::on`].
    fn not_started(&mut self, _far: usize, failure: Failure, _out: &mut Out) -> Result<(), Failure> {
        Err(failure)
    }

    /// Called last, after the child has ended and all possible output is written: the place for final accounts. `out`
    /// has the progress of the writes; output is not sent any more.
    fn end(&mut self, _out: &Out) {}

    /// When the next [`Event::Due`] is to come; called after every event.
    fn deadline(&self) -> Option<Instant> {
        None
    }
}

/// The size of output at which it is sent before more is decided.
const FLUSH_SIZE: usize = 1 << 20;
/// The size of our own lines, waiting for the end of a line that is passed on in parts, at which reading from the near
/// side pauses.
const MAX_HELD_LINES: usize = 8 << 20;

/// The output of a stage.
#[derive(Debug, Default)]
pub struct Out {
    /// The near sides that exist or have output, by number.
    nears: BTreeMap<usize, ToNear>,
    errors: Outgoing,
    person: Outgoing,
    /// The far sides that exist or have output.
    fars: BTreeMap<usize, ToFar>,
    /// The number of the next far side that is added.
    pub(super) next_far: usize,
    /// The far sides that are to be added, by number.
    pub(super) added: Vec<(usize, Program)>,
    /// For a filter in a pipe: all output goes to stdout, in order.
    joined: bool,
    /// Whether the hold of a near side has ended.
    pub(super) released: bool,
    /// Whether earlier output for our stderr waits for its reader.
    pub(super) errors_wait: bool,
    pub(super) stop: Option<Status>,
}

/// The output and requests for a near side.
#[derive(Debug, Default)]
pub(super) struct ToNear {
    pub(super) outgoing: Outgoing,
    /// What was sent to it before.
    pub(super) progress: Progress,
    hold: bool,
    pub(super) close: bool,
}

/// The output and requests for a far side.
#[derive(Debug, Default)]
pub(super) struct ToFar {
    pub(super) outgoing: Outgoing,
    /// What was sent to it before.
    pub(super) progress: Progress,
    /// Whether its reader is not reading, because it decides, or waits for our own reader.
    pub(super) waits: bool,
    pub(super) replace: Option<AfterEnd>,
    pub(super) close: bool,
}

/// What follows after a child is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AfterEnd {
    /// The child is restarted.
    Restart,
    /// Nothing. The stage may restart it later.
    End,
    /// Its far side is removed.
    Remove,
}

impl Out {
    /// For a filter in a pipe: all sides are stdout.
    pub(super) fn joined() -> Out {
        Out { joined: true, ..Out::default() }
    }

    /// Whether the stage is a filter in a pipe, without another side.
    pub fn is_pipe(&self) -> bool {
        self.joined
    }

    pub(super) fn near_mut(&mut self, near: usize) -> &mut ToNear {
        self.nears.entry(near).or_default()
    }

    /// Removes the near sides that are not `kept`.
    pub(super) fn keep_nears(&mut self, kept: impl Fn(usize) -> bool) {
        self.nears.retain(|&near, _| kept(near));
    }

    pub(super) fn far_mut(&mut self, far: usize) -> &mut ToFar {
        self.fars.entry(far).or_default()
    }

    /// Removes the far sides that are not `kept`.
    pub(super) fn keep_fars(&mut self, kept: impl Fn(usize) -> bool) {
        self.fars.retain(|&far, _| kept(far));
    }

    /// The output buffer for `side`; append to it to send. A stage that both passes lines on to a side and adds its
    /// own uses [`Out::pass`] and [`Out::add_line`] instead.
    pub fn to(&mut self, side: Side) -> &mut Vec<u8> {
        &mut self.outgoing(side).bytes
    }

    /// Passes a line, or a part of one, on to `side` unchanged.
    pub fn pass(&mut self, side: Side, piece: &Piece<'_>) {
        self.outgoing(side).pass(piece);
    }

    /// Adds a line of our own (`line` has no line feed) to the output for `side`: after the line that is passed on
    /// there in parts, and after a line feed if the last line had none.
    pub fn add_line(&mut self, side: Side, line: &str) {
        self.outgoing(side).add_line(line);
    }

    /// Drops all output.
    pub(super) fn clear(&mut self) {
        let nears = self.nears.values_mut().map(|near| &mut near.outgoing);
        let fars = self.fars.values_mut().map(|far| &mut far.outgoing);
        nears.chain(fars).chain([&mut self.errors, &mut self.person]).for_each(|side| side.bytes.clear());
    }

    /// Lines that are passed on in parts will not be continued: sends the lines that wait for their end.
    pub(super) fn give_up_parts(&mut self) {
        let nears = self.nears.values_mut().map(|near| &mut near.outgoing);
        let fars = self.fars.values_mut().map(|far| &mut far.outgoing);
        nears.chain(fars).chain([&mut self.errors, &mut self.person]).for_each(Outgoing::give_up_part);
    }

    fn outgoing(&mut self, side: Side) -> &mut Outgoing {
        match side {
            _ if self.joined => &mut self.near_mut(0).outgoing,
            Side::Near(near) => &mut self.near_mut(near).outgoing,
            Side::Far(far) => &mut self.far_mut(far).outgoing,
            Side::FarError(_) => &mut self.errors,
            Side::Person => &mut self.person,
            // Nothing can be sent to a channel of answers.
            Side::Answers => &mut self.near_mut(0).outgoing,
        }
    }

    /// The progress of earlier output for a side, and the size of its present output.
    fn sent_to(&self, side: Side) -> (Progress, usize) {
        let sent = match side {
            Side::Far(_) if self.joined => return self.sent_to(Side::NEAR),
            Side::Near(near) => self.nears.get(&near).map(|near| (near.progress, &near.outgoing)),
            Side::Far(far) => self.fars.get(&far).map(|far| (far.progress, &far.outgoing)),
            Side::FarError(_) => Some((Progress::default(), &self.errors)),
            Side::Person | Side::Answers => Some((Progress::default(), &self.person)),
        };
        sent.map_or((Progress::default(), 0), |(progress, outgoing)| (progress, outgoing.bytes.len()))
    }

    /// The number of bytes for a near or a far side that wait for a slow reader.
    pub fn unsent(&self, side: Side) -> usize {
        let (before, bytes) = self.sent_to(side);
        before.waiting + bytes
    }

    /// The number of bytes sent to a near or a far side so far, including unwritten ones.
    pub fn sent(&self, side: Side) -> u64 {
        let (before, bytes) = self.sent_to(side);
        before.appended + bytes as u64
    }

    /// The number of them that were written when this event came.
    pub fn written(&self, side: Side) -> u64 {
        self.sent_to(side).0.written
    }

    /// Whether output of a far side waits for a slow reader of ours: the far side may have sent more than we have
    /// received.
    pub fn far_waits(&self, far: usize) -> bool {
        let readers_wait = self.errors_wait || self.nears.values().any(|near| near.progress.is_behind());
        readers_wait && self.fars.get(&far).is_some_and(|far| far.waits)
    }

    /// The output buffer for the side opposite to `from`, of one near and one far side.
    pub fn opposite(&mut self, from: Side) -> &mut Vec<u8> {
        self.to(match from {
            Side::Near(_) => Side::FAR,
            Side::Far(_) | Side::Person | Side::Answers => Side::NEAR,
            Side::FarError(_) => Side::FAR_ERROR,
        })
    }

    /// Ends the child of a far side (if it still runs) and restarts it.
    pub fn respawn(&mut self, far: usize) {
        self.far_mut(far).replace = Some(AfterEnd::Restart);
    }

    /// Ends the child of a far side, if it still runs. The stage gets no [`Event::Exited`] for it.
    pub fn end_far(&mut self, far: usize) {
        self.far_mut(far).replace = Some(AfterEnd::End);
    }

    /// Ends a far side that is not restarted any more: all that is kept for it is removed. Its number is not reused.
    pub fn remove_far(&mut self, far: usize) {
        self.far_mut(far).replace = Some(AfterEnd::Remove);
    }

    /// Adds a program as a far side, which is started soon, and returns its number. Output for it before
    /// [`Event::Started`] is lost. Needs [`Sides::adds_far_sides`](super::between::Sides::adds_far_sides).
    pub fn add_far(&mut self, program: Program) -> usize {
        let far = self.next_far;
        self.added.push((far, program));
        self.next_far += 1;
        far
    }

    /// Closes a child's stdin after all output for it is written.
    pub fn close_far(&mut self, far: usize) {
        self.far_mut(far).close = true;
    }

    /// Stops reading a near side, so that its writer gets a broken pipe. A client is disconnected after all output for
    /// it is written.
    pub fn close_near(&mut self, near: usize) {
        self.near_mut(near).close = true;
    }

    /// Whether the stage has closed this near side.
    pub(super) fn closes_near(&self, near: usize) -> bool {
        self.nears.get(&near).is_some_and(|near| near.close)
    }

    /// Pauses or resumes reading from a near side: its writer blocks, and at most the lines of one read
    /// accumulate here.
    pub fn hold_near(&mut self, near: usize, hold: bool) {
        let held = std::mem::replace(&mut self.near_mut(near).hold, hold);
        self.released |= held && !hold;
    }

    /// Whether reading from this near side is paused.
    pub(super) fn holds_near(&self, near: usize) -> bool {
        self.nears.get(&near).is_some_and(|near| near.hold) || self.holds_all()
    }

    /// Whether reading from all near sides is paused, because too much waits for the end of a line.
    pub(super) fn holds_all(&self) -> bool {
        self.sides().any(|side| side.waiting() > MAX_HELD_LINES)
    }

    /// Ends the run: the output is written, and the child is ended.
    pub fn stop(&mut self, status: Status) {
        self.stop.get_or_insert(status);
    }

    /// Whether there is so much output that it should be sent before more is decided.
    pub(super) fn is_full(&self) -> bool {
        self.sides().map(|side| side.bytes.len()).sum::<usize>() >= FLUSH_SIZE
    }

    fn sides(&self) -> impl Iterator<Item = &Outgoing> {
        let nears = self.nears.values().map(|near| &near.outgoing);
        nears.chain(self.fars.values().map(|far| &far.outgoing)).chain([&self.errors, &self.person])
    }

    /// Whether the stage has ended the run.
    pub fn stopped(&self) -> bool {
        self.stop.is_some()
    }
}
