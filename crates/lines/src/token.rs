//! A token of JSON text, and why a text has no more of them.

use std::borrow::Cow;
use std::ops::Range;

/// A token and its place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Its first byte; of a string, the one after the quote.
    pub start: usize,
    /// The position after its last byte; of a string, that of the closing quote.
    pub end: usize,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The beginning of an array.
    Array,
    /// The beginning of an object.
    Object,
    /// The end of the array or object that was begun last.
    End,
    /// A key of an object; its value comes next.
    Key {
        /// Whether it has escapes.
        is_escaped: bool,
    },
    /// A string.
    String {
        /// Whether it has escapes.
        is_escaped: bool,
    },
    /// A number.
    Number,
    /// `true`.
    True,
    /// `false`.
    False,
    /// `null`.
    Null,
}

impl Token {
    /// Its place; that of a string is without its quotes.
    #[inline]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The first byte of the token; of a string, the quote.
    #[inline]
    pub fn outer_start(&self) -> usize {
        self.start - usize::from(matches!(self.kind, Kind::Key { .. } | Kind::String { .. }))
    }

    /// The text of a key or a string of `json`, which has this token, without escapes; `None` if it has half a
    /// surrogate pair, and so stands for no text.
    pub fn text<'a>(&self, json: &'a str) -> Option<Cow<'a, str>> {
        match self.kind {
            Kind::Key { is_escaped: true } | Kind::String { is_escaped: true } => {
                serde_json::from_str(json.get(self.start - 1..self.end + 1)?).ok().map(Cow::Owned)
            }
            _ => json.get(self.range()).map(Cow::Borrowed),
        }
    }

    /// Whether an array or an object begins here.
    #[inline]
    pub fn opens(&self) -> bool {
        matches!(self.kind, Kind::Array | Kind::Object)
    }
}

/// Why a text is not one JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what}, at byte {}", .at + 1)]
pub struct NotJson {
    /// What is wrong.
    pub what: &'static str,
    /// The byte at which it is, from 0.
    pub at: usize,
}
