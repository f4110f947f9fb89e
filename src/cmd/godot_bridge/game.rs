//! The game at the other end: how it is greeted, asked and waited for, and why it is gone.

use super::launch::Patience;
use crate::cmd::options::TOO_LONG;
use crate::godot::{self, Engine, Gone, Hello, Message, Printed, Response};
use crate::io::child::{describe, exit_code};
use crate::io::lines::Piece;
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Out, Side};
use crate::json::Object;
use std::collections::VecDeque;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The game tells by itself that something takes too long; it is given this much more to do so.
const GRACE: Duration = Duration::from_secs(2);
/// Where a script couldn't be loaded, a bridge that is there nonetheless answers within this.
const BROKEN: Duration = Duration::from_secs(5);
/// What the game is told where a command may take for ever: ten days.
const FOR_EVER: Duration = Duration::from_secs(864_000);

/// Why a game that has closed its connection is given up.
pub const LEFT: &str = "the game has closed its connection, and hasn't ended in time (--quit-timeout)";
/// The same where it has answered `quit`.
pub const NOT_ENDED: &str = "the game was asked to quit, and hasn't ended in time (--quit-timeout)";

/// One of our commands that isn't answered yet.
struct PendingCommand {
    id: u64,
    /// Nothing where it may take for ever.
    timeout: Option<Duration>,
}

/// What a line of the game's means.
pub enum GameMessage<'a> {
    /// It has greeted: commands may be sent.
    Ready,
    /// It answers a command.
    Answer(Answer<'a>),
    /// Something happened by itself: a JSON array of events.
    Events(&'a str),
    /// Nothing to act on.
    Nothing,
}

/// What is known once an answer has come.
pub struct Answer<'a> {
    /// The command that is answered, by its number.
    pub id: u64,
    pub response: Response<'a>,
    /// Those before it that haven't been answered, and never will be: the game answers in order.
    pub skipped: Vec<u64>,
}

/// The connection to the game.
pub struct Game {
    patience: Patience,
    report: Arc<Report>,
    /// Our own commands are numbered from here, so that a late answer to somebody before us is not taken for ours.
    next: u64,
    pending: VecDeque<PendingCommand>,
    /// Since when the first of `pending` is what the game works on.
    since: Instant,
    is_ready: bool,
    /// The commands that the addon has said it takes; `None` where it has not said.
    commands: Option<Vec<String>>,
    wants_events: bool,
    /// Whether it has been told to end.
    is_quitting: bool,
    /// By when something must have happened, whatever else does, and what is wrong otherwise.
    last_moment: Option<(Instant, &'static str)>,
    tail: Engine,
    /// An over-long line that the engine prints goes on.
    prints_on: bool,
    /// The engine's output is shown.
    verbose: bool,
}

impl Game {
    pub fn new(patience: Patience, first: u64, wants_events: bool, verbose: bool, report: Arc<Report>) -> Game {
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
            tail: Engine::default(),
            prints_on: false,
            verbose,
        }
    }

    /// Says hello; nothing else is sent until that is answered.
    pub fn greet(&mut self, out: &mut Out) {
        let arguments = Object::default().text("version", godot::PROTOCOL).put("stream", self.wants_events);
        self.send(out, "hello", Some(&arguments.end()), None);
    }

    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether the addon takes this command, as far as it has said.
    pub fn takes(&self, command: &str) -> bool {
        self.commands.as_ref().is_none_or(|commands| commands.iter().any(|name| name == command))
    }

    pub fn is_quitting(&self) -> bool {
        self.is_quitting
    }

    /// Whether it has been told to end, and has answered that.
    pub fn has_answered_quit(&self) -> bool {
        self.is_quitting && self.pending.is_empty()
    }

    /// Sends a command; gives its number. `arguments` is a JSON object.
    pub fn send(&mut self, out: &mut Out, name: &str, arguments: Option<&str>, timeout: Option<Duration>) -> u64 {
        let id = self.next;
        self.next += 1;
        let timeout = timeout.or(self.patience.command);
        if self.pending.is_empty() {
            self.since = Instant::now();
        }
        self.pending.push_back(PendingCommand { id, timeout });
        let line = godot::command(id, name, arguments, timeout.unwrap_or(FOR_EVER).as_secs_f64());
        out.to(Side::Far).extend_from_slice(line.as_bytes());
        id
    }

    /// Asks the game to end.
    pub fn quit(&mut self, out: &mut Out) {
        if !std::mem::replace(&mut self.is_quitting, true) {
            // Nothing else is asked any more, so that it has nothing else to do.
            self.send(out, "quit", None, Some(self.patience.quit.unwrap_or(FOR_EVER)));
        }
    }

