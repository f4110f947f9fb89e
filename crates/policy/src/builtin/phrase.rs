//! The words of a tool's name together: its verb, and whether other words are verbs, too.

mod acting;
mod forms;

use super::lexicon::{
    CONVERSATION_WORDS, NounPosition, PARTICLES, PREPOSITIONS, READ_ONLY_OBJECTS, VERB_PREFIXES, WordSense, look_up,
};
use super::names::Class;
use crate::detector::ActionKind;
use crate::lists::senses::{AGENTS, ASKING, WORKING};
use forms::inflected_class;
pub(super) use forms::is_method_of;

/// A word of a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<'a> {
    text: &'a str,
    sense: Option<WordSense>,
    /// Its entry in the lists; empty if it has none.
    listed: &'static str,
}

impl<'a> Word<'a> {
    fn read(text: &'a str) -> Word<'a> {
        let found = look_up(text).or_else(|| derived(text)).or_else(|| reader(text)).or_else(|| compound(text));
        Word { text, sense: found.map(|(_, sense)| sense), listed: found.map_or("", |(listed, _)| listed) }
    }

    /// Its entry in the lists; empty if it has none.
    pub(super) fn listed(&self) -> &'static str {
        self.listed
    }

    pub(super) fn sense(&self) -> Option<WordSense> {
        self.sense
    }

    pub(super) fn is(&self, words: &[&str]) -> bool {
        words.contains(&self.text)
    }

    fn has(&self, senses: &[WordSense]) -> bool {
        self.sense.is_some_and(|sense| senses.contains(&sense))
    }

    /// Whether it is a noun.
    fn is_any_noun(&self) -> bool {
        match self.sense {
            Some(WordSense::Thing | WordSense::Screen | WordSense::Shown | WordSense::Code | WordSense::Enter) => true,
            None => looks_like_noun(self.text),
            _ => false,
        }
    }

    fn effect(&self) -> Option<(Option<ActionKind>, NounPosition)> {
        match self.sense {
            Some(WordSense::Effect(kind, noun)) => Some((kind, noun)),
            _ => None,
        }
    }
}

/// A verb with an effect and a prefix.
fn derived(text: &str) -> Option<(&'static str, WordSense)> {
    VERB_PREFIXES.iter().find_map(|prefix| look_up(text.strip_prefix(prefix)?).filter(is_effect))
}

/// A noun made from a verb that reads, which is shown if it is the last word: `api_explorer`.
fn reader(text: &str) -> Option<(&'static str, WordSense)> {
    let verbs = ["r", "er", "or"].into_iter().filter_map(|end| look_up(text.strip_suffix(end)?));
    let mut reading = verbs.filter(|(_, sense)| matches!(sense, WordSense::Read | WordSense::ReadOrNoun));
    reading.next().map(|(verb, _)| (verb, WordSense::Shown))
}

/// Two words written as one: `deletefile` deletes, and `uptimecheck` is a thing.
fn compound(text: &str) -> Option<(&'static str, WordSense)> {
    let parts = (3..text.len().saturating_sub(2)).filter_map(|at| Some((text.get(..at)?, text.get(at..)?)));
    parts.filter_map(|(first, second)| Some((look_up(first)?, look_up(second)?.1))).find_map(|(first, second)| {
        match (first.1, second) {
            (WordSense::Effect(_, NounPosition::Never), WordSense::Thing | WordSense::Shown) => Some(first),
            (
                WordSense::Thing,
                WordSense::Thing | WordSense::ReadOrNoun | WordSense::Effect(_, NounPosition::Beside),
            ) => Some((first.0, WordSense::Thing)),
            (WordSense::Thing, WordSense::Shown) => Some((first.0, WordSense::Shown)),
            _ => None,
        }
    })
}

