//! What to ask the game when it is silent.

use std::time::{Duration, Instant};

/// An idle game is asked at growing intervals, but at least this often.
const MAX_INTERVAL: Duration = Duration::from_secs(60);

/// Wakes when nothing has come for a while. Every second time it sends `wait` instead of `state`: after a choice
/// without an effect (a potion that didn't fit), the game answers `state` with ready=false forever, and becomes ready
/// only after a `wait`.
pub(super) struct Watchdog {
    interval: Option<Duration>,
    since: Instant,
    /// How often it has woken since the game was last ready.
    woken: u32,
}

impl Watchdog {
    /// Without an `interval` it never wakes.
    pub(super) fn new(interval: Option<Duration>) -> Watchdog {
        Watchdog { interval, since: Instant::now(), woken: 0 }
    }

    /// Something came, or was sent.
    pub(super) fn rest(&mut self) {
        self.since = Instant::now();
    }

    /// The game is ready, or got a command: a later silence has another cause.
    pub(super) fn reset(&mut self) {
        self.rest();
        self.woken = 0;
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let interval = self.interval?;
        let wait = interval.saturating_mul(1 << self.woken.min(16)).min(MAX_INTERVAL.max(interval));
        Some(self.since + wait)
    }

    /// What to send; `None` before the deadline.
    pub(super) fn wake(&mut self, in_game: bool) -> Option<&'static str> {
        self.deadline().filter(|&deadline| deadline <= Instant::now())?;
        self.woken += 1;
        self.rest();
        Some(if in_game && self.woken.is_multiple_of(2) { "wait 30" } else { "state" })
    }

    /// Whether the game has been silent for long since it was last ready or got a command.
    pub(super) fn has_woken(&self) -> bool {
        self.woken > 0
    }

    /// Whether this is the first wake-up in a row.
    pub(super) fn woke_first(&self) -> bool {
        self.woken == 1
    }
}
