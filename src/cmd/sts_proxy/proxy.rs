//! Asks a player: which messages ask for a decision, and what is sent to the mod.

mod alone;

use super::IdleAction;
use super::decision::Decision;
use super::fallback::Fallback;
use super::game::{Game, place};
use super::player::{Player, PlayerReply};
use super::watchdog::Watchdog;
use crate::cmd::options::TOO_LONG;
use pipewright_games::spire::action::Action;
use pipewright_games::spire::legal_actions::{legal_actions, needs_a_command};
use pipewright_games::spire::message::{GameState, Message};
use pipewright_games::spire::record::{Command, Outcome, PendingRecord};
use pipewright_games::spire::run::RunTransition;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{self as lines, Line, Piece};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// In Match and Keep a choice is held for this long before it is sent, so the cards can turn over.
const MATCH_DELAY: Duration = Duration::from_secs(1);

/// Settings from the options.
pub(super) struct ProxySettings {
    /// The command that starts a run from the menu.
    pub(super) start: Option<String>,
    pub(super) idle: IdleAction,
    /// 0 is never.
    pub(super) watchdog: Option<Duration>,
}

/// The state of the latest decision.
enum Phase {
    /// There is nothing to decide.
    Idle,
    /// The player was asked.
    Open,
    /// The player has answered; the command is held until this time.
    Held(Action, Instant),
    /// The command was sent; the record waits for the mod's next message (`None` without a recorder).
    Sent(Command, Option<Box<PendingRecord>>),
}

/// The stage between the mod and the player.
pub(super) struct Proxy {
    settings: ProxySettings,
    report: Arc<Report>,
    player: Box<dyn Player>,
    game: Game,
    fallback: Option<Fallback>,
    decision: Option<Decision>,
    phase: Phase,
    /// The state was asked for since the last command. If so, a message like the previous one is the answer; otherwise
    /// it is the same frame sent again.
    asked_for_state: bool,
    /// What the mod refused in the state of `decision`.
    refused: Vec<Action>,
    starting: bool,
    in_game: bool,
    watchdog: Watchdog,
}

impl Proxy {
    pub(super) fn new(
        settings: ProxySettings,
        player: Box<dyn Player>,
        fallback: Option<Fallback>,
        game: Game,
    ) -> Proxy {
        Proxy {
            watchdog: Watchdog::new(settings.watchdog),
            settings,
            report: Arc::clone(&game.report),
            player,
            game,
            fallback,
            decision: None,
            phase: Phase::Idle,
            asked_for_state: false,
            refused: Vec::new(),
            starting: false,
            in_game: false,
        }
    }

    fn send(&mut self, command: &str, out: &mut Out) {
        let to = out.to(Side::NEAR);
        to.extend_from_slice(command.as_bytes());
        to.push(b'\n');
        self.watchdog.rest();
    }

    fn ask_for_state(&mut self, out: &mut Out) {
        self.ask("state", out);
    }

    /// Sends a command that decides nothing and gets the state.
    fn ask(&mut self, command: &str, out: &mut Out) {
        self.send(command, out);
        self.asked_for_state = true;
    }

    /// A line from the mod.
    fn receive_mod(&mut self, line: &Line<'_>, out: &mut Out) -> Result<(), Failure> {
        self.watchdog.rest();
        if line.is_blank() {
            self.ask_for_state(out);
            return Ok(());
        }
        let text = lines::text(line.body());
        match self.game.read(line, &text) {
            Some(message) if message.error.is_some() => self.receive_error(&message, &place(line), out),
            Some(message) => self.receive_state(line, &text, &message, out),
            None => {
                self.close_question(out);
                Ok(())
            }
        }
    }

    /// A message could not be read: the player's answer may no longer fit, so the state is asked for first.
    fn close_question(&mut self, out: &mut Out) {
        if matches!(self.phase, Phase::Open | Phase::Held(..)) {
            self.phase = Phase::Idle;
            self.player.withdraw(out);
            self.ask_for_state(out);
        }
    }

