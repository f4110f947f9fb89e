//! One far side: its calls, its restarts, and what follows after it is lost permanently.

use super::restarts::Restarts;
use crate::cmd::refusal::Refusal;
use pipewright_io::report::Failure;
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// A call that was sent to a far side.
pub(super) struct SentCall {
    /// Its time limit, and the deadline that follows from it.
    pub(super) timeout: Option<Duration>,
    pub(super) until: Option<Instant>,
    /// Whether it may be sent again after the far side was lost.
    pub(super) is_repeatable: bool,
}

/// Why a far side is lost permanently, and how long calls for it are still refused one by one before the run ends.
pub(super) struct FarSideLoss {
    pub(super) refusal: Refusal,
    /// What ends the run.
    pub(super) failure: Failure,
    /// A longer pause than this between two calls ends the run.
    pub(super) patience: Duration,
    pub(super) until: Instant,
    /// When the run ends at the latest.
    pub(super) latest: Instant,
    /// Whether calls were refused because of this.
    pub(super) was_needed: bool,
}

/// After a far side is lost permanently, the run continues while the pauses between two calls are shorter than this.
pub const LINGER: Duration = Duration::from_millis(100);
/// As [`LINGER`], for a far side that was never up, since the caller may be starting as well.
pub const FIRST_LINGER: Duration = Duration::from_secs(1);
/// The longest time that the run continues in total.
pub(super) const MAX_LINGER: Duration = Duration::from_secs(5);

/// One of the far sides.
pub(super) struct FarSide {
    /// `None` if it is never restarted.
    pub(super) restarts: Option<Restarts>,
    pub(super) over: Option<FarSideLoss>,
    /// Its calls, by their numbers.
    pub(super) flights: HashMap<u64, SentCall>,
    /// The deadlines of the calls with a time limit.
    pub(super) deadlines: BTreeSet<(Instant, u64)>,
}

impl FarSide {
    pub(super) fn new(restarts: Option<Restarts>) -> FarSide {
        FarSide { restarts, over: None, flights: HashMap::new(), deadlines: BTreeSet::new() }
    }

    pub(super) fn insert(&mut self, id: u64, flight: SentCall) {
        self.deadlines.extend(flight.until.map(|until| (until, id)));
        self.flights.insert(id, flight);
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<SentCall> {
        let flight = self.flights.remove(&id)?;
        flight.until.map(|until| self.deadlines.remove(&(until, id)));
        Some(flight)
    }
}
