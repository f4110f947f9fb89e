//! The current child: writing to it, detecting its end, and ending it.

use crate::sink::Sink;
use crate::stage::Side;
use pipewright_sys::descriptor::Descriptor;
use pipewright_sys::process::{Group, grace};
use pipewright_sys::{lock, terminal};
use std::process::ExitStatus;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A grandchild may hold the child's stdout open after the child has ended. The pipe is read for this long in total.
const HELD_PIPE: Duration = Duration::from_millis(250);

/// A child that was started, until its end has been reported; or a process that we only have a [link](super::Link) to.
pub(super) struct FarProcess {
    pub(super) sink: Arc<Sink>,
    stdout: ChildPipe,
    stderr: ChildPipe,
    /// `None` if we did not start it, and so do not end it.
    group: Option<Group>,
    exit: Arc<Exit>,
    /// Whether its end has been reported to the stage.
    reported: bool,
}

/// One of the child's pipes to us.
pub(super) struct ChildPipe {
    /// Its end has been reached.
    pub(super) has_ended: bool,
    /// Since when its reader waits for the child; `None` while the reader waits for the output to be taken.
    listening_since: Option<Instant>,
    /// How long its reader has waited since the child ended, in earlier reads.
    listened: Duration,
    exit: Arc<Exit>,
}

impl ChildPipe {
    fn new(exit: &Arc<Exit>, has_ended: bool) -> ChildPipe {
        ChildPipe { has_ended, listening_since: None, listened: Duration::ZERO, exit: Arc::clone(exit) }
    }

    /// Its reader begins to wait for the child, or has data and may wait for another reader. Returns whether the main
    /// thread has to check again.
    pub(super) fn set_listening(&mut self, listening: bool) -> bool {
        let ended = self.exit.get();
        if let (Some(since), Some((_, at))) = (self.listening_since.take(), ended) {
            self.listened += since.max(at).elapsed();
        }
        self.listening_since = listening.then(Instant::now);
        listening && ended.is_some()
    }

    /// Whether the output of the child, which ended `at`, has been read for long enough; otherwise when to check again,
    /// if that is needed. (While its reader waits for another reader, it is not: the end of that wait wakes us.)
    fn is_drained(&self, at: Instant, now: Instant) -> (bool, Option<Instant>) {
        let left = HELD_PIPE.saturating_sub(self.listened);
        let until = self.listening_since.map(|since| since.max(at) + left);
        let is_drained = self.has_ended || until.is_some_and(|until| until <= now);
        (is_drained, until.filter(|_| !is_drained))
    }
}

impl FarProcess {
    pub(super) fn new(group: Option<Group>, to: Descriptor, receives_errors: bool) -> FarProcess {
        let (sink, exit) = (Arc::new(Sink::new(to)), Arc::default());
        let (stdout, stderr) = (ChildPipe::new(&exit, false), ChildPipe::new(&exit, !receives_errors));
        FarProcess { sink, stdout, stderr, group, exit, reported: false }
    }

    /// The pipe that `side` is read from.
    pub(super) fn outlet(&mut self, side: Side) -> &mut ChildPipe {
        if matches!(side, Side::FarError(_)) { &mut self.stderr } else { &mut self.stdout }
    }

    /// Whether it is not being read at the moment, because its last output is still being passed on.
    pub(super) fn waits(&self) -> bool {
        !self.stdout.has_ended && self.stdout.listening_since.is_none()
    }

    /// Where the thread that waits for the child leaves its status.
    pub(super) fn exit(&self) -> Arc<Exit> {
        Arc::clone(&self.exit)
    }

    /// Its status, once, when it has ended and its output has been read to the end, or for long enough after its exit.
    /// Otherwise when to check again, if that is needed.
    pub(super) fn ended(&mut self, now: Instant) -> (Option<ExitStatus>, Option<Instant>) {
        match self.exit.get() {
            Some((status, at)) if !self.reported => {
                let outlets = [self.stdout.is_drained(at, now), self.stderr.is_drained(at, now)];
                self.reported = outlets.iter().all(|(is_drained, _)| *is_drained);
                let look_again = outlets.into_iter().filter_map(|(_, until)| until).min();
                if self.reported { (Some(status), None) } else { (None, look_again) }
            }
            _ => (None, None),
        }
    }

    /// Whether its end has been reported to the stage, or cannot come.
    pub(super) fn is_over(&self) -> bool {
        self.reported || self.group.is_none()
    }

    /// What is needed to end it.
    pub(super) fn ending(&self) -> ChildEnd {
        ChildEnd { sink: Arc::clone(&self.sink), group: self.group.clone(), exit: Arc::clone(&self.exit) }
    }
}

/// The end of a child.
pub(super) struct ChildEnd {
    sink: Arc<Sink>,
    group: Option<Group>,
    exit: Arc<Exit>,
}

impl ChildEnd {
    /// Closes the child's stdin, gives it time to end by itself, then ends it together with all processes it started.
    /// Allows less time if `hurried`.
    pub(super) fn end(self, hurried: impl Fn() -> bool) {
        self.sink.close();
        let sink = Arc::clone(&self.sink);
        // Draining may block: another thread may be in the middle of a write that the child does not read.
        let drained = thread::spawn(move || sink.drain());
        let asked = Instant::now();
        let Some(group) = &self.group else {
            while asked.elapsed() < grace(hurried()) && !drained.is_finished() {
                thread::sleep(Duration::from_millis(2));
            }
            return;
        };
        while asked.elapsed() < grace(hurried()) && !self.exit.wait(Duration::from_millis(20)) {}
        group.end(|| self.exit.get().is_some(), || grace(hurried()));
        self.sink.settle();
        terminal::reclaim(group);
    }
}

/// How and when a child ended.
#[derive(Default)]
pub(super) struct Exit {
    status: Mutex<Option<(ExitStatus, Instant)>>,
    set: Condvar,
}

impl Exit {
    pub(super) fn set(&self, status: ExitStatus) {
        *lock(&self.status) = Some((status, Instant::now()));
        self.set.notify_all();
    }

    fn get(&self) -> Option<(ExitStatus, Instant)> {
        *lock(&self.status)
    }

    fn wait(&self, most: Duration) -> bool {
        let waited = self.set.wait_timeout_while(lock(&self.status), most, |status| status.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.is_some()
    }
}