    /// The mod refused something. No state follows by itself.
    fn receive_error(&mut self, message: &Message<'_>, place: &str, out: &mut Out) -> Result<(), Failure> {
        let error = message.error.as_deref().unwrap_or_default();
        if self.starting {
            let status = if self.game.runs.current().is_none() { Status::Usage } else { Status::Fault };
            return Err(Failure::new(status, format_args!("{place}: the mod refused --start: {error}")));
        }
        if let Phase::Sent(command, decided) = std::mem::replace(&mut self.phase, Phase::Idle) {
            self.report.fault(place, format_args!("the mod refused `{}`: {error}", command.text));
            self.refused.extend(command.action);
            self.player.refused(error, out);
            self.game.ledger.settle(decided, Outcome::Refused(error));
        } else {
            self.report.fault(place, format_args!("an error that does not answer a command: {error}"));
        }
        self.ask_for_state(out);
        Ok(())
    }

    fn receive_state(
        &mut self,
        line: &Line<'_>,
        text: &str,
        message: &Message<'_>,
        out: &mut Out,
    ) -> Result<(), Failure> {
        let answer = std::mem::take(&mut self.asked_for_state);
        let same = self.decision.as_ref().is_some_and(|decision| decision.raw == line.raw());
        if same && !answer && !matches!(self.phase, Phase::Idle) {
            return Ok(()); // the frame that was already decided on, sent again
        }
        if !same && message.is_ready() {
            self.refused.clear();
        }
        if let Phase::Sent(_, decided) = std::mem::replace(&mut self.phase, Phase::Idle) {
            self.game.ledger.settle(decided, Outcome::Accepted);
        }
        self.in_game = message.in_game;
        let (turn, all_over) = self.game.follow(message);
        let starts_no_other = self.is_alone() && self.settings.start.is_none();
        if all_over || turn == RunTransition::BackInMenu && starts_no_other {
            self.finish(out);
            return Ok(());
        }
        let mut actions = legal_actions(message);
        let needs_a_command = needs_a_command(message, &actions) && self.waits_for_command(message);
        actions.retain(|action| !self.refused.contains(action));
        if !same {
            self.game.report_gaps(message, needs_a_command, &place(line));
        }
        let is_open = if needs_a_command { !self.is_alone() } else { !actions.is_empty() };
        if !is_open {
            self.player.withdraw(out);
            self.idle(message, answer, out);
            return Ok(());
        }
        self.decide(line, text, message, actions, same, out);
        Ok(())
    }

    /// Whether the game does not go on by itself. Between two screens of a known type it does.
    fn waits_for_command(&self, message: &Message<'_>) -> bool {
        self.watchdog.has_woken() || message.game_state.as_ref().is_some_and(GameState::is_on_unknown_screen)
    }

    /// Asks the player. The same state keeps its number, so an answer that is still outstanding counts for it.
    fn decide(
        &mut self,
        line: &Line<'_>,
        text: &str,
        message: &Message<'_>,
        actions: Vec<Action>,
        same: bool,
        out: &mut Out,
    ) {
        let number = self.decision.as_ref().map_or(1, |decision| decision.number + u64::from(!same));
        self.decision = Decision::new(number, line, text, message, actions);
        self.starting = false;
        self.watchdog.reset();
        if let Some(decision) = &self.decision {
            self.phase = Phase::Open;
            self.player.ask(decision, out);
        }
        self.play_alone(out);
    }

    /// There is nothing to decide.
    fn idle(&mut self, message: &Message<'_>, answer: bool, out: &mut Out) {
        self.starting &= !message.in_game;
        if let Some(start) = &self.settings.start
            && !message.in_game
            && message.is_ready()
            && message.offers("start")
            && (!self.starting || answer)
        {
            let start = start.clone();
            self.send(&start, out);
            self.starting = true;
            return;
        }
        match self.settings.idle {
            IdleAction::Silent => {}
            IdleAction::Wait if message.offers("wait") => self.send("wait 30", out),
            IdleAction::Wait => {}
            IdleAction::State => self.ask_for_state(out),
        }
    }

    fn reply(&mut self, reply: PlayerReply, out: &mut Out) {
        match reply {
            PlayerReply::Nothing => {}
            PlayerReply::Ask(command) => self.ask(&command, out),
            PlayerReply::Other(text) => {
                self.carry_out(Command { text, action: None, is_legal: true, by: None }, out);
                // The game may be in the same state as before.
                self.asked_for_state = true;
            }
            PlayerReply::Stop(status) => {
                self.give_up_waiting();
                if status == Status::Success { self.finish(out) } else { out.stop(status) }
            }
            PlayerReply::Act(action) => {
                let held = self.decision.as_ref().is_some_and(|decision| decision.needs_pace)
                    && matches!(action, Action::Choose { .. });
                if held {
                    self.phase = Phase::Held(action, Instant::now() + MATCH_DELAY);
                } else {
                    self.act(action, out);
                }
            }
        }
    }

