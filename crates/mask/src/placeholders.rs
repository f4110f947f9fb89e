//! The table of values with placeholders.

use super::finding::Kind;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

/// Gives each value its placeholder, which stays the same for the life of the table.
///
/// The table holds a keyed hash of each value, with a key of its own, not the values. When it is full, two of its
/// values share a placeholder by chance with a probability of 2 in 10^9.
#[derive(Debug)]
pub(super) struct Placeholders {
    given: HashMap<u64, (Kind, u32)>,
    hasher: RandomState,
    /// The number of values of each kind.
    counts: Vec<u32>,
    is_full: bool,
}

impl Placeholders {
    /// How many values get distinct placeholders: as many as fit into 2^18 places of the table, of which an eighth
    /// stays free. One more would double it, and both tables exist meanwhile.
    pub(super) const MAX_DISTINCT: usize = 7 << 15;

    pub(super) fn new(kinds: usize) -> Placeholders {
        Placeholders { given: HashMap::new(), hasher: RandomState::new(), counts: vec![0; kinds], is_full: false }
    }

    /// The kind and number of a value's placeholder. All values for which the table has no room get the number 0.
    pub(super) fn of(&mut self, kind: Kind, value: &str) -> (Kind, u32) {
        let hash = self.hasher.hash_one(&*normal(kind, value));
        if let Some(given) = self.given.get(&hash) {
            return *given;
        }
        if self.given.len() == Self::MAX_DISTINCT {
            self.is_full = true;
            return (kind, 0);
        }
        let Some(count) = self.counts.get_mut(usize::from(kind.0)) else { return (kind, 0) };
        *count += 1;
        *self.given.entry(hash).or_insert((kind, *count))
    }

    /// Whether a value came for which there was no room.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }
}

/// A value in the form in which it is compared: separators between the digits of a number do not count, nor does the
/// case of an address.
pub(super) fn normal(kind: Kind, value: &str) -> String {
    match kind {
        Kind::CARD | Kind::IBAN | Kind::PHONE => {
            value.chars().filter(|character| character.is_ascii_alphanumeric()).collect::<String>().to_uppercase()
        }
        Kind::EMAIL => value.to_lowercase(),
        _ => value.to_owned(),
    }
}
