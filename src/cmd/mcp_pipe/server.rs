//! The state of a server: the protocol's era, when to restart it, and why it was lost.

use crate::cmd::options::Limit;
use crate::cmd::refusal::Refusal;
use crate::cmd::world::Restarts;
use pipewright_io::report::Report;
use pipewright_lines::LastOutput;
use pipewright_mcp::{Client, ClientOptions, Era};
use pipewright_record::Kind;
use pipewright_sys::lock;
use pipewright_sys::process::{describe, exit_code, is_of_killed};
use serde_json::json;
use serde_json::value::to_raw_value;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a server may run after it has closed its stdout.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a server was lost.
#[derive(Debug, Clone)]
pub struct ServerLoss {
    /// What happened.
    pub message: String,
    /// Its exit status, as a shell counts it.
    pub status: Option<u8>,
    cause: LossCause,
    /// The end of its stderr.
    pub stderr: String,
    /// The numbers of the calls that it certainly has not carried out.
    pub refused: Vec<u64>,
}

impl ServerLoss {
    /// The answer to its open calls.
    pub fn refusal(&self, kind: Kind) -> Refusal {
        let data = to_raw_value(&json!({"status": self.status, "stderr": self.stderr})).ok();
        Refusal { data, ..Refusal::new(kind, &self.message) }
    }
}

/// What a loss before the end of the handshake means for the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossCause {
    /// The server rejected the handshake: it supports the other era, or another version.
    Refused,
    /// The server ended, or closed the connection: some do so after a handshake of the other era.
    Ended,
    /// The server was killed, which means nothing for the era.
    Killed,
    /// The server sent nothing, or something that a handshake of the other era would not change.
    Unusable,
    /// The program does not exist.
    NoProgram,
}

/// Where a connection over HTTP leaves the reason of its end, and the numbers of the calls that were certainly not
/// carried out.
pub type ConnectionFailure = Arc<Mutex<Option<(String, Vec<u64>)>>>;

/// The consequence of a loss.
#[derive(Debug, PartialEq, Eq)]
pub enum AfterLoss {
    /// The server is restarted soon.
    Restart,
    /// The server never started: the message to report, with the result of the other era's handshake.
    NotStarted(String),
    /// The server was lost too often: the message to report.
    GiveUp(String),
}

/// A server, across its restarts.
pub struct Server {
    pub client: Client,
    /// Its name, if it is one of several.
    name: Option<String>,
    /// How long the handshake and the list of tools may take.
    start_timeout: Limit,
    forced: Option<Era>,
    /// How the first handshake failed, in the era that is tried first.
    first_end: Option<(String, LossCause)>,
    /// The server has completed the handshake and listed its tools at least once.
    was_up: bool,
    /// When the handshake must be complete.
    start_by: Option<Instant>,
    /// When it must have ended.
    end_by: Option<Instant>,
    /// The server was lost and not restarted yet; further signs of its end belong to the same loss.
    is_down: bool,
    tail: LastOutput,
    /// Where the reason of its end is found, if it is not a child process.
    trouble: Option<ConnectionFailure>,
    report: Arc<Report>,
}

