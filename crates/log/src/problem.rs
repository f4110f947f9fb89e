//! The problems a log can have, in words.

use super::VERSION;
use std::fmt;

/// A problem of a log.
#[derive(Debug)]
pub enum Problem {
    /// A line that is not JSON.
    NotJson(String),
    /// The file has no lines.
    Empty,
    /// The last line is incomplete: its writer was stopped.
    Torn,
    /// Several records on one line. They were read.
    Fused,
    /// A record was torn by the next one, which was read.
    TornByNext,
    /// A torn record after a complete one, which was read.
    TornBehind,
    /// JSON, but not a line of this format.
    NotARecord,
    /// The bytes are not UTF-8; read anyway.
    NotUtf8,
    /// Written by a newer version; read as far as possible.
    NewerVersion(u64),
    /// Numbers are missing: these messages are lost.
    Missing(u64),
    /// A number that is repeated, or lower than the previous one.
    OutOfOrder {
        /// The previous number.
        before: u64,
        /// This number.
        here: u64,
    },
    /// No header comes before this record.
    NoHeader,
    /// A header without the time at which its session began.
    NoStart,
    /// A header that follows lines that do not belong to a log.
    LateHeader,
    /// The clock went back, by this many microseconds.
    Backwards(u64),
    /// The line is over this limit of the reader.
    OverLimit(&'static str),
}

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NotJson(error) => write!(to, "not JSON, left out: {error}"),
            Problem::Empty => to.write_str("the file is empty"),
            Problem::Torn => to.write_str("the last line is torn, left out"),
            Problem::Fused => to.write_str("several records on one line; each was read"),
            Problem::TornByNext => to.write_str("a record is torn by the next, which was read"),
            Problem::TornBehind => to.write_str("the text after a record is torn, left out; the record was read"),
            Problem::NotARecord => to.write_str("not a record of this log, left out"),
            Problem::NotUtf8 => to.write_str("contains bytes that are not UTF-8; read anyway"),
            Problem::NewerVersion(version) => write!(
                to,
                "written by a newer pipewright (log version {version}, known is {VERSION}); update pipewright, or rely on the part that could be read"
            ),
            Problem::Missing(1) => to.write_str("one record is missing before this one"),
            Problem::Missing(count) => write!(to, "{count} records are missing before this one"),
            Problem::OutOfOrder { before, here } => write!(to, "seq {here} follows {before}"),
            Problem::NoHeader => to.write_str(
                "the log's beginning is missing: no header comes before this record, so its date is unknown",
            ),
            Problem::NoStart => to.write_str("this header has no start time, so the records after it have no date"),
            Problem::LateHeader => to.write_str(
                "a log begins here, after lines that do not belong to it; from here on the file is read as a log",
            ),
            Problem::Backwards(by) => {
                write!(to, "the clock went back by {}.{:06} s", by / 1_000_000, by % 1_000_000)
            }
            Problem::OverLimit(limit) => write!(to, "{limit}, left out"),
        }
    }
}
