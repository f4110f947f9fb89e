//! Restarts of a far side that was lost: how often, and when.

use std::time::{Duration, Instant};

/// After this uptime, a far side regains all its restarts.
const STABLE_UPTIME: Duration = Duration::from_secs(60);
/// The wait before the first of several restarts in a row; it doubles with each further restart.
const BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(10);

/// The restarts of one far side.
#[derive(Debug)]
pub struct Restarts {
    most: u32,
    left: u32,
    in_a_row: u32,
    up_since: Option<Instant>,
    at: Option<Instant>,
    /// The message to report with the restart.
    note: Option<String>,
    /// How often it was restarted after it had been up.
    epoch: u64,
}

/// A restart that is due.
pub struct Restart {
    /// The message to report with it.
    pub note: Option<String>,
}

impl Restarts {
    /// At most `most` restarts; staying up for a minute restores them.
    pub fn new(most: u32) -> Restarts {
        Restarts { most, left: most, in_a_row: 0, up_since: None, at: None, note: None, epoch: 0 }
    }

    /// How often it was restarted after it had been up.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The far side accepts calls now.
    pub fn up(&mut self) {
        self.up_since = Some(Instant::now());
    }

    /// The far side has answered a call, so it works: the next wait is short again.
    pub fn answered(&mut self) {
        self.in_a_row = 0;
    }

    /// Restarts it at once, without counting.
    pub fn at_once(&mut self) {
        self.at = Some(Instant::now());
    }

    /// The far side was lost, for the reason `why`. Returns whether it will be restarted. If it `was_up`, a new epoch
    /// begins.
    pub fn lost(&mut self, why: &str, was_up: bool) -> bool {
        if self.up_since.take().is_some_and(|since| since.elapsed() > STABLE_UPTIME) {
            (self.left, self.in_a_row) = (self.most, 0);
        }
        if self.left == 0 {
            return false;
        }
        let wait = BACKOFF.saturating_mul(1 << self.in_a_row.min(10)).min(MAX_BACKOFF);
        self.left -= 1;
        self.in_a_row += 1;
        self.at = Some(Instant::now() + wait);
        let mut note = format!("{why}; starting it again");
        if was_up {
            self.epoch += 1;
            note = format!("{note} (epoch {})", self.epoch);
        }
        self.note = Some(note);
        true
    }

    /// When it is to be restarted.
    pub fn deadline(&self) -> Option<Instant> {
        self.at
    }

    pub fn take_due(&mut self, now: Instant) -> Option<Restart> {
        self.at.take_if(|at| *at <= now).map(|_| Restart { note: self.note.take() })
    }
}
