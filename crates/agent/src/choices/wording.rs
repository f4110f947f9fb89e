//! What a text names: quotes, names, words.

use std::collections::BTreeSet;

/// Marks around a text that is quoted.
const QUOTES: [(char, char); 6] = [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('«', '»'), ('「', '」')];

/// The texts that a text quotes, in lower case, without the punctuation at their ends.
pub(super) fn quoted(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let close =
            QUOTES.iter().find(|(open, _)| *open == first && !before.is_alphanumeric()).map(|(_, close)| *close);
        let ends = |(at, one): &(usize, char)| {
            Some(*one) == close && !after[at + one.len_utf8()..].starts_with(char::is_alphanumeric)
        };
        match close.and_then(|_| after.char_indices().find(ends)) {
            Some((at, one)) => {
                let inner = after[..at].trim_matches(|one: char| one.is_whitespace() || ".,;:!?".contains(one));
                found.extend((!inner.is_empty()).then(|| inner.to_lowercase()));
                (rest, before) = (&after[at + one.len_utf8()..], one);
            }
            None => (rest, before) = (after, first),
        }
    }
    found
}

pub(super) fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Keys are written like names.
const KEYS: [&str; 10] = ["Alt", "Backspace", "Ctrl", "Delete", "Enter", "Esc", "Escape", "Shift", "Space", "Tab"];
/// Words of German, which writes all nouns like names.
const GERMAN: [&str; 12] = ["das", "dem", "den", "der", "des", "die", "ein", "eine", "einen", "mit", "und", "von"];

/// The names in a text, as far as its spelling tells: words with a capital that do not begin a sentence.
pub(super) fn names(text: &str) -> Vec<String> {
    if words(text).iter().any(|word| GERMAN.contains(&&**word)) {
        return Vec::new();
    }
    let mut begins = true;
    let mut found = Vec::new();
    for part in text.split_whitespace() {
        let word = part.trim_matches(|one: char| !one.is_alphanumeric());
        let word = word.strip_suffix("'s").or(word.strip_suffix("’s")).unwrap_or(word);
        let is_long = word.chars().nth(1).is_some();
        if !begins && is_long && word.starts_with(char::is_uppercase) && !KEYS.contains(&word) {
            found.push(word.to_owned());
        }
        begins = part.ends_with(['.', '!', '?', ':']);
    }
    found
}

/// Dates and times in a text: three numbers with the same sign between them, or two with a colon.
pub(super) fn dates(text: &str) -> Vec<String> {
    let parts = text.split(|one: char| !one.is_ascii_digit() && !"-/:.".contains(one));
    let is_date = |part: &&str| {
        ['-', '/', '.', ':'].into_iter().any(|sign| {
            let numbers: Vec<&str> = part.split(sign).collect();
            let is_number =
                |number: &&str| (1..=4).contains(&number.len()) && number.bytes().all(|one| one.is_ascii_digit());
            (numbers.len() == 3 || (numbers.len() == 2 && sign == ':')) && numbers.iter().all(is_number)
        })
    };
    parts.map(|part| part.trim_matches(['-', '/', ':', '.'])).filter(is_date).map(str::to_owned).collect()
}

/// Whether a text is about several things, in a word that it does not quote.
pub(super) fn means_several(text: &str) -> bool {
    let plain = quoted(text).iter().fold(text.to_lowercase(), |plain, quote| plain.replace(&**quote, " "));
    words(&plain).iter().any(|word| ["all", "both", "each", "every"].contains(&&**word))
}

/// Whether a text asks for an answer rather than for an action.
pub(super) fn is_question(text: &str) -> bool {
    text.trim_end().ends_with(['?', '\u{ff1f}', '\u{61f}'])
}

/// Whether a text has this one, in lower case, as a whole.
pub(super) fn mentions(text: &str, part: &str) -> bool {
    let text = text.to_lowercase();
    let is_whole = |(at, found): (usize, &str)| {
        !text[..at].ends_with(char::is_alphanumeric) && !text[at + found.len()..].starts_with(char::is_alphanumeric)
    };
    !part.trim().is_empty() && text.match_indices(part).any(is_whole)
}
