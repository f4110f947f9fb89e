//! JSON text, token by token: the one reader of where values are. It accepts exactly RFC 8259 and does not recurse.
//!
//! Existing parsers create values for everything, lose how numbers were written, recurse, or accept text that is not
//! JSON (`NaN`, comments). This one gives positions, and passes over what nobody asks for as fast as its end can be
//! found.

use crate::json::Nesting;
use crate::token::{Kind, NotJson, Token};
use std::ops::Range;

const NO_VALUE: &str = "a value is missing or is not JSON";
const NO_ESCAPE: &str = "an escape in a string is not JSON";

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Value,
    /// A first value, or the end of the array.
    Item,
    /// A first key, or the end of the object.
    Field,
    /// A comma, or the end of the array or object.
    More,
    /// Only white space.
    Nothing,
}

/// The tokens of one JSON value, up to the first error.
///
/// ```
/// use pipewright_lines::{Kind, Tokens};
/// let json = r#"{"a":[1.10,"b\n"]}"#;
/// let texts: Vec<&str> = Tokens::new(json).map(|token| &json[token.range()]).collect();
/// assert_eq!(texts, ["{", "a", "[", "1.10", "b\\n", "]", "}"]);
/// let mut tokens = Tokens::new("[1,]");
/// assert_eq!(tokens.by_ref().count(), 2);
/// assert!(tokens.finish().is_err());
/// ```
#[derive(Debug)]
pub struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
    next: Expected,
    open: Nesting,
    error: Option<NotJson>,
}

impl<'a> Tokens<'a> {
    /// Those of a text.
    #[inline]
    pub fn new(json: &'a str) -> Tokens<'a> {
        Tokens { bytes: json.as_bytes(), at: 0, next: Expected::Value, open: Nesting::new(usize::MAX), error: None }
    }

    /// Whether the text was one JSON value, when there are no more tokens.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn finish(self) -> Result<(), NotJson> {
        self.error.map_or(Ok(()), Err)
    }

    /// The position after the last token; after a key, that of its value.
    #[inline]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Passes over the rest of the array or object that was begun last. What is in it is not checked.
    pub fn skip_rest(&mut self) {
        self.at = brackets_end(self.bytes, self.at);
        self.close();
    }

    /// Passes over the value of the key that came last, and gives its place. What is in it is not checked.
    pub fn skip_value(&mut self) -> Range<usize> {
        let start = self.at;
        self.at = match self.peek() {
            Some(b'"') => string_end(self.bytes, start + 1),
            Some(b'{' | b'[') => brackets_end(self.bytes, start + 1),
            _ => {
                let rest = self.bytes.get(start..).unwrap_or_default();
                let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
                start + rest.iter().position(ends).unwrap_or(rest.len())
            }
        };
        self.value_ends();
        start..self.at
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Ends the tokens.
    #[cold]
    fn fail<T>(&mut self, what: &'static str) -> Option<T> {
        self.error = Some(NotJson { what, at: self.at });
        (self.at, self.next) = (self.bytes.len(), Expected::Nothing);
        None
    }

    /// What follows a value in an array or object.
    #[inline]
    fn more(&mut self, byte: Option<u8>) -> Option<Token> {
        let is_object = self.open.is_object();
        match byte {
            Some(b',') => {
                self.at += 1;
                self.skip_space();
                if is_object { self.key() } else { self.value(self.peek()) }
            }
            Some(b']') if !is_object => Some(self.end()),
            Some(b'}') if is_object => Some(self.end()),
            _ if is_object => self.fail("a comma or } is missing"),
            _ => self.fail("a comma or ] is missing"),
        }
    }

    #[inline]
    fn end(&mut self) -> Token {
        self.at += 1;
        self.close();
        Token { kind: Kind::End, start: self.at - 1, end: self.at }
    }

    #[inline]
    fn close(&mut self) {
        self.open.close(self.open.is_object());
        self.value_ends();
    }

    #[inline]
    fn value_ends(&mut self) {
        self.next = if self.open.is_outermost() { Expected::Nothing } else { Expected::More };
    }

    #[inline]
    fn value(&mut self, byte: Option<u8>) -> Option<Token> {
        let start = self.at;
        let kind = match byte {
            Some(b'[') => return Some(self.begin(Kind::Array, Expected::Item)),
            Some(b'{') => return Some(self.begin(Kind::Object, Expected::Field)),
            Some(b'"') => {
                let is_escaped = self.string()?;
                self.value_ends();
                return Some(Token { kind: Kind::String { is_escaped }, start: start + 1, end: self.at - 1 });
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Kind::True)?,
            Some(b'f') => self.word("false", Kind::False)?,
            Some(b'n') => self.word("null", Kind::Null)?,
            _ => return self.fail(NO_VALUE),
        };
        self.value_ends();
        Some(Token { kind, start, end: self.at })
    }

    #[inline]
    fn begin(&mut self, kind: Kind, next: Expected) -> Token {
        self.open.open(kind == Kind::Object);
        self.next = next;
        self.at += 1;
        Token { kind, start: self.at - 1, end: self.at }
    }

    /// A key, with its colon and the space before its value.
    #[inline]
    fn key(&mut self) -> Option<Token> {
        if self.peek() != Some(b'"') {
            return self.fail("a key is missing");
        }
        let start = self.at + 1;
        let is_escaped = self.string()?;
        let end = self.at - 1;
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.fail("a colon is missing");
        }
        self.at += 1;
        self.skip_space();
        self.next = Expected::Value;
        Some(Token { kind: Kind::Key { is_escaped }, start, end })
    }

