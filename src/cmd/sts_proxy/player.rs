//! Whoever decides: a person at a terminal, or an agent.

use super::decision::Decision;
use crate::io::lines::Piece;
use crate::io::report::{Failure, Status};
use crate::io::stage::Out;
use crate::spire::action::Action;
use std::process::ExitStatus;
use std::time::Instant;

/// What a player wants done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
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

/// A player is asked at each decision and answers when it likes. `open` is the decision that waits for an
/// answer, where one does.
pub(super) trait Player: Send {
    /// A decision is to be made; it takes the place of any earlier one. It may be the same one again.
    fn ask(&mut self, decision: &Decision, out: &mut Out);

    /// The game went on by itself: there is nothing to decide any more.
    fn withdraw(&mut self, out: &mut Out);

    /// The mod refused what the player chose; it will be asked again.
    fn refused(&mut self, _error: &str, _out: &mut Out) {}

    /// The player said something.
    ///
    /// # Errors
    /// Where the player has had its last chance.
    fn receive(&mut self, piece: Piece<'_>, open: Option<&Decision>, out: &mut Out) -> Result<Reply, Failure>;

    /// When the player wants [`Player::due`] to be called.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// The deadline has passed.
    ///
    /// # Errors
    /// Where the player has had its last chance.
    fn due(&mut self, _open: Option<&Decision>, _out: &mut Out) -> Result<(), Failure> {
        Ok(())
    }

    /// The player's process was started (again).
    fn started(&mut self, _open: Option<&Decision>, _out: &mut Out) {}

    /// The player will say or take nothing more.
    fn closed(&mut self) -> Reply {
        Reply::Nothing
    }

    /// The player's process has ended.
    ///
    /// # Errors
    /// Where it isn't started again.
    fn exited(&mut self, _status: ExitStatus, _out: &mut Out) -> Result<(), Failure> {
        Ok(())
    }
}
