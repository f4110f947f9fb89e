//! The log format: written by `jsonl-record`, and read by every command that reads logs.
//!
//! A log is NDJSON that can be searched with grep. Every line has a `seq`, which counts up by one over the whole life of the log,
//! however often it is continued or rotated, so gaps are visible. There are four kinds of lines:
//!
//! ```json
//! {"format":"pipewright-log","version":1,"seq":0,"start":"2026-11-22T01:27:54.123456Z","child":"agent","command":["./bot"]}
//! {"t":1200,"seq":1,"dir":"in","msg":{"the":"line","as":"it came"}}
//! {"t":1900,"seq":4,"lost":2}
//! {"t":2500,"seq":5,"end":"exit status 0","status":0}
//! ```
//!
//! - A **header** begins each session, and each file of a rotated log. `start` is the time at which `t` was 0; files of one
//!   session have the same `start`. `child` says whether the wrapped command is the `agent` or the `world`, if that is known.
//! - A **message** is one line of a stream: `in` went to the child (in a pipe: came on stdin), `out` came from its stdout, `err`
//!   from its stderr. `t` is in microseconds since `start`. The line is one of: `msg` (JSON, the original bytes); `text` (a string:
//!   UTF-8 that is not JSON, or JSON that nests too deeply, contains a carriage return or is surrounded by white space, and would
//!   not come back the same); `b64` (base64: not UTF-8, or mostly control characters). `eol` is the line's end if that was not a
//!   line feed. `more` says that an over-long line, or one that stayed unfinished for a moment, continues in the next message of
//!   the same direction. `withheld`, in place of the content, says why it was not written.
//! - **lost** messages could not be written (a full disk); their numbers are skipped.
//! - **end** says how the session ended, with the `status` of a child if there was one.
//!
//! [`write`] makes the lines, [`read`] reads them and plain NDJSON, [`time`] reads times.

mod pieces;
mod problem;
pub mod read;
mod shape;
pub mod time;
pub mod write;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;

use std::fmt;

/// The value of a header's `format`.
pub const FORMAT: &str = "pipewright-log";
/// The version that is written. Logs of a higher version are read as far as possible.
pub const VERSION: u64 = 1;

/// The direction of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// To the child; in a pipe, what came on stdin.
    In,
    /// From the child's stdout.
    Out,
    /// From the child's stderr.
    Err,
}

impl Direction {
    /// Its name in the log.
    pub fn name(self) -> &'static str {
        match self {
            Direction::In => "in",
            Direction::Out => "out",
            Direction::Err => "err",
        }
    }

    fn of(name: &str) -> Option<Direction> {
        [Direction::In, Direction::Out, Direction::Err].into_iter().find(|direction| direction.name() == name)
    }
}

/// A role in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Takes observations, gives calls.
    Agent,
    /// Takes calls, gives results and observations.
    World,
}

impl Part {
    /// Its name in the log.
    pub fn name(self) -> &'static str {
        match self {
            Part::Agent => "agent",
            Part::World => "world",
        }
    }

    /// The opposite role.
    pub fn other(self) -> Part {
        match self {
            Part::Agent => Part::World,
            Part::World => Part::Agent,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}
