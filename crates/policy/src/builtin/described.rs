//! The label within a description of an element: `the red Delete button in row 3`, `button "Pay" [ref=e12]`,
//! `Click Pay`. Agents describe what they click on in their own words, and the words around the label hide what it says:
//! a list of phrases takes `Submit button` for a statement about a button.

use crate::lists::described::{
    BEHIND_CLICKING, CLICKING, HEADS, MODIFIERS, NOUNS, OBJECTS, PLACES, QUALIFIERS, UNSPACED,
};
use pipewright_record::identifier::split;
use pipewright_words::lower_case;
use std::collections::HashSet;
use std::sync::LazyLock;

/// What is read of a description, so that an oversized one costs no more: characters, parts, and words of a part.
const MOST_CHARACTERS: usize = 1000;
const MOST_PARTS: usize = 16;
const MOST_WORDS: usize = 40;

/// The quotes of a label, opening and closing.
const QUOTES: &[(char, char)] =
    &[('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('«', '»'), ('„', '“'), ('「', '」'), ('『', '』')];

/// The marks between the parts of a description, of which each may be one: `Dialog > Pay`, `Row 3, Delete button`.
const PART_ENDS: &[char] = &['>', '›', '»', '→', ',', ';', '|', '，', '、', '\n'];

struct Nouns {
    certain: HashSet<&'static str>,
    modifiers: HashSet<&'static str>,
    places: HashSet<&'static str>,
}

static WORDS: LazyLock<Nouns> = LazyLock::new(|| {
    let set = |words: &[&'static str]| words.iter().copied().collect();
    Nouns { certain: set(NOUNS), modifiers: set(MODIFIERS), places: set(PLACES) }
});

/// The labels that a text may describe; none if it describes no element.
pub(super) fn labels(text: &str) -> Vec<String> {
    let end = text.char_indices().nth(MOST_CHARACTERS).map_or(text.len(), |(end, _)| end);
    let text = without_reference(&text[..end]);
    // A single word is a label.
    if text.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Vec::new();
    }
    let mut labels = quoted(text);
    for part in text.split(PART_ENDS).take(MOST_PARTS) {
        labels.extend(of_part(part));
    }
    // A path ends with the element.
    if let Some((_, last)) = text.rsplit_once(['>', '›', '»', '→']) {
        labels.push(last.trim().to_owned());
    }
    labels.extend(behind_mark(text).map(str::to_owned));
    labels.extend(spread(text));
    labels.extend(in_code(text));
    labels.retain(|label| !label.is_empty() && label != text);
    labels
}

/// A text without the reference of a snapshot at its end: `[ref=e12]`.
fn without_reference(text: &str) -> &str {
    let text = text.trim();
    match text.rsplit_once('[') {
        Some((before, reference)) if reference.ends_with(']') && !before.trim().is_empty() => before.trim(),
        _ => text,
    }
}

/// The texts in quotes beside a noun for an element, or that are all there is.
fn quoted(text: &str) -> Vec<String> {
    let mut labels = Vec::new();
    for &(open, close) in QUOTES {
        // An apostrophe within a word is no quote.
        let is_begin = |at: usize| !text[..at].ends_with(char::is_alphanumeric);
        let Some(start) = text.match_indices(open).map(|(at, _)| at).find(|at| is_begin(*at)) else { continue };
        let inner = &text[start + open.len_utf8()..];
        let Some(end) = inner.rfind(close) else { continue };
        let around = [&text[..start], &inner[end + close.len_utf8()..]].concat();
        let is_element = around.trim().is_empty() || Tokens::read(&around).is_of_element();
        if is_element {
            labels.push(inner[..end].trim().to_owned());
        }
    }
    labels
}

/// What follows a number or a reference at the begin: `1 Pay`, `[12] Pay`, `3. Delete`.
fn behind_mark(text: &str) -> Option<&str> {
    let (mark, label) = text.split_once(char::is_whitespace)?;
    let number = mark.trim_matches(|one: char| one.is_ascii_punctuation());
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(label.trim())
}

/// The labels in the name of an element in code, or at the end of a selector: `btnDelete`,
/// `[data-testid='tweetButton']`.
fn in_code(text: &str) -> Vec<String> {
    let name = text.rsplit(|one: char| !one.is_alphanumeric()).find(|name| !name.is_empty());
    let words = name.filter(|_| !text.contains(char::is_whitespace)).map(split).unwrap_or_default();
    if words.len() < 2 {
        return Vec::new();
    }
    let words = words.join(" ");
    Tokens::read(&words).labels().into_iter().chain([words.clone()]).collect()
}

/// A word whose letters are spread: `P a y`.
fn spread(text: &str) -> Option<String> {
    let is_letter = |piece: &str| piece.chars().count() == 1 && piece.chars().all(char::is_alphabetic);
    let is_spread = text.split_whitespace().count() > 2 && text.split_whitespace().all(is_letter);
    is_spread.then(|| text.split_whitespace().collect())
}

/// The labels of a part that describes an element.
fn of_part(part: &str) -> Vec<String> {
    let tokens = Tokens::read(part);
    let mut labels = tokens.labels();
    labels.extend(unspaced(part));
    labels
}

/// The label beside a noun in a script without blanks: `删除按钮`, `ボタン「削除」`.
fn unspaced(part: &str) -> Option<String> {
    if part.is_ascii() {
        return None;
    }
    let (at, noun) = UNSPACED.iter().find_map(|noun| Some((part.rfind(noun)?, *noun)))?;
    let is_joint = |one: char| one.is_whitespace() || one.is_ascii_punctuation() || "的の：「」『』“”".contains(one);
    let sides = [&part[..at], &part[at + noun.len()..]];
    sides.into_iter().map(|side| side.trim_matches(is_joint)).find(|side| !side.is_empty()).map(str::to_owned)
}

/// The words of a part, as they are written and in lower case.
struct Tokens<'a> {
    written: Vec<&'a str>,
    lower: Vec<String>,
}

impl<'a> Tokens<'a> {
    fn read(text: &'a str) -> Tokens<'a> {
        let is_between = |one: char| one.is_whitespace() || "-()[]{}:\"`“”„«»/".contains(one);
        let pieces = text.split(is_between).map(|word| word.trim_matches(['.', '!', '?', '#', '*', '\'', '‘', '’']));
        let written: Vec<&str> = pieces.filter(|word| !word.is_empty()).take(MOST_WORDS).collect();
        let lower = written.iter().map(|word| lower_case(word)).collect();
        Tokens { written, lower }
    }

    fn is(&self, at: usize, words: &[&str]) -> bool {
        self.lower.get(at).is_some_and(|word| words.contains(&word.as_str()))
    }

    fn is_of_element(&self) -> bool {
        let is_noun = |at| self.noun_at(at) || self.is(at, OBJECTS) || self.is(at, CLICKING);
        (0..self.lower.len()).any(is_noun)
    }

    /// Whether a word is certainly a noun for an element.
    fn noun_at(&self, at: usize) -> bool {
        WORDS.certain.contains(self.lower[at].as_str()) || at > 0 && self.is(at, HEADS) && self.is(at - 1, QUALIFIERS)
    }

    fn labels(&self) -> Vec<String> {
        let count = self.lower.len();
        if count > 1 && self.is(0, CLICKING) {
            let start = 1 + (1..count - 1).take_while(|at| self.is(*at, BEHIND_CLICKING)).count();
            return [self.text(start, count), self.beside_noun(start)].into_iter().flatten().collect();
        }
        self.beside_noun(0).into_iter().collect()
    }

    /// The label before the first noun, or behind it.
    fn beside_noun(&self, start: usize) -> Option<String> {
        let count = self.lower.len();
        let place = |at: usize| WORDS.places.contains(self.lower[at].as_str());
        let is_noun = |at: usize| {
            let is_placed = || at + 1 < count && place(at + 1) || self.is(start, &["the", "a"]);
            self.noun_at(at) || self.is(at, OBJECTS) && is_placed()
        };
        let noun = (start..count).find(|at| is_noun(*at))?;
        let mut end = noun;
        while end > start + 1 && self.is(end - 1, QUALIFIERS) {
            end -= 1;
        }
        let first = self.behind_modifiers(start, end);
        if first < end {
            // What follows an element's noun is its place; otherwise the noun is a part of another phrase.
            let is_end = noun + 1 == count || place(noun + 1) || self.behind_modifiers(noun + 1, noun + 2) > noun + 1;
            return is_end.then(|| self.text(self.label_start(first, end), end))?;
        }
        let first = self.behind_modifiers(noun + 1, count);
        let end = (first + 1..count).find(|at| place(*at)).unwrap_or(count);
        self.text(first, end)
    }

    fn behind_modifiers(&self, start: usize, end: usize) -> usize {
        let is_modifier = |at: &usize| {
            let word = self.lower[*at].as_str();
            WORDS.modifiers.contains(word) || word.bytes().all(|byte| byte.is_ascii_digit())
        };
        start + (start..end).take_while(is_modifier).count()
    }

    /// Where a label begins: behind words in lower case, if it is capitalised as labels are.
    fn label_start(&self, first: usize, end: usize) -> usize {
        let is_capital = |at: &usize| self.written[*at].starts_with(char::is_uppercase);
        (first..end).find(is_capital).unwrap_or(first)
    }

    fn text(&self, start: usize, end: usize) -> Option<String> {
        (start < end).then(|| self.written[start..end].join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::labels;
    use proptest::prelude::*;

    #[test]
    fn an_oversized_description_has_few_labels() {
        assert!(labels(&"the Pay button, ".repeat(10_000)).len() < 40);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "[\\PC'\"\\[\\]>. -]{0,40}", noun in "button|按钮|link|") {
            labels(&text);
            labels(&format!("{text} {noun}"));
            labels(&format!("{noun}{text}"));
        }
    }
}
