//! How a text is searched: as JSON, as text with escapes or encodings, or as plain text.

use super::base64_text::{self, Content};
use super::finding::{Finding, Kind, has_any, settle};
use super::folded::{Reading, map_back, read};
use super::rules::Rules;
use super::{json, text};
use pipewright_lines::is_json;
use std::cell::Cell;

/// Finds the values to mask.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    rules: &'a Rules,
    max_depth: usize,
    /// How many more levels of text within text are decoded.
    levels: usize,
    /// Counts what cannot be searched.
    unread: &'a Cell<u64>,
}

impl<'a> Search<'a> {
    /// How many levels of JSON text within JSON text are searched. Without a limit, a line that consists of escapes
    /// would take quadratic time.
    const LEVELS: usize = 8;

    pub(super) fn new(rules: &'a Rules, max_depth: usize, unread: &'a Cell<u64>) -> Search<'a> {
        Search { rules, max_depth, levels: Self::LEVELS, unread }
    }

    pub(super) fn rules(&self) -> &'a Rules {
        self.rules
    }

    pub(super) fn is_lookalike(&self, content: &str) -> bool {
        text::is_lookalike(self.rules, content)
    }

    /// Searches a line, or a text that may be JSON.
    pub(super) fn in_value(self, value: &str, is_phone: bool) -> Vec<Finding> {
        let may_be_json = value.trim_start().starts_with(['{', '[', '"']);
        match self.deeper() {
            Some(deeper) if may_be_json && is_json(value.as_bytes(), self.max_depth) => json::find(deeper, value),
            _ => self.in_text(value, is_phone),
        }
    }

    /// Searches the text between the quotes of a JSON string.
    pub(super) fn in_string(self, content: &str, is_phone: bool) -> Vec<Finding> {
        if content.contains('\\') { self.in_text(content, is_phone) } else { self.in_value(content, is_phone) }
    }

    /// Searches text that is not JSON, with its escapes and encodings resolved if it has any.
    pub(super) fn in_text(self, raw: &str, is_phone: bool) -> Vec<Finding> {
        let Some(deeper) = self.deeper() else {
            let has_more = [Reading::Shown, Reading::Decoded].iter().any(|reading| read(raw, *reading).is_some())
                || base64_text::find(raw).any(|(_, content)| matches!(content, Content::Text(_)));
            self.unread.set(self.unread.get() + u64::from(has_more));
            return text::find(self.rules, raw, is_phone);
        };
        if let Some(shown) = read(raw, Reading::Shown) {
            let mut found = deeper.in_value(&shown, is_phone);
            map_back(raw, Reading::Shown, &mut found);
            for reading in [Reading::Apart, Reading::Unescaped] {
                if let Some(text) = read(raw, reading) {
                    // Further levels are rare, and would be searched once more for each one.
                    let near = Search { levels: self.levels.min(2), ..self };
                    found.extend(self.find_in_reading(raw, reading, near.in_value(&text, is_phone)));
                    found = settle(raw, found);
                }
            }
            return found;
        }
        let mut found = text::find(self.rules, raw, is_phone);
        if let Some(decoded) = read(raw, Reading::Decoded) {
            found.extend(self.find_in_reading(raw, Reading::Decoded, deeper.in_value(&decoded, is_phone)));
        }
        let mut found = settle(raw, found);
        let in_base64 = deeper.in_base64(raw, &found);
        if !in_base64.is_empty() {
            found.extend(in_base64);
            found = settle(raw, found);
        }
        found
    }

    /// The findings in another reading, at their places in `raw`.
    fn find_in_reading(self, raw: &str, reading: Reading, mut found: Vec<Finding>) -> Vec<Finding> {
        // What looks like a placeholder only there is none for a reader of the masked text.
        found.retain(|finding| finding.kind != Kind::LOOKALIKE);
        map_back(raw, reading, &mut found);
        found
    }

    /// Searches the base64 outside of what is found already. If anything is found in it, all of it is masked.
    fn in_base64(self, raw: &str, known: &[Finding]) -> Vec<Finding> {
        let mut found = Vec::new();
        for (range, content) in base64_text::find(raw).filter(|(range, _)| !has_any(known, range)) {
            match content {
                Content::Text(text) => {
                    let within = self.in_value(&text, false);
                    if let Some(first) = within.iter().find(|finding| finding.kind != Kind::LOOKALIKE) {
                        found.push(Finding::new(raw, range, first.kind));
                    }
                }
                Content::Data => self.unread.set(self.unread.get() + 1),
            }
        }
        found
    }

    fn deeper(self) -> Option<Search<'a>> {
        let levels = self.levels.checked_sub(1)?;
        Some(Search { levels, ..self })
    }
}
