//! The main thread: starts and ends the child, wakes the stage at its deadline, and makes the end.

use super::far::{Exit, Far};
use super::hub::{Core, Hub};
use super::{Link, Manner};
use crate::io::child::{self, Child, Pipes, Streams};
use crate::io::lock;
use crate::io::report::{Failure, Status};
use crate::io::sink::Sink;
use crate::io::stage::{Event, Out, Side, Stage};
use std::ffi::OsString;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// How long the end of a session, or of a run that a signal or a failure ended, waits for our own readers to take
/// what was written for them.
const LAST_WRITES: Duration = Duration::from_millis(500);

impl Hub {
    /// Starts a child that is spoken with over its stdin and stdout, its readers and who waits for it. Only the main
    /// thread does.
    pub(super) fn start(self: &Arc<Hub>, command: &[OsString]) {
        self.start_with(command, Streams::Talk { hears_errors: self.sinks.errors.is_some() }, None);
    }

    /// Joins who is at the other end of `link`; starts `command` first, where there is one.
    pub(super) fn join(self: &Arc<Hub>, command: Option<&[OsString]>, link: Link) {
        match command {
            Some(command) => self.start_with(command, Streams::Print, Some(link)),
            None => self.meet(None, Pipes { talk: Some((link.to, link.from)), stderr: None }),
        }
    }

    fn start_with(self: &Arc<Hub>, command: &[OsString], streams: Streams, link: Option<Link>) {
        match child::spawn(command, streams, &self.manners.around) {
            Ok((child, pipes)) => {
                let talk = link.map(|link| (link.to, link.from)).or(pipes.talk);
                self.meet(Some(child), Pipes { talk, ..pipes });
            }
            Err(failure) => self.not_started(failure),
        }
    }

    /// Has the stage decide what follows from a far side that could not be started.
    pub(super) fn not_started(self: &Arc<Hub>, failure: Failure) {
        self.deliver_aside(|stage, out| stage.not_started(failure, out));
    }

    fn meet(self: &Arc<Hub>, child: Option<Child>, Pipes { talk, stderr }: Pipes) {
        // There is one in each way to come here.
        let Some((to, from)) = talk else { return };
        let group = child.as_ref().map(Child::group);
        *lock(&self.running) = group;
        let far = Far::new(group, to, stderr.is_some());
        let exit = far.exit();
        let (epoch, dirty) = {
            // In one go: the stage knows of the other side before anything else can be sent to it.
            let mut core = lock(&self.core);
            core.far = Some(far);
            let started = |stage: &mut dyn Stage, out: &mut Out| {
                out.give_up_parts();
                stage.on(Event::Started, out)
            };
            (core.epoch, self.decide_in(&mut core, Box::new(started)))
        };
        if let Some(child) = child {
            self.wait_for(child, exit);
        }
        self.write_aside(dirty);
        self.read(Side::Far, Some(epoch), from);
        if let Some(stderr) = stderr {
            self.read(Side::FarError, Some(epoch), stderr);
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
    /// `start` starts the far side again.
    pub(super) fn supervise(self: &Arc<Hub>, start: &mut dyn FnMut()) -> Result<Status, Failure> {
        let mut core = lock(&self.core);
        loop {
            if let Some(end) = core.end.take() {
                // Whoever decides after this finds that it has ended.
                core.end = Some(Ok(Status::Well));
                return end;
            }
            let now = Instant::now();
            let deadline = core.stage.deadline();
            if std::mem::take(&mut core.out.respawn) {
                core.epoch += 1;
                let former = core.far.take();
                drop(core);
                self.end_child(former);
                if lock(&self.core).end.is_none() {
                    start();
                }
                core = lock(&self.core);
                continue;
            }
            let (exited, look_again) = core.far.as_mut().map_or((None, None), |far| far.ended(now));
            if let Some(status) = exited {
                let sink = core.far.as_ref().map(|far| Arc::clone(&far.sink));
                drop(core);
                sink.inspect(|sink| sink.settle());
                self.deliver_aside(|stage, out| {
                    out.give_up_parts();
                    stage.on(Event::Exited(status), out)
                });
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

    fn end_child(&self, far: Option<Far>) {
        if let Some(far) = far {
            far.end(|| self.signalled.load(Ordering::Relaxed));
            *lock(&self.running) = None;
        }
    }

    /// Ends the child, and lets our own readers take what was written for them. A signal that comes meanwhile hurries it.
    pub(super) fn finish(self: &Arc<Hub>, ended: Result<Status, Failure>) -> Result<Status, Failure> {
        let (done, all_done) = mpsc::channel();
        self.spawn(move |hub| {
            let _ = hub.sinks.near.drain();
            let _ = hub.sinks.person.as_ref().map(Sink::drain);
            let _ = hub.sinks.errors.as_ref().map(Sink::drain);
            let _ = done.send(());
        });
        let patient =
            self.manners.manner == Manner::Relay && matches!(ended, Ok(status) if !matches!(status, Status::Signal(_)));
        let mut until = (!patient).then(|| Instant::now() + LAST_WRITES);
        let far = lock(&self.core).far.take();
        let far_sink = far.as_ref().map(|far| Arc::clone(&far.sink));
        self.end_child(far);
        while all_done.recv_timeout(Duration::from_millis(10)) == Err(RecvTimeoutError::Timeout) {
            if until.is_none() && self.signalled.load(Ordering::Relaxed) {
                until = Some(Instant::now() + LAST_WRITES);
            }
            if until.is_some_and(|until| until <= Instant::now()) {
                break;
            }
        }
        let Core { stage, out, .. } = &mut *lock(&self.core);
        out.progress = [self.sinks.near.progress(), far_sink.map(|sink| sink.progress()).unwrap_or_default()];
        stage.end(out);
        ended
    }
}
