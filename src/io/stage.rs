//! A stage: the logic of a gate, a recorder or a proxy. The same stage runs as a filter in a pipe or between
//! two sides ([`between`](super::between)); it decides, and never uses a stream itself.

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

/// The source or destination of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Our stdin and stdout; or a client of a [`Listener`](super::between::Listener), the one that is
    /// chosen in [`Out::near`].
    Near,
    /// The child that we wrap: its stdout and stdin. With several, the one that is chosen in [`Out::far`].
    Far,
    /// The child's stderr, if [`Ends::receives_errors`](super::between::Ends::receives_errors); output for it goes to our own stderr.
    FarError,
    /// The person at the terminal.
    Person,
    /// A channel of answers ([`Ends::answers`](super::between::Ends::answers)); nothing can be sent there.
    Answers,
}

/// An event for a stage.
#[derive(Debug)]
pub enum Event<'a> {
    /// The child was started (again).
    Started,
    /// A client of a [`Listener`](super::between::Listener) has connected: [`Out::near`] is its number.
    Joined,
    /// A line, or part of an over-long one.
    Piece(Side, Piece<'a>),
    /// A side will send nothing more. Each client that joined closes exactly once; it may still read, until the stage calls
    /// [`Out::close_near`] or the client is [`Event::Broken`].
    Closed(Side),
    /// A side cannot be written to any more: output for it is dropped. A client breaks at most once, before or after it
    /// has closed.
    Broken(Side, io::Error),
    /// The child has ended, and all its output has been delivered (output of a grandchild on the same stdout only if it came
    /// soon after).
    Exited(ExitStatus),
    /// [`Stage::deadline`] has passed.
    Due,
    /// A signal requested the end; the run stops after this event.
    Signal(Signal),
    /// SIGHUP, if [`Ends::reopens`](super::between::Ends::reopens): files are to be reopened.
    Reopen,
}

/// Decides on all traffic.
pub trait Stage: Send {
    /// Takes one event, and puts the resulting output in `out`. With several far sides, or clients, [`Out::far`] or
    /// [`Out::near`] is the one that the event is about.
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

    /// The far side could not be started or restarted. The run ends with this failure, unless the stage has
    /// something to do first and returns `Ok`.
    ///
    /// # Errors
    /// As [`Stage::on`].
    fn not_started(&mut self, failure: Failure, _out: &mut Out) -> Result<(), Failure> {
        Err(failure)
    }

    /// Called last, after the child has ended and all possible output is written: the place for final accounts. `out` has
    /// the progress of the writes; output is not sent any more.
    fn end(&mut self, _out: &Out) {}

    /// When the next [`Event::Due`] is to come; called after every event.
    fn deadline(&self) -> Option<Instant> {
        None
    }
}

/// The size of output at which it is sent before more is decided.
const FULL: usize = 1 << 20;
/// The size of our own lines, waiting for the end of a line that is passed on in parts, at which reading from the near side
/// pauses.
const MUCH: usize = 8 << 20;

/// The output of a stage.
#[derive(Debug, Default)]
pub struct Out {
    /// The near sides that exist or have output, by number.
    nears: BTreeMap<usize, ToNear>,
    /// The near side that [`Side::Near`] stands for.
    near_at: usize,
    errors: Outgoing,
    person: Outgoing,
    /// The far sides that exist or have output.
    fars: BTreeMap<usize, ToFar>,
    /// The far side that [`Side::Far`] stands for.
    far_at: usize,
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
    pub(super) replace: Option<Replace>,
    pub(super) close: bool,
}