fn is_effect(found: &(&'static str, WordSense)) -> bool {
    matches!(found.1, WordSense::Effect(..))
}

/// Whether an unlisted word is unlikely to be a verb: a plural, an abbreviation, a version, or a word with the ending
/// of a noun.
fn looks_like_noun(word: &str) -> bool {
    const NOUN_SUFFIXES: [&str; 10] = ["ance", "ed", "ence", "ing", "ity", "ment", "ness", "ship", "sion", "tion"];
    let ends_with = |ends: &[&str]| ends.iter().any(|end| word.strip_suffix(end).is_some_and(|stem| stem.len() > 2));
    let is_plural = word.len() > 3 && ends_with(&["s"]) && !ends_with(&["ss", "us", "is"]);
    let has_vowel = word.contains(['a', 'e', 'i', 'o', 'u', 'y']);
    word.is_ascii()
        && (is_plural || !has_vowel || ends_with(&NOUN_SUFFIXES) || word.contains(|sign: char| sign.is_ascii_digit()))
}

/// The words of `texts`, in which two words of a verb or a noun are joined. `joined` owns the texts.
pub(super) fn words<'a>(texts: &'a [String], joined: &'a mut Vec<String>) -> Vec<Word<'a>> {
    let is_one = |first: &str, second: &str| {
        let is_second = PARTICLES.contains(&second) || ["request", "requests", "shell"].contains(&second);
        is_second && look_up(&[first, second].concat()).is_some()
    };
    let mut at = 0;
    while at < texts.len() {
        let count = if at + 1 < texts.len() && is_one(&texts[at], &texts[at + 1]) { 2 } else { 1 };
        joined.push(texts[at..at + count].concat());
        at += count;
    }
    joined.iter().map(|text| Word::read(text)).collect()
}

/// Whether they are a single noun for something that is shown.
pub(super) fn is_one_noun(words: &[Word<'_>]) -> bool {
    matches!(words, [word] if word.has(&[WordSense::Shown]))
}

/// The class of a word that has an effect at any place: no other word excuses it.
pub(super) fn certain_effect(words: &[Word<'_>]) -> Option<Class> {
    let verb = words.iter().find(|word| matches!(word.effect(), Some((_, NounPosition::Never))))?;
    Some(effect(verb, words))
}

/// The class of a verb with an effect. If its kind is not known, a noun tells: `create_order`.
fn effect(verb: &Word<'_>, words: &[Word<'_>]) -> Class {
    let of_kind = |word: &Word<'_>| Some(Class::Destroy(word.effect()?.0?, word.listed));
    of_kind(verb).or_else(|| words.iter().find_map(of_kind)).unwrap_or(Class::Change(verb.listed))
}

/// Whether all of the words are nouns.
pub(super) fn are_nouns(words: &[Word<'_>]) -> bool {
    !words.is_empty()
        && words.iter().all(Word::is_any_noun)
        && inflected_class(words).is_none()
        && !words.iter().any(|word| word.has(&[WordSense::Code, WordSense::Enter]))
}

/// The class of the words; [`Class::Unknown`] without a known verb.
pub(super) fn class_of(words: &[Word<'_>]) -> Class {
    if is_talk(words) {
        return Class::Observe;
    }
    if asks_agent(words) {
        return Class::Unknown;
    }
    if is_going(words) {
        return Class::Navigate;
    }
    if let [tool, refs] = words
        && tool.is(&["git"])
        && refs.is(&["branch", "branches", "remote", "remotes", "tag", "tags"])
    {
        return Class::Refs;
    }
    if let Some(class) = on_page(words) {
        return class;
    }
    if let Some(class) = certain_effect(words) {
        return class;
    }
    let mut clauses = words.split(|word| word.is(&["and", "then", "or"]));
    let first = clauses.next().unwrap_or_default();
    let classes = clauses.map(|clause| joined_class(clause, first.len() < 2));
    std::iter::once(clause_class(first)).chain(classes.flatten()).max_by_key(strictness).unwrap_or(Class::Unknown)
}

/// The order of classes: the strictest class of a name's clauses counts.
fn strictness(class: &Class) -> u8 {
    match class {
        Class::Destroy(..) => 5,
        Class::Change(_) => 4,
        Class::Run => 3,
        Class::Unknown => 2,
        Class::Observe => 0,
        _ => 1,
    }
}

/// The class of a clause after `and`: a verb after a verb (`get_and_order`) has one, an object after an object
/// (`list_users_and_teams`) has none.
fn joined_class(clause: &[Word<'_>], follows_verb: bool) -> Option<Class> {
    let inflected = inflected_class(clause);
    match clause.first()?.sense {
        _ if inflected.is_some() => inflected,
        Some(WordSense::Effect(..)) => Some(effect(&clause[0], clause)),
        Some(WordSense::Thing | WordSense::Screen | WordSense::Shown | WordSense::Code) if !follows_verb => None,
        None if !follows_verb && clause[0].text.ends_with('s') => None,
        _ => Some(clause_class(clause)),
    }
}

/// Whether an agent only talks to the person that it works for: `assistant_ask`, `assistant_done`.
fn is_talk(words: &[Word<'_>]) -> bool {
    let Some((assistant, said)) = words.split_first() else { return false };
    let is_of_thoughts = said.iter().any(|word| word.is(&["thought", "thoughts"]));
    assistant.is(&["assistant"])
        && said.iter().all(|word| word.is(CONVERSATION_WORDS) || is_of_thoughts && word.is(&["delete"]))
}

/// Whether another agent is given a task, which may do anything: `ask_codex`, `research_agent`, `analyze_with_agent`,
/// but not `list_agents`.
fn asks_agent(words: &[Word<'_>]) -> bool {
    let is_agent = |word: &Word<'_>| word.is(AGENTS);
    let carries_out = |pair: &[Word<'_>]| pair[0].is(&["through", "using", "via", "with"]) && is_agent(&pair[1]);
    words.iter().any(is_agent) && words.iter().any(|word| word.is(ASKING))
        || words.windows(2).any(carries_out)
        || matches!(words, [verb, agent] if verb.is(WORKING) && is_agent(agent))
}

/// Whether the words only go from page to page: `browser_go_forward` sends nothing.
fn is_going(words: &[Word<'_>]) -> bool {
    let goes = |word: &Word<'_>| word.is(&["go", "navigate", "back", "forward", "forwards", "reload"]);
    words.iter().any(goes) && words.iter().all(|word| goes(word) || word.has(&[WordSense::Screen]) || word.is(&["to"]))
}

/// The class of an action on a page, or on the program that shows it.
fn on_page(words: &[Word<'_>]) -> Option<Class> {
    let shows = |word: &Word<'_>| word.has(&[WordSense::Screen]);
    let (verb, objects) = words[words.iter().take_while(|word| shows(word)).count()..].split_first()?;
    let has_screen = words.iter().any(shows);
    let only = |nouns: &[&str]| objects.iter().all(|word| shows(word) || word.is(nouns));
    let ends_with = |nouns: &[&str]| objects.last().is_some_and(|word| shows(word) || word.is(nouns));
    let is_joined = words.iter().any(|word| word.is(&["and", "then", "or"]));
    match verb.text {
        "accept" | "dismiss" | "handle" if ends_with(&["dialog"]) => Some(Class::Dialog),
        "send" if only(&["key", "keys"]) && !objects.is_empty() => Some(Class::Press),
        "dialog" if has_screen && objects.is_empty() => Some(Class::Dialog),
        "console" | "pdf" if has_screen && objects.is_empty() => Some(Class::Observe),
        "highlight" if has_screen && only(&["text"]) => Some(Class::Observe),
        "hide" if words.iter().any(|word| word.is(&["overlay"])) && objects.is_empty() => Some(Class::Observe),
        "close" | "resize" if has_screen && only(&["tab", "tabs"]) => Some(Class::Observe),
        "close" if only(&["tab", "tabs"]) && !objects.is_empty() => Some(Class::Observe),
        "snapshot" if objects.is_empty() => Some(Class::Observe),
        "pause" | "resume" | "step" if words.len() == 1 => Some(Class::Observe),
        "check" if only(&["box", "checkbox", "radio"]) && (has_screen || !objects.is_empty()) => Some(Class::Activate),
        "clear" if only(&["field", "input", "text"]) && (has_screen || !objects.is_empty()) => Some(Class::Enter),
        "select" if ends_with(&["option", "options"]) => Some(Class::Enter),
        "open" if ends_with(&["link", "site", "tab", "tabs", "url", "website"]) && !is_joined => Some(Class::Navigate),
        "open" if ends_with(&["list"]) && !is_joined => Some(Class::Observe),
        "switch" if ends_with(&["frame", "tab"]) => Some(Class::Navigate),
        _ => None,
    }
}

const FILES: &[&str] = &["directory", "file", "files", "folder", "folders"];
const KEY_NOUNS: &[&str] = &["action", "combination", "combo", "hotkey", "key", "keyboard", "keys", "shortcut"];
/// Where text is typed, and what is typed or chosen.
const INPUT_NOUNS: &[&str] = &[
    "at", "by", "combobox", "dropdown", "field", "fields", "form", "in", "input", "inputs", "into", "key", "keys",
    "multiple", "on", "option", "options", "slowly", "string", "text", "textarea", "textbox", "value", "values",
];

/// The class of one clause.
fn clause_class(clause: &[Word<'_>]) -> Class {
    let start = clause.iter().take_while(|word| word.has(&[WordSense::Screen])).count();
    let is_verb = |(at, word): (usize, &Word<'_>)| match word.sense {
        Some(WordSense::Enter | WordSense::Navigate) => at == start,
        Some(WordSense::Thing | WordSense::Screen | WordSense::Shown | WordSense::Code) | None => false,
        Some(_) => true,
    };
    let Some(at) = clause.iter().enumerate().position(is_verb) else { return shown(clause) };
    let (verb, after) = (&clause[at], &clause[at + 1..]);
    let is_read = after.last().is_some_and(|word| word.is(&["get", "list"]));
    // `updates_list` may be the list of updates.
    let before = &clause[..at + usize::from(!verb.is(&["list", "search"]))];
    if verb.has(&[WordSense::ReadOrNoun])
        && at > 0
        && let Some(class) = inflected_class(before)
    {
        return class;
    }
    // An order that is entered, or a service that is reloaded, is not part of a page.
    let are_of_page = |nouns: &[&str]| after.iter().all(|word| word.has(&[WordSense::Screen]) || word.is(nouns));
    let is_bare_touch = verb.is(&["touch", "drag"]) && after.first().is_some_and(|word| word.is(FILES));
    let acting = acting::class_of(verb, after);
    let acting = acting.or_else(|| acting::behind_list(clause, at)).or_else(|| acting::behind_noun(clause, at));
    if let Some(class) = acting {
        return class;
    }
    match verb.sense {
        Some(WordSense::Read) => reads(verb, after, clause),
        Some(WordSense::ReadOrNoun) if is_certain_reading(clause, at) => reads(verb, after, clause),
        Some(WordSense::Effect(kind, noun)) if is_noun(noun, kind, after) || reads_object(verb, after) => {
            Class::Observe
        }
        // `order_get_status`: no verb is followed by another one.
        Some(WordSense::Effect(_, NounPosition::Beside))
            if after.first().is_some_and(|word| word.is(&["describe", "fetch", "find", "get", "retrieve"])) =>
        {
            clause_class(after)
        }
        Some(WordSense::Effect(..)) => effect(verb, clause),
        Some(WordSense::Query) if after.iter().any(Word::is_any_noun) && !after.iter().any(holds_sql) => Class::Observe,
        Some(WordSense::Run | WordSense::Query | WordSense::Activate) if is_read => Class::Observe,
        Some(WordSense::Run | WordSense::Query) => Class::Run,
        Some(WordSense::Activate) if is_bare_touch => Class::Unknown,
        Some(WordSense::Activate) => Class::Activate,
        Some(WordSense::Press) if after.iter().any(|word| word.is(&["button", "link"])) => Class::Activate,
        Some(WordSense::Press) if are_of_page(KEY_NOUNS) => Class::Press,
        Some(WordSense::Enter) if are_of_page(INPUT_NOUNS) => Class::Enter,
        Some(WordSense::Navigate)
            if are_of_page(&["back", "forward", "link", "new", "site", "to", "url", "website"]) =>
        {
            Class::Navigate
        }
        _ => Class::Unknown,
    }
}

/// The class of a verb that reads, unless a word after it is a verb, too.
fn reads(verb: &Word<'_>, after: &[Word<'_>], clause: &[Word<'_>]) -> Class {
    if let Some(acting) = acting::behind_product(verb, after) {
        return effect(acting, clause);
    }
    let is_noun_too = verb.has(&[WordSense::ReadOrNoun]) || acting::is_product(verb);
    for (at, word) in after.iter().enumerate() {
        let is_last = at + 1 == after.len();
        match word.sense {
            Some(WordSense::Effect(_, NounPosition::AtEnd)) if is_noun_too || !is_last => return effect(word, clause),
            Some(WordSense::Effect(_, NounPosition::AfterVerb)) if is_noun_too => return effect(word, clause),
            Some(WordSense::Run) if !word.is(&["run"]) => return Class::Run,
            Some(WordSense::Run) if after.get(at + 1).is_some_and(|next| next.has(&[WordSense::Code])) => {
                return Class::Run;
            }
            _ => {}
        }
    }
    Class::Observe
}

/// Whether the word at `at`, a verb or a noun, is the verb: `frobnicate_list` may do anything, and so may
/// `task_list_frobnicate`.
fn is_certain_reading(clause: &[Word<'_>], at: usize) -> bool {
    let before = &clause[..at];
    // `pods_list_in_namespace` lists pods.
    let after = if clause.get(at + 1).is_some_and(|word| word.is(PREPOSITIONS)) { &[] } else { &clause[at + 1..] };
    match (before, after) {
        ([], _) => true,
        _ if clause[at].is(&["search"]) => true,
        (_, []) => before.iter().all(Word::is_any_noun),
        // A brand may precede the verb (`doks_list_clusters`); with an object in the singular, the first word may act
        // on the list.
        ([_], [.., last]) if !before[0].is_any_noun() && clause[at].is(&["list"]) => {
            last.text.ends_with('s') || last.has(&[WordSense::Shown])
        }
        ([_], [.., last]) if !before[0].is_any_noun() => last.sense.is_some() || last.is_any_noun(),
        (_, [first, ..]) => before[1..].iter().all(Word::is_any_noun) && (first.sense.is_some() || first.is_any_noun()),
    }
}

/// Whether a verb with an effect is a noun here, about which something is read: `order_status`, `message_list`.
fn is_noun(noun: NounPosition, kind: Option<ActionKind>, after: &[Word<'_>]) -> bool {
    let Some((last, between)) = after.split_last() else { return false };
    let can_be_shown = matches!(kind, Some(ActionKind::Order | ActionKind::Pay));
    let is_shown =
        last.is(&["list", "search"]) || can_be_shown && last.is(&["details", "history", "info", "stats", "status"]);
    noun == NounPosition::Beside && (last.has(&[WordSense::Read]) || is_shown && between.iter().all(Word::is_any_noun))
}

/// Whether the object of a verb makes the verb one that reads.
fn reads_object(verb: &Word<'_>, after: &[Word<'_>]) -> bool {
    let end = after.iter().position(|word| word.is(PREPOSITIONS) && !word.is(&["as"]));
    let object = after[..end.unwrap_or(after.len())].last();
    let of_verb = READ_ONLY_OBJECTS.iter().find(|(listed, _)| verb.is(&[listed]));
    let (Some(object), Some((_, objects))) = (object, of_verb) else { return false };
    objects.split_whitespace().any(|word| object.is(&[word])) && !acting::is_sent(verb, after)
}

fn holds_sql(word: &Word<'_>) -> bool {
    word.has(&[WordSense::Code]) || word.is(&["data", "database", "databases", "db", "table", "tables", "warehouse"])
}

/// The class of a name without a verb: it shows something, or runs code in its arguments.
fn shown(clause: &[Word<'_>]) -> Class {
    let Some((last, before)) = clause.split_last() else { return Class::Unknown };
    if let Some(class) = inflected_class(clause) {
        return class;
    }
    // `jobs_by_account_id`.
    if let Some(by) = clause.iter().position(|word| word.is(&["by"]))
        && by > 0
        && clause[..by].iter().all(Word::is_any_noun)
    {
        return Class::Observe;
    }
    // To log something is to write it.
    if !before.iter().all(Word::is_any_noun) || clause[0].is(&["log"]) {
        return Class::Unknown;
    }
    match last.sense {
        _ if clause.iter().any(|word| word.has(&[WordSense::Code])) => Class::Run,
        Some(WordSense::Shown) => Class::Observe,
        _ => Class::Unknown,
    }
}
