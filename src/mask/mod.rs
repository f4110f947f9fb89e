//! Personal data and secrets in a line, replaced by placeholders such as `<EMAIL_1>`. Pure: it takes text and gives text.
//!
//! Only the bytes of a value change. A JSON string is searched by its decoded value, so neither escapes nor JSON text within JSON
//! text can hide a value. JSON numbers are kept. docs/masking.md lists what is found in which field, and what is not found.

mod address;
mod assigned;
mod finding;
mod folded;
mod json;
mod names;
mod numbers;
mod page;
mod pattern;
mod phone;
mod placeholders;
mod rules;
mod search;
mod secrets;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod text;

pub use names::mentions_secret;
pub use rules::Rules;

use crate::io::lines;
use finding::{Finding, Kind};
use placeholders::Placeholders;
use search::Search;
use std::borrow::Cow;

/// Masks the lines of a run: the same value always gets the same placeholder.
///
/// ```
/// use pipewright::mask::{Masker, Rules};
/// let mut masker = Masker::new(Rules::default(), 512);
/// let line = br#"{"from":"ann@example.com", "n":1.10, "password":"hunter2"}"#;
/// assert_eq!(*masker.line(line), *br#"{"from":"<EMAIL_1>", "n":1.10, "password":"<PASSWORD_1>"}"#);
/// assert_eq!(masker.text("write to Ann@example.com"), "write to <EMAIL_1>");
/// ```
#[derive(Debug)]
pub struct Masker {
    rules: Rules,
    /// JSON text that nests deeper than this is read as plain text.
    max_depth: usize,
    placeholders: Placeholders,
    /// The text lines so far end within a private key.
    in_private_key: bool,
}

impl Masker {
    /// How many values get distinct placeholders; further ones get the number 0.
    pub const MOST: usize = Placeholders::MOST;

    /// A masker without placeholders. JSON text that nests deeper than `max_depth` is searched only as text, so fields are not
    /// recognised; callers that need them withhold such a line.
    pub fn new(rules: Rules, max_depth: usize) -> Masker {
        let placeholders = Placeholders::new(rules.kinds());
        Masker { rules, max_depth, placeholders, in_private_key: false }
    }

    /// Masks a line without its line ending: one JSON value, or else text. Bytes that are not UTF-8 are kept.
    pub fn line<'a>(&mut self, line: &'a [u8]) -> Cow<'a, [u8]> {
        let text = lines::text(line);
        let is_json = lines::is_json(text.as_bytes(), self.max_depth);
        let found = if is_json {
            Search::new(&self.rules, self.max_depth).in_value(&text, false)
        } else {
            self.in_text_line(&text)
        };
        match self.replaced(line, &found) {
            Some(masked) => Cow::Owned(masked),
            None => Cow::Borrowed(line),
        }
    }

    /// Masks a text that is not a JSON line itself; JSON within it is searched.
    pub fn text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let found = Search::new(&self.rules, self.max_depth).in_value(text, false);
        match self.replaced(text.as_bytes(), &found).map(String::from_utf8) {
            Some(Ok(masked)) => Cow::Owned(masked),
            // Findings begin and end at character boundaries, so the rest is text.
            Some(Err(error)) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
            None => Cow::Borrowed(text),
        }
    }

    /// Whether a value came for which there was no number left.
    pub fn is_full(&self) -> bool {
        self.placeholders.is_full()
    }

    /// A line of text, which may be one of several lines of a private key.
    fn in_text_line(&mut self, text: &str) -> Vec<Finding> {
        if self.in_private_key {
            let (continues, ends) = secrets::continues_private_key(text);
            self.in_private_key = continues && !ends;
            if continues && !text.trim().is_empty() {
                return vec![Finding::new(text, 0..text.len(), Kind::PRIVATE_KEY)];
            }
        }
        self.in_private_key |= secrets::leaves_private_key_open(text);
        Search::new(&self.rules, self.max_depth).in_value(text, false)
    }

    /// The line with its findings replaced; `None` if there are none.
    fn replaced(&mut self, line: &[u8], found: &[Finding]) -> Option<Vec<u8>> {
        if found.is_empty() {
            return None;
        }
        let mut masked = Vec::with_capacity(line.len());
        let mut copied = 0;
        for Finding { range, kind, value } in found {
            masked.extend_from_slice(&line[copied..range.start]);
            if *kind == Kind::LOOKALIKE {
                masked.extend_from_slice(b"<_");
            } else {
                let (kind, number) = self.placeholders.of(*kind, value);
                masked.extend_from_slice(format!("<{}_{number}>", self.rules.name(kind)).as_bytes());
            }
            copied = range.end;
        }
        masked.extend_from_slice(&line[copied..]);
        Some(masked)
    }
}