    fn word(&mut self, word: &'static str, kind: Kind) -> Option<Kind> {
        let end = self.at + word.len();
        if self.bytes.get(self.at..end) != Some(word.as_bytes()) {
            return self.fail(NO_VALUE);
        }
        self.at = end;
        Some(kind)
    }

    /// Reads a string with its quotes. Returns whether it has escapes.
    #[inline]
    fn string(&mut self) -> Option<bool> {
        self.at += 1;
        let mut is_escaped = false;
        loop {
            self.skip_plain();
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    is_escaped = true;
                    self.escape()?;
                }
                Some(_) => return self.fail("a string contains a control character"),
                None => return self.fail("a string has no end"),
            }
        }
        self.at += 1;
        Some(is_escaped)
    }

    /// Skips to the next byte of a string that does not stand for itself.
    #[inline]
    fn skip_plain(&mut self) {
        let is_plain = |byte: &u8| !matches!(byte, b'"' | b'\\' | 0..0x20);
        // Most strings are short: a byte at a time is faster than a word.
        let short =
            self.bytes.get(self.at..).unwrap_or_default().iter().take(SHORT_STRING).take_while(|byte| is_plain(byte));
        let count = short.count();
        self.at += count;
        if count < SHORT_STRING {
            return;
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (words, tail) = rest.as_chunks::<8>();
        let mut length = 0;
        for &word in words {
            let special = special(u64::from_le_bytes(word));
            if special != 0 {
                self.at += length + special.trailing_zeros() as usize / 8;
                return;
            }
            length += 8;
        }
        self.at += length + tail.iter().take_while(|byte| is_plain(byte)).count();
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 2;
        match self.bytes.get(self.at - 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Some(()),
            Some(b'u') => {
                let digits = self.bytes.get(self.at..self.at + 4);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return self.fail(NO_ESCAPE);
                }
                self.at += 4;
                Some(())
            }
            _ => self.fail(NO_ESCAPE),
        }
    }

    #[inline]
    fn number(&mut self) -> Option<Kind> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(Kind::Number)
    }

    #[inline]
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { self.fail("a number lacks a digit") } else { Some(()) }
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    #[inline]
    fn next(&mut self) -> Option<Token> {
        self.skip_space();
        match (self.next, self.peek()) {
            (Expected::More, byte) => self.more(byte),
            (Expected::Value | Expected::Item, byte) if byte != Some(b']') || self.next == Expected::Value => {
                self.value(byte)
            }
            (Expected::Field, byte) if byte != Some(b'}') => self.key(),
            (Expected::Value | Expected::Item | Expected::Field, _) => Some(self.end()),
            (Expected::Nothing, None) => None,
            (Expected::Nothing, Some(_)) => self.fail("something follows the value"),
        }
    }
}

/// The position after the closing bracket of the array or object whose content begins at `at`; the end of the text if
/// there is none.
#[inline]
fn brackets_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 1usize;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' => at = string_end(bytes, at),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    bytes.len()
}

/// Strings up to this length are searched a byte at a time.
const SHORT_STRING: usize = 24;

/// The position after the closing quote of the string whose content begins at `at`; the end of the text if there is
/// none.
#[inline]
pub(crate) fn string_end(bytes: &[u8], mut at: usize) -> usize {
    for byte in bytes.get(at..).unwrap_or_default().iter().take(SHORT_STRING) {
        match byte {
            b'"' => return at + 1,
            b'\\' => break,
            _ => at += 1,
        }
    }
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        at += 1; // the escaped byte
    }
    bytes.len()
}

/// Marks the highest bit of each byte that is a quote, a backslash or a control character. The lowest mark is exact.
/// Above it there may be one mark too many, because of borrows between bytes.
fn special(word: u64) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    const HIGHEST: u64 = ONES << 7;
    let is = |byte: u8| {
        let rest = word ^ (ONES * u64::from(byte));
        rest.wrapping_sub(ONES) & !rest
    };
    let is_control = word.wrapping_sub(ONES * 0x20) & !word;
    (is(b'"') | is(b'\\') | is_control) & HIGHEST
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
