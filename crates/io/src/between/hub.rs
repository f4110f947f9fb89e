//! The state that the threads share: the stage behind its lock, and the sinks.

use super::far::FarProcess;
use super::near::NearSide;
use super::writing::DirtySinks;
use super::{EndMode, FarEndpoint};
use crate::report::{Failure, Report, Status};
use crate::sink::Sink;
use crate::stage::{Out, Side, Stage};
use pipewright_lines::Limits;
use pipewright_sys::lock;
use pipewright_sys::process::Group;
use pipewright_sys::signal::Signal;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

pub(super) struct Hub {
    pub(super) core: Mutex<Core>,
    /// Wakes the main thread, and the readers of near sides that are held.
    pub(super) changed: Condvar,
    pub(super) sinks: Sinks,
    pub(super) report: Arc<Report>,
    pub(super) options: RunOptions,
    /// Whether a signal came, possibly after the end.
    pub(super) signalled: AtomicBool,
    /// The children that a second signal kills, until they have been ended.
    pub(super) running: Mutex<BTreeMap<usize, Group>>,
}

/// The sinks other than those of the near and the far sides.
pub(super) struct Sinks {
    pub(super) person: Option<Arc<Sink>>,
    /// Our stderr, for the child's stderr.
    pub(super) errors: Option<Arc<Sink>>,
}

/// The options of the run, see [`Sides`](super::Sides).
pub(super) struct RunOptions {
    pub(super) limits: Limits,
    pub(super) far_limits: Limits,
    pub(super) end_mode: EndMode,
    /// Whether it is a filter in a pipe, which ends with its stdin unless it `stays`.
    pub(super) is_pipe: bool,
    /// The run ends only when the stage stops it.
    pub(super) stays: bool,
    pub(super) prompt: bool,
    pub(super) reopens: bool,
    /// Whether there are, or may be, several far sides.
    pub(super) has_several: bool,
    /// Whether the near side's reader waits until a far side has read what was sent to it.
    pub(super) waits_for_far: bool,
    /// Whether a signal only begins the end, see [`Sides::drains`](super::Sides::drains).
    pub(super) drains: bool,
}

pub(super) struct Core {
    pub(super) stage: Box<dyn Stage>,
    pub(super) out: Out,
    /// By number: 0 is our own stdin and stdout, the others are clients.
    pub(super) nears: BTreeMap<usize, NearSide>,
    /// By number. One that the stage removes is removed here when its child has ended.
    pub(super) fars: BTreeMap<usize, FarSlot>,
    /// Once it is set, no more events are passed to the stage.
    pub(super) end: Option<Result<Status, Failure>>,
    /// The signal that began the end, and until when the far sides are still read.
    pub(super) draining: Option<(Signal, Instant)>,
    /// When the main thread will wake up by itself.
    pub(super) asleep_until: Option<Instant>,
}

/// A far side, over all its starts.
pub(super) struct FarSlot {
    /// How it is started; `None` while that is being done, and if it cannot be started again.
    pub(super) endpoint: Option<FarEndpoint>,
    pub(super) far: Option<FarProcess>,
    /// Counts the children: events of a former child are dropped.
    pub(super) epoch: u64,
    /// Whether the former child is being ended, and whether the next is to be started then.
    pub(super) is_ending: bool,
    pub(super) is_to_start: bool,
}

impl FarSlot {
    fn new(endpoint: FarEndpoint, is_to_start: bool) -> FarSlot {
        FarSlot { endpoint: Some(endpoint), far: None, epoch: 0, is_ending: false, is_to_start }
    }
}

/// The source of an event, or the destination of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) side: Side,
    /// The child of a far side.
    pub(super) epoch: u64,
}

impl Peer {
    /// Any side but a far one; our stderr, which belongs to no child, is [`Side::FAR_ERROR`].
    pub(super) fn of(side: Side) -> Peer {
        Peer { side, epoch: 0 }
    }

    pub(super) fn far(number: usize, epoch: u64) -> Peer {
        Peer { side: Side::Far(number), epoch }
    }

    /// The number of its far side, if it is one.
    fn far_number(self) -> Option<usize> {
        match self.side {
            Side::Far(number) | Side::FarError(number) => Some(number),
            Side::Near(_) | Side::Person | Side::Answers => None,
        }
    }

    /// Whether it is a far side.
    pub(super) fn is_far(self) -> bool {
        self.far_number().is_some()
    }
}

impl Core {
    /// The child of `peer`, if it is the current one.
    pub(super) fn child(&mut self, peer: Peer) -> Option<&mut FarProcess> {
        let slot = self.fars.get_mut(&peer.far_number()?)?;
        slot.far.as_mut().filter(|_| slot.epoch == peer.epoch)
    }

    /// Whether reading of a near side is paused. A broken near side is not paused, and none is after the end of the
    /// run.
    pub(super) fn is_held(&self, near: usize) -> bool {
        let is_broken = self.nears.get(&near).is_some_and(NearSide::is_broken);
        self.out.holds_near(near) && !is_broken && self.end.is_none()
    }

