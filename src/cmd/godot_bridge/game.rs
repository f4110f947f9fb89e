//! The connection to the game: handshake, commands, time limits, and the reasons for its loss.

use super::launch::TimeLimits;
use crate::cmd::options::TOO_LONG;
use pipewright_games::godot::{self, EngineOutput, GameLoss, Hello, Message, PrintedLine, Response};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Out, Side};
use pipewright_lines::Piece;
use pipewright_record::json::Object;
use pipewright_sys::process::{describe, exit_code};
use std::collections::VecDeque;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The game itself reports commands that take too long; it gets this much more time to do so.
const GRACE: Duration = Duration::from_secs(2);
/// After a script failed to load, an addon that works nevertheless answers within this time.
const BROKEN_SCRIPT_GRACE: Duration = Duration::from_secs(5);
/// By these a game in lockstep shows that its frames pass, although its command is not answered yet.
const NO_EVENTS: &str = "[]";
/// The timeout sent to the game for a command without a time limit: ten days.
const UNLIMITED: Duration = Duration::from_secs(864_000);

/// The reason for giving up on a game that has closed its connection.
pub const CLOSED_NOT_ENDED: &str = "the game has closed its connection but has not ended in time (--quit-timeout)";
/// The reason for giving up on a game that has answered `quit`.
pub const QUIT_NOT_ENDED: &str = "the game was asked to quit but has not ended in time (--quit-timeout)";

/// One of our commands that is not answered yet.
struct PendingCommand {
    id: u64,
    /// `None` means no limit.
    timeout: Option<Duration>,
}

/// What a line from the game means.
pub enum GameMessage<'a> {
    /// The handshake is complete: commands may be sent.
    Ready,
    /// The answer to a command.
    Answer(Answer<'a>),
    /// Events of the game: a JSON array.
    Events(&'a str),
    /// Nothing to act on.
    Nothing,
}

/// An answer of the game.
pub struct Answer<'a> {
    /// The number of the answered command.
    pub id: u64,
    pub response: Response<'a>,
    /// Earlier commands without an answer. They never get one, because the game answers in order.
    pub skipped: Vec<u64>,
}

/// The connection to the game.
pub struct Game {
    patience: TimeLimits,
    report: Arc<Report>,
    /// The number of our next command. The first is chosen so that a late answer to an earlier bridge is not taken for
    /// one of ours.
    next: u64,
    pending: VecDeque<PendingCommand>,
    /// Since when the game works on the first of `pending`.
    since: Instant,
    is_ready: bool,
    /// The commands that the addon accepts; `None` if it did not list them.
    commands: Option<Vec<String>>,
    wants_events: bool,
    /// Whether `quit` has been sent.
    is_quitting: bool,
    /// A time after which the game is given up, whatever it sends, and the reason.
    last_moment: Option<(Instant, &'static str)>,
    tail: EngineOutput,
    /// Whether we are in the middle of an over-long line from the engine.
    prints_on: bool,
    /// Whether the engine's output is shown.
    verbose: bool,
}

impl Game {
    pub fn new(patience: TimeLimits, first: u64, wants_events: bool, verbose: bool, report: Arc<Report>) -> Game {
        Game {
            patience,
            report,
            next: first,
            pending: VecDeque::new(),
            since: Instant::now(),
            is_ready: false,
            commands: None,
            wants_events,
            is_quitting: false,
            last_moment: None,
            tail: EngineOutput::default(),
            prints_on: false,
            verbose,
        }
    }

    /// Sends `hello`; nothing else is sent until it is answered.
    pub fn send_hello(&mut self, out: &mut Out) {
        let arguments = Object::default().text("version", godot::PROTOCOL).put("stream", self.wants_events);
        self.send(out, "hello", Some(&arguments.end()), None);
    }

    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether the addon accepts this command; true if it did not list its commands.
    pub fn takes(&self, command: &str) -> bool {
        self.commands.as_ref().is_none_or(|commands| commands.iter().any(|name| name == command))
    }

