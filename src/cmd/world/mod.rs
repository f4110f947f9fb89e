//! The common part of all worlds: reading calls, their order and number, deadlines, cancelling, the loss of the far
//! side, and `list_tools`. A world supplies only how a call is sent, how an answer is read, and what its tools are.

// Without the feature `mcp`, parts of this are not used.
#![cfg_attr(not(feature = "mcp"), allow(dead_code))]

mod calls;
mod far_side;
pub mod intake;
pub mod queue;
mod restarts;
mod runtime;
mod times;

use crate::cmd::refusal::Refusal;
pub use calls::{Calls, FarCall, SendResult};
pub use far_side::{FIRST_LINGER, LINGER};
use pipewright_io::report::Failure;
use pipewright_io::stage::{Event, Out};
use pipewright_record::{Call, Kind, OwnedCall, Unreadable};
pub use restarts::Restarts;
pub use runtime::{Runtime, RuntimeSettings};
use std::time::{Duration, Instant};

/// The specific part of one world; the [`Runtime`] is the common part. Its far sides are counted from 0, in the order
/// of [`Sides::far`](pipewright_io::between::Sides::far).
pub trait World: Send {
    /// Its name in `tool_list`.
    fn name(&self) -> &'static str;

    /// The tools that are known, as [`Tool::json`](pipewright_record::Tool::json) gives them.
    fn tools(&self) -> Vec<String>;

    /// Asks for tools that are not known yet; returns whether all are known. Called after every event while a
    /// `list_tools` is unanswered.
    fn find_tools(&mut self, _out: &mut Out) -> bool {
        true
    }

    /// The far side that a call is for.
    ///
    /// # Errors
    /// Why the call is refused.
    fn route(&self, _call: &Call<'_>) -> Result<usize, Refusal> {
        Ok(0)
    }

    /// Whether calls may be sent to a far side now.
    fn takes_calls(&self, _far: usize) -> bool {
        true
    }

    /// Sends a call to its far side. `timeout` is how long it may take.
    fn send(&mut self, far: usize, call: &OwnedCall, timeout: Option<Duration>, out: &mut Out) -> SendResult;

    /// The answer to a call is not needed any more; `_reason` is `timeout` or `cancelled`.
    fn cancel(&mut self, _call: FarCall, _reason: &'static str, _out: &mut Out) {}

    /// The message of the refusal of a late call. `sent_at` is when it was sent.
    fn late_message(&self, _far: usize, _sent_at: Option<Instant>) -> String {
        "no answer in time (--timeout)".to_owned()
    }

    /// Called after late calls of a far side have been refused.
    fn timed_out(&mut self, _far: usize, _calls: &mut Calls, _out: &mut Out) {}

    /// The world's own code for a kind of refusal.
    fn code(&self, _kind: Kind) -> Option<&'static str> {
        None
    }

    /// The answer to an unreadable line: JSON text without a line feed.
    fn refuse_line(&self, error: &Unreadable, kind: Kind, line_number: u64) -> String {
        error.refusal(kind, line_number)
    }

    /// Takes a record that is not a call; false means that it is to be passed on.
    ///
    /// # Errors
    /// What is wrong with it, if it was for this world.
    fn take_record(&mut self, _text: &str, _calls: &mut Calls, _out: &mut Out) -> Result<bool, String> {
        Ok(false)
    }

    /// Takes an event that is not a line of the near side.
    ///
    /// # Errors
    /// A failure that ends the run.
    fn on(&mut self, event: Event<'_>, calls: &mut Calls, out: &mut Out) -> Result<(), Failure>;

    /// A far side could not be started: calls for it are refused.
    fn not_started(&mut self, far: usize, failure: Failure, calls: &mut Calls, _out: &mut Out) {
        let refusal =
            Refusal { code: self.code(Kind::StartFailed), ..Refusal::new(Kind::StartFailed, failure.to_string()) };
        calls.give_up(far, refusal, failure, FIRST_LINGER);
    }

    /// Called after every event, after calls are sent. `near_ended` means that no more calls will come.
    fn advance(&mut self, _calls: &mut Calls, _near_ended: bool, _out: &mut Out) {}

    /// Restarts the time limits of a far side: its output was delayed because our own reader was not reading.
    fn restart_timeouts(&mut self, _far: usize) {}

    /// Whether the far side waits for an answer from the near side, which any of its calls may have caused.
    fn waits_for_near(&self, _far: usize) -> bool {
        false
    }

    /// Called for each far side that is not given up, when the stage is woken at a deadline.
    fn due(&mut self, _far: usize, _calls: &mut Calls, _out: &mut Out) {}

    /// When [`World::due`] is to be called next.
    fn deadline(&self) -> Option<Instant> {
        None
    }

    /// Whether the run continues although every call is answered and no more will come.
    fn is_busy(&self) -> bool {
        false
    }

    /// Every call is answered and no more will come: asks a far side to end, and returns true if its end need not be
    /// waited for. Called again after every event until the run ends.
    fn ask_to_end(&mut self, far: usize, out: &mut Out) -> bool;
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
