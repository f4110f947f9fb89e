//! The connection to the game: reads the mod's messages, follows its runs, and keeps the records.

use super::optional_recorder::OptionalRecorder;
use crate::cmd::options::TOO_DEEP;
use pipewright_games::spire::message::Message;
use pipewright_games::spire::run::{RunTransition, Runs};
use pipewright_games::spire::targets::without_target;
use pipewright_io::report::Report;
use pipewright_lines::{self as lines, Limits, Line, why_not_json};
use std::fmt::Display;
use std::sync::Arc;

pub(super) struct Game {
    pub(super) ledger: OptionalRecorder,
    pub(super) runs: Runs,
    pub(super) report: Arc<Report>,
    /// End after this many games.
    games: Option<u64>,
    games_over: u64,
    limits: Limits,
}

/// Position of a line from the mod, for messages.
pub(super) fn place(line: &Line<'_>) -> String {
    format!("stdin:{}", line.number())
}

impl Game {
    pub(super) fn new(ledger: OptionalRecorder, games: Option<u64>, limits: Limits, report: Arc<Report>) -> Game {
        Game { ledger, runs: Runs::default(), report, games, games_over: 0, limits }
    }

    /// Reads a line with this text. Reports a line that is not a message of the mod.
    pub(super) fn read<'t>(&self, line: &Line<'_>, text: &'t str) -> Option<Message<'t>> {
        if lines::deeper_than(line.body(), self.limits.max_depth) {
            return self.not_read(line, TOO_DEEP);
        }
        match Message::read(text) {
            Ok(Some(message)) => Some(message),
            Ok(None) => self.not_read(line, "not a CommunicationMod message"),
            Err(error) => self.not_read(line, format_args!("not a CommunicationMod message: {}", why_not_json(&error))),
        }
    }

    fn not_read<T>(&self, line: &Line<'_>, why: impl Display) -> Option<T> {
        self.report.fault(place(line), format_args!("not acted on: {why}"));
        None
    }

    /// Reports what no action id does in a state: reach a monster, leave a screen.
    pub(super) fn report_gaps(&self, message: &Message<'_>, needs_a_command: bool, place: &str) {
        for note in message.combat_state().filter(|_| message.is_ready()).into_iter().flat_map(without_target) {
            self.report.fault(place, note);
        }
        if needs_a_command {
            let screen = message.game_state.as_ref().map(|state| &*state.screen_name).unwrap_or_default();
            let listed = message.listed_commands();
            self.report.note_limited(format_args!(
                "{place}: no action leaves this screen ({screen}); the game takes: {listed}"
            ));
        }
    }

    /// Takes the next state. Returns what it means for the run, and whether the wanted number of games is over.
    pub(super) fn follow(&mut self, message: &Message<'_>) -> (RunTransition, bool) {
        let turn = self.runs.follow(message);
        self.close_run();
        self.ledger.follow(turn);
        self.games_over += u64::from(turn == RunTransition::BackInMenu);
        let all_over = turn == RunTransition::BackInMenu && self.games.is_some_and(|games| self.games_over >= games);
        (turn, all_over)
    }

    /// Called when this process ends.
    pub(super) fn end(&mut self) {
        self.runs.end();
        self.close_run();
    }

    fn close_run(&mut self) {
        if let Some(over) = self.runs.take_over() {
            self.ledger.close(&over);
        }
    }

    /// Whether `--games` is given and not reached yet.
    pub(super) fn wants_more(&self) -> bool {
        self.games.is_some_and(|games| self.games_over < games)
    }
}
