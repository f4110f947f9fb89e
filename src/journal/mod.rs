//! The log format: what `jsonl-record` writes, and what everything that reads logs understands.
//!
//! A log is NDJSON that stays greppable. Every line has a `seq`, counted up by one over the whole life of the log,
//! however often it is continued or rotated; what is missing shows. There are four kinds of lines:
//!
//! ```json
//! {"format":"pipewright-log","version":1,"seq":0,"start":"2026-11-22T01:27:54.123456Z","child":"agent","command":["./bot"]}
//! {"t":1200,"seq":1,"dir":"in","msg":{"the":"line","as":"it came"}}
//! {"t":1900,"seq":4,"lost":2}
//! {"t":2500,"seq":5,"end":"exit status 0","status":0}
//! ```
//!
//! - A **header** begins each session, and each file of a rotated log. `start` is when `t` was 0; files of one session have
//!   the same. `child` says whether the wrapped command is the `agent` or the `world`, where that was told.
//! - A **message** is one line of a stream: `in` is what went to the child (in a pipe: what came on stdin), `out` what the
//!   child said, `err` what it said on stderr. `t` is in microseconds since `start`. The line is one of `msg` (JSON, the
//!   bytes as they came), `text` (a string: UTF-8 that is no JSON, or JSON that nests too deep, or holds a carriage return
//!   or stands between white space, which would not come back the same), and `b64` (base64: no UTF-8, or mostly control
//!   characters). `eol` is how the line ended where that wasn't a line feed; `more` says that an over-long line, or one
//!   that stayed unfinished for a moment, goes on in the next message of the same direction. `withheld`, in place of the
//!   content, says why it was not written.
//! - **lost** messages could not be written (a full disk); their numbers are left out.
//! - **end** says how the session ended, with the `status` of a child where there was one.
//!
//! [`write`] makes the lines, [`read`] understands them and plain NDJSON, [`time`] reads times.

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

/// What a header's `format` says.
pub const FORMAT: &str = "pipewright-log";
/// The version that is written; higher ones are read as far as they can be understood.
pub const VERSION: u64 = 1;

/// Which way a message went.
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
    /// As the log names it.
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

/// Which part somebody plays in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Takes observations, gives calls.
    Agent,
    /// Takes calls, gives results and observations.
    World,
}

impl Part {
    /// As the log names it.
    pub fn name(self) -> &'static str {
        match self {
            Part::Agent => "agent",
            Part::World => "world",
        }
    }

    /// The other side of the conversation.
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
