//! The child that runs now: how it is written to, how its end is learned, and how it is ended.

use crate::io::child::{Group, grace};
use crate::io::descriptor::Descriptor;
use crate::io::lock;
use crate::io::sink::Sink;
use crate::io::stage::Side;
use crate::io::terminal;
use std::process::ExitStatus;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A grandchild may hold the child's stdout open after the child has ended: it is listened to this long in all.
const HELD_PIPE: Duration = Duration::from_millis(250);

/// A child that was started, until its end has been told; or somebody that we only have a [link](super::Link) to.
pub(super) struct Far {
    pub(super) sink: Arc<Sink>,
    stdout: Outlet,
    stderr: Outlet,
    /// None where it isn't ours to end.
    group: Option<Group>,
    exit: Arc<Exit>,
    /// The stage knows that it has ended.
    told: bool,
}

/// One of the child's pipes to us.
pub(super) struct Outlet {
    /// It has ended.
    pub(super) said_all: bool,
    /// Since when its reader waits for the child; None while the reader waits for somebody who takes what was said.
    listening_since: Option<Instant>,
    /// How long its reader has waited for the child since that ended, before that.
    listened: Duration,
    exit: Arc<Exit>,
}

impl Outlet {
    fn new(exit: &Arc<Exit>, said_all: bool) -> Outlet {
        Outlet { said_all, listening_since: None, listened: Duration::ZERO, exit: Arc::clone(exit) }
    }

    /// Its reader begins to wait for the child, or has something and may wait for somebody else. Says whether the main
    /// thread is to look again.
    pub(super) fn set_listening(&mut self, listening: bool) -> bool {
        let ended = self.exit.get();
        if let (Some(since), Some((_, at))) = (self.listening_since.take(), ended) {
            self.listened += since.max(at).elapsed();
        }
        self.listening_since = listening.then(Instant::now);
        listening && ended.is_some()
    }

    /// Whether the child, which ended `at`, has been listened to for long enough; else perhaps when to look again. (While
    /// its reader waits for somebody else, there is no need to: that wakes us.)
    fn heard(&self, at: Instant, now: Instant) -> (bool, Option<Instant>) {
        let left = HELD_PIPE.saturating_sub(self.listened);
        let until = self.listening_since.map(|since| since.max(at) + left);
        let heard = self.said_all || until.is_some_and(|until| until <= now);
        (heard, until.filter(|_| !heard))
    }
}

impl Far {
    pub(super) fn new(group: Option<Group>, to: Descriptor, hears_errors: bool) -> Far {
        let (sink, exit) = (Arc::new(Sink::new(to)), Arc::default());
        let (stdout, stderr) = (Outlet::new(&exit, false), Outlet::new(&exit, !hears_errors));
        Far { sink, stdout, stderr, group, exit, told: false }
    }

    /// The pipe that `side` is read from.
    pub(super) fn outlet(&mut self, side: Side) -> &mut Outlet {
        if side == Side::FarError { &mut self.stderr } else { &mut self.stdout }
    }

    /// Whether it isn't being read at the moment: what it said last is being given on.
    pub(super) fn waits(&self) -> bool {
        !self.stdout.said_all && self.stdout.listening_since.is_none()
    }

    /// Where whoever waits for the child leaves its status.
    pub(super) fn exit(&self) -> Arc<Exit> {
        Arc::clone(&self.exit)
    }

    /// Its status, once, when it has ended and said all, or been listened to for long enough after its end; else perhaps
    /// when to look again.
    pub(super) fn ended(&mut self, now: Instant) -> (Option<ExitStatus>, Option<Instant>) {
        match self.exit.get() {
            Some((status, at)) if !self.told => {
                let outlets = [self.stdout.heard(at, now), self.stderr.heard(at, now)];
                self.told = outlets.iter().all(|(heard, _)| *heard);
                let look_again = outlets.into_iter().filter_map(|(_, until)| until).min();
                if self.told { (Some(status), None) } else { (None, look_again) }
            }
            _ => (None, None),
        }
    }

    /// Closes its stdin, gives it time to end by itself, then ends it and all that it started; less time when
    /// `hurried`.
    pub(super) fn end(self, hurried: impl Fn() -> bool) {
        self.sink.close();
        let sink = Arc::clone(&self.sink);
        // It may block: somebody may be in the middle of a write that the child doesn't take.
        let drained = thread::spawn(move || sink.drain());
        let asked = Instant::now();
        let Some(group) = self.group else {
            while asked.elapsed() < grace(hurried()) && !drained.is_finished() {
                thread::sleep(Duration::from_millis(2));
            }
            return;
        };
        while asked.elapsed() < grace(hurried()) && !self.exit.wait(Duration::from_millis(20)) {}
        group.end(|| self.exit.get().is_some(), || grace(hurried()));
        self.sink.settle();
        terminal::reclaim(group.id());
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
