//! The server at the other end: which era it speaks, when it is started again, and why it is gone.

use crate::cmd::world::{Refusal, Restarts};
use crate::io::child::{describe, exit_code};
use crate::io::lock;
use crate::io::report::Report;
use crate::io::tail::Tail;
use crate::mcp::{Client, Era, Wants};
use crate::record::Kind;
use nix::sys::signal::Signal;
use serde_json::json;
use serde_json::value::to_raw_value;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A server that has closed its stdout ends within this, or is ended.
const CLOSING: Duration = Duration::from_secs(1);

/// Why there is no server.
#[derive(Debug, Clone)]
pub struct Loss {
    /// What happened.
    pub message: String,
    /// The status it ended with, as a shell counts.
    pub status: Option<u8>,
    cause: Cause,
    /// The end of what it said on stderr.
    pub stderr: String,
}

impl Loss {
    /// What answers the calls that it leaves without a result.
    pub fn refusal(&self, kind: Kind) -> Refusal {
        let data = to_raw_value(&json!({"status": self.status, "stderr": self.stderr})).ok();
        Refusal { data, ..Refusal::new(kind, &self.message) }
    }
}

/// What a loss says about the protocol, where the server has not greeted yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It refused the greeting: it speaks the other era, or another version.
    Refused,
    /// It ended, or closed the connection: some servers do so when greeted in the other era.
    Ended,
    /// It was killed: that says nothing about the era.
    Killed,
    /// It has said nothing, or what no greeting in another era would mend.
    Unusable,
    /// There is no such program.
    NoProgram,
}

/// What a connection that isn't a child's leaves when it ends: why.
pub type Trouble = Arc<Mutex<Option<String>>>;

/// What follows from a loss.
#[derive(Debug, PartialEq, Eq)]
pub enum Then {
    /// It is started again, soon.
    Restart,
    /// It was never up: what to report, with how the other era's greeting ended.
    NotStarted(String),
    /// It was lost too often: what to report.
    GiveUp(String),
}

/// A server, over all the times it is started.
pub struct Server {
    pub client: Client,
    /// Its name, where it is one of several.
    name: Option<String>,
    /// How long it may take to greet and to list its tools.
    start_timeout: Duration,
    forced: Option<Era>,
    /// How the first greeting ended, in the era that is tried first.
    first_end: Option<(String, Cause)>,
    /// It has greeted and listed its tools, at least once.
    was_up: bool,
    /// By when it must have greeted.
    start_by: Option<Instant>,
    /// By when it must have ended.
    end_by: Option<Instant>,
    /// It was lost, and hasn't been started again: whatever else is noticed about its end is the same loss.
    is_down: bool,
    tail: Tail,
    /// Where it says why it has ended, if it is no child.
    trouble: Option<Trouble>,
    report: Arc<Report>,
}

impl Server {
    /// A server that speaks the era that is `forced`.
    pub fn new(start_timeout: Duration, forced: Option<Era>, wants: Wants, report: Arc<Report>) -> Server {
        Server {
            name: None,
            client: Client::new("mcp-pipe", forced.unwrap_or(Era::Legacy), wants),
            start_timeout,
            forced,
            first_end: None,
            was_up: false,
            start_by: None,
            end_by: None,
            is_down: false,
            tail: Tail::default(),
            trouble: None,
            report,
        }
    }

    /// The same with a name, by which messages tell it from others.
    pub fn with_name(self, name: Option<&str>) -> Server {
        Server { name: name.map(str::to_owned), ..self }
    }

