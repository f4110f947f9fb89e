//! One far side: the calls that are there, when it is started again, and what follows once it is gone for good.

use super::refusal::Refusal;
use super::restarts::Restarts;
use crate::io::report::Status;
use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

/// A call that is at a far side.
pub(super) struct Flight {
    /// How long it may take, and until when.
    pub(super) timeout: Option<Duration>,
    pub(super) until: Option<Instant>,
    /// Whether it may be sent again where the far side is lost.
    pub(super) is_repeatable: bool,
}

/// Why a far side is gone for good, and how long calls for it are still refused one by one before the run ends.
pub(super) struct Over {
    pub(super) refusal: Refusal,
    /// What ends the run.
    pub(super) failure: (Status, String),
    /// A pause between two calls that is longer than this ends it.
    pub(super) patience: Duration,
    pub(super) until: Instant,
    /// When it ends in any case.
    pub(super) latest: Instant,
    /// Calls were made that are refused for this.
    pub(super) was_needed: bool,
}

/// Where a far side is gone for good, a run goes on as long as the pauses between two calls are shorter than this,
pub const LINGER: Duration = Duration::from_millis(100);
/// or this where it was never up, since the caller may be starting as well,
pub const FIRST_CALLS: Duration = Duration::from_secs(1);
/// and for this long in all.
pub(super) const LONGEST_LINGER: Duration = Duration::from_secs(5);

/// One of the far sides.
pub(super) struct FarSide {
    /// None where it is never started again.
    pub(super) restarts: Option<Restarts>,
    pub(super) over: Option<Over>,
    /// The calls that are there, by their numbers.
    pub(super) flights: HashMap<u64, Flight>,
    /// When each of them is late that has a time limit.
    pub(super) deadlines: BTreeSet<(Instant, u64)>,
}

impl FarSide {
    pub(super) fn new(restarts: Option<Restarts>) -> FarSide {
        FarSide { restarts, over: None, flights: HashMap::new(), deadlines: BTreeSet::new() }
    }

    pub(super) fn insert(&mut self, id: u64, flight: Flight) {
        self.deadlines.extend(flight.until.map(|until| (until, id)));
        self.flights.insert(id, flight);
    }

    pub(super) fn remove(&mut self, id: u64) -> Option<Flight> {
        let flight = self.flights.remove(&id)?;
        flight.until.map(|until| self.deadlines.remove(&(until, id)));
        Some(flight)
    }
}
