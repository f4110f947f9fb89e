//! The main thread: starts and ends the child, wakes the stage at its deadline, and makes the end.

use super::far::{Exit, Far};
use super::hub::{Core, Hub, Peer};
use super::{Link, Manner, Program};
use crate::io::child::{self, Child, Pipes, Streams};
use crate::io::lock;
use crate::io::report::{Failure, Status};
use crate::io::sink::Sink;
use crate::io::stage::{Event, Out, Replace, Side, Stage};
use std::convert::Infallible;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the end of a session, or of a run that a signal or a failure ended, waits for our own readers to take
/// what was written for them.
const LAST_WRITES: Duration = Duration::from_millis(500);

impl Hub {
    /// Starts a far side's child that is spoken with over its stdin and stdout, its readers and who waits for it. Only the main
    /// thread does.
    pub(super) fn start(self: &Arc<Hub>, far: usize, program: &Program) {
        self.start_with(far, program, Streams::Talk { hears_errors: self.sinks.errors.is_some() }, None);
    }

    /// Joins who is at the other end of `link`; starts `program` first, where there is one.
    pub(super) fn join(self: &Arc<Hub>, far: usize, program: Option<&Program>, link: Link) {
        match program {
            Some(program) => self.start_with(far, program, Streams::Print, Some(link)),
            None => self.meet(far, None, Pipes { talk: Some((link.to, link.from)), stderr: None }),
        }
    }

    fn start_with(self: &Arc<Hub>, far: usize, program: &Program, streams: Streams, link: Option<Link>) {
        match child::spawn(&program.command, streams, &program.around) {
            Ok((child, pipes)) => {
                let talk = link.map(|link| (link.to, link.from)).or(pipes.talk);
                self.meet(far, Some(child), Pipes { talk, ..pipes });
            }
            Err(failure) => self.not_started(far, failure),
        }
    }

    /// Has the stage decide what follows from a far side that could not be started.
    pub(super) fn not_started(self: &Arc<Hub>, far: usize, failure: Failure) {
        let dirty = {
            let mut core = lock(&self.core);
            let peer = Peer::far(far, core.fars[far].epoch);
            self.decide_in(&mut core, Some(peer), Box::new(|stage, out| stage.not_started(failure, out)))
        };
        self.write_aside(dirty);
    }

    fn meet(self: &Arc<Hub>, far: usize, child: Option<Child>, Pipes { talk, stderr }: Pipes) {
        // There is one in each way to come here.
        let Some((to, from)) = talk else { return };
        let group = child.as_ref().map(Child::group);
        if let Some(group) = group {
            lock(&self.running).insert(far, group);
        }
        let met = Far::new(group, to, stderr.is_some());
        let exit = met.exit();
        let (peer, dirty) = {
            // In one go: the stage knows of the other side before anything else can be sent to it.
            let mut core = lock(&self.core);
            core.fars[far].far = Some(met);
            let started = |stage: &mut dyn Stage, out: &mut Out| {
                out.give_up_parts();
                stage.on(Event::Started, out)
            };
            let peer = Peer::far(far, core.fars[far].epoch);
            (peer, self.decide_in(&mut core, Some(peer), Box::new(started)))
        };
        if let Some(child) = child {
            self.wait_for(child, exit);
        }
        self.write_aside(dirty);
        self.read(peer, from);
        if let Some(stderr) = stderr {
            self.read(Peer { side: Side::FarError, ..peer }, stderr);
        }
    }

    fn wait_for(self: &Arc<Hub>, child: Child, exit: Arc<Exit>) {
        self.spawn(move |hub| {
            // Nobody else waits for our child, so there is a status; without one, it has ended all the same.
            exit.set(child.wait().unwrap_or_default());
            // Taking the lock, so that the main thread is either asleep or yet to look.
            let _core = lock(&hub.core);
            hub.changed.notify_all();
        });
    }

    /// Sleeps until there is something that only this thread may do, and gives how the run ended.
    /// `start` starts a far side, one that was there before again.
    pub(super) fn supervise(self: &Arc<Hub>, start: &mut dyn FnMut(usize, Option<Program>)) -> Result<Status, Failure> {
        let mut core = lock(&self.core);
        loop {
            if let Some(end) = core.end.take() {
                // Whoever decides after this finds that it has ended.
                core.end = Some(Ok(Status::Well));
                return end;
            }
            let now = Instant::now();
            let deadline = core.stage.deadline();
            if let Some((far, former, is_to_start)) = core.next_replaced() {
                drop(core);
                self.replace(far, former, is_to_start);
                core = lock(&self.core);
                continue;
            }
            if let Some(far) = core.fars.iter().position(|slot| slot.is_to_start) {
                core.fars[far].is_to_start = false;
                let added = core.fars[far].added.take();
                drop(core);
                start(far, added);
                core = lock(&self.core);
                continue;
            }
            let (exited, look_again) = core.next_exit(now);
            if let Some(Ended { peer, status, sink }) = exited {
                drop(core);
                sink.settle();
                self.exited(peer, status);
                core = lock(&self.core);
            } else if deadline.is_some_and(|deadline| deadline <= now) {
                drop(core);
                self.deliver_aside(|stage, out| stage.on(Event::Due, out));
                core = lock(&self.core);
            } else {
                core.asleep_until = deadline.into_iter().chain(look_again).min();
                core = match core.asleep_until {
                    Some(until) => {
                        let slept = self.changed.wait_timeout(core, until - now);
                        slept.unwrap_or_else(PoisonError::into_inner).0
                    }
                    None => self.changed.wait(core).unwrap_or_else(PoisonError::into_inner),
                };
                core.asleep_until = None;
            }
        }
    }

