//! Standing between two sides: our own stdin and stdout (near), a child (far), and a person's terminal.
//!
//! One blocking thread reads each side. It reads once, locks the stage, has it decide every complete line,
//! lets it commit, appends what was decided to the sinks, unlocks, and writes. Locks are taken in the order
//! stage, queue; neither is held across a write(2), so two sides that flood each other can't deadlock: each
//! direction waits for its own reader alone. Order is kept within a direction; across directions nothing is
//! ordered but that a commit comes before the bytes that depend on it.
//!
//! The main thread starts and ends children and wakes the stage at its deadline. It never writes to a peer
//! itself, so a deadline passes even while the other side reads nothing.

mod far;

use super::child::{self, Child};
use super::descriptor::{Descriptor, stdin, stdout};
use super::lines::{Limits, Splitter};
use super::report::{Failure, Report, Status};
use super::signal::{self, Signals};
use super::sink::Sink;
use super::stage::{Event, Out, Side, Stage};
use super::terminal::Terminal;
use far::{Exit, Far};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the end of a run waits for our own readers to take what was written for them.
const LAST_WRITES: Duration = Duration::from_millis(500);

/// What a stage stands between, beside our own stdin and stdout.
#[derive(Debug, Default)]
pub struct Ends {
    /// The program to wrap, with its arguments.
    pub far: Option<Vec<OsString>>,
    /// The terminal of a person; the foreground is borrowed for the whole run.
    pub person: Option<Terminal>,
    /// What is believed of every side's lines.
    pub limits: Limits,
}

/// Runs `stage` until it stops the run, a signal does, or our stdout is gone. The status is what the stage
/// stopped with; a gone stdout ends quietly with [`Report::finish`].
///
/// The stage must stop the run by itself when it has no more use of it: nothing else ends it when a side closes.
///
/// # Errors
/// What the stage fails with, a child that can't be started ([`Status::NotStarted`]), an stdout that can't be
/// written ([`Status::Fault`]). In each case the child has been ended when this returns.
pub fn between(stage: Box<dyn Stage>, ends: Ends, report: &Arc<Report>) -> Result<Status, Failure> {
    let system = |error: io::Error| Failure::new(Status::NotStarted, error);
    let signals = Signals::hold().map_err(|error| system(error.into()))?;
    let Ends { far, mut person, limits } = ends;
    let near = stdin().map_err(system)?;
    let mut person_input = None;
    let mut person_output = None;
    if let Some(terminal) = &mut person {
        terminal.borrow().map_err(|error| system(error.into()))?;
        person_input = Some(terminal.descriptor().map_err(system)?);
        person_output = Some(Sink::new(terminal.descriptor().map_err(system)?));
    }
    let hub = Arc::new(Hub {
        core: Mutex::new(Core { stage, out: Out::default(), far: None, epoch: 0, end: None, asleep_until: None }),
        changed: Condvar::new(),
        near: Sink::new(stdout().map_err(system)?),
        person: person_output,
        report: Arc::clone(report),
        limits,
    });
    if let Some(command) = &far {
        hub.start(command);
    }
    hub.read(Side::Near, None, near);
    if let Some(input) = person_input {
        hub.read(Side::Person, None, input);
    }
    hub.listen(signals);
    let ended = hub.supervise(far.as_deref());
    hub.finish();
    if let Some(terminal) = &mut person {
        terminal.restore();
    }
    ended
}

/// What all threads share.
struct Hub {
    core: Mutex<Core>,
    /// Wakes the main thread.
    changed: Condvar,
    near: Sink,
    person: Option<Sink>,
    report: Arc<Report>,
    limits: Limits,
}

struct Core {
    stage: Box<dyn Stage>,
    out: Out,
    far: Option<Far>,
    /// Counts the children: what a former one's threads still bring is dropped.
    epoch: u64,
    end: Option<Result<Status, Failure>>,
    /// When the main thread will look again by itself.
    asleep_until: Option<Instant>,
}

/// The sinks that have something to write.
#[derive(Default)]
struct Dirty {
    near: bool,
    far: Option<(u64, Arc<Sink>)>,
    person: bool,
}

type Act<'a> = dyn FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure> + 'a;

impl Hub {
    /// Has the stage act and commit, and queues what it said. `epoch` names the child that an event is from;
    /// what a former child's threads still bring is dropped.
    fn decide(&self, epoch: Option<u64>, act: Box<Act<'_>>) -> Dirty {
        let mut core = lock(&self.core);
        if epoch.is_some_and(|epoch| epoch != core.epoch) {
            return Dirty::default();
        }
        self.decide_in(&mut core, act)
    }

