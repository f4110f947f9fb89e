//! The child that runs now: how it is written to, how its end is learned, and how it is ended.

use crate::io::child::{Group, grace};
use crate::io::descriptor::Descriptor;
use crate::io::lock;
use crate::io::sink::Sink;
use crate::io::terminal;
use std::process::ExitStatus;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A grandchild may hold the child's stdout open after the child has ended: it is listened to this long.
const HELD_PIPE: Duration = Duration::from_millis(250);

/// A child that was started, until its end has been told.
pub(super) struct Far {
    pub(super) sink: Arc<Sink>,
    /// Its stdout has ended.
    pub(super) said_all: bool,
    /// Since when its reader waits for it; None while the reader waits for somebody who takes what it said.
    pub(super) listening_since: Option<Instant>,
    group: Group,
    exit: Arc<Exit>,
    /// The stage knows that it has ended.
    told: bool,
}

impl Far {
    pub(super) fn new(group: Group, stdin: Descriptor) -> Far {
        let sink = Arc::new(Sink::new(stdin));
        Far { sink, said_all: false, listening_since: None, group, exit: Arc::default(), told: false }
    }

    /// Where whoever waits for the child leaves its status.
    pub(super) fn exit(&self) -> Arc<Exit> {
        Arc::clone(&self.exit)
    }

    pub(super) fn has_exited(&self) -> bool {
        self.exit.get().is_some()
    }

    /// Its status, once, when it has ended and said all, or been listened to for long enough after its end; else when
    /// to look again. (While its reader waits for somebody else, there is no need to: that wakes us.)
    pub(super) fn ended(&mut self, now: Instant) -> (Option<ExitStatus>, Option<Instant>) {
        match self.exit.get() {
            Some((status, at)) if !self.told => {
                let until = self.listening_since.map(|since| since.max(at) + HELD_PIPE);
                self.told = self.said_all || until.is_some_and(|until| until <= now);
                if self.told { (Some(status), None) } else { (None, until) }
            }
            _ => (None, None),
        }
    }

    /// Closes its stdin, gives it time to end by itself, then ends it and all that it started.
    pub(super) fn end(self) {
        self.sink.close();
        let sink = Arc::clone(&self.sink);
        // It may block: somebody may be in the middle of a write that the child doesn't take.
        thread::spawn(move || sink.drain());
        self.exit.wait(grace());
        self.group.end(|| self.exit.get().is_some());
        terminal::reclaim(self.group.id());
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

    fn wait(&self, most: Duration) {
        let status = lock(&self.status);
        let _ = self.set.wait_timeout_while(status, most, |status| status.is_none());
    }
}
