//! Personal data and secrets in a line, replaced by placeholders such as `<EMAIL_1>`. Pure: it takes text and gives
//! text.
//!
//! Only the bytes of a value change. A JSON string is searched by its decoded value, so neither escapes nor JSON text
//! within JSON text can hide a value. JSON numbers are kept. docs/masking.md lists what is found in which field, and
//! what is not found.

mod address;
mod assigned;
mod base64_text;
mod encoded;
mod finding;
mod folded;
mod json;
mod names;
mod numbers;
mod page;
mod pattern;
mod phone;
mod placeholders;
mod private_key;
mod rules;
mod search;
mod secrets;
mod sequence;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
mod text;

pub use names::mentions_secret;
pub use rules::Rules;

use finding::{Finding, Kind, settle};
use folded::{Reading, map_back, read};
use pipewright_lines as lines;
use placeholders::Placeholders;
use private_key::OpenKey;
use search::Search;
use std::borrow::Cow;
use std::cell::Cell;

/// Masks the lines of a run: the same value always gets the same placeholder.
///
/// ```
/// use pipewright_mask::{Masker, Rules};
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
    /// The private keys within which the lines so far end.
    open_keys: Vec<OpenKey>,
    unread: Cell<u64>,
}

impl Masker {
    /// How many values get distinct placeholders; further ones get the number 0.
    pub const MAX_DISTINCT: usize = Placeholders::MAX_DISTINCT;

    /// A masker without placeholders. JSON text that nests deeper than `max_depth` is searched only as text, so fields
    /// are not recognised; callers that need them withhold such a line.
    pub fn new(rules: Rules, max_depth: usize) -> Masker {
        let placeholders = Placeholders::new(rules.kinds());
        Masker { rules, max_depth, placeholders, open_keys: Vec::new(), unread: Cell::new(0) }
    }

    /// Masks a line without its line ending: one JSON value, or else text. Bytes that are not UTF-8 are kept.
    pub fn line<'a>(&mut self, line: &'a [u8]) -> Cow<'a, [u8]> {
        let found = self.found(line);
        match self.replaced(line, &found) {
            Some(masked) => Cow::Owned(masked),
            None => Cow::Borrowed(line),
        }
    }

    /// Masks a line that was recorded in pieces, which end at these positions. A value over several pieces is replaced
    /// in the first.
    pub fn pieces(&mut self, line: &[u8], ends: &[usize]) -> Vec<Vec<u8>> {
        let found = self.found(line);
        let mut start = 0;
        let mut pieces = Vec::with_capacity(ends.len());
        for &end in ends {
            let within = |finding: &&Finding| finding.range.start < end && finding.range.end > start;
            let mut masked = Vec::new();
            let mut copied = start;
            for finding in found.iter().filter(within) {
                if finding.range.start >= start {
                    masked.extend_from_slice(&line[copied..finding.range.start]);
                    self.replace(finding, &mut masked);
                }
                copied = finding.range.end.min(end);
            }
            masked.extend_from_slice(&line[copied..end]);
            pieces.push(masked);
            start = end;
        }
        pieces
    }

    /// How many texts could not be searched so far: pictures and other data in base64, lines that are not text, and
    /// what is encoded more often than is decoded. They are unchanged.
    pub fn unread(&self) -> u64 {
        self.unread.get()
    }

    fn found(&mut self, line: &[u8]) -> Vec<Finding> {
        let text = lines::text(line);
        let is_json = lines::is_json(text.as_bytes(), self.max_depth);
        if !is_json && is_binary(line) {
            self.unread.set(self.unread.get() + 1);
        }
        let mut found = Search::new(&self.rules, self.max_depth, &self.unread).in_value(&text, false);
        if !self.open_keys.is_empty() || private_key::may_begin_in(line) {
            found.extend(if is_json { self.keys_in_json(&text) } else { self.keys_in_text("", &text, 0) });
            found = settle(&text, found);
        }
        found
    }

    /// The parts of private keys that began in earlier lines.
    fn keys_in_json(&mut self, json: &str) -> Vec<Finding> {
        let strings = json::strings(json);
        // In a recording, several directions use the same field.
        let direction = strings.iter().find(|(field, _)| *field == "dir");
        let direction = direction.map_or("", |(_, content)| &json[content.clone()]);
        let found = strings.iter().map(|(field, content)| {
            let field = if direction.is_empty() { (*field).to_owned() } else { format!("{direction} {field}") };
            self.keys_in_text(&field, &json[content.clone()], content.start)
        });
        found.flatten().collect()
    }

    /// Those in a text that begins at `start` in its line.
    fn keys_in_text(&mut self, field: &str, raw: &str, start: usize) -> Vec<Finding> {
        let shown = read(raw, Reading::Shown);
        let text = shown.as_deref().unwrap_or(raw);
        let parts = OpenKey::search(&mut self.open_keys, field, text);
        let mut found: Vec<Finding> =
            parts.into_iter().map(|part| Finding::new(text, part, Kind::PRIVATE_KEY)).collect();
        if shown.is_some() {
            map_back(raw, Reading::Shown, &mut found);
        }
        for finding in &mut found {
            finding.range = finding.range.start + start..finding.range.end + start;
        }
        found
    }

    /// Masks a text that is not a JSON line itself; JSON within it is searched.
    pub fn text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let found = Search::new(&self.rules, self.max_depth, &self.unread).in_value(text, false);
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

    /// The line with its findings replaced; `None` if there are none.
    fn replaced(&mut self, line: &[u8], found: &[Finding]) -> Option<Vec<u8>> {
        if found.is_empty() {
            return None;
        }
        let mut masked = Vec::with_capacity(line.len());
        let mut copied = 0;
        for finding in found {
            masked.extend_from_slice(&line[copied..finding.range.start]);
            self.replace(finding, &mut masked);
            copied = finding.range.end;
        }
        masked.extend_from_slice(&line[copied..]);
        Some(masked)
    }

    fn replace(&mut self, finding: &Finding, out: &mut Vec<u8>) {
        if finding.kind == Kind::LOOKALIKE {
            return out.extend_from_slice(b"<_");
        }
        let (kind, number) = self.placeholders.of(finding.kind, &finding.value);
        out.extend_from_slice(format!("<{}_{number}>", self.rules.name(kind)).as_bytes());
    }
}

/// Whether many bytes of a line are no text in UTF-8, as in UTF-16 or compressed data.
fn is_binary(line: &[u8]) -> bool {
    const MIN_BINARY_BYTES: usize = 4;
    const MAX_TEXT_RATIO: usize = 4;
    let is_text = |one: char| !one.is_control() || matches!(one, '\t' | '\r' | '\u{1b}' | '\u{8}');
    let strange: usize = line
        .utf8_chunks()
        .map(|chunk| chunk.valid().chars().filter(|one| !is_text(*one)).count() + chunk.invalid().len())
        .sum();
    strange >= MIN_BINARY_BYTES && strange * MAX_TEXT_RATIO > line.len()
}
