//! `--protocol mod`: connects the mod with a bot that was written for it. Messages pass unchanged. Commands are
//! checked, passed on, and recorded if they decide something.

use super::decision_state::DecisionState;
use super::game::{Game, place};
use super::process::Process;
use crate::cmd::options::TOO_LONG;
use crate::cmd::silence::SilenceWatch;
use pipewright_games::spire::command::{self, CommandEffect};
use pipewright_games::spire::legal_actions::{actions_when_ready, needs_a_command};
use pipewright_games::spire::message::{GameState, Message};
use pipewright_games::spire::record::{Command, Outcome, PendingRecord};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{self as lines, Line, Piece};
use pipewright_record::json::Object;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Instant;

/// The error that answers a command after a message that could not be read. The command follows.
const NOT_CHECKED: &str = "The game's latest message could not be read, so this was not sent (`state` asks for another \
                           message, --pass-illegal sends without a check):";

/// A command that was sent; the record waits for the mod's next message.
pub(super) struct Sent {
    pub(super) text: String,
    pub(super) decided: Option<Box<PendingRecord>>,
}

pub(super) struct Relay {
    pub(super) game: Game,
    process: Process,
    silence: SilenceWatch,
    pass_illegal: bool,
    report: Arc<Report>,
    /// The mod's latest state or menu that could be read, as it came.
    latest: Vec<u8>,
    /// A message came after it that could not be read: what the bot sends may be an answer to that one.
    is_outdated: bool,
    is_ready: bool,
    /// The latest state, during a run.
    situation: Option<DecisionState>,
    /// The commands that the mod has not answered yet, oldest first.
    pub(super) unanswered: Vec<Sent>,
    /// A message was asked for since the latest one. If so, one like it is the answer; otherwise it is the same frame
    /// sent again.
    asked: bool,
    /// The bot has not sent its first line, for which the mod waits.
    is_starting: bool,
    /// The last command that started a run.
    pub(super) start: Option<String>,
}

impl Relay {
    pub(super) fn new(game: Game, process: Process, pass_illegal: bool) -> Relay {
        let report = Arc::clone(&game.report);
        Relay {
            game,
            process,
            silence: SilenceWatch::new(Arc::clone(&report)),
            pass_illegal,
            report,
            latest: Vec::new(),
            is_outdated: false,
            is_ready: false,
            situation: None,
            unanswered: Vec::new(),
            asked: false,
            is_starting: true,
            start: None,
        }
    }

    fn receive_mod(&mut self, line: &Line<'_>, out: &mut Out) {
        if line.is_blank() {
            return;
        }
        let text = lines::text(line.body());
        let Some(message) = self.game.read(line, &text) else {
            self.is_outdated = true;
            return;
        };
        if let Some(error) = &message.error {
            return self.receive_error(error, &place(line));
        }
        let is_repeated = self.latest == line.raw() && !std::mem::take(&mut self.asked);
        if !is_repeated {
            for sent in std::mem::take(&mut self.unanswered) {
                self.game.ledger.settle(sent.decided, Outcome::Accepted);
            }
        }
        let (_, all_over) = self.game.follow(&message);
        self.is_outdated = false;
        self.is_ready = message.is_ready();
        let actions = actions_when_ready(&message);
        if !is_repeated {
            let is_unknown = message.game_state.as_ref().is_some_and(GameState::is_on_unknown_screen);
            self.game.report_gaps(&message, is_unknown && needs_a_command(&message, &actions), &place(line));
        }
        self.situation = DecisionState::new(line, &message, actions);
        self.latest = line.raw().to_vec();
        if self.is_ready && self.situation.is_some() {
            self.silence.asked();
        }
        if all_over {
            out.stop(self.report.finish());
        }
    }

    fn receive_error(&mut self, error: &str, place: &str) {
        // Errors come at once, states only when the game is stable. So if several commands are unanswered, the mod took
        // the earlier ones.
        match self.unanswered.pop() {
            Some(Sent { text, decided }) => {
                self.report.fault(place, format_args!("the mod refused `{text}`: {error}"));
                self.game.ledger.settle(decided, Outcome::Refused(error));
            }
            None => {
                self.report.fault(place, format_args!("an error that does not answer a command of the bot: {error}"))
            }
        }
    }

    fn receive_bot(&mut self, line: &Line<'_>, out: &mut Out) {
        let text = lines::text(line.body());
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        self.silence.answered();
        if std::mem::take(&mut self.is_starting) {
            // The mod takes any first line as "ready".
            if !text.eq_ignore_ascii_case("ready") {
                self.report.note(format_args!("agent:{}: taken as \"ready\": {text}", line.number()));
            }
            return;
        }
        let latest = std::mem::take(&mut self.latest);
        self.carry_out(text, &latest, &format!("agent:{}", line.number()), out);
        self.latest = latest;
    }