    /// The same with the lock held. Whatever comes after the end is dropped.
    fn decide_in(&self, core: &mut Core, act: Box<Act<'_>>) -> Dirty {
        if core.end.is_some() {
            return Dirty::default();
        }
        let Core { stage, out, .. } = core;
        let decided = act(stage.as_mut(), out);
        let committed = stage.commit();
        if committed.is_err() {
            // What wasn't made durable must not be seen to have happened.
            for side in [Side::Near, Side::Far, Side::Person] {
                out.to(side).clear();
            }
        }
        let dirty = self.queue(core);
        if let Err(failure) = decided.and(committed) {
            core.end = Some(Err(failure));
        } else if let Some(status) = core.out.stop {
            core.end = Some(Ok(status));
        }
        let earlier = match (core.stage.deadline(), core.asleep_until) {
            (Some(deadline), Some(until)) => deadline < until,
            (deadline, _) => deadline.is_some(),
        };
        if core.end.is_some() || core.out.respawn || earlier {
            self.changed.notify_all();
        }
        dirty
    }

    /// Moves what the stage said from `core.out` to the sinks.
    fn queue(&self, core: &mut Core) -> Dirty {
        let mut dirty = Dirty { near: self.near.append(core.out.to(Side::Near)), ..Dirty::default() };
        if let Some(person) = &self.person {
            dirty.person = person.append(core.out.to(Side::Person));
        }
        let close = std::mem::take(&mut core.out.close_far);
        if let Some(far) = &core.far {
            if close {
                far.sink.close();
            }
            if far.sink.append(core.out.to(Side::Far)) || close {
                dirty.far = Some((core.epoch, Arc::clone(&far.sink)));
            }
        } else {
            core.out.to(Side::Far).clear();
        }
        dirty
    }

    /// [`Hub::decide`], then writes.
    fn deliver(&self, epoch: Option<u64>, act: impl FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure>) {
        let dirty = self.decide(epoch, Box::new(act));
        self.write_out(dirty);
    }

    /// Writes; a sink that can't be written is told to the stage, and what it says to that is written too.
    fn write_out(&self, mut dirty: Dirty) {
        while let Some((side, epoch, error)) = self.write(&mut dirty) {
            let gone = error.kind() == ErrorKind::BrokenPipe;
            let message = format!("stdout: {error}");
            let told = move |stage: &mut dyn Stage, out: &mut Out| stage.on(Event::Broken(side, error), out);
            let more = self.decide(epoch, Box::new(told));
            dirty.near |= more.near;
            dirty.person |= more.person;
            dirty.far = more.far.or(dirty.far);
            if side == Side::Near {
                let end = if gone { Ok(self.report.finish()) } else { Err(Failure::new(Status::Fault, message)) };
                self.end(end);
            }
        }
    }

    /// Drains what is dirty; stops at the first sink that broke.
    fn write(&self, dirty: &mut Dirty) -> Option<(Side, Option<u64>, io::Error)> {
        if let Some((epoch, far)) = dirty.far.take()
            && let Err(error) = far.drain()
        {
            return Some((Side::Far, Some(epoch), error));
        }
        if std::mem::take(&mut dirty.near)
            && let Err(error) = self.near.drain()
        {
            return Some((Side::Near, None, error));
        }
        if std::mem::take(&mut dirty.person)
            && let Some(person) = &self.person
            && let Err(error) = person.drain()
        {
            return Some((Side::Person, None, error));
        }
        None
    }

    fn end(&self, end: Result<Status, Failure>) {
        lock(&self.core).end.get_or_insert(end);
        self.changed.notify_all();
    }

    /// Reads a side on a thread of its own, until it ends or the run does.
    fn read(self: &Arc<Hub>, side: Side, epoch: Option<u64>, mut from: Descriptor) {
        let hub = Arc::clone(self);
        thread::spawn(move || {
            let mut splitter = Splitter::new(hub.limits);
            loop {
                // A side that can't be read any more (a terminal that was closed) has ended.
                let ended = splitter.fill(&mut from).map_or(true, |read| read == 0);
                hub.deliver(epoch, |stage, out| {
                    while !out.stopped()
                        && let Some(piece) = splitter.next()
                    {
                        stage.on(Event::Piece(side, piece), out)?;
                    }
                    Ok(())
                });
                if ended {
                    hub.deliver(epoch, |stage, out| stage.on(Event::Closed(side), out));
                    hub.said_all(epoch);
                    return;
                }
                if lock(&hub.core).end.is_some() {
                    return;
                }
            }
        });
    }

