//! Strings that share the text they are cut from.

use super::document::Document;
use std::rc::Rc;

/// A string: a part of a document's text, or of a created text.
#[derive(Clone)]
pub struct Text {
    document: Rc<Document>,
    start: u32,
    end: u32,
}

impl Text {
    /// A part of a document's text. The bounds are at character boundaries.
    pub fn part(document: &Rc<Document>, start: u32, end: u32) -> Text {
        Text { document: Rc::clone(document), start, end }
    }

    pub fn as_str(&self) -> &str {
        self.document.text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    /// The part from byte `start` to byte `end`.
    pub fn slice(&self, start: usize, end: usize) -> Text {
        let at = |offset: usize| self.end.min(self.start.saturating_add(u32::try_from(offset).unwrap_or(u32::MAX)));
        Text { document: Rc::clone(&self.document), start: at(start), end: at(end) }
    }

    /// Appends `more`, in place if this text is not shared. Returns how many bytes were copied.
    pub fn push(&mut self, more: &str) -> usize {
        let whole = self.start == 0 && self.end as usize == self.document.text.len();
        if whole && let Some(document) = Rc::get_mut(&mut self.document) {
            document.text.push_str(more);
            self.end = u32::try_from(document.text.len()).unwrap_or(self.end);
            return more.len();
        }
        let joined = [self.as_str(), more].concat();
        let copied = joined.len();
        *self = Text::from(joined);
        copied
    }
}

impl From<String> for Text {
    /// No text reaches 4 GiB: making a byte costs fuel, and the length of inputs is limited.
    fn from(mut text: String) -> Text {
        if u32::try_from(text.len()).is_err() {
            text.clear();
            crate::fuel::stop(crate::fuel::StopReason::Fuel);
        }
        let end = u32::try_from(text.len()).unwrap_or(0);
        Text { document: Rc::new(Document { text, spans: Vec::new() }), start: 0, end }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::from(text.to_owned())
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Text) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Text {}

impl std::hash::Hash for Text {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

// So that a map of texts can be queried with a plain string.
impl std::borrow::Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}
