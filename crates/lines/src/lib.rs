//! Raw lines: split from any stream, limited, and edited in place. The only I/O here is one `read`.
//!
//! A line is a sequence of bytes that stay unchanged: a line is passed on as
//! [`Line::raw`]. Its content is [`Line::body`], without the byte order mark of the
//! first line and without its line ending.

mod change;
mod depth;
mod field;
mod follow;
mod json;
mod last_output;
mod path;
mod splitter;
mod token;
mod tokens;
mod values;

pub use change::{Change, change};
pub use depth::deeper_than;
pub use field::{FieldError, FieldPosition, find, range_in, set, set_at};
pub use json::is_json;
pub use last_output::LastOutput;
pub use path::{Path, Paths, Step, plain_text};
pub use splitter::Splitter;
pub use token::{Kind, NotJson, Token};
pub use tokens::Tokens;
pub use values::replace_values;

use std::borrow::Cow;

/// The limits for untrusted streams. Both are options of every command that reads lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest line that is held in memory, in bytes without its line feed. A longer one streams
    /// through in [`Piece::Part`]s.
    pub max_line: usize,
    /// Deepest nesting of arrays and objects that is parsed.
    pub max_depth: usize,
}

impl Default for Limits {
    /// 4 MiB per line, 512 levels: far beyond any game's state, and memory stays below 20 MB for any input.
    fn default() -> Limits {
        Limits { max_line: 4 << 20, max_depth: 512 }
    }
}

/// One complete line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    raw: &'a [u8],
    start: usize,
    end: usize,
    number: u64,
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<'a> Line<'a> {
    /// Takes the unchanged bytes of a line, with its line ending if it has one.
    /// `number` counts from 1; only line 1 may carry a byte order mark.
    pub fn new(raw: &'a [u8], number: u64) -> Line<'a> {
        let start = if number == 1 && raw.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let mut end = raw.len();
        if raw.ends_with(b"\n") {
            end -= 1;
            if raw[..end].ends_with(b"\r") {
                end -= 1;
            }
        }
        Line { raw, start: start.min(end), end, number }
    }

    /// All bytes, unchanged.
    pub fn raw(&self) -> &'a [u8] {
        self.raw
    }

    /// The content of the line: without byte order mark, `\n` or `\r\n`.
    pub fn body(&self) -> &'a [u8] {
        &self.raw[self.start..self.end]
    }

    /// The bytes before the body (a byte order mark, or nothing).
    pub fn before(&self) -> &'a [u8] {
        &self.raw[..self.start]
    }

    /// The bytes after the body (`\n`, `\r\n`, or nothing at the end of a stream).
    pub fn after(&self) -> &'a [u8] {
        &self.raw[self.end..]
    }

    /// The line's number in its stream, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether it contains only white space.
    pub fn is_blank(&self) -> bool {
        self.body().iter().all(u8::is_ascii_whitespace)
    }
}

/// A part of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A complete line within the limit.
    Line(Line<'a>),
    /// A piece of a line over [`Limits::max_line`]; where it is cut depends on the reads, but all parts
    /// together are the line's bytes.
    Part {
        /// The bytes of this piece; may be empty only where `last`.
        bytes: &'a [u8],
        /// The line's number, from 1.
        number: u64,
        /// Whether the line ends here (its line feed, if it has one, is in `bytes`).
        last: bool,
    },
}

impl<'a> Piece<'a> {
    /// The bytes to pass on.
    pub fn raw(&self) -> &'a [u8] {
        match self {
            Piece::Line(line) => line.raw(),
            Piece::Part { bytes, .. } => bytes,
        }
    }

    /// The number of the line, from 1.
    pub fn number(&self) -> u64 {
        match self {
            Piece::Line(line) => line.number(),
            Piece::Part { number, .. } => *number,
        }
    }
}

/// The text of a line that may not be UTF-8 (the Spire mod writes in the platform's charset): each
/// invalid byte becomes one `?`, so that a position in the text is a position in the bytes.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    Cow::Owned(text)
}

/// Why a line is not JSON, and at which column. (serde_json also gives a line number, but our texts have only one
/// line.)
pub fn why_not_json(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_into_mark_body_and_ending() {
        let line = Line::new(b"\xef\xbb\xbf{}\r\n", 1);
        assert_eq!(line.body(), b"{}");
        assert_eq!(line.before(), BYTE_ORDER_MARK);
        assert_eq!(line.after(), b"\r\n");
        assert_eq!(Line::new(b"\xef\xbb\xbf{}", 2).body(), b"\xef\xbb\xbf{}", "a mark on a later line is data");
        assert_eq!(Line::new(b"a\r", 3).body(), b"a\r", "a bare carriage return is data");
        assert!(Line::new(b" \t\n", 4).is_blank());
    }

    #[test]
    fn text_keeps_byte_positions() {
        assert_eq!(text("é".as_bytes()), "é");
        let gbk = b"{\"name\":\"\xb4\xf2\xbb\xf7\"}";
        assert_eq!(text(gbk), "{\"name\":\"????\"}");
        assert_eq!(text(gbk).len(), gbk.len());
    }
}
