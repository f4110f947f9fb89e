//! Calls that a gate has passed on, until they are written to the other side.

use crate::io::lines::{Line, Piece};
use crate::io::stage::{Out, Side};
use crate::record::{Call, OwnedCall};
use std::collections::VecDeque;

/// Keeps calls that were passed on and may not be written yet, so that a gate can report those that were never delivered.
#[derive(Debug, Default)]
pub struct Deliveries(VecDeque<Passed>);

/// A call as it was passed on.
#[derive(Debug)]
pub struct Passed {
    /// The call.
    pub call: OwnedCall,
    /// The line's number in the gate's input.
    pub number: u64,
    /// Whether it was marked for a person.
    pub marked: bool,
    /// The call is written when this many bytes are.
    end: u64,
}

impl Deliveries {
    /// Passes a call's line on: to the child process, or in a pipe to stdout.
    pub fn pass(&mut self, line: &Line<'_>, call: &Call<'_>, marked: bool, out: &mut Out) {
        self.forget_written(out);
        out.pass(Side::Far, &Piece::Line(*line));
        let end = out.sent(Side::Far);
        self.0.push_back(Passed { call: call.into(), number: line.number(), marked, end });
    }

    /// The calls that are not written and, once a write has failed or the run has ended, will not be.
    pub fn take_undelivered(&mut self, out: &Out) -> VecDeque<Passed> {
        self.forget_written(out);
        std::mem::take(&mut self.0)
    }

    fn forget_written(&mut self, out: &Out) {
        let written = out.written(Side::Far);
        while self.0.front().is_some_and(|passed| passed.end <= written) {
            self.0.pop_front();
        }
    }
}
