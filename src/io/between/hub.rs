//! What the threads share: the stage behind its lock, and the sinks.

use super::far::Far;
use super::near::NearSide;
use super::writing::Dirty;
use super::{Manner, Program};
use crate::io::child::Group;
use crate::io::lines::Limits;
use crate::io::lock;
use crate::io::report::{Failure, Report, Status};
use crate::io::sink::Sink;
use crate::io::stage::{Out, Side, Stage};
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
    pub(super) manners: Manners,
    /// A signal came, perhaps after the end.
    pub(super) signalled: AtomicBool,
    /// The children that a second signal kills, until they have been ended.
    pub(super) running: Mutex<BTreeMap<usize, Group>>,
}

/// What is written beside the near and the far sides.
pub(super) struct Sinks {
    pub(super) person: Option<Arc<Sink>>,
    /// Our stderr, for what the child says on its own.
    pub(super) errors: Option<Arc<Sink>>,
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
    /// There are several far sides, or may be.
    pub(super) has_several: bool,
    /// The near side's reader waits until a far side has taken what was sent to it.
    pub(super) waits_for_far: bool,
}

pub(super) struct Core {
    pub(super) stage: Box<dyn Stage>,
    pub(super) out: Out,
    /// By number: 0 is our own stdin and stdout, the others are clients.
    pub(super) nears: BTreeMap<usize, NearSide>,
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
    /// Its program, until that is started, where the stage has added it.
    pub(super) added: Option<Program>,
}

/// What an event is from, or where something is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) side: Side,
    /// Which near or far side.
    pub(super) number: usize,
    /// Which child of the far side.
    pub(super) epoch: u64,
}

impl Peer {
    /// The person, our stderr, or a channel of answers.
    pub(super) fn of(side: Side) -> Peer {
        Peer { side, number: 0, epoch: 0 }
    }

    pub(super) fn near(number: usize) -> Peer {
        Peer { side: Side::Near, number, epoch: 0 }
    }

    pub(super) fn far(number: usize, epoch: u64) -> Peer {
        Peer { side: Side::Far, number, epoch }
    }

    /// Whether a child of ours is at the other end.
    pub(super) fn is_far(self) -> bool {
        matches!(self.side, Side::Far | Side::FarError)
    }

    /// Has [`Side::Near`] and [`Side::Far`] mean what an event is about.
    pub(super) fn choose(about: Option<Peer>, out: &mut Out) {
        let number = |side: fn(&Peer) -> bool| about.filter(side).map_or(0, |peer| peer.number);
        out.choose_near(number(|peer| peer.side == Side::Near));
        out.choose_far(number(|peer| peer.is_far()));
    }
}

impl Core {
    /// The child that `peer` means, where it is the present one.
    pub(super) fn child(&mut self, peer: Peer) -> Option<&mut Far> {
        let slot = self.fars.get_mut(peer.number).filter(|_| peer.is_far())?;
        slot.far.as_mut().filter(|_| slot.epoch == peer.epoch)
    }

    /// Whether a near side is to be read no further for now; no longer once it is broken, or the run has ended.
    pub(super) fn is_held(&self, near: usize) -> bool {
        let is_broken = self.nears.get(&near).is_some_and(NearSide::is_broken);
        self.out.holds_near(near) && !is_broken && self.end.is_none()
    }

    /// Whether `peer` has been replaced by another child, or is a client that has gone.
    fn is_former(&self, peer: Peer) -> bool {
        match peer.side {
            Side::Far | Side::FarError => self.fars.get(peer.number).is_some_and(|slot| slot.epoch != peer.epoch),
            Side::Near => !self.nears.contains_key(&peer.number),
            Side::Person | Side::Answers => false,
        }
    }
}

pub(super) type Act<'a> = dyn FnOnce(&mut dyn Stage, &mut Out) -> Result<(), Failure> + 'a;

