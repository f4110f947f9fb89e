//! The agent-user interaction protocol AG-UI, version 1.0: converts the records of a session to the events of runs. A
//! session is a thread; a run is the reaction to a message, or to the answer to a call that a gate holds.
//!
//! The specification is that of the packages `@ag-ui/core` and `@ag-ui/client` 1.0.0. Their client enforces: the first
//! event of a run is RUN_STARTED, nothing follows RUN_FINISHED, and everything that was started is ended before it.

mod events;
mod input;
mod text;
mod thread;

pub use input::{Answer, RunInput};
pub use thread::{RecordEvents, Thread};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
