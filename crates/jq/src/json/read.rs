//! Parses JSON text into a document, in one pass and without recursion.
//!
//! Existing parsers create values for everything, lose how numbers were written, recurse, or accept text that is not JSON (`NaN`,
//! comments, invalid bytes). This one accepts exactly RFC 8259 in UTF-8, and records the position of each value.

use crate::value::document::{Document, Kind, Span};

/// Why a text could not be read.
#[derive(Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It is not one JSON value: the problem, and the byte at which it is.
    Wrong(&'static str, usize),
    /// Arrays and objects are nested beyond the limit.
    TooDeep,
    /// 4 GiB or more.
    TooLarge,
}

/// Reads exactly one JSON value.
///
/// # Errors
/// The text is anything else, or deeper than `max_depth`.
pub fn read(bytes: &[u8], max_depth: u32) -> Result<Document, Unreadable> {
    if u32::try_from(bytes.len()).is_err() {
        return Err(Unreadable::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| Unreadable::Wrong("it is not UTF-8", error.valid_up_to()))?;
    let mut reader = Reader { bytes, at: 0, spans: Vec::with_capacity(bytes.len() / 16 + 4), open: Vec::new() };
    reader.read(max_depth)?;
    Ok(Document { spans: reader.spans, text: text.to_owned() })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    spans: Vec<Span>,
    /// The open arrays and objects.
    open: Vec<Open>,
}

struct Open {
    span: usize,
    /// The depth of its contents.
    inner: u16,
    is_object: bool,
}

const NO_VALUE: &str = "a value is missing or is not JSON";

impl Reader<'_> {
    fn read(&mut self, max_depth: u32) -> Result<(), Unreadable> {
        loop {
            self.skip_space();
            let complete = match self.peek() {
                Some(b'[') => self.open(Kind::Array, b']', max_depth)?,
                Some(b'{') => self.open(Kind::Object, b'}', max_depth)?,
                _ => {
                    self.scalar()?;
                    true
                }
            };
            if complete && self.go_on()? {
                break;
            }
        }
        self.skip_space();
        if self.at < self.bytes.len() { Err(self.wrong("something follows the value")) } else { Ok(()) }
    }

    fn wrong(&self, what: &'static str) -> Unreadable {
        Unreadable::Wrong(what, self.at)
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn span(&mut self, kind: Kind, start: usize, end: usize) {
        let after = self.spans.len() as u32 + 1;
        self.spans.push(Span { start: start as u32, end: end as u32, after, depth: 0, kind });
    }

    /// Enters an array or object. Returns true if it ended at once.
    fn open(&mut self, kind: Kind, end: u8, max_depth: u32) -> Result<bool, Unreadable> {
        self.open.push(Open { span: self.spans.len(), inner: 0, is_object: kind == Kind::Object });
        if self.open.len() > max_depth as usize {
            return Err(Unreadable::TooDeep);
        }
        self.span(kind, self.at, self.at);
        self.at += 1;
        self.skip_space();
        if self.peek() == Some(end) {
            self.close();
            return Ok(true);
        }
        if kind == Kind::Object {
            self.key()?;
        }
        Ok(false)
    }

    /// Leaves the innermost array or object, whose closing bracket is next.
    fn close(&mut self) {
        self.at += 1;
        let after = self.spans.len() as u32;
        let Some(open) = self.open.pop() else {
            return;
        };
        let depth = open.inner + 1;
        if let Some(span) = self.spans.get_mut(open.span) {
            span.end = self.at as u32;
            span.after = after;
            span.depth = depth;
        }
        if let Some(outer) = self.open.last_mut() {
            outer.inner = outer.inner.max(depth);
        }
    }

    /// Reads what follows a value: the next one, or the end of its array or object. Returns true if the text is complete.
    fn go_on(&mut self) -> Result<bool, Unreadable> {
        loop {
            let Some(open) = self.open.last() else {
                return Ok(true);
            };
            let is_object = open.is_object;
            self.skip_space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    if is_object {
                        self.skip_space();
                        self.key()?;
                    }
                    return Ok(false);
                }
                Some(b']') if !is_object => self.close(),
                Some(b'}') if is_object => self.close(),
                _ if is_object => return Err(self.wrong("a comma or } is missing")),
                _ => return Err(self.wrong("a comma or ] is missing")),
            }
        }
    }

    fn key(&mut self) -> Result<(), Unreadable> {
        if self.peek() != Some(b'"') {
            return Err(self.wrong("a key is missing"));
        }
        self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.wrong("a colon is missing"));
        }
        self.at += 1;
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), Unreadable> {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Kind::True),
            Some(b'f') => self.word("false", Kind::False),
            Some(b'n') => self.word("null", Kind::Null),
            _ => Err(self.wrong(NO_VALUE)),
        }
    }

    fn word(&mut self, word: &'static str, kind: Kind) -> Result<(), Unreadable> {
        let end = self.at + word.len();
        if self.bytes.get(self.at..end) != Some(word.as_bytes()) {
            return Err(self.wrong(NO_VALUE));
        }
        self.span(kind, self.at, end);
        self.at = end;
        Ok(())
    }

    fn string(&mut self) -> Result<(), Unreadable> {
        self.at += 1;
        let start = self.at;
        let mut kind = Kind::Plain;
        loop {
            self.skip_plain();
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    kind = Kind::Escaped;
                    self.escape()?;
                }
                Some(_) => return Err(self.wrong("a string contains a control character")),
                None => return Err(self.wrong("a string has no end")),
            }
        }
        self.span(kind, start, self.at);
        self.at += 1;
        Ok(())
    }

    /// Skips to the next byte of a string that does not stand for itself.
    fn skip_plain(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let (words, tail) = rest.as_chunks::<8>();
        for &word in words {
            let special = special(u64::from_le_bytes(word));
            if special != 0 {
                self.at += special.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
        }
        self.at += tail.iter().take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)).count();
    }

    fn escape(&mut self) -> Result<(), Unreadable> {
        self.at += 2;
        match self.bytes.get(self.at - 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(()),
            Some(b'u') => {
                let digits = self.bytes.get(self.at..self.at + 4);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return Err(self.wrong("an escape in a string is not JSON"));
                }
                self.at += 4;
                Ok(())
            }
            _ => Err(self.wrong("an escape in a string is not JSON")),
        }
    }

    fn number(&mut self) -> Result<(), Unreadable> {
        let start = self.at;
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
        self.span(Kind::Number, start, self.at);
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Unreadable> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.wrong("a number lacks a digit")) } else { Ok(()) }
    }
}

/// Marks the highest bit of each byte that is a quote, a backslash or a control character. The lowest mark is exact. Above it
/// there may be one mark too many, because of borrows between bytes.
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
mod tests {
    use super::special;

    #[test]
    fn the_first_special_byte_is_found_whatever_stands_around_it() {
        let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20);
        for (first, second) in (0..=255).flat_map(|first| (0..=255).map(move |second| (first, second))) {
            for place in 0..7 {
                let mut word = [b'a'; 8];
                word[place] = first;
                word[place + 1] = second;
                let found = (special(u64::from_le_bytes(word)).trailing_zeros() / 8) as usize;
                assert_eq!(found, word.iter().position(is_special).unwrap_or(8), "{word:?}");
            }
        }
    }
}