impl Hub {
    /// With so many far sides, none of which has been started.
    pub(super) fn new(
        stage: Box<dyn Stage>,
        nears: BTreeMap<usize, NearSide>,
        fars: usize,
        sinks: Sinks,
        report: Arc<Report>,
        manners: Manners,
    ) -> Hub {
        let mut out = if manners.is_pipe { Out::joined() } else { Out::default() };
        out.far_count = fars;
        let fars = (0..fars).map(|_| Slot::default()).collect();
        let core = Core { stage, out, nears, fars, end: None, asleep_until: None };
        let (core, changed) = (Mutex::new(core), Condvar::new());
        let (signalled, running) = (AtomicBool::new(false), Mutex::default());
        Hub { core, changed, sinks, report, manners, signalled, running }
    }

    /// Has the stage act and commit, and queues what it said. `about` is what an event is from; what a former child's threads
    /// still bring is dropped.
    pub(super) fn decide(&self, about: Option<Peer>, act: Box<Act<'_>>) -> Dirty {
        let mut core = lock(&self.core);
        if about.is_some_and(|peer| core.is_former(peer)) {
            return Dirty::default();
        }
        self.decide_in(&mut core, about, act)
    }

    /// The same with the lock held. Whatever comes after the end is dropped.
    pub(super) fn decide_in(&self, core: &mut Core, about: Option<Peer>, act: Box<Act<'_>>) -> Dirty {
        if core.end.is_some() {
            return Dirty::default();
        }
        self.measure(core);
        let Core { stage, out, .. } = core;
        Peer::choose(about, out);
        let held = out.holds_all();
        let decided = act(stage.as_mut(), out);
        let released = std::mem::take(&mut out.released) || (held && !out.holds_all());
        let committed = stage.commit();
        if committed.is_err() {
            // What wasn't made durable must not be seen to have happened.
            out.clear();
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
        let replaces = (0..core.fars.len()).any(|far| core.out.far_mut(far).replace.is_some());
        let added = std::mem::take(&mut core.out.added);
        let adds = !added.is_empty();
        core.fars.extend(added.into_iter().map(|program| Slot {
            added: Some(program),
            is_to_start: true,
            ..Slot::default()
        }));
        if core.end.is_some() || replaces || adds || earlier || released {
            self.changed.notify_all();
        }
        dirty
    }

    /// Moves what the stage said from `core.out` to the sinks.
    fn queue(&self, core: &mut Core) -> Dirty {
        let Core { out, nears, fars, .. } = core;
        let mut dirty = Dirty::default();
        for (&number, near) in nears.iter_mut() {
            if near.take(out.near_mut(number)) {
                dirty.push(Peer::near(number), &near.sink);
            }
        }
        out.keep_nears(|near| nears.contains_key(&near));
        for (number, slot) in fars.iter().enumerate() {
            let to_far = out.far_mut(number);
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
                dirty.push(Peer::far(number, slot.epoch), &far.sink);
            }
        }
        if !self.manners.is_pipe {
            for (side, sink) in [(Side::Person, &self.sinks.person), (Side::FarError, &self.sinks.errors)] {
                if let Some(sink) = sink
                    && sink.append(out.to(side))
                {
                    dirty.push(Peer::of(side), sink);
                }
            }
        }
        dirty
    }

    /// Tells the stage how far everything has come that was sent before.
    pub(super) fn measure(&self, core: &mut Core) {
        for (&number, near) in &core.nears {
            core.out.near_mut(number).progress = near.sink.progress();
        }
        for (index, slot) in core.fars.iter().enumerate() {
            let to_far = core.out.far_mut(index);
            to_far.progress = slot.far.as_ref().map(|far| far.sink.progress()).unwrap_or_default();
            to_far.waits = slot.far.as_ref().is_some_and(Far::waits);
        }
        core.out.errors_wait = self.sinks.errors.as_ref().is_some_and(|sink| sink.progress().is_behind());
    }

    /// Ends the run, unless it has been ended already.
    pub(super) fn end(&self, end: Result<Status, Failure>) {
        lock(&self.core).end.get_or_insert(end);
        self.changed.notify_all();
    }
}
