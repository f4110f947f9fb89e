//! The words in tools' names, by part of speech. Words only: names of complete tools do not belong here.

use crate::detector::ActionKind;
use crate::lists::{effects, senses};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The sense of a word in a tool's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordSense {
    /// A verb that reads, and is not a noun: `get`.
    Read,
    /// A verb that reads, and also a noun: `list`, `search`.
    ReadOrNoun,
    /// The object that a name without a verb shows, if it is the last word: `order_status`.
    Shown,
    /// A verb that has an effect, and the places where it is a noun.
    Effect(Option<ActionKind>, NounPosition),
    /// A verb that runs the code in the arguments: `execute`.
    Run,
    /// A verb that runs the query in the arguments.
    Query,
    /// The language of the arguments, or the program that runs them: `sql`, `bash`.
    Code,
    /// A verb that activates an element of a page.
    Activate,
    /// A verb that types or chooses.
    Enter,
    /// A verb that presses keys.
    Press,
    /// A verb that leads to another page.
    Navigate,
    /// A part of a page, or a program that shows one.
    Screen,
    /// Another noun.
    Thing,
}

/// Where a verb that has an effect is a noun. At the head of a name it never is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NounPosition {
    /// Nowhere: `search_delete_index` deletes.
    Never,
    /// As the last word after a verb that reads and is not a noun: `get_send`, but neither `get_send_email` nor
    /// `list_send`, which may send a list.
    AtEnd,
    /// After a verb that reads and is not a noun: `get_update`, but not `list_update`.
    AfterVerb,
    /// After any verb that reads, and before one: `search_order`, `order_get`.
    Beside,
}

/// The listed word and its sense. A plural is a thing, unless it is listed.
pub(super) fn look_up(word: &str) -> Option<(&'static str, WordSense)> {
    static WORDS: LazyLock<HashMap<&'static str, WordSense>> = LazyLock::new(|| {
        let of = |words: &'static [&'static str], sense| words.iter().map(move |word| (*word, sense));
        let effects = EFFECTS.iter().flat_map(|&(kind, noun, words)| of(words, WordSense::Effect(kind, noun)));
        let others = OTHERS.iter().flat_map(|&(sense, words)| of(words, sense));
        effects.chain(others).collect()
    });
    WORDS.get_key_value(word).map(|(word, sense)| (*word, *sense))
}

/// Whether a word is about money or an order. Compounds with a noun count, too: `createpayment`.
pub(super) fn is_about_payment(word: &str) -> bool {
    let is_listed = |word: &str| {
        word == "order"
            || matches!(
                look_up(word),
                Some((
                    _,
                    WordSense::Effect(Some(ActionKind::Pay), _)
                        | WordSense::Effect(Some(ActionKind::Order), NounPosition::Never)
                ))
            )
    };
    ["payment", "invoice", "purchase", "checkout"].iter().any(|noun| word.contains(noun))
        || is_listed(word)
        || word.strip_suffix('s').is_some_and(is_listed)
}

/// Whether a word is about access: `password`, `apikey`, `permissions`.
pub(super) fn is_about_access(word: &str) -> bool {
    const NOUNS: &[&str] =
        &["access", "acl", "admin", "iam", "key", "mfa", "oauth", "otp", "owner", "passkey", "role", "sso", "token"];
    let ends = ["apikey", "credential", "passphrase", "password", "permission", "privilege", "secret"];
    let word = word.strip_suffix('s').unwrap_or(word);
    NOUNS.contains(&word) || ends.iter().any(|noun| word.ends_with(noun))
}

/// The second words of verbs with two: `roll back`, `log out`.
pub(super) const PARTICLES: &[&str] = &["back", "down", "in", "off", "on", "out", "over", "up"];

/// Words between nouns: what follows tells nothing about the verb's object.
pub(super) const PREPOSITIONS: &[&str] = &["as", "at", "by", "for", "from", "in", "of", "on", "to", "with"];

/// Prefixes that make another verb of one: `unassign`, `recreate`, `autofix`.
pub(super) const VERB_PREFIXES: &[&str] = &["auto", "de", "dis", "re", "un"];

/// The talk of an agent with the person that it works for, after `assistant`: it changes no world.
pub(super) const CONVERSATION_WORDS: &[&str] = &[
    "answer", "ask", "done", "finish", "message", "note", "plan", "progress", "question", "reply", "respond", "say",
    "status", "tell", "think", "thought", "thoughts",
];

