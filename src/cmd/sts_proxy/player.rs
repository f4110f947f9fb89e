//! The player who decides: a person at a terminal, or an agent.

use super::decision::Decision;
use pipewright_games::spire::action::Action;
use pipewright_io::report::{Failure, Status};
use pipewright_io::stage::Out;
use pipewright_lines::Piece;
use std::process::ExitStatus;
use std::time::Instant;

/// What a player's line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PlayerReply {
    /// Nothing for now.
    Nothing,
    /// A legal action of the open decision.
    Act(Action),
    /// Another command, which changes the game and has no id.
    Other(String),
    /// A command that decides nothing and gets the state: `state`, `wait`.
    Ask(String),
    /// The end of the run.
    Stop(Status),
}

/// A player is asked at each decision and may answer at any time. `open` is the decision that waits for an answer, if
/// there is one.
pub(super) trait Player: Send {
    /// Asks for a decision, which replaces any earlier one. It may be the same one again.
    fn ask(&mut self, decision: &Decision, out: &mut Out);

    /// The game moved on by itself: there is nothing to decide any more.
    fn withdraw(&mut self, out: &mut Out);

    /// The mod refused the player's choice. The player will be asked again.
    fn refused(&mut self, _error: &str, _out: &mut Out) {}

    /// Takes a line of the player.
    ///
    /// # Errors
    /// The player has used its last attempt.
    fn receive(&mut self, piece: Piece<'_>, open: Option<&Decision>, out: &mut Out) -> Result<PlayerReply, Failure>;

    /// When [`Player::due`] is to be called.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// The deadline has passed.
    ///
    /// # Errors
    /// The player has used its last attempt.
    fn due(&mut self, _open: Option<&Decision>, _out: &mut Out) -> Result<(), Failure> {
        Ok(())
    }

    /// The player's process was started (again).
    fn started(&mut self, _open: Option<&Decision>, _out: &mut Out) {}

    /// The player's input or output is closed.
    fn closed(&mut self) -> PlayerReply {
        PlayerReply::Nothing
    }

    /// The player's process has ended.
    ///
    /// # Errors
    /// The player is not started again.
    fn exited(&mut self, _status: ExitStatus, _out: &mut Out) -> Result<(), Failure> {
        Ok(())
    }
}
