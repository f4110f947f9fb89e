//! What the threads share: the stage behind its lock, and the sinks.

use super::Manner;
use super::far::Far;
use crate::io::child::Group;
use crate::io::lines::Limits;
use crate::io::lock;
use crate::io::report::{Failure, Report, Status};
use crate::io::sink::Sink;
use crate::io::stage::{Event, Out, Side, Stage};
use std::collections::BTreeMap;
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
    /// The children that a second signal kills, until they have been ended.
    pub(super) running: Mutex<BTreeMap<usize, Group>>,
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
    pub(super) manner: Manner,
    /// It stands in a plain pipe, and ends with its stdin, unless it `stays`.
    pub(super) is_pipe: bool,
    /// It ends when the stage says so.
    pub(super) stays: bool,
    pub(super) prompt: bool,
    pub(super) reopens: bool,
    /// There are several far sides.
    pub(super) has_several: bool,
}

pub(super) struct Core {
    pub(super) stage: Box<dyn Stage>,
    pub(super) out: Out,
    pub(super) fars: Vec<Slot>,
    /// Once it is set, nothing is decided any more.
    pub(super) end: Option<Result<Status, Failure>>,
    /// When the main thread will look again by itself.
    pub(super) asleep_until: Option<Instant>,
}

/// A far side, over all the times that it is started.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) far: Option<Far>,
    /// Counts the children: what a former one's threads still bring is dropped.
    pub(super) epoch: u64,
    /// The former child is being ended; then this one is to be started.
    pub(super) is_ending: bool,
    pub(super) is_to_start: bool,
}

/// Which child of which far side something is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) far: usize,
    pub(super) epoch: u64,
}

/// The sinks that have something to write.
#[derive(Default)]
pub(super) struct Dirty {
    /// Leave a sink to whoever is writing to it already, and don't wait.
    aside: bool,
    near: bool,
    fars: Vec<(Source, Arc<Sink>)>,
    person: bool,
    errors: bool,
}

impl Dirty {
    fn merge(&mut self, more: Dirty) {
        self.near |= more.near;
        self.person |= more.person;
        self.errors |= more.errors;
        self.fars.retain(|(source, _)| more.fars.iter().all(|(newer, _)| newer.far != source.far));
        self.fars.extend(more.fars);
    }
}

impl Core {
    /// The child that `source` names, where it is the present one.
    pub(super) fn child(&mut self, source: Source) -> Option<&mut Far> {
        let slot = &mut self.fars[source.far];
        slot.far.as_mut().filter(|_| slot.epoch == source.epoch)
    }
}

type Act<'a> = dyn FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure> + 'a;

impl Hub {
    /// With so many far sides, none of which has been started.
    pub(super) fn new(stage: Box<dyn Stage>, fars: usize, sinks: Sinks, report: Arc<Report>, manners: Manners) -> Hub {
        let out = if manners.is_pipe { Out::joined() } else { Out::default() };
        let fars = (0..fars).map(|_| Slot::default()).collect();
        let core = Core { stage, out, fars, end: None, asleep_until: None };
        let (core, changed) = (Mutex::new(core), Condvar::new());
        let (signalled, running) = (AtomicBool::new(false), Mutex::default());
        Hub { core, changed, sinks, report, manners, signalled, running }
    }

    /// Has the stage act and commit, and queues what it said. `source` names the child that an event is from;
    /// what a former child's threads still bring is dropped.
    pub(super) fn decide(&self, source: Option<Source>, act: Box<Act<'_>>) -> Dirty {
        let mut core = lock(&self.core);
        if source.is_some_and(|source| source.epoch != core.fars[source.far].epoch) {
            return Dirty::default();
        }
        self.decide_in(&mut core, source.map_or(0, |source| source.far), act)
    }

