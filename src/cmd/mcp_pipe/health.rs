//! Whether a server that has nothing to do is still there (`--probe`). Its end is noticed without: this is for one that hangs.

use super::pipe::Pipe;
use crate::io::report::Failure;
use crate::io::stage::{Out, Side};
use std::time::{Duration, Instant};

/// Which question it has not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The one that is for that: some never answer it, and work.
    Probe(u64),
    /// Its tools, which it has listed before.
    Tools(u64),
}

/// When a server is asked whether it is there.
pub struct Health {
    /// So long after its last call, and so long it may take to answer; never, where there is none.
    every: Option<Duration>,
    at: Option<Instant>,
    asked: Option<Asked>,
}

impl Health {
    pub fn new(every: Option<Duration>) -> Health {
        Health { every, at: None, asked: None }
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.at
    }

    /// It has shown that it is there, or isn't to be asked.
    pub fn rest(&mut self) {
        (self.at, self.asked) = (None, None);
    }
}

impl Pipe {
    /// While it works on something it isn't asked: a slow call is no illness.
    pub(super) fn watch(&mut self) {
        let idles = self.server.client.is_ready() && self.flying.is_empty() && self.parting.is_none();
        if !idles {
            if let Some(Asked::Probe(id) | Asked::Tools(id)) = self.health.asked {
                self.server.client.forget(id);
            }
            self.health.rest();
        } else if self.health.at.is_none() {
            self.health.at = self.health.every.map(|every| Instant::now() + every);
        }
    }

    /// Asks it, or gives it up where it has answered neither question.
    pub(super) fn probe(&mut self, out: &mut Out) -> Result<(), Failure> {
        let now = Instant::now();
        if self.health.at.is_none_or(|at| at > now) {
            return Ok(());
        }
        self.health.at = self.health.every.map(|every| now + every);
        if out.far_waits() {
            // It may have answered: who reads us hasn't let us hear that yet.
            return Ok(());
        }
        let (client, to) = (&mut self.server.client, out.to(Side::Far));
        self.health.asked = match self.health.asked {
            None => Some(Asked::Probe(client.probe(to))),
            Some(Asked::Probe(id)) => {
                client.forget(id);
                Some(Asked::Tools(client.probe_again(to)))
            }
            Some(Asked::Tools(_)) => {
                self.health.rest();
                let loss = self.server.loss("the server no longer answers (--probe)".to_owned(), None);
                return self.lose(&loss, out);
            }
        };
        Ok(())
    }
}
