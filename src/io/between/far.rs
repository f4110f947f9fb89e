//! The child that runs now: how it is written to, how its end is learned, and how it is ended.

use crate::io::child::{GRACE, Group};
use crate::io::descriptor::Descriptor;
use crate::io::sink::Sink;
use std::process::ExitStatus;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A grandchild may hold the child's stdout open after the child has ended: it is listened to this long.
const HELD_PIPE: Duration = Duration::from_millis(250);

/// A child that was started, until its end has been told.
pub(super) struct Far {
    pub(super) sink: Arc<Sink>,
    /// Its stdout has ended.
    pub(super) said_all: bool,
    group: Group,
    exit: Arc<Exit>,
    /// The stage knows that it has ended.
    told: bool,
}

impl Far {
    pub(super) fn new(group: Group, stdin: Descriptor) -> Far {
        Far { sink: Arc::new(Sink::new(stdin)), said_all: false, group, exit: Arc::default(), told: false }
    }

    /// Where whoever waits for the child leaves its status.
    pub(super) fn exit(&self) -> Arc<Exit> {
        Arc::clone(&self.exit)
    }

    /// Its status, once, when it has ended and said all; else when to look again.
    pub(super) fn ended(&mut self, now: Instant) -> (Option<ExitStatus>, Option<Instant>) {
        match self.exit.get() {
            Some((status, at)) if !self.told => {
                self.told = self.said_all || now >= at + HELD_PIPE;
                if self.told { (Some(status), None) } else { (None, Some(at + HELD_PIPE)) }
            }
            _ => (None, None),
        }
    }

    /// Kills it and all that it started, at once.
    pub(super) fn kill(&self) {
        self.group.kill();
    }

    /// Closes its stdin, gives it time to end by itself, then ends it and all that it started.
    pub(super) fn end(self) {
        self.sink.close();
        let sink = Arc::clone(&self.sink);
        // It may block: somebody may be in the middle of a write that the child doesn't take.
        thread::spawn(move || sink.drain());
        self.exit.wait(GRACE);
        self.group.end(|| self.exit.get().is_some());
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
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = Some((status, Instant::now()));
        self.set.notify_all();
    }

    fn get(&self) -> Option<(ExitStatus, Instant)> {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, most: Duration) {
        let status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = self.set.wait_timeout_while(status, most, |status| status.is_none());
    }
}
