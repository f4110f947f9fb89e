//! The tables that the build script makes of all lists. Positions and numbers of rows are little-endian, three bytes
//! long; all else is one byte long.
//!
//! - `words.fst` leads from a kind of position ([`Position`]) and a pattern's first word to the patterns that begin
//!   with it: the number of the first one, shifted by 16 bits, and how many there are.
//! - `begins`: for each kind of position, a bit for each pair of bytes with which a key goes on. Most places of a name
//!   are dismissed by it, so that the index is seldom asked.
//! - `patterns`: the list, the language, flags, how many steps there are, the first step.
//! - `steps`: flags, or 1 or 2 for a step without a word; the position of the word in `text`, and its length.

use crate::normalise::Word;
use fst::raw::{Fst, Transition};
use std::sync::LazyLock;

static PATTERNS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/patterns"));
static STEPS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/steps"));
static TEXT: &str = include_str!(concat!(env!("OUT_DIR"), "/text"));
static INDEX_BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/words.fst"));
include!(concat!(env!("OUT_DIR"), "/languages.rs"));

/// A pattern of the lists.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    /// The index of its list in [`LISTS`](crate::pattern::LISTS).
    pub list: u8,
    /// The index of its language in [`LANGUAGES`].
    pub language: u8,
    flags: u8,
    steps: TableParts,
}

const AT_START: u8 = 1;
const AT_END: u8 = 2;
const UNSPACED: u8 = 4;
const OPEN_LEFT: u8 = 8;
const OPEN_RIGHT: u8 = 16;
/// The bits above this are the number of words before the one that is looked up.
const LEAD_BITS: u8 = 5;

impl Pattern {
    fn at(number: usize) -> Pattern {
        let [list, language, flags, count, steps @ ..] = row::<7>(PATTERNS, number);
        Pattern { list, language, flags, steps: TableParts { next: of_three_bytes(steps), count: usize::from(count) } }
    }

    /// Whether it matches only at the start of a name.
    pub fn at_start(&self) -> bool {
        self.flags & AT_START != 0
    }

    /// Whether it matches only at the end of a name.
    pub fn at_end(&self) -> bool {
        self.flags & AT_END != 0
    }

    /// Whether its script has no blanks.
    pub fn unspaced(&self) -> bool {
        self.flags & UNSPACED != 0
    }

    /// The number of arbitrary words before its first.
    pub fn leading_words(&self) -> usize {
        usize::from(self.flags >> LEAD_BITS)
    }

    /// Whether its first word may match the text in `word` from `start` to `end`.
    pub fn begins(&self, word: &Word, start: usize, end: usize) -> bool {
        (start == word.start || start == word.elided || self.flags & OPEN_LEFT != 0)
            && (end == word.end || self.flags & OPEN_RIGHT != 0)
    }

    /// Its parts after the first word.
    pub fn steps(&self) -> TableParts {
        self.steps
    }

    /// The number of its arbitrary words.
    pub fn unnamed(&self) -> usize {
        self.leading_words() + self.steps.filter(|step| !matches!(step, TablePart::Word { .. })).count()
    }

    /// Its language, as a BCP 47 tag.
    pub fn language(&self) -> &'static str {
        LANGUAGES[usize::from(self.language)]
    }
}

/// Parts of a pattern, in order.
#[derive(Debug, Clone, Copy)]
pub struct TableParts {
    next: usize,
    count: usize,
}

impl Iterator for TableParts {
    type Item = TablePart;

    fn next(&mut self) -> Option<TablePart> {
        self.count = self.count.checked_sub(1)?;
        let [flags, at @ .., length] = row::<5>(STEPS, self.next);
        self.next += 1;
        Some(match flags {
            1 => TablePart::One,
            2 => TablePart::Few,
            flags => TablePart::Word { text: &TEXT[of_three_bytes(at)..][..usize::from(length)], flags },
        })
    }
}

/// A part of a pattern after its first word: see [`PatternPart`](crate::pattern::PatternPart).
#[derive(Debug, Clone, Copy)]
pub enum TablePart {
    /// A word.
    Word {
        /// Its text, in normal form.
        text: &'static str,
        /// Whether the word may have other text before or after.
        flags: u8,
    },
    /// One arbitrary word.
    One,
    /// One to three arbitrary words.
    Few,
}

