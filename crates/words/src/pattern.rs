//! The syntax of patterns in the lists; `lists/README.md` describes it for their authors.

use crate::normalise::{is_unspaced, normalise, words};

/// The lists of a language's file: the actions, then the lists that exclude matches.
pub const LISTS: [&str; 19] = [
    "delete",
    "send",
    "pay",
    "order",
    "confirm",
    "submit",
    "publish",
    "overwrite",
    "discard",
    "cancel_order",
    "revoke",
    "grant",
    "install",
    "run",
    "benign",
    "negations",
    "generic",
    "before",
    "behind",
];
/// The index of the first list that has no action: phrases with an action's word that are harmless.
pub const BENIGN: u8 = 14;
/// The index of the list of negations.
pub const NEGATIONS: u8 = 15;
/// The index of the list of words that only agree to a dialog.
pub const GENERIC: u8 = 16;
/// The index of the list of words that turn the action behind them into a thing.
pub const BEFORE_LIST: u8 = 17;
/// The index of the list of words that turn the action before them into a thing.
pub const AFTER_LIST: u8 = 18;

/// A word of a pattern, in normal form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternWord {
    /// Its text.
    pub text: String,
    /// `*` before it: the word may have other text before.
    pub open_left: bool,
    /// `*` after it: the word may have other text after.
    pub open_right: bool,
}

/// A part of a pattern after its first word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternPart {
    /// A word.
    Word(PatternWord),
    /// `_`, or `*` alone.
    One,
    /// `...`
    Few,
}

/// What a list has, with one alternative chosen of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// `^`
    pub at_start: bool,
    /// `$`
    pub at_end: bool,
    /// The pattern has a script without blanks: it is searched anywhere, and its steps anywhere later.
    pub unspaced: bool,
    /// The number of arbitrary words (`_`) before the first given one: at most three.
    pub lead: u8,
    /// The first given word.
    pub first: PatternWord,
    /// What follows it.
    pub rest: Vec<PatternPart>,
}

/// What is wrong with a pattern.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidPattern(String);

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(written: &str) -> Result<Pattern, InvalidPattern> {
        let (at_start, inner) = written.strip_prefix('^').map_or((false, written), |rest| (true, rest));
        let (at_end, inner) = inner.strip_suffix('$').map_or((false, inner), |rest| (true, rest));
        let unspaced = inner.contains(is_unspaced);
        let mut steps = Vec::new();
        for part in inner.split_whitespace() {
            match part {
                "_" | "*" | "..." | "…" if unspaced => (), // a blank says it already
                "_" | "*" => steps.push(PatternPart::One),
                "..." | "…" => steps.push(PatternPart::Few),
                part => read_part(part, unspaced, &mut steps)?,
            }
        }
        let lead = steps.iter().take_while(|step| **step == PatternPart::One).count();
        let mut steps = steps.into_iter().skip(lead);
        match (steps.next(), lead) {
            (Some(PatternPart::Word(first)), 0..=3) => {
                Ok(Pattern { at_start, at_end, unspaced, lead: lead as u8, first, rest: steps.collect() })
            }
            _ => Err(InvalidPattern("it must begin with a word, or at most three _".to_owned())),
        }
    }
}

/// Expands braces and tildes: `cancel ~ {order|plan}` is *cancel order*, *cancel ... order* and the same with *plan*.
///
/// # Errors
/// A brace is not closed.
pub fn alternatives(written: &str) -> Result<Vec<String>, InvalidPattern> {
    if let Some((before, after)) = written.split_once('{') {
        let (inside, after) = after.split_once('}').ok_or_else(|| InvalidPattern("a { has no }".to_owned()))?;
        let mut all = Vec::new();
        for one in inside.split('|') {
            all.extend(alternatives(&format!("{before}{one}{after}"))?);
        }
        return Ok(all);
    }
    match written.split_once('~') {
        Some((before, after)) => {
            let mut all = alternatives(&format!("{}{after}", before.trim_end()))?;
            all.extend(alternatives(&format!("{before}...{after}"))?);
            Ok(all)
        }
        None => Ok(vec![written.to_owned()]),
    }
}

/// Reads a part without blanks: `lösch*`; `check-out`, which is two words; `&`, which is no word, as in names.
fn read_part(part: &str, unspaced: bool, to: &mut Vec<PatternPart>) -> Result<(), InvalidPattern> {
    let (open_left, inner) = part.strip_prefix('*').map_or((false, part), |rest| (true, rest));
    let (open_right, inner) = inner.strip_suffix('*').map_or((false, inner), |rest| (true, rest));
    if inner.contains(['*', '^', '$', '_']) {
        return Err(InvalidPattern(format!(
            "{part:?}: `*` is allowed only at a word's ends, `^` and `$` only at the pattern's ends, `_` only alone"
        )));
    }
    let normal = normalise(inner);
    if unspaced {
        to.push(PatternPart::Word(PatternWord { text: normal, open_left: true, open_right: true }));
        return Ok(());
    }
    let words = words(&normal);
    to.extend(words.iter().enumerate().map(|(index, word)| {
        PatternPart::Word(PatternWord {
            text: normal[word.start..word.end].to_owned(),
            open_left: open_left && index == 0,
            open_right: open_right && index == words.len() - 1,
        })
    }));
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    fn piece(text: &str, open_left: bool, open_right: bool) -> PatternWord {
        PatternWord { text: text.to_owned(), open_left, open_right }
    }

    #[test]
    fn a_pattern_is_read_as_words_with_their_ends() {
        let read = Pattern::read("^*Löschen  _ check-out* & ... x$").unwrap();
        assert!(read.at_start && read.at_end && !read.unspaced);
        assert_eq!(read.first, piece("loschen", true, false));
        let word = |text, right| PatternPart::Word(piece(text, false, right));
        assert_eq!(Pattern::read("_ * done").unwrap().lead, 2);
        assert_eq!(
            read.rest,
            [PatternPart::One, word("check", false), word("out", true), PatternPart::Few, word("x", false)]
        );
    }

    #[test]
    fn a_pattern_may_stand_for_several() {
        assert_eq!(
            alternatives("cancel ~ {order|free trial}$").unwrap(),
            ["cancel order$", "cancel ... order$", "cancel free trial$", "cancel ... free trial$"]
        );
        assert_eq!(alternatives("{a|b}x*").unwrap(), ["ax*", "bx*"]);
        assert_eq!(alternatives("x").unwrap(), ["x"]);
        assert!(alternatives("a {b").is_err());
    }

    #[test]
    fn a_pattern_without_blanks_is_found_anywhere() {
        let read = Pattern::read("PDF を 削除").unwrap();
        assert!(read.unspaced);
        assert_eq!(read.first, piece("pdf", true, true));
        assert_eq!(read.rest.len(), 2);
    }

    #[test]
    fn a_pattern_without_meaning_is_refused() {
        for written in ["", "  ", "*", "& !", "_ _", "_ _ _ _ delete", "... delete", "de*lete", "a ^b", "$", "foo_bar"]
        {
            assert!(Pattern::read(written).is_err(), "{written}");
        }
    }
}