    /// How messages call it.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("the server")
    }

    /// It is no child, and leaves there why it has ended.
    pub fn with_trouble(self, trouble: Option<Trouble>) -> Server {
        Server { trouble, ..self }
    }

    /// It was started: a new connection, on which nothing is known.
    pub fn greet(&mut self, out: &mut Vec<u8>) {
        self.client = self.client.anew(self.client.era());
        self.start_by = Some(Instant::now() + self.start_timeout);
        (self.end_by, self.is_down) = (None, false);
        self.client.greet(out);
    }

    /// It has greeted.
    pub fn greeted(&mut self) {
        self.start_by = None;
        self.was_up = true;
    }

    /// How long it may take to list something.
    pub fn list_timeout(&self) -> Duration {
        self.start_timeout
    }

    /// It was lost, and hasn't been started again.
    pub fn is_down(&self) -> bool {
        self.is_down
    }

    /// It was lost after it had greeted, and hasn't been started again.
    pub fn is_lost(&self) -> bool {
        self.is_down && self.was_up
    }

    /// What it says can't be heard at the moment: it isn't its fault.
    pub fn wait_anew(&mut self) {
        self.start_by = self.start_by.map(|_| Instant::now() + self.start_timeout);
    }

    /// It said something on stderr.
    pub fn print(&mut self, line: &[u8]) {
        self.tail.keep(Tail::readable(line));
    }

    /// It has closed its stdout. A child may have a status to tell yet.
    pub fn closed(&mut self) {
        let closing = if self.trouble.is_some() { Duration::ZERO } else { CLOSING };
        self.end_by.get_or_insert(Instant::now() + closing);
    }

    /// When something must have happened, or is to be done.
    pub fn deadline(&self) -> Option<Instant> {
        self.start_by.into_iter().chain(self.end_by).min()
    }

    /// What it failed to do in time.
    pub fn overdue(&mut self) -> Option<Loss> {
        let now = Instant::now();
        if self.start_by.is_some_and(|at| at <= now) {
            let seconds = self.start_timeout.as_secs_f64();
            let message = format!("the server has not greeted within {seconds} s (--start-timeout)");
            return Some(self.loss(message, Cause::Unusable));
        }
        if self.end_by.is_some_and(|at| at <= now) {
            let ended = match &self.trouble {
                Some(trouble) => lock(trouble).take().unwrap_or_else(|| "the connection has ended".to_owned()),
                None => "the server has closed its stdout".to_owned(),
            };
            return Some(self.loss(ended, Cause::Ended));
        }
        None
    }

    pub fn exited(&self, status: ExitStatus) -> Loss {
        let code = exit_code(status);
        // A shell, and npx, end with such a status where what they started was killed.
        let killed = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGKILL, Signal::SIGTERM];
        let is_killed = killed.iter().any(|signal| i32::from(code) == 128 + *signal as i32);
        let cause = if is_killed { Cause::Killed } else { Cause::Ended };
        Loss { status: Some(code), ..self.loss(format!("the server has ended: {}", describe(status)), cause) }
    }

    pub fn loss(&self, message: String, cause: Cause) -> Loss {
        let message = match &self.name {
            Some(name) => format!("{name}: {message}"),
            None => message,
        };
        Loss { message, status: None, cause, stderr: self.tail.text() }
    }

    /// Takes note of a loss, and gives what follows.
    pub fn lose(&mut self, loss: &Loss, restarts: &mut Restarts) -> Then {
        (self.start_by, self.end_by, self.is_down) = (None, None, true);
        let has_greeted = self.client.has_greeted();
        // Nothing can be sent to it, and what it still says is nobody's.
        self.client = self.client.anew(self.client.era());
        if !self.was_up
            && let Some(then) = self.lose_before_up(loss, has_greeted)
        {
            if then == Then::Restart {
                restarts.at_once();
            }
            return then;
        }
        if restarts.lost(&loss.message, self.was_up) {
            return Then::Restart;
        }
        let why = format!("{}; it was started too often (--restart)", loss.message);
        if self.was_up { Then::GiveUp(why) } else { Then::NotStarted(why) }
    }

    /// What follows from the loss of a server that was never up: it may speak the other era, or it can't be used. None where
    /// it is to be started again like any other.
    fn lose_before_up(&mut self, loss: &Loss, has_greeted: bool) -> Option<Then> {
        match loss.cause {
            Cause::Killed => return None,
            // Its era is known.
            Cause::Ended if has_greeted => return None,
            Cause::Refused | Cause::Ended if self.forced.is_none() && self.first_end.is_none() => {
                self.first_end = Some((loss.message.clone(), loss.cause));
                self.client = self.client.anew(Era::Modern);
                return Some(Then::Restart);
            }
            // It speaks, but not this era: at the first greeting it had just died.
            Cause::Refused if matches!(self.first_end, Some((_, Cause::Ended))) && self.client.era() == Era::Modern => {
                self.client = self.client.anew(Era::Legacy);
                return None;
            }
            _ => {}
        }
        let first = self.first_end.take().filter(|(first, _)| *first != loss.message);
        let first = first.map_or(String::new(), |(first, _)| format!("; greeted as before 2026: {first}"));
        Some(Then::NotStarted(format!("{}{first}", loss.message)))
    }

    /// The end of what it said on stderr, before something is told about it.
    pub fn say_tail(&self, loss: &Loss) {
        for line in loss.stderr.lines() {
            self.report.say(format_args!("  | {line}"));
        }
    }
}
