//! The agent-user interaction protocol AG-UI, version 1.0: the records of a session as the events of runs. A session is a thread; a run is what
//! follows from a message, or from the answer to a call that a gate holds.
//!
//! The specification is that of the packages `@ag-ui/core` and `@ag-ui/client` 1.0.0. What their client enforces: the first event of a run is
//! RUN_STARTED, nothing comes after RUN_FINISHED, and whatever was begun is ended before it.

mod events;
mod input;
mod text;
mod thread;

pub use input::{Answer, RunInput};
pub use thread::{Taken, Thread};

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
