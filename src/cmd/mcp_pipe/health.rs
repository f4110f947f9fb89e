//! Checks whether a silent server still works. The end of a server is detected elsewhere; this finds a server that
//! hangs while it is idle (`--probe`) or after a call that timed out (`--restart-after-timeouts`).

use super::server::LossCause;
use super::world::Servers;
use crate::cmd::world::Calls;
use pipewright_io::stage::{Out, Side};
use std::time::{Duration, Instant};

/// How long a server may take to answer a ping after a call that timed out, unless the time limit of calls is shorter.
const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// When and how a server is checked.
pub struct Health {
    /// The idle time before a check, and the time limit of its answer; `None` disables checks.
    every: Option<Duration>,
    /// The number of unanswered requests in a row after which the server is restarted; 0 disables this.
    limit: u32,
    /// The unanswered requests so far: calls that timed out together count once, and every ping.
    unanswered: u32,
    /// When the next check is due, or its answer must have arrived.
    at: Option<Instant>,
    /// The open requests of a check: a ping, which some working servers never answer, and a request for the tools,
    /// which the server has answered before.
    asked: Option<[u64; 2]>,
}

impl Health {
    pub fn new(every: Option<Duration>, limit: u32) -> Health {
        Health { every, limit, unanswered: 0, at: None, asked: None }
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.at
    }

    /// Whether a call has timed out and the server has answered nothing since.
    pub fn is_suspect(&self) -> bool {
        self.unanswered > 0
    }

    fn rest(&mut self) {
        (self.at, self.asked, self.unanswered) = (None, None, 0);
    }
}

impl Servers {
    /// Pings the server after a call that timed out. No other call is sent until it answers.
    pub(super) fn probe_server(&mut self, at: usize, calls: &mut Calls, out: &mut Out) {
        if self.connections[at].health.limit == 0
            || self.connections[at].health.is_suspect()
            || !self.connections[at].server.client.is_ready()
        {
            return;
        }
        self.forget_ping(at);
        self.count_unanswered(at, calls, out);
    }

    /// Whether the server has no open call.
    fn has_nothing_to_do(&self, at: usize, calls: &Calls) -> bool {
        calls.in_flight(at) == 0 && self.connections[at].setup_call.is_none()
    }

    /// Restarts the idle time while the server works: a slow call is not a fault.
    pub(super) fn watch(&mut self, at: usize, calls: &Calls) {
        let is_ready = self.connections[at].server.client.is_ready() && self.connections[at].parting.is_none();
        let idles = is_ready && self.has_nothing_to_do(at, calls);
        if !is_ready || (!idles && !self.connections[at].health.is_suspect()) {
            self.end_probe(at);
        } else if self.connections[at].health.at.is_none() {
            self.connections[at].health.at = self.connections[at].health.every.map(|every| Instant::now() + every);
        }
    }

    /// Checks the server, or restarts it if it did not answer the last check.
    pub(super) fn probe(&mut self, at: usize, calls: &mut Calls, out: &mut Out) {
        let now = Instant::now();
        if self.connections[at].health.at.is_none_or(|at| at > now) {
            return;
        }
        if out.far_waits(at) {
            // The answer may have arrived: this process reads nothing at the moment.
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
            self.connections[at].server.loss("the server no longer answers (--probe)".to_owned(), LossCause::Unusable);
        self.server_lost(at, &loss, calls, out);
    }

    /// The server has answered, or is not to be checked now.
    pub(super) fn end_probe(&mut self, at: usize) {
        self.forget_ping(at);
        self.connections[at].health.rest();
    }

    fn count_unanswered(&mut self, at: usize, calls: &mut Calls, out: &mut Out) {
        let is_idle = self.has_nothing_to_do(at, calls);
        let connection = &mut self.connections[at];
        connection.health.unanswered = connection.health.unanswered.saturating_add(1);
        let count = connection.health.unanswered;
        // Other calls may use up their own time limits.
        if count < connection.health.limit || !is_idle {
            self.ping(at, out);
            return;
        }
        self.connections[at].health.rest();
        let requests = if count == 1 { "1 request".to_owned() } else { format!("{count} requests in a row") };
        let why = format!("the server hangs: no answer to {requests} (--restart-after-timeouts)");
        let loss = self.connections[at].server.loss(why, LossCause::Unusable);
        self.server_lost(at, &loss, calls, out);
    }

    fn ping(&mut self, at: usize, out: &mut Out) {
        self.connections[at].health.at = Some(Instant::now() + self.ping_patience(at));
        let (client, to) = (&mut self.connections[at].server.client, out.to(Side::Far(at)));
        self.connections[at].health.asked = Some([client.probe(to), client.probe_again(to)]);
    }

    fn ping_patience(&self, at: usize) -> Duration {
        let idle = self.connections[at].health.every.filter(|_| !self.connections[at].health.is_suspect());
        idle.unwrap_or_else(|| self.settings.timeout.map_or(PING_TIMEOUT, |timeout| timeout.min(PING_TIMEOUT)))
    }

    fn forget_ping(&mut self, at: usize) {
        for id in self.connections[at].health.asked.take().into_iter().flatten() {
            self.connections[at].server.client.forget(id);
        }
    }
}