    /// Takes a line that the game says.
    ///
    /// # Errors
    /// Where it isn't a game that can be spoken with.
    pub fn receive<'a>(&mut self, line: &'a str, number: u64) -> Result<GameMessage<'a>, Gone> {
        let response = match Message::read(line) {
            Message::Response(response) => response,
            Message::Events(events) => return Ok(GameMessage::Events(events.get())),
            Message::Unreadable(why) => {
                self.report.fault(format_args!("game:{number}"), why);
                return Ok(GameMessage::Nothing);
            }
        };
        let is_meant = |pending: &PendingCommand| match response.id {
            Some(id) => pending.id == id,
            // It couldn't read a line (its parser takes less than ours). Before it has greeted, that was nobody's of ours.
            None => self.is_ready,
        };
        let Some(at) = self.pending.iter().position(is_meant) else {
            self.report.note_again(format_args!("game:{number}: an answer to nothing that was asked"));
            return Ok(GameMessage::Nothing);
        };
        let mut skipped: Vec<u64> = self.pending.drain(..=at).map(|pending| pending.id).collect();
        let id = skipped.pop().unwrap_or_default();
        self.since = Instant::now();
        if self.is_ready {
            return Ok(GameMessage::Answer(Answer { id, response, skipped }));
        }
        let hello = Hello::of(&response).map_err(|why| self.gone("VERSION_MISMATCH", why, None))?;
        self.commands = hello.commands;
        self.is_ready = true;
        self.last_moment = None;
        Ok(GameMessage::Ready)
    }

    /// Takes what the engine prints. Of an over-long line only the beginning is kept.
    pub fn print(&mut self, piece: &Piece<'_>, out: &mut Out) {
        if self.verbose {
            out.pass(Side::FarError, piece);
        }
        if std::mem::replace(&mut self.prints_on, matches!(piece, Piece::Part { last: false, .. })) {
            return;
        }
        if self.tail.take(piece.raw()) == Printed::BrokenScript && !self.is_ready && self.last_moment.is_none() {
            let what = "a script of the game can't be loaded, and its bridge doesn't answer";
            self.last_moment = Some((Instant::now() + BROKEN, what));
        }
    }

    /// The game should end now; `why` is what is told where it doesn't.
    pub fn close(&mut self, why: &'static str) {
        if let Some(patience) = self.patience.quit {
            self.last_moment.get_or_insert((Instant::now() + patience, why));
        }
    }

    /// How long the game may say nothing about the first of the commands, from `since`.
    fn patience(&self) -> Option<Duration> {
        let first = self.pending.front()?;
        if self.is_ready { Some(first.timeout? + GRACE) } else { self.patience.start }
    }

    /// By when something must have been heard.
    pub fn deadline(&self) -> Option<Instant> {
        let answer = self.patience().map(|patience| self.since + patience);
        answer.into_iter().chain(self.last_moment.map(|(at, _)| at)).min()
    }

    /// It has all its time again.
    pub fn wait_anew(&mut self) {
        self.since = Instant::now();
        if let (Some((at, _)), Some(patience)) = (&mut self.last_moment, self.patience.quit) {
            *at = self.since + patience;
        }
    }

    /// Why the game is given up, where its time has passed.
    pub fn overdue(&self) -> Option<Gone> {
        let now = Instant::now();
        if let Some((_, why)) = self.last_moment.filter(|(at, _)| *at <= now) {
            let code = if self.is_ready { "GAME_EXITED" } else { "GAME_START_FAILED" };
            return Some(self.gone(code, why.to_owned(), None));
        }
        let patience = self.patience().filter(|patience| self.since + *patience <= now)?;
        let seconds = patience.as_secs_f64();
        let (code, said) = match self.is_ready {
            true => ("TIMEOUT", format!("the game has not answered for {seconds} s, and is given up")),
            false => {
                let advice =
                    "it may be slow to start, or its AgentBridge addon may be missing or older than this bridge";
                let said = format!("the game has not greeted within {seconds} s (--start-timeout): {advice}");
                ("GAME_START_FAILED", said)
            }
        };
        Some(self.gone(code, said, None))
    }

    /// The engine has ended.
    pub fn exited(&self, status: ExitStatus) -> Gone {
        let how = describe(status);
        // A shell around the game gives its signal, of which there are 64, so.
        let crashed = self.tail.has_crashed() || status.code().is_none_or(|code| (129..=192).contains(&code));
        let (code, said) = match (self.is_ready, crashed) {
            (false, _) => ("GAME_START_FAILED", format!("the game has ended before it greeted: {how}")),
            (true, true) => ("GAME_CRASHED", format!("the game has crashed: {how}")),
            (true, false) => ("GAME_EXITED", format!("the game has ended: {how}")),
        };
        self.gone(code, said, Some(exit_code(status)))
    }

    /// The connection has ended, and there is no engine of ours to wait for.
    pub fn left(&self) -> Gone {
        self.gone("GAME_EXITED", "the game has gone".to_owned(), None)
    }

    /// An answer that is too long to be looked into: gives the number of the command that it is taken to answer.
    ///
    /// # Errors
    /// Where it is the greeting.
    pub fn receive_overlong(&mut self, beginning: &[u8]) -> Result<Option<u64>, Gone> {
        if !beginning.starts_with(b"{\"ok\"") {
            return Ok(None);
        }
        if !self.is_ready {
            let message = format!("the addon's greeting is {TOO_LONG}");
            return Err(self.gone("VERSION_MISMATCH", message, None));
        }
        self.since = Instant::now();
        Ok(self.pending.pop_front().map(|pending| pending.id))
    }

    /// What ends the run without a game; what the engine last printed is said before.
    pub fn failure(&self, gone: &Gone) -> Failure {
        for line in gone.printed.lines().filter(|_| !self.verbose) {
            self.report.say(format_args!("  | {line}"));
        }
        let status = match gone.code {
            "GAME_START_FAILED" | "VERSION_MISMATCH" => Status::NotStarted,
            _ => Status::Lost,
        };
        Failure::new(status, format_args!("{} ({})", gone.message, gone.code))
    }

    fn gone(&self, code: &'static str, message: String, status: Option<u8>) -> Gone {
        Gone { code, message, status, printed: self.tail.text() }
    }
}