impl Server {
    /// A server; `forced` limits it to one era.
    pub fn new(start_timeout: Limit, forced: Option<Era>, wants: ClientOptions, report: Arc<Report>) -> Server {
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
            tail: LastOutput::default(),
            trouble: None,
            report,
        }
    }

    /// Sets the name that messages use for it.
    pub fn with_name(self, name: Option<&str>) -> Server {
        Server { name: name.map(str::to_owned), ..self }
    }

    /// Its name in messages.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or("the server")
    }

    /// Sets where a connection over HTTP leaves the reason of its end.
    pub fn with_trouble(self, trouble: Option<ConnectionFailure>) -> Server {
        Server { trouble, ..self }
    }

    /// Starts the handshake on a new connection.
    pub fn start_handshake(&mut self, out: &mut Vec<u8>) {
        self.client = self.client.anew(self.client.era());
        self.start_by = self.start_timeout.end();
        (self.end_by, self.is_down) = (None, false);
        self.client.start_handshake(out);
    }

    /// The handshake is complete.
    pub fn finish_handshake(&mut self) {
        self.start_by = None;
        self.was_up = true;
    }

    /// How long it may take to list something.
    pub fn list_timeout(&self) -> Limit {
        self.start_timeout
    }

    /// Whether it was lost and not restarted yet.
    pub fn is_down(&self) -> bool {
        self.is_down
    }

    /// Whether it was lost after it had started, and not restarted yet.
    pub fn is_lost(&self) -> bool {
        self.is_down && self.was_up
    }

    /// Extends its time limit: this process could not read its answers.
    pub fn restart_timeouts(&mut self) {
        self.start_by = self.start_by.and_then(|_| self.start_timeout.end());
    }

    /// Takes a line of its stderr.
    pub fn print(&mut self, line: &[u8]) {
        self.tail.keep(LastOutput::readable(line));
    }

    /// The server closed its stdout. A child's exit status may still follow.
    pub fn closed(&mut self) {
        let closing = if self.trouble.is_some() { Duration::ZERO } else { EXIT_TIMEOUT };
        self.end_by.get_or_insert(Instant::now() + closing);
    }

    /// When its next time limit is over.
    pub fn deadline(&self) -> Option<Instant> {
        self.start_by.into_iter().chain(self.end_by).min()
    }

    /// The loss if a time limit is over.
    pub fn overdue(&mut self) -> Option<ServerLoss> {
        let now = Instant::now();
        if self.start_by.is_some_and(|at| at <= now) {
            let seconds = self.start_timeout.seconds();
            let message = format!("the handshake took longer than {seconds} s (--start-timeout)");
            return Some(self.loss(message, LossCause::Unusable));
        }
        if self.end_by.is_some_and(|at| at <= now) {
            let (ended, refused) = match &self.trouble {
                Some(trouble) => {
                    lock(trouble).take().unwrap_or_else(|| ("the connection has ended".to_owned(), Vec::new()))
                }
                None => ("the server closed its stdout".to_owned(), Vec::new()),
            };
            return Some(ServerLoss { refused, ..self.loss(ended, LossCause::Ended) });
        }
        None
    }

    pub fn exited(&self, status: ExitStatus) -> ServerLoss {
        let code = exit_code(status);
        // A shell and npx end with such a status if their child was killed.
        let cause = if is_of_killed(code) { LossCause::Killed } else { LossCause::Ended };
        ServerLoss { status: Some(code), ..self.loss(format!("the server ended: {}", describe(status)), cause) }
    }

    pub fn loss(&self, message: String, cause: LossCause) -> ServerLoss {
        let message = match &self.name {
            Some(name) => format!("{name}: {message}"),
            None => message,
        };
        ServerLoss { message, status: None, cause, stderr: self.tail.text(), refused: Vec::new() }
    }

    /// Records a loss, and decides what follows.
    pub fn after_loss(&mut self, loss: &ServerLoss, restarts: &mut Restarts) -> AfterLoss {
        (self.start_by, self.end_by, self.is_down) = (None, None, true);
        let is_initialised = self.client.is_initialised();
        // Nothing can be sent to it, and its further output is ignored.
        self.client = self.client.anew(self.client.era());
        if !self.was_up
            && let Some(then) = self.after_failed_start(loss, is_initialised)
        {
            if then == AfterLoss::Restart {
                restarts.at_once();
            }
            return then;
        }
        if restarts.lost(&loss.message, self.was_up) {
            return AfterLoss::Restart;
        }
        let why = format!("{}; it was restarted too often (--restart)", loss.message);
        if self.was_up { AfterLoss::GiveUp(why) } else { AfterLoss::NotStarted(why) }
    }

    /// Decides what follows from the loss of a server that never started: it may support the other era, or it cannot be
    /// used. `None` if it is restarted like any other.
    fn after_failed_start(&mut self, loss: &ServerLoss, is_initialised: bool) -> Option<AfterLoss> {
        match loss.cause {
            LossCause::Killed => return None,
            // Its era is known.
            LossCause::Ended if is_initialised => return None,
            LossCause::Refused | LossCause::Ended if self.forced.is_none() && self.first_end.is_none() => {
                self.first_end = Some((loss.message.clone(), loss.cause));
                self.client = self.client.anew(Era::Modern);
                return Some(AfterLoss::Restart);
            }
            // The server responds, but not in this era: at the first handshake it had just died.
            LossCause::Refused
                if matches!(self.first_end, Some((_, LossCause::Ended))) && self.client.era() == Era::Modern =>
            {
                self.client = self.client.anew(Era::Legacy);
                return None;
            }
            _ => {}
        }
        let first = self.first_end.take().filter(|(first, _)| *first != loss.message);
        let first = first.map_or(String::new(), |(first, _)| format!("; the 2025 handshake: {first}"));
        Some(AfterLoss::NotStarted(format!("{}{first}", loss.message)))
    }

    /// Prints the end of its stderr, before a message about it.
    pub fn say_tail(&self, loss: &ServerLoss) {
        for line in loss.stderr.lines() {
            self.report.say(format_args!("  | {line}"));
        }
    }
}
