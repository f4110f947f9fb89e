//! Calls that wait, in the order in which they came.

use crate::io::lines::{Line, text};
use crate::record::{Call, is_same_id, recognise};
use serde_json::value::RawValue;
use std::collections::VecDeque;

/// So much waits at most before no more is read.
const MANY: usize = 1024;
const MUCH: usize = 8 << 20;

/// A call as it came.
pub struct Held {
    raw: Vec<u8>,
    number: u64,
    /// Whether it is to be asked about.
    pub marked: bool,
}

impl Held {
    pub fn new(line: &Line<'_>, marked: bool) -> Held {
        Held { raw: line.raw().to_vec(), number: line.number(), marked }
    }

    pub fn line(&self) -> Line<'_> {
        Line::new(&self.raw, self.number)
    }

    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        text(self.line().body())
    }

    fn has_id(&self, id: &str) -> bool {
        let text = self.text();
        matches!(recognise(&text), Ok(Some(call)) if is_same_id(call.id.map(RawValue::get), Some(id)))
    }
}

/// The calls that were held back; the first is the one that is asked about.
#[derive(Default)]
pub struct Waiting {
    calls: VecDeque<Held>,
    size: usize,
}

impl Waiting {
    pub fn push(&mut self, held: Held) {
        self.size += held.raw.len();
        self.calls.push_back(held);
    }

    pub fn first(&self) -> Option<&Held> {
        self.calls.front()
    }

    pub fn pop(&mut self) -> Option<Held> {
        self.remove(0)
    }

    /// Where the first call of this id stands.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.calls.iter().position(|held| held.has_id(id))
    }

    pub fn remove(&mut self, index: usize) -> Option<Held> {
        let held = self.calls.remove(index)?;
        self.size -= held.raw.len();
        Some(held)
    }

    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether no more should be read for now.
    pub fn is_full(&self) -> bool {
        self.calls.len() >= MANY || self.size >= MUCH
    }
}

/// A call's arguments, JSON text.
pub fn arguments<'a>(call: &Call<'a>) -> &'a str {
    call.arguments.map_or("{}", RawValue::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_full_by_number_or_by_size_until_something_leaves() {
        let mut waiting = Waiting::default();
        let line = vec![b'x'; MUCH];
        waiting.push(Held::new(&Line::new(&line, 1), false));
        assert!(waiting.is_full() && waiting.pop().is_some() && !waiting.is_full());
        (0..MANY).for_each(|_| waiting.push(Held::new(&Line::new(b"{}", 1), false)));
        assert!(waiting.is_full());
    }
}
