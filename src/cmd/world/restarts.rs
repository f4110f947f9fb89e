//! How often, and when, a far side that was lost is started again.

use std::time::{Duration, Instant};

/// A far side that has been up for so long has its restarts back.
const SUSTAINED: Duration = Duration::from_secs(60);
/// Before the first of several restarts in a row; each next one waits twice as long.
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
    /// Reported with the restart.
    note: Option<String>,
    /// How often it was started again after it had been up.
    epoch: u64,
}

impl Restarts {
    /// At most `most` restarts, unless it stays up for a minute in between.
    pub fn new(most: u32) -> Restarts {
        Restarts { most, left: most, in_a_row: 0, up_since: None, at: None, note: None, epoch: 0 }
    }

    /// How often it was started again after it had been up.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// It takes calls.
    pub fn up(&mut self) {
        self.up_since = Some(Instant::now());
    }

    /// It has answered a call: however often it was lost, it works, and the next wait is short again.
    pub fn answered(&mut self) {
        self.in_a_row = 0;
    }

    /// It is started again at once, and that does not count.
    pub fn at_once(&mut self) {
        self.at = Some(Instant::now());
    }

    /// It was lost, for the reason `why`. Gives whether it will be started again. A new epoch begins where it `was_up` before.
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

    /// When it is to be started again.
    pub fn deadline(&self) -> Option<Instant> {
        self.at
    }

    /// Takes the restart whose time has come, with what there is to report about it.
    pub fn take_due(&mut self, now: Instant) -> Option<Option<String>> {
        self.at.take_if(|at| *at <= now).map(|_| self.note.take())
    }
}