    /// Whether `peer` has been replaced by another child or removed, or is a client that has disconnected.
    fn is_former(&self, peer: Peer) -> bool {
        match peer.side {
            Side::Far(far) | Side::FarError(far) => self.fars.get(&far).is_none_or(|slot| slot.epoch != peer.epoch),
            Side::Near(near) => !self.nears.contains_key(&near),
            Side::Person | Side::Answers => false,
        }
    }
}

pub(super) type StageAction<'a> = dyn FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure> + 'a;

impl Hub {
    /// No far side has been started.
    pub(super) fn new(
        stage: Box<dyn Stage>,
        nears: BTreeMap<usize, NearSide>,
        fars: Vec<FarEndpoint>,
        sinks: Sinks,
        report: Arc<Report>,
        manners: RunOptions,
    ) -> Hub {
        let mut out = if manners.is_pipe { Out::joined() } else { Out::default() };
        out.next_far = fars.len();
        let fars = fars.into_iter().map(|endpoint| FarSlot::new(endpoint, false)).enumerate().collect();
        let core = Core { stage, out, nears, fars, end: None, draining: None, asleep_until: None };
        let (core, changed) = (Mutex::new(core), Condvar::new());
        let (signalled, running) = (AtomicBool::new(false), Mutex::default());
        Hub { core, changed, sinks, report, options: manners, signalled, running }
    }

    /// Has the stage act and commit, and queues its output. `about` is the source of the event; events of a former
    /// child are dropped.
    pub(super) fn decide(&self, about: Option<Peer>, act: Box<StageAction<'_>>) -> DirtySinks {
        let mut core = lock(&self.core);
        let is_late = |peer: Peer| core.draining.is_some() && !peer.is_far();
        if about.is_some_and(|peer| core.is_former(peer) || is_late(peer)) {
            return DirtySinks::default();
        }
        self.decide_in(&mut core, act)
    }

    /// As [`Hub::decide`], with the lock held. Events after the end are dropped.
    pub(super) fn decide_in(&self, core: &mut Core, act: Box<StageAction<'_>>) -> DirtySinks {
        if core.end.is_some() {
            return DirtySinks::default();
        }
        self.measure(core);
        let Core { stage, out, .. } = core;
        let held = out.holds_all();
        let decided = act(stage.as_mut(), out);
        let released = std::mem::take(&mut out.released) || (held && !out.holds_all());
        let committed = stage.commit();
        if committed.is_err() {
            // Nothing may be visible outside that was not made durable.
            out.clear();
        }
        let added = std::mem::take(&mut core.out.added);
        let adds = !added.is_empty();
        core.fars
            .extend(added.into_iter().map(|(far, program)| (far, FarSlot::new(FarEndpoint::Child(program), true))));
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
        let replaces = core.fars.keys().any(|&far| core.out.far_mut(far).replace.is_some());
        if core.end.is_some() || replaces || adds || earlier || released {
            self.changed.notify_all();
        }
        dirty
    }

    /// Moves the stage's output from `core.out` to the sinks.
    fn queue(&self, core: &mut Core) -> DirtySinks {
        let Core { out, nears, fars, .. } = core;
        let mut dirty = DirtySinks::default();
        for (&number, near) in nears.iter_mut() {
            if near.take(out.near_mut(number)) {
                dirty.push(Peer::of(Side::Near(number)), &near.sink);
            }
        }
        out.keep_nears(|near| nears.contains_key(&near));
        out.keep_fars(|far| fars.contains_key(&far));
        for (&number, slot) in fars.iter() {
            let to_far = out.far_mut(number);
            let close = std::mem::take(&mut to_far.close);
            // Output for a far side that is not running is lost.
            let Some(far) = &slot.far else {
                to_far.outgoing.bytes.clear();
                continue;
            };
            if close {
                far.sink.close();
            }
            if far.sink.append(&mut to_far.outgoing.bytes) || close {
                dirty.push(Peer::far(number, slot.epoch), &far.sink);
            }
        }
        if !self.options.is_pipe {
            for (side, sink) in [(Side::Person, &self.sinks.person), (Side::FAR_ERROR, &self.sinks.errors)] {
                if let Some(sink) = sink
                    && sink.append(out.to(side))
                {
                    dirty.push(Peer::of(side), sink);
                }
            }
        }
        dirty
    }

    /// Gives the stage the progress of earlier output.
    pub(super) fn measure(&self, core: &mut Core) {
        for (&number, near) in &core.nears {
            core.out.near_mut(number).progress = near.sink.progress();
        }
        for (&number, slot) in &core.fars {
            let to_far = core.out.far_mut(number);
            to_far.progress = slot.far.as_ref().map(|far| far.sink.progress()).unwrap_or_default();
            to_far.waits = slot.far.as_ref().is_some_and(FarProcess::waits);
        }
        core.out.errors_wait = self.sinks.errors.as_ref().is_some_and(|sink| sink.progress().is_behind());
    }

    /// Ends the run, unless it has been ended already.
    pub(super) fn end(&self, end: Result<Status, Failure>) {
        lock(&self.core).end.get_or_insert(end);
        self.changed.notify_all();
    }
}
