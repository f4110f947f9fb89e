//! Restarts of a far side that was lost: how often, and when.

use std::time::{Duration, Instant};

/// After this uptime, a far side regains all its restarts.
const SUSTAINED: Duration = Duration::from_secs(60);
/// The wait before the first of several restarts in a row; it doubles with each further restart.
const BACKOFF: Duration = Duration::from_millis(100);
const LONGEST_BACKOFF: Duration = Duration::from_secs(10);

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

impl Restarts {
    /// At most `most` restarts; staying up for a minute restores them.
    pub fn new(most: u32) -> Restarts {
        Restarts { most, left: most, in_a_row: 0, up_since: None, at: None, note: None, epoch: 0 }
    }

    /// How often it was restarted after it had been up.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// It accepts calls now.
    pub fn up(&mut self) {
        self.up_since = Some(Instant::now());
    }

    /// It has answered a call, so it works: the next wait is short again.
    pub fn answered(&mut self) {
        self.in_a_row = 0;
    }

    /// Restarts it at once, without counting.
    pub fn at_once(&mut self) {
        self.at = Some(Instant::now());
    }

    /// It was lost, for the reason `why`. Returns whether it will be restarted. If it `was_up`, a new epoch begins.
    pub fn lost(&mut self, why: &str, was_up: bool) -> bool {
        if self.up_since.take().is_some_and(|since| since.elapsed() > SUSTAINED) {
            (self.left, self.in_a_row) = (self.most, 0);
        }
        if self.left == 0 {
            return false;
        }
        let wait = BACKOFF.saturating_mul(1 << self.in_a_row.min(10)).min(LONGEST_BACKOFF);
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

    /// Takes a restart that is due, with the message to report.
    pub fn take_due(&mut self, now: Instant) -> Option<Option<String>> {
        self.at.take_if(|at| *at <= now).map(|_| self.note.take())
    }
}