    /// Sends a command if the latest message allows it; otherwise answers as the mod would.
    fn carry_out(&mut self, text: &str, latest: &[u8], place: &str, out: &mut Out) {
        let latest = Line::new(latest, 1);
        let latest = lines::text(latest.body());
        let message = Message::read(&latest).ok().flatten().unwrap_or_default();
        let as_it_is = || Command { text: text.to_owned(), action: None, is_legal: true, by: None };
        let read = match command::read_without_state(text) {
            Some(meaning) => Ok(meaning),
            None if self.is_outdated => Err(format!("{NOT_CHECKED} \"{text}\"").into()),
            None => command::read(text, &message),
        };
        match read {
            Ok(CommandEffect::Action(action)) => {
                let targets = self.situation.as_ref().map(|situation| situation.targets).unwrap_or_default();
                self.decide(Command::of(action, &targets), out);
            }
            Ok(CommandEffect::Other) => self.decide(as_it_is(), out),
            Ok(CommandEffect::Ask) => {
                self.asked = true;
                self.send(text.to_owned(), None, out);
            }
            Ok(CommandEffect::Start) => {
                self.start = Some(text.to_owned());
                self.send(text.to_owned(), None, out);
            }
            Err(refusal) if self.pass_illegal => {
                self.report.note_limited(format_args!(
                    "{place}: not legal, sent anyway (--pass-illegal): {text}: {}",
                    refusal.error
                ));
                self.decide(Command { action: refusal.action, is_legal: false, ..as_it_is() }, out);
            }
            Err(refusal) => {
                self.report.fault(place, format_args!("not sent: {text}: {}", refusal.error));
                let is_ready = self.is_outdated || self.is_ready && self.unanswered.is_empty();
                let answer = Object::default().text("error", &refusal.error);
                let answer = answer.put("ready_for_command", if is_ready { "true" } else { "false" });
                out.add_line(Side::FAR, &answer.end());
            }
        }
    }

    fn decide(&mut self, command: Command, out: &mut Out) {
        let text = command.text.clone();
        let situation = self.situation.as_ref().filter(|_| !self.is_outdated);
        let decided = situation.and_then(|situation| self.game.ledger.note_down(situation, command));
        self.send(text, decided, out);
    }

    fn send(&mut self, text: String, decided: Option<Box<PendingRecord>>, out: &mut Out) {
        let to = out.to(Side::NEAR);
        to.extend_from_slice(text.as_bytes());
        to.push(b'\n');
        self.unanswered.push(Sent { text, decided });
    }

    /// A restarted bot gets the latest state, as the mod sends it to a program that it starts.
    fn started(&mut self, out: &mut Out) {
        self.is_starting = true;
        self.silence.answered();
        if self.process.was_restarted() && self.unanswered.is_empty() && !self.latest.is_empty() {
            out.pass(Side::FAR, &Piece::Line(Line::new(&self.latest, 1)));
        }
    }

    /// A bot that ends in the menu with status 0 has played all it was to play.
    fn exited(&mut self, status: ExitStatus, out: &mut Out) -> Result<(), Failure> {
        let is_done = status.success() && self.situation.is_none() && !self.game.wants_more();
        if is_done && !self.process.can_restart() {
            self.stop(out);
            return Ok(());
        }
        self.process.exited(status, out)
    }

    fn stop(&mut self, out: &mut Out) {
        self.end();
        out.stop(self.report.finish());
    }

    /// Our run ends: commands without an answer are recorded as such.
    pub(super) fn end(&mut self) {
        for sent in std::mem::take(&mut self.unanswered) {
            self.game.ledger.settle(sent.decided, Outcome::Unknown);
        }
        self.game.end();
    }
}

impl Stage for Relay {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(Side::NEAR, piece) => {
                out.pass(Side::FAR, &piece);
                match piece {
                    Piece::Line(line) => self.receive_mod(&line, out),
                    Piece::Part { number, last: true, .. } => {
                        self.is_outdated = true;
                        self.report.fault(format_args!("stdin:{number}"), format_args!("not acted on: {TOO_LONG}"));
                    }
                    Piece::Part { .. } => {}
                }
            }
            Event::Piece(_, Piece::Line(line)) => self.receive_bot(&line, out),
            Event::Piece(_, Piece::Part { number, last: true, .. }) => {
                self.report.fault(format_args!("agent:{number}"), format_args!("not sent: {TOO_LONG}"));
            }
            Event::Closed(Side::NEAR) => self.stop(out),
            Event::Closed(_) | Event::Broken(Side::Far(_) | Side::Person, _) => self.process.closed(),
            Event::Started(_) => self.started(out),
            Event::Exited(_, status) => self.exited(status, out)?,
            Event::Due => {
                self.silence.due();
                self.process.due(out)?;
            }
            Event::Broken(Side::Near(_), _) | Event::Signal(_) => self.end(),
            Event::Piece(_, Piece::Part { .. })
            | Event::Broken(Side::FarError(_) | Side::Answers, _)
            | Event::Joined(_)
            | Event::Reopen => {}
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.game.ledger.sync();
        Ok(())
    }

    fn not_started(&mut self, _far: usize, failure: Failure, _out: &mut Out) -> Result<(), Failure> {
        // A bot that cannot be started is not a lost bot, but one that cannot be restarted is.
        let status = if self.process.was_restarted() { Status::Lost } else { failure.status };
        Err(Failure { status, ..failure })
    }

    fn deadline(&self) -> Option<Instant> {
        self.silence.deadline().into_iter().chain(self.process.deadline()).min()
    }
}