/// What follows after a child is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replace {
    /// It is restarted.
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

    /// The number of the far side that [`Side::Far`] stands for: its index in [`Ends::far`](super::between::Ends::far), or what
    /// [`Out::add_far`] has returned. By default it is the one that the event is about, or the first; otherwise the one that the stage has chosen.
    pub fn far(&self) -> usize {
        self.far_at
    }

    /// Chooses the far side that [`Side::Far`] stands for until the end of the event.
    pub fn choose_far(&mut self, far: usize) {
        self.far_at = far;
    }

    /// The near side that [`Side::Near`] stands for: 0 is our own stdin and stdout; the clients of a
    /// [`Listener`](super::between::Listener) have numbers from 1 on, which are never reused. By default it is the one that the
    /// event is about, or 0; otherwise the one that the stage has chosen. Output for a client that has disconnected is dropped.
    pub fn near(&self) -> usize {
        self.near_at
    }

    /// Chooses the near side that [`Side::Near`] stands for until the end of the event.
    pub fn choose_near(&mut self, near: usize) {
        self.near_at = near;
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

    /// Adds a line of our own (`line` has no line feed) to the output for `side`: after the line that is passed on there in
    /// parts, and after a line feed if the last line had none.
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
            // Nothing can be sent to a channel of answers.
            Side::Near | Side::Answers => &mut self.near_mut(self.near_at).outgoing,
            Side::Far => &mut self.far_mut(self.far_at).outgoing,
            Side::FarError => &mut self.errors,
            Side::Person => &mut self.person,
        }
    }

    /// The progress of earlier output for a side, and the size of its present output.
    fn sent_to(&self, side: Side) -> (Progress, usize) {
        let sent = match side {
            Side::Far if !self.joined => self.fars.get(&self.far_at).map(|far| (far.progress, &far.outgoing)),
            Side::Near | Side::Far => self.nears.get(&self.near_at).map(|near| (near.progress, &near.outgoing)),
            Side::FarError => Some((Progress::default(), &self.errors)),
            Side::Person | Side::Answers => Some((Progress::default(), &self.person)),
        };
        sent.map_or((Progress::default(), 0), |(progress, outgoing)| (progress, outgoing.bytes.len()))
    }

    /// The number of bytes for the near or the far side that wait for a slow reader.
    pub fn unsent(&self, side: Side) -> usize {
        let (before, bytes) = self.sent_to(side);
        before.waiting + bytes
    }

    /// The number of bytes sent to the near or the far side so far, including unwritten ones.
    pub fn sent(&self, side: Side) -> u64 {
        let (before, bytes) = self.sent_to(side);
        before.appended + bytes as u64
    }

    /// The number of them that were written when this event came.
    pub fn written(&self, side: Side) -> u64 {
        self.sent_to(side).0.written
    }

    /// Whether output of the far side waits for a slow reader of ours: the far side may have sent more than we have
    /// received.
    pub fn far_waits(&self) -> bool {
        let readers_wait = self.errors_wait || self.nears.values().any(|near| near.progress.is_behind());
        readers_wait && self.fars.get(&self.far_at).is_some_and(|far| far.waits)
    }

    /// The output buffer for the side opposite to `from`.
    pub fn onward(&mut self, from: Side) -> &mut Vec<u8> {
        self.to(match from {
            Side::Near => Side::Far,
            Side::Far | Side::Person | Side::Answers => Side::Near,
            Side::FarError => Side::FarError,
        })
    }

    /// Ends the child (if it still runs) and restarts it.
    pub fn respawn(&mut self) {
        self.far_mut(self.far_at).replace = Some(Replace::Restart);
    }

    /// Ends the child, if it still runs. The stage gets no [`Event::Exited`] for it.
    pub fn end_far(&mut self) {
        self.far_mut(self.far_at).replace = Some(Replace::End);
    }

    /// The same for a far side that is not restarted any more: all that is kept for it is removed. Its number is not reused.
    pub fn remove_far(&mut self) {
        self.far_mut(self.far_at).replace = Some(Replace::Remove);
    }

    /// Adds a program as a far side, which is started soon, and returns its number. Output for it before [`Event::Started`] is lost.
    /// Needs [`Ends::adds_far_sides`](super::between::Ends::adds_far_sides).
    pub fn add_far(&mut self, program: Program) -> usize {
        let far = self.next_far;
        self.added.push((far, program));
        self.next_far += 1;
        far
    }

    /// Closes the child's stdin after all output for it is written.
    pub fn close_far(&mut self) {
        self.far_mut(self.far_at).close = true;
    }

    /// Stops reading the near side, so that its writer gets a broken pipe. A client is disconnected after all output for it is
    /// written.
    pub fn close_near(&mut self) {
        self.near_mut(self.near_at).close = true;
    }

    /// Whether the stage has closed this near side.
    pub(super) fn closes_near(&self, near: usize) -> bool {
        self.nears.get(&near).is_some_and(|near| near.close)
    }

    /// Pauses or resumes reading from the near side: its writer blocks, and at most the lines of one read
    /// accumulate here.
    pub fn hold_near(&mut self, hold: bool) {
        let held = std::mem::replace(&mut self.near_mut(self.near_at).hold, hold);
        self.released |= held && !hold;
    }

    /// Whether reading from this near side is paused.
    pub(super) fn holds_near(&self, near: usize) -> bool {
        self.nears.get(&near).is_some_and(|near| near.hold) || self.holds_all()
    }

    /// Whether reading from all near sides is paused, because too much waits for the end of a line.
    pub(super) fn holds_all(&self) -> bool {
        self.sides().any(|side| side.waiting() > MUCH)
    }

    /// Ends the run: the output is written, and the child is ended.
    pub fn stop(&mut self, status: Status) {
        self.stop.get_or_insert(status);
    }

    /// Whether there is so much output that it should be sent before more is decided.
    pub(super) fn is_full(&self) -> bool {
        self.sides().map(|side| side.bytes.len()).sum::<usize>() >= FULL
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