    pub fn is_quitting(&self) -> bool {
        self.is_quitting
    }

    /// Whether `quit` has been sent and answered.
    pub fn has_answered_quit(&self) -> bool {
        self.is_quitting && self.pending.is_empty()
    }

    /// Sends a command and returns its number. `arguments` is a JSON object.
    pub fn send(&mut self, out: &mut Out, name: &str, arguments: Option<&str>, timeout: Option<Duration>) -> u64 {
        let id = self.next;
        self.next += 1;
        let timeout = timeout.or(self.patience.command);
        if self.pending.is_empty() {
            self.since = Instant::now();
        }
        self.pending.push_back(PendingCommand { id, timeout });
        let line = godot::command(id, name, arguments, timeout.unwrap_or(UNLIMITED).as_secs_f64());
        out.to(Side::FAR).extend_from_slice(line.as_bytes());
        id
    }

    /// Asks the game to end.
    pub fn quit(&mut self, out: &mut Out) {
        if !std::mem::replace(&mut self.is_quitting, true) {
            // No other command is sent after this one, so the game has nothing else to do.
            self.send(out, "quit", None, Some(self.patience.quit.unwrap_or(UNLIMITED)));
        }
    }

    /// Takes a line from the game.
    ///
    /// # Errors
    /// If the addon's protocol version does not match.
    pub fn receive<'a>(&mut self, line: &'a str, number: u64) -> Result<GameMessage<'a>, GameLoss> {
        let response = match Message::read(line) {
            Message::Response(response) => response,
            Message::Events(events) => {
                if events.get() == NO_EVENTS {
                    self.since = Instant::now();
                }
                return Ok(GameMessage::Events(events.get()));
            }
            Message::Unreadable(why) => {
                self.report.fault(format_args!("game:{number}"), why);
                return Ok(GameMessage::Nothing);
            }
        };
        let is_meant = |pending: &PendingCommand| match response.id {
            Some(id) => pending.id == id,
            // The game could not read a line (its parser accepts less than ours). Before the handshake, that line was
            // not ours.
            None => self.is_ready,
        };
        let Some(at) = self.pending.iter().position(is_meant) else {
            self.report.note_limited(format_args!("game:{number}: an answer that matches no command"));
            return Ok(GameMessage::Nothing);
        };
        let mut skipped: Vec<u64> = self.pending.drain(..=at).map(|pending| pending.id).collect();
        let id = skipped.pop().unwrap_or_default();
        self.since = Instant::now();
        if self.is_ready {
            return Ok(GameMessage::Answer(Answer { id, response, skipped }));
        }
        let hello = Hello::of(&response).map_err(|why| self.gone("VERSION_MISMATCH", why.to_string(), None))?;
        self.commands = hello.commands;
        self.is_ready = true;
        self.last_moment = None;
        Ok(GameMessage::Ready)
    }

    /// Takes output of the engine. Of an over-long line only the beginning is kept.
    pub fn print(&mut self, piece: &Piece<'_>, out: &mut Out) {
        if self.verbose {
            out.pass(Side::FAR_ERROR, piece);
        }
        if std::mem::replace(&mut self.prints_on, matches!(piece, Piece::Part { last: false, .. })) {
            return;
        }
        match self.tail.take(piece.raw()) {
            PrintedLine::BrokenScript if !self.is_ready && self.last_moment.is_none() => {
                let what = "a script of the game cannot be loaded, and its addon does not answer";
                self.last_moment = Some((Instant::now() + BROKEN_SCRIPT_GRACE, what));
            }
            PrintedLine::MissingExtension => {
                let line = String::from_utf8_lossy(piece.raw());
                self.report.note(format_args!("{}; the game runs without its classes", line.trim()));
            }
            PrintedLine::BrokenScript | PrintedLine::Talk => {}
        }
    }

    /// The game should end now; `why` is reported if it does not.
    pub fn close(&mut self, why: &'static str) {
        if let Some(patience) = self.patience.quit {
            self.last_moment.get_or_insert((Instant::now() + patience, why));
        }
    }

    /// How long the first pending command may stay unanswered, from `since`.
    fn patience(&self) -> Option<Duration> {
        let first = self.pending.front()?;
        if self.is_ready { Some(first.timeout? + GRACE) } else { self.patience.start }
    }

    /// When the game becomes overdue.
    pub fn deadline(&self) -> Option<Instant> {
        let answer = self.patience().map(|patience| self.since + patience);
        answer.into_iter().chain(self.last_moment.map(|(at, _)| at)).min()
    }

    /// Restarts all time limits.
    pub fn restart_timeouts(&mut self) {
        self.since = Instant::now();
        if let (Some((at, _)), Some(patience)) = (&mut self.last_moment, self.patience.quit) {
            *at = self.since + patience;
        }
    }

    /// The reason for giving up on the game, if its time has passed.
    pub fn overdue(&self) -> Option<GameLoss> {
        let now = Instant::now();
        if let Some((_, why)) = self.last_moment.filter(|(at, _)| *at <= now) {
            let code = if self.is_ready { "GAME_EXITED" } else { "GAME_START_FAILED" };
            return Some(self.gone(code, why.to_owned(), None));
        }
        let patience = self.patience().filter(|patience| self.since + *patience <= now)?;
        let seconds = patience.as_secs_f64();
        let (code, message) = match self.is_ready {
            true => ("TIMEOUT", format!("the game has not answered for {seconds} s; giving it up")),
            false => {
                let advice =
                    "it may be slow to start, or its AgentBridge addon may be missing or older than this bridge";
                let message =
                    format!("the game has not completed the handshake within {seconds} s (--start-timeout): {advice}");
                ("GAME_START_FAILED", message)
            }
        };
        Some(self.gone(code, message, None))
    }

    /// The engine has ended.
    pub fn exited(&self, status: ExitStatus) -> GameLoss {
        let how = describe(status);
        // A shell that wraps the game reports a signal (1 to 64) as 128 plus its number.
        let crashed = self.tail.has_crashed() || status.code().is_none_or(|code| (129..=192).contains(&code));
        let (code, message) = match (self.is_ready, crashed) {
            (false, _) => ("GAME_START_FAILED", format!("the game ended before the handshake: {how}")),
            (true, true) => ("GAME_CRASHED", format!("the game has crashed: {how}")),
            (true, false) => ("GAME_EXITED", format!("the game has ended: {how}")),
        };
        self.gone(code, message, Some(exit_code(status)))
    }

    /// The connection has ended, and the engine is not our child, so there is no exit to wait for.
    pub fn left(&self) -> GameLoss {
        self.gone("GAME_EXITED", "the game closed its connection".to_owned(), None)
    }

    /// Takes an answer that is too long to parse; returns the number of the command that it is taken to answer.
    ///
    /// # Errors
    /// If it is the answer to `hello`.
    pub fn receive_overlong(&mut self, beginning: &[u8]) -> Result<Option<u64>, GameLoss> {
        if !beginning.starts_with(b"{\"ok\"") {
            return Ok(None);
        }
        if !self.is_ready {
            let message = format!("the addon's answer to hello is {TOO_LONG}");
            return Err(self.gone("VERSION_MISMATCH", message, None));
        }
        self.since = Instant::now();
        Ok(self.pending.pop_front().map(|pending| pending.id))
    }

    /// The failure that ends the run. Reports the engine's last output first.
    pub fn failure(&self, gone: &GameLoss) -> Failure {
        for line in gone.printed.lines().filter(|_| !self.verbose) {
            self.report.say(format_args!("  | {line}"));
        }
        let status = match gone.code {
            "GAME_START_FAILED" | "VERSION_MISMATCH" => Status::NotStarted,
            _ => Status::Lost,
        };
        Failure::new(status, format_args!("{} ({})", gone.message, gone.code))
    }

    fn gone(&self, code: &'static str, message: String, status: Option<u8>) -> GameLoss {
        GameLoss { code, message, status, printed: self.tail.text() }
    }
}
