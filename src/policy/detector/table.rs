//! The lists of all languages, as tables of the build script: integers and one text, so that nothing is parsed or relocated when a command
//! starts.

use super::normalise::Word;
use fst::raw::{Fst, Transition};
use std::sync::LazyLock;

pub struct Pattern {
    /// Its index in [`super::pattern::LISTS`].
    pub list: u8,
    /// Its index in [`LANGUAGES`].
    pub language: u8,
    flags: u8,
    steps: (u32, u8),
    written: (u32, u8),
}

const AT_START: u8 = 1;
const AT_END: u8 = 2;
const UNSPACED: u8 = 4;
const OPEN_LEFT: u8 = 8;
const OPEN_RIGHT: u8 = 16;
/// The bits above this are the number of words before the one that is looked up.
const LEAD: u8 = 5;

impl Pattern {
    const fn new(list: u8, language: u8, flags: u8, steps: (u32, u8), written: (u32, u8)) -> Pattern {
        Pattern { list, language, flags, steps, written }
    }

    pub fn at_start(&self) -> bool {
        self.flags & AT_START != 0
    }

    pub fn at_end(&self) -> bool {
        self.flags & AT_END != 0
    }

    pub fn unspaced(&self) -> bool {
        self.flags & UNSPACED != 0
    }

    /// The number of arbitrary words before its first.
    pub fn lead(&self) -> usize {
        usize::from(self.flags >> LEAD)
    }

    /// Whether its first word may match the text in `word` from `start` to `end`.
    pub fn begins(&self, word: &Word, start: usize, end: usize) -> bool {
        (start == word.start || start == word.elided || self.flags & OPEN_LEFT != 0)
            && (end == word.end || self.flags & OPEN_RIGHT != 0)
    }

    pub fn steps(&self) -> &'static [Step] {
        let (at, many) = self.steps;
        &STEPS[at as usize..][..usize::from(many)]
    }

    /// The number of its arbitrary words.
    pub fn unnamed(&self) -> usize {
        self.lead() + self.steps().iter().filter(|step| !matches!(step, Step::Word { .. })).count()
    }

    /// The text in its list.
    pub fn written(&self) -> &'static str {
        text(self.written)
    }

    pub fn language(&self) -> &'static str {
        LANGUAGES[usize::from(self.language)]
    }
}

/// A part of a pattern after its first word: see [`super::pattern::Step`].
pub enum Step {
    Word { text: (u32, u8), flags: u8 },
    One,
    Few,
}

impl Step {
    const fn word(text: (u32, u8), flags: u8) -> Step {
        Step::Word { text, flags }
    }
}

/// Whether a step's word matches this word.
pub fn stands_in(written: (u32, u8), flags: u8, normal: &str, word: &Word) -> bool {
    let written = text(written);
    [word.start, word.elided].iter().any(|&start| {
        let found = &normal[start..word.end];
        match (flags & OPEN_LEFT != 0, flags & OPEN_RIGHT != 0) {
            (false, false) => found == written,
            (false, true) => found.starts_with(written),
            (true, false) => found.ends_with(written),
            (true, true) => found.contains(written),
        }
    })
}

pub fn text((at, length): (u32, u8)) -> &'static str {
    &TEXT[at as usize..][..usize::from(length)]
}

/// Where a pattern's first word is looked up.
#[derive(Debug, Clone, Copy)]
pub enum WordPosition {
    /// At a word's start.
    Start,
    /// Anywhere in a word.
    Inside,
    /// Anywhere in the text: scripts without blanks.
    Anywhere,
}

/// The first bytes of the index's keys, in the order of [`WordPosition`].
const POSITIONS: [u8; 3] = [b'=', b'*', b'~'];

/// The index, and where the keys of each position begin in it.
struct Index {
    fst: Fst<&'static [u8]>,
    places: [Option<Transition>; 3],
}

static INDEX: LazyLock<Option<Index>> = LazyLock::new(|| {
    // It was written by the build script, so it can be read; a test checks that.
    let fst = Fst::new(INDEX_BYTES).ok()?;
    let root = fst.root();
    let places = POSITIONS.map(|byte| root.find_input(byte).map(|at| root.transition(at)));
    Some(Index { places, fst })
});

/// Calls `each` for every pattern whose first word is at the beginning of `normal[start..end]`, with the end of that word.
pub fn look_up(
    place: WordPosition,
    normal: &str,
    start: usize,
    end: usize,
    mut each: impl FnMut(&'static Pattern, usize),
) {
    let Some((index, begin)) = INDEX.as_ref().and_then(|index| Some((index, index.places[place as usize]?))) else {
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
            let (first, many) = split(value + node.final_output().value());
            PATTERNS[first..][..many].iter().for_each(|pattern| each(pattern, end));
        }
    }
}

/// Splits a value of the index: where the patterns that begin with a word are, and how many.
fn split(value: u64) -> (usize, usize) {
    ((value >> 16) as usize, (value & 0xffff) as usize)
}

include!(concat!(env!("OUT_DIR"), "/words.rs"));
static INDEX_BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/words.fst"));