/// Verbs that read with these objects, and change others: `resolve_library_id`, but `resolve_incident`.
pub(super) const READ_ONLY_OBJECTS: &[(&str, &str)] = &[
    (
        "convert",
        "amount base color coordinates currencies currency date distance length number temperature time timestamp \
         timezone unit units weight",
    ),
    ("export", "csv image json markdown pdf png svg thumbnail"),
    (
        "generate",
        "chart deeplink diagram markdown name names palette passphrase password query report schema sql summary type types \
         uri url uuid",
    ),
    ("open", "document documents file files node nodes note notes"),
    ("plan", "journey route trip workflow"),
    (
        "resolve",
        "address alias citation coordinates dns doi domain handle host hostname id identifier ids ip library location \
         name names package path place reference redirect redirects symbol uri url urls username",
    ),
    ("take", "screenshot screenshots snapshot"),
];

/// Verbs that have effects.
const EFFECTS: &[(Option<ActionKind>, NounPosition, &[&str])] = &[
    (Some(ActionKind::Delete), NounPosition::Never, effects::DELETE),
    (Some(ActionKind::Delete), NounPosition::AfterVerb, effects::DELETE_AFTER_VERB),
    (Some(ActionKind::Send), NounPosition::Never, effects::SEND),
    (Some(ActionKind::Send), NounPosition::AtEnd, effects::SEND_AT_END),
    (Some(ActionKind::Send), NounPosition::Beside, effects::SEND_BESIDE),
    (Some(ActionKind::Pay), NounPosition::Never, effects::PAY),
    (Some(ActionKind::Pay), NounPosition::AtEnd, effects::PAY_AT_END),
    (Some(ActionKind::Pay), NounPosition::Beside, effects::PAY_BESIDE),
    (Some(ActionKind::Order), NounPosition::Never, effects::ORDER),
    (Some(ActionKind::Order), NounPosition::Beside, effects::ORDER_BESIDE),
    (Some(ActionKind::Confirm), NounPosition::Never, effects::CONFIRM),
    (Some(ActionKind::Submit), NounPosition::Never, effects::SUBMIT),
    (Some(ActionKind::Submit), NounPosition::AfterVerb, effects::SUBMIT_AFTER_VERB),
    (Some(ActionKind::Publish), NounPosition::Never, effects::PUBLISH),
    (Some(ActionKind::Publish), NounPosition::AfterVerb, effects::PUBLISH_AFTER_VERB),
    (Some(ActionKind::Publish), NounPosition::Beside, effects::PUBLISH_BESIDE),
    (Some(ActionKind::Overwrite), NounPosition::Never, effects::OVERWRITE),
    (Some(ActionKind::CancelOrder), NounPosition::Never, effects::CANCEL_ORDER),
    (Some(ActionKind::Revoke), NounPosition::Never, effects::REVOKE),
    (Some(ActionKind::Revoke), NounPosition::AfterVerb, effects::REVOKE_AFTER_VERB),
    (Some(ActionKind::Revoke), NounPosition::Beside, effects::REVOKE_BESIDE),
    (Some(ActionKind::Grant), NounPosition::Never, effects::GRANT),
    (Some(ActionKind::Grant), NounPosition::Beside, effects::GRANT_BESIDE),
    (Some(ActionKind::Install), NounPosition::Never, effects::INSTALL),
    (Some(ActionKind::Install), NounPosition::AfterVerb, effects::INSTALL_AFTER_VERB),
    (Some(ActionKind::Run), NounPosition::Never, effects::RUN),
    (Some(ActionKind::Run), NounPosition::AfterVerb, effects::RUN_AFTER_VERB),
    (Some(ActionKind::Run), NounPosition::Beside, effects::RUN_BESIDE),
    (None, NounPosition::Never, effects::CHANGE),
    (None, NounPosition::AtEnd, effects::CHANGE_AT_END),
    (None, NounPosition::AfterVerb, effects::CHANGE_AFTER_VERB),
    (None, NounPosition::Beside, effects::CHANGE_BESIDE),
];

const OTHERS: &[(WordSense, &[&str])] = &[
    (WordSense::Read, senses::READ),
    (WordSense::ReadOrNoun, senses::READ_OR_NOUN),
    (WordSense::Shown, senses::SHOWN),
    (WordSense::Run, senses::RUN),
    (WordSense::Query, senses::QUERY),
    (WordSense::Code, senses::CODE),
    (WordSense::Activate, senses::ACTIVATE),
    (WordSense::Enter, senses::ENTER),
    (WordSense::Press, senses::PRESS),
    (WordSense::Navigate, senses::NAVIGATE),
    (WordSense::Screen, senses::SCREEN),
    (WordSense::Thing, senses::THING),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_in_one_list() {
        let effects = EFFECTS.iter().map(|(_, _, words)| *words);
        let words: Vec<&str> = effects.chain(OTHERS.iter().map(|(_, words)| *words)).flatten().copied().collect();
        let mut seen = std::collections::HashSet::new();
        let twice: Vec<&&str> = words.iter().filter(|word| !seen.insert(**word)).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