impl TablePart {
    /// Whether it has a word that matches this word of a normal form.
    pub fn is_word(&self, normal: &str, word: &Word) -> bool {
        let TablePart::Word { text, flags } = self else { return false };
        [word.start, word.elided].iter().any(|&start| {
            let found = &normal[start..word.end];
            match (flags & OPEN_LEFT != 0, flags & OPEN_RIGHT != 0) {
                (false, false) => found == *text,
                (false, true) => found.starts_with(text),
                (true, false) => found.ends_with(text),
                (true, true) => found.contains(text),
            }
        })
    }
}

/// A row of a table. The numbers in the tables are those of rows that exist: a test reads all of them.
fn row<const LENGTH: usize>(table: &[u8], number: usize) -> [u8; LENGTH] {
    table.as_chunks::<LENGTH>().0[number]
}

fn of_three_bytes([a, b, c]: [u8; 3]) -> usize {
    u32::from_le_bytes([a, b, c, 0]) as usize
}

/// Where a pattern's first word is looked up.
#[derive(Debug, Clone, Copy)]
pub enum Position {
    /// At a word's start.
    Start,
    /// Anywhere in a word.
    Inside,
    /// Anywhere in the text: scripts without blanks.
    Anywhere,
}

/// The first bytes of the index's keys, in the order of [`Position`].
const POSITIONS: [u8; 3] = [b'=', b'*', b'~'];

static BEGINS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/begins"));

/// The bytes of a set of pairs.
const PAIRS: usize = 1 << 13;

/// Whether a key of this position may begin with these bytes.
fn may_begin(position: Position, bytes: &[u8]) -> bool {
    let [first, second, ..] = *bytes else { return true };
    let pair = usize::from(first) << 8 | usize::from(second);
    BEGINS[position as usize * PAIRS + pair / 8] >> (pair % 8) & 1 == 1
}

/// The index, and where the keys of each position begin in it.
struct Index {
    fst: Fst<&'static [u8]>,
    places: [Option<Transition>; 3],
}

static INDEX: LazyLock<Option<Index>> = LazyLock::new(|| {
    // The build script has written the index, so it can be read; a test checks that.
    let fst = Fst::new(INDEX_BYTES).ok()?;
    let root = fst.root();
    let places = POSITIONS.map(|byte| root.find_input(byte).map(|at| root.transition(at)));
    Some(Index { places, fst })
});

/// Calls `each` for every pattern whose first word is at the beginning of `normal[start..end]`, with the end of that
/// word.
pub fn look_up(position: Position, normal: &str, start: usize, end: usize, mut each: impl FnMut(Pattern, usize)) {
    if !may_begin(position, &normal.as_bytes()[start..end]) {
        return;
    }
    let Some((index, begin)) = INDEX.as_ref().and_then(|index| Some((index, index.places[position as usize]?))) else {
        return;
    };
    let mut node = index.fst.node(begin.addr);
    let mut value = begin.out.value();
    for (&byte, end) in normal.as_bytes()[start..end].iter().zip(start + 1..) {
        let Some(at) = node.find_input(byte) else {
            return;
        };
        let step = node.transition(at);
        value += step.out.value();
        node = index.fst.node(step.addr);
        if node.is_final() {
            let (first, count) = split(value + node.final_output().value());
            (first..first + count).for_each(|number| each(Pattern::at(number), end));
        }
    }
}

/// Splits a value of the index: where the patterns that begin with a word are, and how many.
fn split(value: u64) -> (usize, usize) {
    ((value >> 16) as usize, (value & 0xffff) as usize)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use fst::{IntoStreamer, Streamer};

    #[test]
    fn every_row_of_the_tables_can_be_read() {
        assert!(INDEX.is_some() && LANGUAGES.len() <= 128);
        let map = fst::Map::new(INDEX_BYTES).unwrap();
        let mut words = map.into_stream();
        let mut next = 0;
        while let Some((key, value)) = words.next() {
            let position = [Position::Start, Position::Inside, Position::Anywhere]
                .into_iter()
                .find(|position| POSITIONS[*position as usize] == key[0]);
            assert!(may_begin(position.unwrap(), &key[1..]));
            let (first, count) = split(value);
            assert_eq!(first, next, "the keys have the order of the rows");
            next += count;
        }
        assert_eq!(next, PATTERNS.len() / 7);
        for pattern in (0..next).map(Pattern::at) {
            assert!(pattern.steps().all(|step| !matches!(step, TablePart::Word { text: "", .. })));
            assert!(!pattern.language().is_empty() && usize::from(pattern.list) < crate::pattern::LISTS.len());
        }
    }
}
