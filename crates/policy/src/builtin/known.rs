//! What has been found out about names: most agents call a few tools, with a few keys, all the time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The greatest number of names, and length of a name, that are kept.
const MAX_NAMES: usize = 500;
const MAX_LENGTH: usize = 100;

/// What is known, by name.
#[derive(Debug)]
pub(super) struct Known<V>(Mutex<HashMap<String, V>>);

impl<V> Default for Known<V> {
    fn default() -> Self {
        Known(Mutex::default())
    }
}

impl<V: Clone> Known<V> {
    /// What `find_out` gives for a name, which must always be the same.
    pub fn of(&self, name: &str, find_out: impl FnOnce() -> V) -> V {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = known.get(name) {
            return value.clone();
        }
        if known.len() == MAX_NAMES {
            known.clear();
        }
        let value = find_out();
        if name.len() <= MAX_LENGTH {
            known.insert(name.to_owned(), value.clone());
        }
        value
    }
}
