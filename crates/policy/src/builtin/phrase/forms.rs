//! Verbs in other forms, and verbs that are the name of a service.

use super::super::lexicon::{NounPosition, WordSense, look_up};
use super::super::names::Class;
use super::{Word, derived, effect, is_effect};

impl<'a> Word<'a> {
    /// The verb of which it is another form: `deletes`, `modifies`, `dropping`.
    fn inflected(&self) -> Option<Word<'a>> {
        const SUFFIXES: [(&str, &str); 5] = [("s", ""), ("es", ""), ("ies", "y"), ("ing", ""), ("ing", "e")];
        let verb = |stem: &str| look_up(stem).or_else(|| derived(stem));
        let stems = SUFFIXES.iter().filter_map(|(end, back)| Some(format!("{}{back}", self.text.strip_suffix(end)?)));
        let doubled = self.text.strip_suffix("ing").and_then(|stem| {
            let short = stem.get(..stem.len().checked_sub(1)?)?;
            short.ends_with(stem.get(short.len()..)?).then(|| short.to_owned())
        });
        let mut verbs = stems.chain(doubled).filter_map(|stem| verb(&stem));
        let (listed, sense) = verbs.find(|found| is_effect(found) || found.1 == WordSense::Run)?;
        self.sense.is_none().then_some(Word { text: self.text, sense: Some(sense), listed })
    }
}

/// The class of words that seem to be nouns, of which one is another form of a verb: `deletes_log`,
/// `user_removes_events`. A verb that may be a noun is one only at the head, before other words: `updates_title`, but
/// not `account_updates`.
pub(super) fn inflected_class(words: &[Word<'_>]) -> Option<Class> {
    let verbs = words.iter().enumerate().filter_map(|(at, word)| Some((at, word.inflected()?)));
    verbs
        .filter_map(|(at, verb)| match verb.sense? {
            WordSense::Run => (!verb.listed.contains("run")).then_some(Class::Run),
            WordSense::Effect(_, NounPosition::Never) => Some(effect(&verb, words)),
            WordSense::Effect(_, NounPosition::AtEnd | NounPosition::AfterVerb) if at == 0 && words.len() > 1 => {
                Some(effect(&verb, words))
            }
            _ => None,
        })
        .next()
}

/// Verbs that a service's method begins with if it reads.
const METHODS: &[&str] = &[
    "check", "count", "describe", "fetch", "find", "get", "getall", "list", "lookup", "query", "read", "retrieve",
    "search", "show", "view",
];
/// What a verb before them acts on, rather than being a service: `email_searchResults`, `book_showTickets`.
const OBJECT_NOUNS: &[&str] = &["list", "receipt", "receipts", "result", "results", "ticket", "tickets"];

/// Whether words are a service and a method that reads, if the mark between them allows this. A verb is the service's
/// name if it is a noun, too.
pub(in crate::builtin) fn is_method_of(service: &[Word<'_>], method: &[Word<'_>]) -> bool {
    let [verb, .., object] = method else { return false };
    let may_name = |word: &Word<'_>| match word.sense {
        Some(WordSense::Effect(_, NounPosition::Beside)) => true,
        Some(WordSense::Effect(_, noun)) => noun != NounPosition::Never && verb.is(&["get"]),
        Some(WordSense::Thing | WordSense::Screen | WordSense::Shown | WordSense::Read | WordSense::ReadOrNoun) => true,
        None => word.inflected().is_none_or(|verb| !matches!(verb.effect(), Some((_, NounPosition::Never)))),
        Some(_) => false,
    };
    verb.is(METHODS) && !object.is(OBJECT_NOUNS) && !service.is_empty() && service.iter().all(may_name)
}
