//! A short wait at the end of a run for the threads that serve HTTP.

use std::convert::Infallible;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How long the end of the run waits for clients to read what was sent to them.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Closed when the threads have written everything to the clients.
pub struct PendingWrites(Receiver<Infallible>);

impl PendingWrites {
    /// The threads drop the sender when they have written everything.
    pub fn new() -> (Sender<Infallible>, PendingWrites) {
        let (writing, unwritten) = channel();
        (writing, PendingWrites(unwritten))
    }

    /// Waits until the clients have everything that the stage sent them, at most `DRAIN_TIMEOUT`; the link has been
    /// closed.
    pub fn wait(self) {
        // Nothing is ever sent: the channel closes, or the time is over.
        let _ = self.0.recv_timeout(DRAIN_TIMEOUT);
    }
}
