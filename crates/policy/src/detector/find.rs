//! Finds the patterns of the lists in a name.

use super::languages::LanguageSet;
use pipewright_words::{
    Pattern, Position, TablePart, TableParts, Word, is_unspaced, look_up, lower_case, normalise, words,
};

/// Of a longer text, only this many characters at each end are read: matches elsewhere would not count, and an
/// oversized text costs no more than this.
const MAX_END: usize = 200;

/// A name, and its normal form.
pub struct Name {
    text: String,
    pub normal: String,
    pub words: Vec<Word>,
    /// Whether a part of it is in a script without blanks, or an emoji.
    pub unspaced: bool,
}

/// A pattern that matches in a name.
#[derive(Clone, Copy)]
pub struct Match {
    pub pattern: Pattern,
    /// Bytes of the normal form.
    pub start: usize,
    pub end: usize,
    /// Words, the last one included.
    pub first: usize,
    pub last: usize,
}

impl Match {
    pub fn overlaps(&self, other: &Match) -> bool {
        self.start < other.end && other.start < self.end
    }

    pub fn length(&self) -> usize {
        self.end - self.start
    }
}

impl Name {
    pub fn read(name: &str) -> Name {
        let text = match ends(name) {
            Some((start, end)) => format!("{start}. {end}"),
            None => name.to_owned(),
        };
        let normal = normalise(&text);
        let words = words(&normal);
        let unspaced = !normal.is_ascii() && normal.contains(is_unspaced);
        Name { text, normal, words, unspaced }
    }

    /// Whether it has nothing to search.
    pub fn is_blank(&self) -> bool {
        self.words.is_empty() && !self.unspaced
    }

    /// The bytes from its first word to its last.
    pub fn span(&self) -> (usize, usize) {
        match (self.words.first(), self.words.last()) {
            (Some(first), Some(last)) => (first.start, last.end),
            _ => (0, self.normal.len()),
        }
    }

    /// The words of a match as they are written, in lower case.
    pub fn written(&self, found: &Match) -> String {
        if self.text.is_ascii() {
            return self.normal[found.start..found.end].to_owned();
        }
        let ends: Vec<usize> = self.text.char_indices().map(|(at, _)| at).chain([self.text.len()]).collect();
        // The position before which the normal form is this long, behind what has no normal form.
        let position = |length: usize| {
            let behind = ends.partition_point(|end| normalise(&self.text[..*end]).len() <= length);
            ends[behind.saturating_sub(1)]
        };
        let (start, end) = (position(found.start), position(found.end));
        lower_case(self.text.get(start..end).unwrap_or_default())
    }

    /// Every match of a pattern of these languages.
    pub fn matches(&self, languages: LanguageSet) -> Vec<Match> {
        let mut found = Vec::new();
        let is_spaced = |word: &Word| !self.unspaced || !self.normal[word.start..].starts_with(is_unspaced);
        for (at, word) in self.words.iter().enumerate().filter(|(_, word)| is_spaced(word)) {
            self.find_at_word(Position::Start, at, word.start, languages, &mut found);
            if word.elided != word.start {
                self.find_at_word(Position::Start, at, word.elided, languages, &mut found);
            }
            for (offset, _) in self.normal[word.start..word.end].char_indices() {
                self.find_at_word(Position::Inside, at, word.start + offset, languages, &mut found);
            }
        }
        if self.unspaced {
            for (start, _) in self.normal.char_indices() {
                self.find_anywhere(start, languages, &mut found);
            }
        }
        found
    }

    fn find_at_word(&self, place: Position, at: usize, start: usize, languages: LanguageSet, found: &mut Vec<Match>) {
        let word = &self.words[at];
        look_up(place, &self.normal, start, word.end, |pattern, end| {
            if !languages.has(pattern.language) || !pattern.begins(word, start, end) {
                return;
            }
            let Some(first) =
                self.word_before(at, pattern.leading_words()).filter(|first| *first == 0 || !pattern.at_start())
            else {
                return;
            };
            let start = if first == at && start == word.elided { start } else { self.words[first].start };
            if let Some(last) = self.follow(pattern.steps(), at, pattern.at_end()) {
                found.push(Match { pattern, start, end: self.words[last].end, first, last });
            }
        });
    }

    /// The word `many` words before another, in the same part of a sentence.
    fn word_before(&self, at: usize, many: usize) -> Option<usize> {
        let first = at.checked_sub(many)?;
        self.words[first + 1..=at].iter().all(|word| !word.apart).then_some(first)
    }

    /// The last word of a match, whose steps so far end at the word `at`.
    fn follow(&self, mut steps: TableParts, at: usize, at_end: bool) -> Option<usize> {
        let next = || self.words.get(at + 1).filter(|word| !word.apart);
        match steps.next() {
            None => (!at_end || at + 1 == self.words.len()).then_some(at),
            Some(TablePart::One) => next().and_then(|_| self.follow(steps, at + 1, at_end)),
            Some(TablePart::Few) => (1..=3)
                .take_while(|many| self.words.get(at + many).is_some_and(|word| !word.apart))
                .find_map(|many| self.follow(steps, at + many, at_end)),
            Some(step) => {
                next().filter(|word| step.is_word(&self.normal, word)).and_then(|_| self.follow(steps, at + 1, at_end))
            }
        }
    }

    /// Finds patterns of scripts without blanks: their steps may be anywhere later.
    fn find_anywhere(&self, start: usize, languages: LanguageSet, found: &mut Vec<Match>) {
        let (first, last) = self.span();
        look_up(Position::Anywhere, &self.normal, start, self.normal.len(), |pattern, mut end| {
            if !languages.has(pattern.language) || pattern.at_start() && start > first {
                return;
            }
            for step in pattern.steps() {
                let TablePart::Word { text, .. } = step else { continue };
                match self.normal[end..].find(text) {
                    Some(at) => end += at + text.len(),
                    None => return,
                }
            }
            if pattern.at_end() && end < last {
                return;
            }
            found.push(Match { pattern, start, end, first: self.word_at(start), last: self.word_at(end - 1) });
        });
    }

    /// The word at a byte, or the one before it.
    fn word_at(&self, byte: usize) -> usize {
        self.words.partition_point(|word| word.start <= byte).saturating_sub(1)
    }
}

/// Both ends of a text that is too long to be read completely.
fn ends(text: &str) -> Option<(&str, &str)> {
    if text.len() <= 2 * MAX_END {
        return None;
    }
    let (first, _) = text.char_indices().nth(MAX_END)?;
    let (last, _) = text.char_indices().nth_back(MAX_END - 1)?;
    (first < last).then(|| (&text[..first], &text[last..]))
}
