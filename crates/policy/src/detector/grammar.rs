//! The role of an action's word in a name: the name may command the action, or only mention it in a heading, a setting
//! or a statement.

use super::ActionKind;
use super::find::{Match, Name};
use crate::lists::detector_grammar::{PARTICLES, PASSWORD};
use pipewright_words::pattern::{AFTER_LIST, BEFORE_LIST, BENIGN, GENERIC};
use pipewright_words::{Word, is_unspaced};

/// A name with more words than this that begins with "allow" is a setting: a button allows one thing, or access to it.
const PERMISSION: usize = 4;
/// The approximate length of a word in scripts without blanks, in characters.
const CHARACTERS: usize = 3;

/// Languages whose verb is the last word: a word after it is a noun that the verb belongs to ("silme tarihi", 삭제 날짜,
/// 削除履歴).
const VERB_FINAL: [&str; 17] =
    ["az", "bn", "hi", "ja", "kk", "ko", "ky", "mn", "mr", "ne", "ta", "te", "tr", "ug", "ur", "uz", "ka"];
/// Whether an action is only mentioned.
pub(super) fn is_mentioned(action: &Match, matches: &[Match], name: &Name) -> bool {
    // A field or a heading.
    name.normal.trim_end().ends_with(':')
        || has_head(action, matches, name)
        || is_modifier(action, matches, name)
        || is_behind_noun(action, matches, name)
        || is_setting(action, name)
        || is_stated(action, matches, name)
        || is_of_password(action, name)
}

fn is_of_password(action: &Match, name: &Name) -> bool {
    matches!(ActionKind::of_list(action.pattern.list), Some(ActionKind::Confirm | ActionKind::Overwrite))
        && PASSWORD.iter().any(|password| name.normal.contains(password))
}

/// The number of words of a name; approximate in scripts without blanks.
pub(super) fn length(name: &Name) -> usize {
    if !name.unspaced {
        return name.words.len();
    }
    let unspaced = name.normal.chars().filter(|&c| is_unspaced(c)).count();
    let is_spaced = |word: &&Word| !name.normal[word.start..word.end].contains(is_unspaced);
    name.words.iter().filter(is_spaced).count() + unspaced / CHARACTERS
}

/// Whether a word of the language's `before` or `behind` is next to it: "ngày xác nhận" is the day of it, 退款方式 the way
/// of it. One other word may be between a `before` word and the action.
fn has_head(action: &Match, matches: &[Match], name: &Name) -> bool {
    matches.iter().filter(|head| head.pattern.language == action.pattern.language).any(|head| match head.pattern.list {
        AFTER_LIST if head.pattern.unspaced() => head.start == action.end,
        AFTER_LIST => head.first == action.last + 1,
        BEFORE_LIST if head.pattern.unspaced() => head.end == action.start,
        BEFORE_LIST => {
            let mut between = name.words.iter().take(action.first + 1).skip(head.last + 1);
            head.last < action.first && action.first - head.last <= 2 && !between.any(|word| word.apart)
        }
        _ => false,
    })
}

/// Whether a word follows the verb in a language whose verb comes last.
fn is_modifier(action: &Match, matches: &[Match], name: &Name) -> bool {
    if !VERB_FINAL.contains(&action.pattern.language()) {
        return false;
    }
    if action.pattern.unspaced() {
        // Kana continues the verb, other characters continue a compound. A pattern may end within a word.
        let of_verb = matches.iter().filter(|other| other.pattern.list < BENIGN && other.overlaps(action));
        let end = of_verb.map(|other| other.end).max().unwrap_or(action.end);
        let is_kana = |sign: char| ('\u{3040}'..='\u{309f}').contains(&sign);
        let next = name.normal[end..].chars().next();
        return !name.normal[..end].ends_with(is_kana) && next.is_some_and(|next| is_unspaced(next) && !is_kana(next));
    }
    let Some(next) = name.words.get(action.last + 1).filter(|word| !word.apart) else { return false };
    let is_read =
        matches.iter().any(|other| other.start >= action.end && other.start <= next.start && other.end >= next.end);
    let word = &name.normal[next.start..next.end];
    let is_joined = name.normal[action.end..next.start].trim().is_empty() && word.chars().all(char::is_alphabetic);
    is_joined && !is_read && !PARTICLES.contains(&word)
}

/// Languages whose verb is the first word: a word before a commanding verb agrees, or is another command.
const VERB_FIRST: [&str; 13] = ["ar", "ca", "el", "es", "fr", "gl", "he", "id", "it", "ms", "pt", "ro", "vi"];

/// Whether another word precedes the verb in a language whose verb comes first: "sala pública", "codice di conferma".
fn is_behind_noun(action: &Match, matches: &[Match], name: &Name) -> bool {
    let is_read = |word: &Word| {
        let text = &name.normal[word.start..word.end];
        text.chars().count() <= 2 || matches.iter().any(|other| other.start <= word.start && other.end >= word.end)
    };
    VERB_FIRST.contains(&action.pattern.language())
        && action.first > 0
        && name.normal[..action.start].trim_end().ends_with(char::is_alphanumeric)
        && !name.normal.trim_end().ends_with(['?', ';', '\u{61f}'])
        && !name.words[..action.first].iter().all(is_read)
}

/// Whether a single word for granting begins a long name ("Allow customers to change their data"). The English patterns
/// list the rights themselves.
fn is_setting(action: &Match, name: &Name) -> bool {
    let is_bare = action.pattern.steps().next().is_none() && action.pattern.leading_words() == 0;
    ActionKind::of_list(action.pattern.list) == Some(ActionKind::Grant)
        && is_bare
        && action.pattern.language() != "en"
        && length(name) > if action.pattern.unspaced() { 2 * PERMISSION } else { PERMISSION }
}

/// Whether it is in the middle of a sentence that ends with a full stop.
fn is_stated(action: &Match, matches: &[Match], name: &Name) -> bool {
    let text = name.normal.trim_end();
    let is_sentence = text.ends_with('.') && !text.ends_with("..") || text.ends_with('\u{3002}');
    is_sentence && !is_at_an_end(action, matches, name)
}

/// Whether a sentence begins with the action (after a yes), or ends with it.
pub(super) fn is_at_an_end(action: &Match, matches: &[Match], name: &Name) -> bool {
    let (first, last) = name.span();
    let is_generic = |at: usize| matches.iter().any(|m| m.pattern.list == GENERIC && m.first <= at && at <= m.last);
    let behind = name.normal.get(action.end..last).map_or(0, |rest| rest.chars().count());
    action.start <= first
        || (0..action.first).all(is_generic)
        || action.end >= last
        || action.pattern.unspaced() && behind <= 2 * CHARACTERS
}
