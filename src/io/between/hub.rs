//! What the threads share: the stage behind its lock, and the sinks.

use super::Manner;
use super::far::Far;
use crate::io::child::{Group, Surroundings};
use crate::io::lines::Limits;
use crate::io::lock;
use crate::io::report::{Failure, Report, Status};
use crate::io::sink::Sink;
use crate::io::stage::{Event, Out, Side, Stage};
use std::io::{self, ErrorKind};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

pub(super) struct Hub {
    pub(super) core: Mutex<Core>,
    /// Wakes the main thread.
    pub(super) changed: Condvar,
    pub(super) sinks: Sinks,
    pub(super) report: Arc<Report>,
    pub(super) manners: Manners,
    /// A signal came, perhaps after the end.
    pub(super) signalled: AtomicBool,
    /// The child that a second signal kills, until it has been ended.
    pub(super) running: Mutex<Option<Group>>,
}

/// Where our own side is written to.
pub(super) struct Sinks {
    pub(super) near: Sink,
    pub(super) person: Option<Sink>,
    /// Our stderr, for what the child says on its own.
    pub(super) errors: Option<Sink>,
}

/// How the run goes, see [`Ends`](super::Ends).
pub(super) struct Manners {
    pub(super) limits: Limits,
    pub(super) far_limits: Limits,
    pub(super) around: Surroundings,
    pub(super) manner: Manner,
    /// It stands in a plain pipe, and ends with its stdin, unless it `stays`.
    pub(super) is_pipe: bool,
    /// It ends when the stage says so.
    pub(super) stays: bool,
    pub(super) prompt: bool,
    pub(super) reopens: bool,
}

pub(super) struct Core {
    pub(super) stage: Box<dyn Stage>,
    pub(super) out: Out,
    pub(super) far: Option<Far>,
    /// Counts the children: what a former one's threads still bring is dropped.
    pub(super) epoch: u64,
    /// Once it is set, nothing is decided any more.
    pub(super) end: Option<Result<Status, Failure>>,
    /// When the main thread will look again by itself.
    pub(super) asleep_until: Option<Instant>,
}

/// The sinks that have something to write.
#[derive(Default)]
pub(super) struct Dirty {
    /// Leave a sink to whoever is writing to it already, and don't wait.
    aside: bool,
    near: bool,
    far: Option<(u64, Arc<Sink>)>,
    person: bool,
    errors: bool,
}

impl Dirty {
    fn merge(&mut self, more: Dirty) {
        self.near |= more.near;
        self.person |= more.person;
        self.errors |= more.errors;
        self.far = more.far.or(self.far.take());
    }
}

type Act<'a> = dyn FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure> + 'a;

