//! The end of playing a side: the other side has ended, or everything has been played.

use super::role::{Role, State};
use pipewright_io::report::Failure;
use pipewright_io::stage::{Out, Side};
use pipewright_replay::turns::Turn;
use pipewright_sys::process::{describe, exit_code};
use std::process::ExitStatus;
use std::time::Instant;

impl Role {
    /// Reads the next turn ahead, unless one was read already; false at the end of the recording.
    pub(super) fn read_ahead(&mut self) -> Result<bool, Failure> {
        if self.alignment.ahead() > 0 {
            return Ok(true);
        }
        let next = self.conversation.next()?;
        let is_there = next.is_some();
        next.into_iter().for_each(|turn| self.alignment.look_ahead(turn));
        Ok(is_there)
    }

    /// The other side is gone: reports the recorded lines that did not come, and returns whether there are any.
    pub(super) fn account_for_rest(&mut self, how: &str) -> Result<bool, Failure> {
        if matches!(self.state, State::Ending(_)) {
            return Ok(false);
        }
        self.state = State::Ending(Instant::now());
        let turn = self.turn.number.max(1);
        let (mut missing, mut owes) = (0, false);
        if self.begun {
            self.alignment.settle();
            owes = self.alignment.is_outstanding();
            self.alignment.give_up();
            self.take_findings();
            self.end_turn();
        } else {
            missing = self.turn.theirs.len() as u64;
        }
        while let Some(turn) = self.next_turn()? {
            missing += turn.theirs.len() as u64;
        }
        owes |= missing > 0;
        if owes {
            self.findings.ended_early(turn, how, missing);
        }
        Ok(owes)
    }

    pub(super) fn next_turn(&mut self) -> Result<Option<Turn>, Failure> {
        match self.alignment.next_ahead() {
            Some(turn) => Ok(Some(turn)),
            None => self.conversation.next(),
        }
    }

    pub(super) fn gone(&mut self, how: &str, out: &mut Out) -> Result<(), Failure> {
        self.account_for_rest(how)?;
        self.finish(out);
        Ok(())
    }

    pub(super) fn exited(&mut self, status: ExitStatus, out: &mut Out) -> Result<(), Failure> {
        let how = describe(status);
        let code = exit_code(status);
        if !self.account_for_rest(&format!("the other side ended with {how}"))? {
            match self.conversation.recorded_status {
                Some(recorded) if recorded != code => {
                    let how = format!("ended with {how}; the recorded exit status is {recorded}");
                    self.findings.ended_otherwise(self.turn.number, &how);
                }
                None if code != 0 => self.report.note(format_args!("the other side ended with {how}")),
                _ => {}
            }
        }
        self.finish(out);
        Ok(())
    }

    /// Ends the run.
    pub(super) fn finish(&mut self, out: &mut Out) {
        self.alignment.give_up();
        self.sum_up();
        if self.peer == Side::NEAR {
            self.findings.requests.give_up_all();
            self.answer_unanswerable(out);
        }
        out.stop(self.report.finish());
    }

    pub(super) fn sum_up(&mut self) {
        self.finished = true;
        self.take_findings();
        self.findings.finish();
    }
}
