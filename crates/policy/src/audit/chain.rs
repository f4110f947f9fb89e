//! Lines in which each has the hash of the one before.

use super::{Hash, VERSION, sha256};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// A SHA-256, in hexadecimal digits.
const HASH: usize = 64;
const BEFORE_PREV: &str = ",\"prev\":\"";
const BEFORE_HASH: &str = ",\"hash\":\"";
const BEHIND_HASH: &str = "\"}";

/// The state for the next line of a file: its number, and the hash of the line before.
///
/// ```
/// use pipewright_policy::audit::{Chain, Link};
/// let mut chain = Chain::begin();
/// let first = chain.link(r#""event":"end""#);
/// assert!(first.starts_with(r#"{"seq":0,"prev":"0000"#));
/// let link = Link::read(&first)?;
/// assert_eq!(chain, Chain::resume(link.hash, 1));
/// # Ok::<(), pipewright_policy::audit::Fault>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    seq: u64,
    prev: String,
}

impl Chain {
    /// The state of a new file.
    pub fn begin() -> Chain {
        Chain { seq: 0, prev: "0".repeat(HASH) }
    }

    /// Continues after a line whose hash is `last_hash`.
    pub fn resume(last_hash: &str, next_seq: u64) -> Chain {
        Chain { seq: next_seq, prev: last_hash.to_owned() }
    }

    /// The beginning of the next line.
    pub fn beginning(&self) -> String {
        format!("{{\"seq\":{}{BEFORE_PREV}{}\",", self.seq, self.prev)
    }

    /// The next line, without its line feed. `fields` are the fields of an object, JSON text without the braces.
    pub fn link(&mut self, fields: &str) -> String {
        let mut line = self.beginning();
        // Between values, line breaks are white space; inside values, JSON has none.
        line.extend(fields.chars().map(|letter| if matches!(letter, '\n' | '\r') { ' ' } else { letter }));
        let hash = sha256(&line);
        line.extend([BEFORE_HASH, &hash, BEHIND_HASH]);
        *self = Chain { seq: self.seq.saturating_add(1), prev: hash };
        line
    }

    /// Continues after `link`.
    ///
    /// # Errors
    /// Why `link` does not belong here.
    pub(super) fn follow(&mut self, link: &Link<'_>) -> Result<(), Fault> {
        if link.seq != self.seq {
            return Err(Fault::Number { due: self.seq, here: link.seq });
        }
        if link.prev != self.prev {
            return Err(Fault::OtherBefore);
        }
        *self = link.next()?;
        Ok(())
    }
}

/// A line whose hash is that of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Link<'a> {
    /// The number of the line in the file, from 0.
    pub seq: u64,
    /// The hash of the line before; in the first line, 64 zeros.
    #[schemars(with = "Hash")]
    pub prev: &'a str,
    /// The hash of the line.
    #[schemars(with = "Hash")]
    pub hash: &'a str,
}

impl<'a> Link<'a> {
    /// Reads a line, without its line feed.
    ///
    /// # Errors
    /// What is wrong with the line by itself.
    pub fn read(line: &'a str) -> Result<Link<'a>, Fault> {
        let (seq, prev, hashed, hash) = parts(line).ok_or(Fault::NoLink)?;
        if sha256(hashed) == hash { Ok(Link { seq, prev, hash }) } else { Err(Fault::Changed) }
    }

    /// The state for the line after it.
    ///
    /// # Errors
    /// If its number is the last possible one.
    pub fn next(&self) -> Result<Chain, Fault> {
        Ok(Chain::resume(self.hash, self.seq.checked_add(1).ok_or(Fault::NoLink)?))
    }
}

/// The number, the hash of the line before, the hashed text, and the hash.
fn parts(line: &str) -> Option<(u64, &str, &str, &str)> {
    let (seq, rest) = line.strip_prefix("{\"seq\":")?.split_once(BEFORE_PREV)?;
    // A number has only one spelling.
    let seq = seq.parse::<u64>().ok().filter(|number| number.to_string() == seq)?;
    let prev = rest.get(..HASH)?;
    rest[HASH..].strip_prefix("\",")?;
    let (hashed, end) = line.split_at_checked(line.len().checked_sub(BEFORE_HASH.len() + HASH + BEHIND_HASH.len())?)?;
    let hash = end.strip_prefix(BEFORE_HASH)?.strip_suffix(BEHIND_HASH)?;
    Some((seq, prev, hashed, hash))
}

/// Why a chain is broken at a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The file has no lines.
    Empty,
    /// The line does not have the structure of an audit's lines.
    NoLink,
    /// The line is longer than is read.
    TooLong,
    /// Its hash is not that of its content.
    Changed,
    /// Its number is not the next one.
    Number {
        /// The next number.
        due: u64,
        /// The line's number.
        here: u64,
    },
    /// Its `prev` is not the hash of the line before it.
    OtherBefore,
    /// The first line is not a start.
    NoStart,
    /// The chain holds, but its fields are not those of an audit.
    NoEvent(String),
    /// Written by a version that is not known here.
    NewerVersion(u64),
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Empty => to.write_str("the file is empty; every audit begins with a start"),
            Fault::NoLink => to.write_str("not a line of an audit, or a damaged one"),
            Fault::TooLong => to.write_str("this line is longer than any that a gate writes"),
            Fault::Changed => to.write_str("its hash is not that of its content: the line was changed"),
            Fault::Number { due, here } if here > due => {
                write!(to, "the line has number {here} instead of {due}: lines before it were removed")
            }
            Fault::Number { due, here } => {
                write!(to, "the line has number {here} instead of {due}: the line was repeated or moved")
            }
            Fault::OtherBefore => {
                to.write_str("its prev is not the hash of the line before it: that line was replaced")
            }
            Fault::NoStart => to.write_str("the first line is not the start of a gate"),
            Fault::NoEvent(why) => write!(to, "no gate writes such a line: {why}"),
            Fault::NewerVersion(version) => {
                write!(
                    to,
                    "written by a newer pipewright (audit version {version}; this one reads {VERSION}); update pipewright"
                )
            }
        }
    }
}

impl std::error::Error for Fault {}
