//! A call that is held back, with its line as it came.

use crate::cmd::world::queue::Queued;
use crate::io::lines::{Line, text};
use crate::record::{Call, OwnedCall};
use std::borrow::Cow;

pub struct Held {
    raw: Vec<u8>,
    number: u64,
    pub call: OwnedCall,
    /// Whether a person is to be asked about it.
    pub marked: bool,
}

impl Held {
    pub fn new(line: &Line<'_>, call: &Call<'_>) -> Held {
        let (number, marked) = (line.number(), call.requires_approval);
        Held { raw: line.raw().to_vec(), number, call: call.into(), marked }
    }

    pub fn line(&self) -> Line<'_> {
        Line::new(&self.raw, self.number)
    }

    pub fn text(&self) -> Cow<'_, str> {
        text(self.line().body())
    }
}

impl Queued for Held {
    fn call(&self) -> Option<&OwnedCall> {
        Some(&self.call)
    }

    fn size(&self) -> usize {
        self.raw.len() + self.call.size()
    }
}
