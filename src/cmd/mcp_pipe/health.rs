//! Whether a server that says nothing is still there. Its end is noticed without: this is for one that hangs, while it has
//! nothing to do (`--probe`), or after a call that timed out (`--restart-after-timeouts`).

use super::server::Cause;
use super::world::Servers;
use crate::cmd::world::Calls;
use crate::io::stage::{Out, Side};
use std::time::{Duration, Instant};

/// A server that is asked because a call timed out may take this long to answer, or as long as a call where that is less.
const PATIENCE: Duration = Duration::from_secs(10);

/// When a server is asked whether it is there.
pub struct Health {
    /// So long after its last call, and so long it may take to answer; never, where there is none.
    every: Option<Duration>,
    /// So many requests in a row without an answer end it; 0 is any number.
    limit: u32,
    /// How many there have been: calls that timed out together, and each time it was asked whether it is there.
    unanswered: u32,
    /// When it is to be asked, or must have answered.
    at: Option<Instant>,
    /// What it has been asked: one request that is for that, which some never answer though they work, and for its tools,
    /// which it has listed before.
    asked: Option<[u64; 2]>,
}

impl Health {
    pub fn new(every: Option<Duration>, limit: u32) -> Health {
        Health { every, limit, unanswered: 0, at: None, asked: None }
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.at
    }

    /// Whether a call has timed out and the server has not answered anything since.
    pub fn is_suspect(&self) -> bool {
        self.unanswered > 0
    }

    fn rest(&mut self) {
        (self.at, self.asked, self.unanswered) = (None, None, 0);
    }
}

impl Servers {
    /// A call timed out: no other is sent until the server has answered a ping.
    pub(super) fn suspect(&mut self, at: usize, calls: &mut Calls, out: &mut Out) {
        if self.connections[at].health.limit == 0
            || self.connections[at].health.is_suspect()
            || !self.connections[at].server.client.is_ready()
        {
            return;
        }
        self.forget_ping(at);
        self.count_unanswered(at, calls, out);
    }

    /// Whether no call is at the server.
    fn has_nothing_to_do(&self, at: usize, calls: &Calls) -> bool {
        calls.in_flight(at) == 0 && self.connections[at].setup_call.is_none()
    }

    /// While it works on something, an idle server's clock stands still: a slow call is no illness.
    pub(super) fn watch(&mut self, at: usize, calls: &Calls) {
        let is_ready = self.connections[at].server.client.is_ready() && self.connections[at].parting.is_none();
        let idles = is_ready && self.has_nothing_to_do(at, calls);
        if !is_ready || (!idles && !self.connections[at].health.is_suspect()) {
            self.end_suspicion(at);
        } else if self.connections[at].health.at.is_none() {
            self.connections[at].health.at = self.connections[at].health.every.map(|every| Instant::now() + every);
        }
    }

    /// Asks it, or starts it again where it has not answered.
    pub(super) fn probe(&mut self, at: usize, calls: &mut Calls, out: &mut Out) {
        let now = Instant::now();
        if self.connections[at].health.at.is_none_or(|at| at > now) {
            return;
        }
        if out.far_waits() {
            // It may have answered: our own reader is slow, so its answer has not been read yet.
            self.connections[at].health.at = Some(now + self.ping_patience(at));
            return;
        }
        if self.connections[at].health.asked.is_none() {
            self.ping(at, out);
            return;
        }
        self.forget_ping(at);
        if self.connections[at].health.is_suspect() {
            return self.count_unanswered(at, calls, out);
        }
        self.connections[at].health.rest();
        let loss =
            self.connections[at].server.loss("the server no longer answers (--probe)".to_owned(), Cause::Unusable);
        self.lose(at, &loss, calls, out);
    }

    /// The server has answered, or isn't to be asked now.
    pub(super) fn end_suspicion(&mut self, at: usize) {
        self.forget_ping(at);
        self.connections[at].health.rest();
    }

    fn count_unanswered(&mut self, at: usize, calls: &mut Calls, out: &mut Out) {
        let is_idle = self.has_nothing_to_do(at, calls);
        let connection = &mut self.connections[at];
        connection.health.unanswered = connection.health.unanswered.saturating_add(1);
        let count = connection.health.unanswered;
        // What it works on may take the time that it was given.
        if count < connection.health.limit || !is_idle {
            self.ping(at, out);
            return;
        }
        self.connections[at].health.rest();
        let requests = if count == 1 { "1 request".to_owned() } else { format!("{count} requests in a row") };
        let why = format!("the server hangs: no answer to {requests} (--restart-after-timeouts)");
        let loss = self.connections[at].server.loss(why, Cause::Unusable);
        self.lose(at, &loss, calls, out);
    }

    fn ping(&mut self, at: usize, out: &mut Out) {
        self.connections[at].health.at = Some(Instant::now() + self.ping_patience(at));
        let (client, to) = (&mut self.connections[at].server.client, out.to(Side::Far));
        self.connections[at].health.asked = Some([client.probe(to), client.probe_again(to)]);
    }

    fn ping_patience(&self, at: usize) -> Duration {
        let idle = self.connections[at].health.every.filter(|_| !self.connections[at].health.is_suspect());
        idle.unwrap_or_else(|| self.settings.timeout.map_or(PATIENCE, |timeout| timeout.min(PATIENCE)))
    }

    fn forget_ping(&mut self, at: usize) {
        for id in self.connections[at].health.asked.take().into_iter().flatten() {
            self.connections[at].server.client.forget(id);
        }
    }
}