    fn said_all(&self, epoch: Option<u64>) {
        let mut core = lock(&self.core);
        if epoch == Some(core.epoch)
            && let Some(far) = &mut core.far
        {
            far.said_all = true;
            self.changed.notify_all();
        }
    }

    /// Starts a child, its reader and who waits for it. Only the main thread does.
    fn start(self: &Arc<Hub>, command: &[OsString]) {
        let (child, pipes) = match child::spawn(command) {
            Ok(spawned) => spawned,
            Err(failure) => return self.end(Err(failure)),
        };
        let far = Far::new(child.group(), pipes.stdin);
        let exit = far.exit();
        let (epoch, dirty) = {
            // In one go: the stage knows of the child before anything else can be sent to it.
            let mut core = lock(&self.core);
            core.far = Some(far);
            let started = |stage: &mut dyn Stage, out: &mut Out| stage.on(Event::Started, out);
            (core.epoch, self.decide_in(&mut core, Box::new(started)))
        };
        self.wait_for(child, exit);
        self.write_aside(dirty);
        self.read(Side::Far, Some(epoch), pipes.stdout);
    }

    fn wait_for(self: &Arc<Hub>, child: Child, exit: Arc<Exit>) {
        let hub = Arc::clone(self);
        thread::spawn(move || {
            // Nobody else waits for our child, so there is a status; without one, it has ended all the same.
            exit.set(child.wait().unwrap_or_default());
            // Taking the lock, so that the main thread is either asleep or yet to look.
            let _core = lock(&hub.core);
            hub.changed.notify_all();
        });
    }

    /// Decides here, and writes on a thread of its own: for the main thread, which must not wait for a reader.
    fn deliver_aside(self: &Arc<Hub>, act: impl FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure>) {
        self.write_aside(self.decide(None, Box::new(act)));
    }

    fn write_aside(self: &Arc<Hub>, dirty: Dirty) {
        let hub = Arc::clone(self);
        thread::spawn(move || hub.write_out(dirty));
    }

    fn listen(self: &Arc<Hub>, signals: Signals) {
        let hub = Arc::clone(self);
        thread::spawn(move || {
            let signal = signals.wait();
            let at_once = Arc::clone(&hub);
            thread::spawn(move || {
                let signal = signals.wait();
                if let Ok(core) = at_once.core.try_lock()
                    && let Some(far) = &core.far
                {
                    far.kill();
                }
                signal::die_of(signal)
            });
            hub.deliver_aside(|stage, out| stage.on(Event::Signal(signal), out));
            hub.end(Ok(Status::Signal(signal)));
        });
    }

    /// The main thread: sleeps until there is something that only it may do, and gives how the run ended.
    fn supervise(self: &Arc<Hub>, command: Option<&[OsString]>) -> Result<Status, Failure> {
        let mut core = lock(&self.core);
        loop {
            if let Some(end) = core.end.take() {
                // Whoever decides after this finds that it has ended.
                core.end = Some(Ok(Status::Well));
                return end;
            }
            let now = Instant::now();
            let (exited, look_again) = core.far.as_mut().map_or((None, None), |far| far.ended(now));
            let deadline = core.stage.deadline();
            if let Some(status) = exited {
                drop(core);
                self.deliver_aside(|stage, out| stage.on(Event::Exited(status), out));
            } else if std::mem::take(&mut core.out.respawn) {
                core.epoch += 1;
                let former = core.far.take();
                drop(core);
                former.into_iter().for_each(Far::end);
                self.start(command.unwrap_or_default());
            } else if deadline.is_some_and(|deadline| deadline <= now) {
                drop(core);
                self.deliver_aside(|stage, out| stage.on(Event::Due, out));
            } else {
                core.asleep_until = earliest(deadline, look_again);
                core = match core.asleep_until {
                    Some(until) => {
                        let slept = self.changed.wait_timeout(core, until - now);
                        slept.unwrap_or_else(PoisonError::into_inner).0
                    }
                    None => self.changed.wait(core).unwrap_or_else(PoisonError::into_inner),
                };
                core.asleep_until = None;
                continue;
            }
            core = lock(&self.core);
        }
    }

    /// Lets our own readers take what was written for them, and ends the child.
    fn finish(self: &Arc<Hub>) {
        let (done, all_done) = mpsc::channel();
        let hub = Arc::clone(self);
        thread::spawn(move || {
            let _ = hub.near.drain();
            let _ = hub.person.as_ref().map(Sink::drain);
            let _ = done.send(());
        });
        let far = lock(&self.core).far.take();
        far.into_iter().for_each(Far::end);
        let _ = all_done.recv_timeout(LAST_WRITES);
    }
}

fn earliest(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
