//! How a text is searched: as JSON, as text with escapes, or as plain text.

use super::finding::Finding;
use super::folded::{fold, map_back};
use super::rules::Rules;
use super::{json, text};
use crate::io::lines::is_json;

/// Finds the values to mask.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    rules: &'a Rules,
    max_depth: usize,
    /// How many more levels of text within text are decoded.
    levels: usize,
}

impl<'a> Search<'a> {
    /// How many levels of JSON text within JSON text are searched. Without a limit, a line that consists of escapes would take
    /// quadratic time.
    const LEVELS: usize = 8;

    pub(super) fn new(rules: &'a Rules, max_depth: usize) -> Search<'a> {
        Search { rules, max_depth, levels: Self::LEVELS }
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

    /// Searches text that is not JSON, with its escapes resolved if it has any.
    pub(super) fn in_text(self, raw: &str, is_phone: bool) -> Vec<Finding> {
        match (self.deeper(), fold(raw)) {
            (Some(deeper), Some(folded)) => {
                let mut found = deeper.in_value(&folded, is_phone);
                map_back(raw, &mut found);
                found
            }
            _ => text::find(self.rules, raw, is_phone),
        }
    }

    fn deeper(self) -> Option<Search<'a>> {
        let levels = self.levels.checked_sub(1)?;
        Some(Search { levels, ..self })
    }
}
