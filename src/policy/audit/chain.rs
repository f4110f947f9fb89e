//! Lines that hang on each other.

use super::{VERSION, sha256};
use std::fmt;

/// A SHA-256, in hexadecimal digits.
const HASH: usize = 64;
const BEFORE_PREV: &str = ",\"prev\":\"";
const BEFORE_HASH: &str = ",\"hash\":\"";
const BEHIND_HASH: &str = "\"}";

/// Where a file's lines go on: the next one's number, and the hash that it names.
///
/// ```
/// use pipewright::policy::audit::{Chain, Link};
/// let mut chain = Chain::begin();
/// let first = chain.link(r#""event":"end""#);
/// assert!(first.starts_with(r#"{"seq":0,"prev":"0000"#));
/// let link = Link::read(&first)?;
/// assert_eq!(chain, Chain::resume(link.hash, 1));
/// # Ok::<(), pipewright::policy::audit::Fault>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    seq: u64,
    prev: String,
}

impl Chain {
    /// A new file's.
    pub fn begin() -> Chain {
        Chain { seq: 0, prev: "0".repeat(HASH) }
    }

    /// Goes on behind a line whose hash is `last_hash`.
    pub fn resume(last_hash: &str, next_seq: u64) -> Chain {
        Chain { seq: next_seq, prev: last_hash.to_owned() }
    }

    /// How the next line begins.
    pub fn beginning(&self) -> String {
        format!("{{\"seq\":{}{BEFORE_PREV}{}\",", self.seq, self.prev)
    }

    /// The next line, without its line feed. `fields` is an object's inside, JSON text.
    pub fn link(&mut self, fields: &str) -> String {
        let mut line = self.beginning();
        // Between values they are white space, and within them they can't stand.
        line.extend(fields.chars().map(|letter| if matches!(letter, '\n' | '\r') { ' ' } else { letter }));
        let hash = sha256(&line);
        line.extend([BEFORE_HASH, &hash, BEHIND_HASH]);
        *self = Chain { seq: self.seq.saturating_add(1), prev: hash };
        line
    }

    /// Goes on behind `link`.
    ///
    /// # Errors
    /// What is wrong where it doesn't hang here.
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

/// A line that is whole in itself: its hash is that of what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link<'a> {
    /// Its number in the file, from 0.
    pub seq: u64,
    /// The hash of the line before.
    pub prev: &'a str,
    /// Its own.
    pub hash: &'a str,
}

impl<'a> Link<'a> {
    /// Reads a line, without its line feed.
    ///
    /// # Errors
    /// What is wrong with it, were it alone in the world.
    pub fn read(line: &'a str) -> Result<Link<'a>, Fault> {
        let (seq, prev, hashed, hash) = parts(line).ok_or(Fault::NoLink)?;
        if sha256(hashed) == hash { Ok(Link { seq, prev, hash }) } else { Err(Fault::Changed) }
    }

    /// What hangs on it.
    ///
    /// # Errors
    /// Where it is the last that can be counted.
    pub fn next(&self) -> Result<Chain, Fault> {
        Ok(Chain::resume(self.hash, self.seq.checked_add(1).ok_or(Fault::NoLink)?))
    }
}

/// The number, the hash of the line before, what is hashed, and the hash.
fn parts(line: &str) -> Option<(u64, &str, &str, &str)> {
    let (seq, rest) = line.strip_prefix("{\"seq\":")?.split_once(BEFORE_PREV)?;
    // A number has one spelling only.
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
    /// There is not one line.
    Empty,
    /// It isn't built as every line of an audit is.
    NoLink,
    /// Longer than is read.
    TooLong,
    /// Its hash is another than that of what it says.
    Changed,
    /// It has another number than the one that is next.
    Number {
        /// The next.
        due: u64,
        /// The line's.
        here: u64,
    },
    /// It hangs on another line than the one before it.
    OtherBefore,
    /// The first line says nothing of a start.
    NoStart,
    /// A link, whose fields are none that an audit has.
    NoEvent(String),
    /// Written by a version that isn't known here.
    NewerVersion(u64),
}

impl fmt::Display for Fault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Empty => to.write_str("there is nothing in it; every audit begins with a start"),
            Fault::NoLink => to.write_str("this is no line of an audit, or no longer one"),
            Fault::TooLong => to.write_str("this line is longer than any that a gate writes"),
            Fault::Changed => to.write_str("its hash isn't that of what it says: the line was changed"),
            Fault::Number { due, here } if here > due => {
                write!(to, "this is number {here}, and {due} is next: lines were taken out before it")
            }
            Fault::Number { due, here } => {
                write!(to, "this is number {here}, and {due} is next: the line was repeated or moved")
            }
            Fault::OtherBefore => to.write_str("it hangs on another line than the one before it, which was put there"),
            Fault::NoStart => to.write_str("the first line is no start of a gate"),
            Fault::NoEvent(why) => write!(to, "this is nothing that a gate writes: {why}"),
            Fault::NewerVersion(version) => {
                write!(to, "written by a newer pipewright (audit version {version}, known is {VERSION}); update it")
            }
        }
    }
}

impl std::error::Error for Fault {}