    /// The same with the lock held, for an event that is about a far side, or the first. Whatever comes after the end is
    /// dropped.
    pub(super) fn decide_in(&self, core: &mut Core, far: usize, act: Box<Act<'_>>) -> Dirty {
        if core.end.is_some() {
            return Dirty::default();
        }
        self.measure(core);
        let Core { stage, out, .. } = core;
        out.choose_far(far);
        let held = out.holds_near();
        let decided = act(stage.as_mut(), out);
        let let_go = held && !out.holds_near();
        let committed = stage.commit();
        if committed.is_err() {
            // What wasn't made durable must not be seen to have happened.
            for side in [Side::Near, Side::FarError, Side::Person] {
                out.to(side).clear();
            }
            for far in 0..core.fars.len() {
                core.out.far_mut(far).outgoing.bytes.clear();
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
        let respawns = (0..core.fars.len()).any(|far| core.out.far_mut(far).respawn);
        if core.end.is_some() || respawns || earlier || let_go {
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
        for (index, slot) in core.fars.iter().enumerate() {
            let to_far = core.out.far_mut(index);
            let close = std::mem::take(&mut to_far.close);
            // What is said to one that isn't there is lost.
            let Some(far) = &slot.far else {
                to_far.outgoing.bytes.clear();
                continue;
            };
            if close {
                far.sink.close();
            }
            if far.sink.append(&mut to_far.outgoing.bytes) || close {
                dirty.fars.push((Source { far: index, epoch: slot.epoch }, Arc::clone(&far.sink)));
            }
        }
        dirty
    }

    /// Tells the stage how far everything has come that was sent before.
    pub(super) fn measure(&self, core: &mut Core) {
        core.out.near_progress = self.sinks.near.progress();
        for (index, slot) in core.fars.iter().enumerate() {
            let to_far = core.out.far_mut(index);
            to_far.progress = slot.far.as_ref().map(|far| far.sink.progress()).unwrap_or_default();
            to_far.waits = slot.far.as_ref().is_some_and(Far::waits);
        }
    }

    /// Decides, and writes what was decided; blocks as long as the readers of that take. Of several far sides, it waits for
    /// none: the others must go on.
    pub(super) fn deliver(
        self: &Arc<Hub>,
        source: Option<Source>,
        act: impl FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure>,
    ) {
        let dirty = self.decide(source, Box::new(act));
        match self.manners.has_several {
            true => self.write_near(dirty),
            false => self.write_out(dirty),
        }
    }

    /// The same for whoever reads a child: that must go on whatever a child reads. (A child that does one thing after the
    /// other reads nothing while it writes; who waited for it to read wouldn't read what it writes.)
    pub(super) fn deliver_from_far(
        self: &Arc<Hub>,
        source: Option<Source>,
        act: impl FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure>,
    ) {
        let dirty = self.decide(source, Box::new(act));
        self.write_near(dirty);
    }

    /// Writes; what a far side doesn't take at once is written aside.
    fn write_near(self: &Arc<Hub>, mut dirty: Dirty) {
        let mut slow = Vec::new();
        for (source, far) in std::mem::take(&mut dirty.fars) {
            match far.drain_at_once() {
                Ok(true) => {}
                Ok(false) => slow.push((source, far)),
                Err(error) => dirty.merge(self.far_broken(source, error)),
            }
        }
        self.write_aside(Dirty { fars: slow, ..Dirty::default() });
        self.write_out(dirty);
    }

    /// Decides here, and writes on a thread of its own: for threads that must not wait for a reader.
    pub(super) fn deliver_aside(self: &Arc<Hub>, act: impl FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure>) {
        self.write_aside(self.decide(None, Box::new(act)));
    }

    pub(super) fn write_aside(self: &Arc<Hub>, mut dirty: Dirty) {
        dirty.aside = true;
        // Each on a thread of its own, so that none waits for the reader of another.
        let several = dirty.fars.split_off(dirty.fars.len().min(1));
        for far in several {
            let dirty = Dirty { aside: true, fars: vec![far], ..Dirty::default() };
            self.spawn(move |hub| hub.write_out(dirty));
        }
        if dirty.near || dirty.person || dirty.errors || !dirty.fars.is_empty() {
            self.spawn(move |hub| hub.write_out(dirty));
        }
    }

    /// Writes; a sink that can't be written is told to the stage, and what it says to that is written too.
    fn write_out(&self, mut dirty: Dirty) {
        while let Some((side, source, error)) = self.write(&mut dirty) {
            let more = if side == Side::Near {
                self.near_broken(error)
            } else {
                self.decide(source, Box::new(move |stage, out| stage.on(Event::Broken(side, error), out)))
            };
            dirty.merge(more);
        }
    }

    fn far_broken(&self, source: Source, error: io::Error) -> Dirty {
        self.decide(Some(source), Box::new(move |stage, out| stage.on(Event::Broken(Side::Far, error), out)))
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
    fn write(&self, dirty: &mut Dirty) -> Option<(Side, Option<Source>, io::Error)> {
        let drain = if dirty.aside { Sink::drain_unless_busy } else { Sink::drain };
        if std::mem::take(&mut dirty.near)
            && let Err(error) = drain(&self.sinks.near)
        {
            return Some((Side::Near, None, error));
        }
        while let Some((source, far)) = dirty.fars.pop() {
            if let Err(error) = drain(&far) {
                return Some((Side::Far, Some(source), error));
            }
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
