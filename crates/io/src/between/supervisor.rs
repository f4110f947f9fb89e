//! The main thread: starts and ends children, wakes the stage at its deadline, and ends the run.

use super::far::{Exit, FarProcess};
use super::hub::{Core, FarSlot, Hub, Peer};
use super::{Dialer, EndMode, FarEndpoint, Link, Program};
use crate::child::{self, Child, ChildPipes, ChildStreams};
use crate::report::{Failure, Status};
use crate::sink::Sink;
use crate::stage::{AfterEnd, Event, Out, Side, Stage};
use pipewright_sys::lock;
use std::convert::Infallible;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long our readers may take to read the remaining output, unless [`Hub::finish`] waits for stdout's reader.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

impl Hub {
    /// Starts or restarts a far side: its child, if it has one, the threads that read it, and the thread that waits for
    /// the child. Only called on the main thread.
    pub(super) fn start(self: &Arc<Hub>, far: usize) {
        let endpoint = lock(&self.core).fars.get_mut(&far).and_then(|slot| slot.endpoint.take());
        // The endpoint for the next start.
        let next_endpoint = match endpoint {
            Some(FarEndpoint::Child(program)) => {
                self.start_program(
                    far,
                    &program,
                    ChildStreams::Talk { receives_errors: self.sinks.errors.is_some() },
                    None,
                );
                Some(FarEndpoint::Child(program))
            }
            Some(FarEndpoint::Dial(Dialer(mut dial))) => {
                match dial() {
                    Ok(link) => self.connect_link(far, None, link),
                    Err(error) => self.not_started(far, Failure::new(Status::NotStarted, error)),
                }
                Some(FarEndpoint::Dial(Dialer(dial)))
            }
            Some(FarEndpoint::Link(link, program)) => {
                self.connect_link(far, program.as_ref(), link);
                None
            }
            None => {
                let why = "the other side cannot be started again";
                self.not_started(far, Failure::new(Status::NotStarted, why));
                None
            }
        };
        if let Some(slot) = lock(&self.core).fars.get_mut(&far) {
            slot.endpoint = next_endpoint;
        }
    }

    /// Connects a far side over `link`; starts `program` first, if given.
    fn connect_link(self: &Arc<Hub>, far: usize, program: Option<&Program>, link: Link) {
        match program {
            Some(program) => self.start_program(far, program, ChildStreams::Print, Some(link)),
            None => self.connect(far, None, ChildPipes { talk: Some((link.to, link.from)), stderr: None }),
        }
    }

    /// Starts a program, and connects a far side over its pipes or over `link`, if given.
    fn start_program(self: &Arc<Hub>, far: usize, program: &Program, streams: ChildStreams, link: Option<Link>) {
        match child::spawn(&program.command, streams, &program.environment) {
            Ok((child, pipes)) => {
                let talk = link.map(|link| (link.to, link.from)).or(pipes.talk);
                self.connect(far, Some(child), ChildPipes { talk, ..pipes });
            }
            Err(failure) => self.not_started(far, failure),
        }
    }

    /// Notifies the stage of a far side that could not be started.
    fn not_started(self: &Arc<Hub>, far: usize, failure: Failure) {
        let dirty = {
            let mut core = lock(&self.core);
            if !core.fars.contains_key(&far) {
                return;
            }
            self.decide_in(&mut core, Box::new(|stage, out| stage.not_started(far, failure, out)))
        };
        self.write_aside(dirty);
    }

    /// Begins to read from a far side, and to wait for the end of its child.
    fn connect(self: &Arc<Hub>, far: usize, child: Option<Child>, ChildPipes { talk, stderr }: ChildPipes) {
        // Every caller provides `talk`.
        let Some((to, from)) = talk else { return };
        let group = child.as_ref().map(Child::group);
        if let Some(group) = &group {
            lock(&self.running).insert(far, group.clone());
        }
        let connected = FarProcess::new(group, to, stderr.is_some());
        let exit = connected.exit();
        let (peer, dirty) = {
            // Under one lock: the stage is notified before anything else can be sent to the other side.
            let mut core = lock(&self.core);
            // Only the main thread, which we are, begins the removal of a far side.
            let Some(slot) = core.fars.get_mut(&far) else { return };
            slot.far = Some(connected);
            let peer = Peer::far(far, slot.epoch);
            let started = move |stage: &mut dyn Stage, out: &mut Out| {
                out.give_up_parts();
                stage.on(Event::Started(far), out)
            };
            (peer, self.decide_in(&mut core, Box::new(started)))
        };
        if let Some(child) = child {
            self.wait_for(child, exit);
        }
        self.write_aside(dirty);
        self.read(peer, from);
        if let Some(stderr) = stderr {
            self.read(Peer { side: Side::FarError(far), ..peer }, stderr);
        }
    }

