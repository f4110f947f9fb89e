//! What can be wrong with a log, in words.

use super::VERSION;
use std::fmt;

/// What can be wrong with a log.
#[derive(Debug)]
pub enum Problem {
    /// A line that is no JSON.
    NotJson(String),
    /// There is not one line.
    Empty,
    /// The last line: whoever wrote it was stopped in the middle.
    Torn,
    /// Several records stand on one line. They were read.
    Fused,
    /// A record was torn by the next, which was read.
    TornByNext,
    /// Behind a whole record, which was read, stands a torn one.
    TornBehind,
    /// JSON, but nothing that this format knows.
    NotARecord,
    /// The bytes are no UTF-8; read all the same.
    NotUtf8,
    /// Written by a newer version; read as far as it can be.
    NewerVersion(u64),
    /// Numbers are left out: these messages are gone.
    Missing(u64),
    /// A number comes again, or lower than the one before.
    OutOfOrder {
        /// The number before.
        before: u64,
        /// The number here.
        here: u64,
    },
    /// No header stands before this record.
    NoHeader,
    /// A header that doesn't say when its session began.
    NoStart,
    /// A header stands behind lines that are none of a log.
    LateHeader,
    /// The clock went back, by so many microseconds.
    Backwards(u64),
    /// The line is over a limit of the reader: which.
    OverLimit(&'static str),
}

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NotJson(error) => write!(to, "not JSON, left out: {error}"),
            Problem::Empty => to.write_str("there is nothing in it"),
            Problem::Torn => to.write_str("the last line is torn, left out"),
            Problem::Fused => to.write_str("several records on one line; each was read"),
            Problem::TornByNext => to.write_str("a record is torn by the next, which was read"),
            Problem::TornBehind => to.write_str("what stands behind a record is torn, left out; the record was read"),
            Problem::NotARecord => to.write_str("no record of this log, left out"),
            Problem::NotUtf8 => to.write_str("holds bytes that are no UTF-8; read all the same"),
            Problem::NewerVersion(version) => write!(
                to,
                "written by a newer pipewright (log version {version}, known is {VERSION}); update it, or trust what can be read"
            ),
            Problem::Missing(1) => to.write_str("one record is missing before this one"),
            Problem::Missing(count) => write!(to, "{count} records are missing before this one"),
            Problem::OutOfOrder { before, here } => write!(to, "seq {here} stands after {before}"),
            Problem::NoHeader => to.write_str(
                "the log's beginning is missing: no header stands before this record, so its date isn't known",
            ),
            Problem::NoStart => {
                to.write_str("this header doesn't say when its session began, so what follows has no date")
            }
            Problem::LateHeader => {
                to.write_str("a log begins here, behind lines that are none of it; from here on it is read as one")
            }
            Problem::Backwards(by) => {
                write!(to, "the clock went back by {}.{:06} s", by / 1_000_000, by % 1_000_000)
            }
            Problem::OverLimit(limit) => write!(to, "{limit}, left out"),
        }
    }
}
