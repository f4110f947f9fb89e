//! Which calls wait for something: an approved one to pass, a marked one to be settled. A call is known by its id and the
//! digest of its arguments; the same may come several times, and each time counts.

use super::recorded_event::RecordedEvent;
use super::summary::{Lack, Unapproved};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use std::collections::{HashMap, VecDeque};

/// Of the same size, however long an id is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub(super) fn of(event: &RecordedEvent<'_>, digest: &str) -> Key {
        let id = event.call_id.map_or("null", RawValue::get);
        // No JSON text ends so that the two could be cut elsewhere.
        Key(Sha256::new().chain_update(id).chain_update("\n").chain_update(digest).finalize().into())
    }
}

/// Calls of one gate's session about which something is open, such as an approval that hasn't been used, and how often.
#[derive(Debug, Default)]
pub(super) struct OpenCalls(HashMap<Key, u64>);

impl OpenCalls {
    pub(super) fn give(&mut self, key: Key) {
        *self.0.entry(key).or_default() += 1;
    }

    /// Whether there was one. It is good for one call.
    pub(super) fn take(&mut self, key: Key) -> bool {
        let Some(left) = self.0.get_mut(&key) else { return false };
        *left -= 1;
        if *left == 0 {
            self.0.remove(&key);
        }
        true
    }

    /// What one process was told says nothing to the next.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// All that are open, which then are none.
    pub(super) fn drain(&mut self) -> Vec<Key> {
        self.0.drain().flat_map(|(key, count)| std::iter::repeat_n(key, usize::try_from(count).unwrap_or(0))).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Marked calls of all files, until one of them says what became of them.
#[derive(Debug, Default)]
pub(super) struct Marks(HashMap<Key, Waiting>);

#[derive(Debug)]
enum Waiting {
    /// Calls that were marked, and in which file.
    Marked(VecDeque<(usize, Unapproved)>),
    /// Questions that were settled before the mark was seen: clocks differ.
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

    /// Those that no file says anything of, each with its file.
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

/// As much of a value as is held for people: the line has the rest.
const SHOWN: usize = 256;

fn shown(value: Option<&RawValue>) -> Option<Box<RawValue>> {
    value.map(|value| match value.get() {
        short if short.len() <= SHOWN => value.to_owned(),
        long => digest_of(long),
    })
}

fn digest_of(long: &str) -> Box<RawValue> {
    // A text without anything to escape.
    RawValue::from_string(format!("\"{}\"", super::digest(long))).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
