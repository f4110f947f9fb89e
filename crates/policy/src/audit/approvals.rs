//! Calls with an open step: an approved one that has not passed, a marked one that is not settled. A call is known by its id and the
//! digest of its arguments; the same call may come several times, and each time counts.

use super::recorded_event::RecordedEvent;
use super::summary::{Lack, Unapproved};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};

/// It has the same size for ids of any length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub(super) fn of(event: &RecordedEvent<'_>, digest: &str) -> Key {
        let id = event.call_id.map_or("null", RawValue::get);
        // JSON text has no unescaped line feed in strings, so the two parts can't be confused.
        Key(Sha256::new().chain_update(id).chain_update("\n").chain_update(digest).finalize().into())
    }
}

/// Calls of one gate's session with an open step, such as an unused approval, and how often.
#[derive(Debug, Default)]
pub(super) struct OpenCalls(HashMap<Key, u64>);

impl OpenCalls {
    pub(super) fn add(&mut self, key: Key) {
        *self.0.entry(key).or_default() += 1;
    }

    /// Removes one of them; false if there is none.
    pub(super) fn take(&mut self, key: Key) -> bool {
        let Some(left) = self.0.get_mut(&key) else { return false };
        *left -= 1;
        if *left == 0 {
            self.0.remove(&key);
        }
        true
    }

    /// Removes all: the steps of one process do not count for the next.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes and gives all open calls.
    pub(super) fn drain(&mut self) -> Vec<Key> {
        self.0.drain().flat_map(|(key, count)| std::iter::repeat_n(key, usize::try_from(count).unwrap_or(0))).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Marked calls of all files, until a file has their settlement.
#[derive(Debug, Default)]
pub(super) struct Marks(HashMap<Key, Waiting>);

#[derive(Debug)]
enum Waiting {
    /// Marked calls, each with the index of its file.
    Marked(VecDeque<(usize, Unapproved)>),
    /// Questions that were settled before the mark was read: clocks differ.
    Settled(u64),
}

impl Marks {
    pub(super) fn mark(&mut self, key: Key, file: usize, call: Unapproved) {
        match self.0.get_mut(&key) {
            None => _ = self.0.insert(key, Waiting::Marked([(file, call)].into())),
            Some(Waiting::Marked(calls)) => calls.push_back((file, call)),
            Some(Waiting::Settled(1)) => _ = self.0.remove(&key),
            Some(Waiting::Settled(count)) => *count -= 1,
        }
    }

    pub(super) fn settle(&mut self, key: Key) {
        match self.0.get_mut(&key) {
            None => _ = self.0.insert(key, Waiting::Settled(1)),
            Some(Waiting::Settled(count)) => *count += 1,
            Some(Waiting::Marked(calls)) => {
                calls.pop_front();
                if calls.is_empty() {
                    self.0.remove(&key);
                }
            }
        }
    }

    /// The marked calls without a settlement in any file, each with the index of its file.
    pub(super) fn unsettled(self) -> impl Iterator<Item = (usize, Unapproved)> {
        self.0.into_values().flat_map(|waiting| match waiting {
            Waiting::Marked(calls) => calls,
            Waiting::Settled(_) => VecDeque::new(),
        })
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Unapproved {
    pub(super) fn new(line: u64, event: &RecordedEvent<'_>, lack: Lack) -> Unapproved {
        Unapproved { line, call_id: shown(event.call_id), tool: shown(event.tool), lack }
    }
}

/// Longer values are replaced by their digest; the line has the full value.
const SHOWN: usize = 256;

fn shown(value: Option<&RawValue>) -> Option<Box<RawValue>> {
    value.map(|value| match value.get() {
        short if short.len() <= SHOWN => value.to_owned(),
        long => digest_of(long),
    })
}

fn digest_of(long: &str) -> Box<RawValue> {
    // There is nothing to escape in it.
    RawValue::from_string(format!("\"{}\"", super::digest(long))).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