impl Hub {
    pub(super) fn new(stage: Box<dyn Stage>, sinks: Sinks, report: Arc<Report>, manners: Manners) -> Hub {
        let out = if manners.is_pipe { Out::joined() } else { Out::default() };
        let core = Core { stage, out, far: None, epoch: 0, end: None, asleep_until: None };
        let (core, changed) = (Mutex::new(core), Condvar::new());
        let (signalled, running) = (AtomicBool::new(false), Mutex::default());
        Hub { core, changed, sinks, report, manners, signalled, running }
    }

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
    pub(super) fn decide_in(&self, core: &mut Core, act: Box<Act<'_>>) -> Dirty {
        if core.end.is_some() {
            return Dirty::default();
        }
        let Core { stage, out, far, .. } = core;
        out.progress = [self.sinks.near.progress(), far.as_ref().map(|far| far.sink.progress()).unwrap_or_default()];
        out.far_waits = far.as_ref().is_some_and(Far::waits);
        let held = out.holds_near();
        let decided = act(stage.as_mut(), out);
        let let_go = held && !out.holds_near();
        let committed = stage.commit();
        if committed.is_err() {
            // What wasn't made durable must not be seen to have happened.
            for side in [Side::Near, Side::Far, Side::FarError, Side::Person] {
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
        if core.end.is_some() || core.out.respawn || earlier || let_go {
            self.changed.notify_all();
        }
        dirty
    }

    /// Moves what the stage said from `core.out` to the sinks.
    fn queue(&self, core: &mut Core) -> Dirty {
        let append = |sink: &Option<Sink>, bytes: &mut Vec<u8>| sink.as_ref().is_some_and(|sink| sink.append(bytes));
        let mut dirty = Dirty { near: self.sinks.near.append(core.out.to(Side::Near)), ..Dirty::default() };
        if !self.manners.is_pipe {
            dirty.person = append(&self.sinks.person, core.out.to(Side::Person));
            dirty.errors = append(&self.sinks.errors, core.out.to(Side::FarError));
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
            // In a plain pipe it has been sent.
            core.out.to(Side::Far).clear();
        }
        dirty
    }

    /// Decides, and writes what was decided; blocks as long as the readers of that take.
    pub(super) fn deliver(
        &self,
        epoch: Option<u64>,
        act: impl FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure>,
    ) {
        let dirty = self.decide(epoch, Box::new(act));
        self.write_out(dirty);
    }

    /// The same for whoever reads the child: that must go on whatever the child reads. (A child that does one thing after the
    /// other reads nothing while it writes; who waited for it to read wouldn't read what it writes.)
    pub(super) fn deliver_from_far(
        self: &Arc<Hub>,
        epoch: Option<u64>,
        act: impl FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure>,
    ) {
        let mut dirty = self.decide(epoch, Box::new(act));
        if let Some((epoch, far)) = dirty.far.take() {
            match far.drain_at_once() {
                Ok(true) => {}
                Ok(false) => self.write_aside(Dirty { far: Some((epoch, far)), ..Dirty::default() }),
                Err(error) => dirty.merge(self.far_broken(epoch, error)),
            }
        }
        self.write_out(dirty);
    }

    /// Decides here, and writes on a thread of its own: for threads that must not wait for a reader.
    pub(super) fn deliver_aside(self: &Arc<Hub>, act: impl FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure>) {
        self.write_aside(self.decide(None, Box::new(act)));
    }

    pub(super) fn write_aside(self: &Arc<Hub>, mut dirty: Dirty) {
        dirty.aside = true;
        if dirty.near || dirty.person || dirty.errors || dirty.far.is_some() {
            self.spawn(move |hub| hub.write_out(dirty));
        }
    }

    /// Writes; a sink that can't be written is told to the stage, and what it says to that is written too.
    fn write_out(&self, mut dirty: Dirty) {
        while let Some((side, epoch, error)) = self.write(&mut dirty) {
            let more = if side == Side::Near {
                self.near_broken(error)
            } else {
                self.decide(epoch, Box::new(move |stage, out| stage.on(Event::Broken(side, error), out)))
            };
            dirty.merge(more);
        }
    }

    fn far_broken(&self, epoch: u64, error: io::Error) -> Dirty {
        self.decide(Some(epoch), Box::new(move |stage, out| stage.on(Event::Broken(Side::Far, error), out)))
    }

    /// Our stdout takes nothing more: quiet where its reader has gone, a fault otherwise.
    pub(super) fn near_broken(&self, error: io::Error) -> Dirty {
        let end = match error.kind() {
            ErrorKind::BrokenPipe => None,
            _ => Some(Failure::new(Status::Fault, format_args!("stdout: {error}"))),
        };
        let told = move |stage: &mut dyn Stage, out: &mut Out| stage.on(Event::Broken(Side::Near, error), out);
        let dirty = self.decide(None, Box::new(told));
        self.end(end.map_or_else(|| Ok(self.report.finish()), Err));
        dirty
    }

    /// Drains what is dirty; stops at the first sink that broke.
    fn write(&self, dirty: &mut Dirty) -> Option<(Side, Option<u64>, io::Error)> {
        let drain = if dirty.aside { Sink::drain_unless_busy } else { Sink::drain };
        if std::mem::take(&mut dirty.near)
            && let Err(error) = drain(&self.sinks.near)
        {
            return Some((Side::Near, None, error));
        }
        if let Some((epoch, far)) = dirty.far.take()
            && let Err(error) = drain(&far)
        {
            return Some((Side::Far, Some(epoch), error));
        }
        for (dirty, sink, side) in [
            (&mut dirty.person, &self.sinks.person, Side::Person),
            (&mut dirty.errors, &self.sinks.errors, Side::FarError),
        ] {
            if std::mem::take(dirty)
                && let Some(sink) = sink
                && let Err(error) = drain(sink)
            {
                return Some((side, None, error));
            }
        }
        None
    }

    /// Ends the run, unless it has been ended already.
    pub(super) fn end(&self, end: Result<Status, Failure>) {
        lock(&self.core).end.get_or_insert(end);
        self.changed.notify_all();
    }
}