    fn exited(self: &Arc<Hub>, peer: Peer, status: ExitStatus) {
        let told = |stage: &mut dyn Stage, out: &mut Out| {
            out.give_up_parts();
            stage.on(Event::Exited(status), out)
        };
        let dirty = self.decide(Some(peer), Box::new(told));
        self.write_aside(dirty);
    }

    /// Ends a far side's former child, and has the next one started, where there is to be one. With several far sides, nobody waits for that.
    fn replace(self: &Arc<Hub>, far: usize, former: Option<Far>, is_to_start: bool) {
        let replace = move |hub: &Arc<Hub>| {
            hub.end_child(far, former);
            let mut core = lock(&hub.core);
            (core.fars[far].is_ending, core.fars[far].is_to_start) = (false, is_to_start);
            hub.changed.notify_all();
        };
        if self.manners.has_several { self.spawn(replace) } else { replace(self) }
    }

    fn end_child(&self, far: usize, child: Option<Far>) {
        if let Some(child) = child {
            child.end(|| self.signalled.load(Ordering::Relaxed));
            lock(&self.running).remove(&far);
        }
    }

    /// Ends all children, at the same time.
    fn end_children(&self) -> Vec<Option<Arc<Sink>>> {
        let mut core = lock(&self.core);
        let fars: Vec<Option<Far>> = core.fars.iter_mut().map(|slot| slot.far.take()).collect();
        drop(core);
        let sinks = fars.iter().map(|far| far.as_ref().map(|far| Arc::clone(&far.sink))).collect();
        thread::scope(|scope| {
            for (index, far) in fars.into_iter().enumerate() {
                scope.spawn(move || self.end_child(index, far));
            }
        });
        // Those that were being replaced.
        core = lock(&self.core);
        while core.fars.iter().any(|slot| slot.is_ending) {
            core = self.changed.wait(core).unwrap_or_else(PoisonError::into_inner);
        }
        sinks
    }

    /// Has what still waits for our own readers written; the channel is closed when it is. Whether clients have taken theirs is part of
    /// that only where `waits_for_clients`.
    fn write_the_rest(self: &Arc<Hub>, waits_for_clients: bool) -> Receiver<Infallible> {
        let (writes, all_written) = mpsc::channel();
        let others = [&self.sinks.person, &self.sinks.errors].into_iter().flatten().map(|sink| (0, Arc::clone(sink)));
        let mut sinks: Vec<_> =
            lock(&self.core).nears.iter().map(|(&number, near)| (number, Arc::clone(&near.sink))).collect();
        sinks.extend(others);
        for (number, sink) in sinks {
            let writes = (number == 0 || waits_for_clients).then(|| writes.clone());
            self.spawn(move |_| {
                let _ = sink.drain();
                drop(writes);
            });
        }
        all_written
    }

    /// Ends the children, and lets our own readers take what was written for them. A signal that comes meanwhile hurries it.
    pub(super) fn finish(self: &Arc<Hub>, ended: Result<Status, Failure>) -> Result<Status, Failure> {
        let has_stdout = lock(&self.core).nears.contains_key(&0);
        let patient = self.manners.manner == Manner::Relay
            && has_stdout
            && matches!(ended, Ok(status) if !matches!(status, Status::Signal(_)));
        let all_written = self.write_the_rest(!patient);
        let mut until = (!patient).then(|| Instant::now() + LAST_WRITES);
        let sinks = self.end_children();
        while all_written.recv_timeout(Duration::from_millis(10)) == Err(RecvTimeoutError::Timeout) {
            if until.is_none() && self.signalled.load(Ordering::Relaxed) {
                until = Some(Instant::now() + LAST_WRITES);
            }
            if until.is_some_and(|until| until <= Instant::now()) {
                break;
            }
        }
        let mut core = lock(&self.core);
        self.measure(&mut core);
        let Core { stage, out, .. } = &mut *core;
        for (far, sink) in sinks.into_iter().enumerate() {
            out.far_mut(far).progress = sink.map(|sink| sink.progress()).unwrap_or_default();
        }
        stage.end(out);
        // What is written last fails when the end is decided already.
        let failure = core.nears.get(&0).and_then(|near| near.sink.failure());
        match (ended, failure) {
            (Ok(Status::Well | Status::Fault), Some(why)) => {
                Err(Failure::new(Status::Fault, format_args!("stdout: {why}")))
            }
            (ended, _) => ended,
        }
    }
}

/// A child that has ended.
struct Ended {
    peer: Peer,
    status: ExitStatus,
    sink: Arc<Sink>,
}

impl Core {
    /// A far side that the stage wants ended, with its child, and whether it is to be started anew.
    fn next_replaced(&mut self) -> Option<(usize, Option<Far>, bool)> {
        for (far, slot) in self.fars.iter_mut().enumerate() {
            if let Some(replace) = self.out.far_mut(far).replace.take().filter(|_| !slot.is_ending) {
                slot.epoch += 1;
                slot.is_ending = true;
                return Some((far, slot.far.take(), replace == Replace::Anew));
            }
        }
        None
    }

    /// A child whose end is to be told; else perhaps when to look again.
    fn next_exit(&mut self, now: Instant) -> (Option<Ended>, Option<Instant>) {
        let mut look_again = None;
        for (far, slot) in self.fars.iter_mut().enumerate() {
            let Some(child) = &mut slot.far else { continue };
            let (status, again) = child.ended(now);
            if let Some(status) = status {
                let peer = Peer::far(far, slot.epoch);
                return (Some(Ended { peer, status, sink: Arc::clone(&child.sink) }), None);
            }
            look_again = look_again.into_iter().chain(again).min();
        }
        (None, look_again)
    }
}
