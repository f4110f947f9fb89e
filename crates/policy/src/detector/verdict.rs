//! The matches that count, without harmless ones and negations.

use super::find::{Match, Name};
use super::grammar::{is_at_an_end, is_mentioned, length};
use super::languages::LanguageSet;
use super::{ActionKind, Scope};
use pipewright_words::pattern::{BENIGN, GENERIC, NEGATIONS};
use std::cmp::Reverse;

/// The verdict of the lists on a name.
pub enum Verdict {
    /// The action that counts.
    Action(Match),
    /// The name has no more meaning than OK or Yes.
    Generic,
    Benign,
}

/// A name with more words than this is a sentence.
const LABEL: usize = 8;

pub fn judge(name: &Name, languages: LanguageSet, scope: Scope) -> Verdict {
    let matches = name.matches(languages);
    let actions: Vec<&Match> = matches.iter().filter(|found| found.pattern.list < BENIGN).collect();
    // A longer pattern outranks shorter ones that it overlaps, and then one with fewer arbitrary words outranks others.
    let weight = |found: &Match| (found.length(), Reverse(found.pattern.unnamed()));
    let is_best = |found: &&&Match| !actions.iter().any(|other| other.overlaps(found) && weight(other) > weight(found));
    // An action that one language negates does not count for a related language with the same verb either.
    let is_denied = |found: &Match| {
        let same = actions.iter().filter(|other| (other.start, other.end) == (found.start, found.end));
        same.into_iter().any(|other| is_negated(other, &matches, name))
    };
    let counts = |found: &Match| match scope {
        Scope::Whole => (found.start, found.end) == name.span(),
        Scope::Label => !is_sentence(name) || is_at_an_end(found, &matches, name),
        Scope::Anywhere => true,
    };
    let left = actions.iter().filter(is_best).filter(|found| counts(found));
    let left = left.filter(|found| !is_harmless(found, &matches, languages) && !is_denied(found));
    // Around a button without a meaning of its own, a statement tells what the button does.
    let left = left.filter(|found| !matches!(scope, Scope::Label) || !is_mentioned(found, &matches, name));
    match left.min_by_key(|found| rank(found)) {
        Some(found) => Verdict::Action(**found),
        None if is_generic(name, &matches) => Verdict::Generic,
        None => Verdict::Benign,
    }
}

/// Whether a benign match outranks the action.
fn is_harmless(action: &Match, matches: &[Match], languages: LanguageSet) -> bool {
    matches.iter().filter(|other| other.pattern.list == BENIGN && other.overlaps(action)).any(|benign| {
        let outranks = languages.outranks(benign.pattern.language, action.pattern.language);
        benign.length() > action.length() || benign.length() == action.length() && outranks
    })
}

/// Whether a word of its language negates it: one of the two before it, or the next one ("slett ikke").
fn is_negated(action: &Match, matches: &[Match], name: &Name) -> bool {
    let mut negations = matches
        .iter()
        .filter(|other| other.pattern.list == NEGATIONS && other.pattern.language == action.pattern.language);
    negations.any(|negation| {
        if negation.pattern.unspaced() {
            return denies_unspaced(negation, action, name);
        }
        let joined = |from: usize, to: usize| from < to && !name.words[from + 1..=to].iter().any(|word| word.apart);
        negation.last < action.first && action.first - negation.last <= 2 && joined(negation.last, action.first)
            || negation.first == action.last + 1 && joined(action.last, negation.first) && denies_behind(negation)
    })
}

/// Whether an action is denied in a script without blanks: within four characters before it, or two after it, in the
/// same part of the sentence.
fn denies_unspaced(negation: &Match, action: &Match, name: &Name) -> bool {
    let near = |from: usize, to: usize, most: usize| {
        name.normal.get(from..to).is_some_and(|between| {
            between.chars().count() <= most
                && !between.contains(|c: char| c.is_ascii_punctuation() || "、，。".contains(c))
        })
    };
    near(negation.end, action.start, 4) || denies_behind(negation) && near(action.end, negation.start, 2)
}

/// Whether a negation applies to the word before it. In these languages it belongs to the words after it: "delete not
/// used", 删除不需要的.
fn denies_behind(negation: &Match) -> bool {
    !matches!(negation.pattern.language(), "en" | "zh-Hans" | "zh-Hant" | "th" | "lo" | "km")
}

fn is_sentence(name: &Name) -> bool {
    length(name) > LABEL
}

/// Whether its words are all like OK and Yes.
fn is_generic(name: &Name, matches: &[Match]) -> bool {
    let mut generic = matches.iter().filter(|found| found.pattern.list == GENERIC).peekable();
    generic.peek().is_some()
        && name.words.iter().all(|word| generic.clone().any(|found| found.start <= word.start && word.end <= found.end))
}

/// The order of kinds if there are several: the gravest first.
fn rank(found: &Match) -> usize {
    const ORDER: [ActionKind; 14] = [
        ActionKind::Pay,
        ActionKind::CancelOrder,
        ActionKind::Delete,
        ActionKind::Overwrite,
        ActionKind::Discard,
        ActionKind::Revoke,
        ActionKind::Run,
        ActionKind::Install,
        ActionKind::Order,
        ActionKind::Grant,
        ActionKind::Publish,
        ActionKind::Send,
        ActionKind::Submit,
        ActionKind::Confirm,
    ];
    let kind = ActionKind::of_list(found.pattern.list);
    ORDER.iter().position(|other| Some(*other) == kind).unwrap_or(ORDER.len())
}