    fn wait_for(self: &Arc<Hub>, child: Child, exit: Arc<Exit>) {
        self.spawn(move |hub| {
            // No other thread waits for our child, so there is a status. Without one, it has still ended.
            exit.set(child.wait().unwrap_or_default());
            // Take the lock so that the main thread is either asleep or has not checked yet.
            let _core = lock(&hub.core);
            hub.changed.notify_all();
        });
    }

    /// Sleeps until there is work for the main thread; returns how the run ended.
    pub(super) fn supervise(self: &Arc<Hub>) -> Result<Status, Failure> {
        let mut core = lock(&self.core);
        loop {
            let now = Instant::now();
            core.end_draining(now);
            if let Some(end) = core.end.take() {
                // Mark the run as ended for the other threads.
                core.end = Some(Ok(Status::Success));
                return end;
            }
            let deadline = core.stage.deadline();
            if let Some(ending) = core.next_ending() {
                drop(core);
                self.end_former(ending);
                core = lock(&self.core);
                continue;
            }
            if let Some((&far, slot)) = core.fars.iter_mut().find(|(_, slot)| slot.is_to_start) {
                slot.is_to_start = false;
                drop(core);
                self.start(far);
                core = lock(&self.core);
                continue;
            }
            let (exited, check_again) = core.next_exit(now);
            if let Some(ended) = exited {
                drop(core);
                self.exited(ended);
                core = lock(&self.core);
            } else if deadline.is_some_and(|deadline| deadline <= now) {
                drop(core);
                self.deliver_aside(|stage, out| stage.on(Event::Due, out));
                core = lock(&self.core);
            } else {
                let drained = core.draining.map(|(_, until)| until);
                core.asleep_until = deadline.into_iter().chain(check_again).chain(drained).min();
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

    fn exited(self: &Arc<Hub>, EndedChild { far, epoch, status, sink }: EndedChild) {
        sink.settle();
        let act = move |stage: &mut dyn Stage, out: &mut Out| {
            out.give_up_parts();
            stage.on(Event::Exited(far, status), out)
        };
        let dirty = self.decide(Some(Peer::far(far, epoch)), Box::new(act));
        self.write_aside(dirty);
    }

    /// Ends a far side's former child, and then requests its restart or removes it. With several far sides, this does
    /// not block.
    fn end_former(self: &Arc<Hub>, EndingChild { far, former, after_end }: EndingChild) {
        let end = move |hub: &Arc<Hub>| {
            hub.end_child(far, former);
            let mut core = lock(&hub.core);
            if after_end == AfterEnd::Remove {
                core.fars.remove(&far);
            } else if let Some(slot) = core.fars.get_mut(&far) {
                (slot.is_ending, slot.is_to_start) = (false, after_end == AfterEnd::Restart);
            }
            hub.changed.notify_all();
        };
        if self.options.has_several { self.spawn(end) } else { end(self) }
    }

    fn end_child(&self, far: usize, child: Option<FarProcess>) {
        if let Some(child) = child {
            child.ending().end(|| self.signalled.load(Ordering::Relaxed));
            lock(&self.running).remove(&far);
        }
    }

    /// Ends all children concurrently. Gives the sink of each far side that had one.
    fn end_children(&self) -> Vec<(usize, Option<Arc<Sink>>)> {
        let mut core = lock(&self.core);
        let fars: Vec<(usize, Option<FarProcess>)> =
            core.fars.iter_mut().map(|(&number, slot)| (number, slot.far.take())).collect();
        drop(core);
        let sink = |far: &FarProcess| Arc::clone(&far.sink);
        let sinks = fars.iter().map(|(number, far)| (*number, far.as_ref().map(sink))).collect();
        thread::scope(|scope| {
            for (number, far) in fars {
                scope.spawn(move || self.end_child(number, far));
            }
        });
        // Wait for children that were being replaced.
        core = lock(&self.core);
        while core.fars.values().any(|slot| slot.is_ending) {
            core = self.changed.wait(core).unwrap_or_else(PoisonError::into_inner);
        }
        sinks
    }

    /// Writes the remaining output for our own readers; the returned channel is closed when that is done. Clients count
    /// only if `waits_for_clients`.
    fn write_remaining(self: &Arc<Hub>, waits_for_clients: bool) -> Receiver<Infallible> {
        let (writes, all_written) = mpsc::channel();
        let others = [&self.sinks.person, &self.sinks.errors].into_iter().flatten();
        let mut sinks = Vec::from_iter(others.map(|sink| (true, Arc::clone(sink))));
        for (&number, near) in &lock(&self.core).nears {
            // Near side 0 is stdout, the others are clients.
            sinks.push((number == 0 || waits_for_clients, Arc::clone(&near.sink)));
        }
        for (counts, sink) in sinks {
            let writes = counts.then(|| writes.clone());
            self.spawn(move |_| {
                let _ = sink.drain();
                drop(writes);
            });
        }
        all_written
    }

    /// Ends the children, and lets our readers read the remaining output. A signal shortens this.
    pub(super) fn finish(self: &Arc<Hub>, ended: Result<Status, Failure>) -> Result<Status, Failure> {
        let has_stdout = lock(&self.core).nears.contains_key(&0);
        // Without a time limit, only for stdout's reader: a client that does not read must not keep us from ending.
        let has_time_limit =
            self.options.end_mode != EndMode::Relay || !has_stdout || matches!(ended, Err(_) | Ok(Status::Signal(_)));
        let all_written = self.write_remaining(has_time_limit);
        let mut until = has_time_limit.then(|| Instant::now() + DRAIN_TIMEOUT);
        let sinks = self.end_children();
        while all_written.recv_timeout(Duration::from_millis(10)) == Err(RecvTimeoutError::Timeout) {
            if until.is_none() && self.signalled.load(Ordering::Relaxed) {
                until = Some(Instant::now() + DRAIN_TIMEOUT);
            }
            if until.is_some_and(|until| until <= Instant::now()) {
                break;
            }
        }
        let mut core = lock(&self.core);
        self.measure(&mut core);
        let Core { stage, out, .. } = &mut *core;
        for (far, sink) in sinks {
            out.far_mut(far).progress = sink.map(|sink| sink.progress()).unwrap_or_default();
        }
        stage.end(out);
        // The last write can fail after the end was decided.
        let failure = core.nears.get(&0).and_then(|near| near.sink.failure());
        match (ended, failure) {
            (Ok(Status::Success | Status::Fault), Some(why)) => {
                Err(Failure::new(Status::Fault, format_args!("stdout: {why}")))
            }
            (ended, _) => ended,
        }
    }
}

/// A child that is to be ended.
struct EndingChild {
    far: usize,
    /// `None` if the far side is not running.
    former: Option<FarProcess>,
    after_end: AfterEnd,
}

/// A child that has ended.
struct EndedChild {
    far: usize,
    epoch: u64,
    status: ExitStatus,
    sink: Arc<Sink>,
}

impl Core {
    /// Ends a run that a signal has begun to end, if its children have ended or the time for that is over.
    fn end_draining(&mut self, now: Instant) {
        let Some((signal, until)) = self.draining else { return };
        let is_over = |slot: &FarSlot| slot.far.as_ref().is_none_or(FarProcess::is_over);
        let is_done = matches!(self.end, Some(Ok(_))) || now >= until || self.fars.values().all(is_over);
        if is_done && !matches!(self.end, Some(Err(_))) {
            self.end = Some(Ok(Status::Signal(signal)));
        }
    }

    /// A far side that the stage wants to end.
    fn next_ending(&mut self) -> Option<EndingChild> {
        for (&far, slot) in self.fars.iter_mut().filter(|(_, slot)| !slot.is_ending) {
            if let Some(after_end) = self.out.far_mut(far).replace.take() {
                slot.epoch += 1;
                (slot.is_ending, slot.is_to_start) = (true, false);
                return Some(EndingChild { far, former: slot.far.take(), after_end });
            }
        }
        None
    }

    /// A child whose end is to be reported; otherwise when to check again, if needed.
    fn next_exit(&mut self, now: Instant) -> (Option<EndedChild>, Option<Instant>) {
        let mut check_again = None;
        for (&far, slot) in &mut self.fars {
            let Some(child) = &mut slot.far else { continue };
            let (status, until) = child.ended(now);
            if let Some(status) = status {
                let (epoch, sink) = (slot.epoch, Arc::clone(&child.sink));
                return (Some(EndedChild { far, epoch, status, sink }), None);
            }
            check_again = check_again.into_iter().chain(until).min();
        }
        (None, check_again)
    }
}