    fn act(&mut self, action: Action, out: &mut Out) {
        let by = if self.is_alone() { Some("fallback") } else { None };
        let targets = self.decision.as_ref().map(|decision| decision.targets).unwrap_or_default();
        self.carry_out(Command { by, ..Command::of(action, &targets) }, out);
        self.asked_for_state = false;
    }

    /// Sends a command that changes the game, and notes it.
    fn carry_out(&mut self, command: Command, out: &mut Out) {
        let decided = self.decision.as_ref().and_then(|decision| self.game.ledger.note_down(decision, command.clone()));
        self.watchdog.reset();
        self.send(&command.text, out);
        self.phase = Phase::Sent(command, decided);
    }

    /// Ends this process's run.
    fn finish(&mut self, out: &mut Out) {
        let status = self.report.finish();
        out.stop(if self.is_alone() { Status::Lost } else { status });
    }

    /// The run ends: a command without an answer is recorded as such.
    fn give_up_waiting(&mut self) {
        if let Phase::Sent(_, decided) = std::mem::replace(&mut self.phase, Phase::Idle) {
            self.game.ledger.settle(decided, Outcome::Unknown);
        }
        self.game.end();
    }

    /// Whether the watchdog runs: only while the game is the next to send something.
    fn game_is_due(&self) -> bool {
        matches!(self.phase, Phase::Idle | Phase::Sent(..)) || self.asked_for_state
    }

    fn due(&mut self, out: &mut Out) -> Result<(), Failure> {
        if let Phase::Held(action, until) = self.phase
            && until <= Instant::now()
        {
            self.act(action, out);
        }
        if self.game_is_due()
            && let Some(command) = self.watchdog.wake(self.in_game)
        {
            if self.watchdog.woke_first() {
                self.report.note("nothing came from the game for a while; asking for its state");
            }
            self.send(command, out);
            self.asked_for_state = true;
        }
        let open = open(&self.decision, &self.phase);
        self.player.due(open, out)
    }
}

impl Stage for Proxy {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        let result = self.receive(event, out);
        self.play_on(result, out)
    }

    fn not_started(&mut self, _far: usize, failure: Failure, out: &mut Out) -> Result<(), Failure> {
        // An agent that cannot be started is not a lost agent, but one that cannot be restarted is.
        let status = if self.decision.is_some() { Status::Lost } else { failure.status };
        self.play_on(Err(Failure { status, ..failure }), out)
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.game.ledger.sync();
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        let held = match self.phase {
            Phase::Held(_, until) => Some(until),
            _ => None,
        };
        let game = if self.game_is_due() { self.watchdog.deadline() } else { None };
        held.into_iter().chain(game).chain(self.player.deadline()).min()
    }
}

impl Proxy {
    fn receive(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(Side::NEAR, Piece::Line(line)) => self.receive_mod(&line, out),
            Event::Piece(Side::NEAR, Piece::Part { number, last, .. }) => {
                if last {
                    self.report.fault(format_args!("stdin:{number}"), format_args!("not acted on: {TOO_LONG}"));
                    self.close_question(out);
                }
                Ok(())
            }
            Event::Piece(_, piece) => {
                let open = open(&self.decision, &self.phase);
                let reply = self.player.receive(piece, open, out)?;
                self.reply(reply, out);
                Ok(())
            }
            Event::Closed(Side::NEAR) => {
                self.reply(PlayerReply::Stop(Status::Success), out);
                Ok(())
            }
            Event::Closed(_) | Event::Broken(Side::Far(_) | Side::Person, _) => {
                let reply = self.player.closed();
                self.reply(reply, out);
                Ok(())
            }
            Event::Started(_) => {
                let open = open(&self.decision, &self.phase);
                self.player.started(open, out);
                Ok(())
            }
            Event::Exited(_, status) => self.player.exited(status, out),
            Event::Due => self.due(out),
            Event::Broken(Side::Near(_), _) | Event::Signal(_) => {
                self.give_up_waiting();
                Ok(())
            }
            Event::Broken(Side::FarError(_) | Side::Answers, _) | Event::Joined(_) | Event::Reopen => Ok(()),
        }
    }
}

/// The decision that the player has to make now.
fn open<'d>(decision: &'d Option<Decision>, phase: &Phase) -> Option<&'d Decision> {
    decision.as_ref().filter(|_| matches!(phase, Phase::Open))
}
