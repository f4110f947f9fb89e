//! Keys of arguments that act by themselves, whatever their tool is called: the key says what happens to its value.
//! `"webhook": "https://..."` sends what is read, and `"delete_ids": [1]` deletes.

use super::argument_key::ArgumentKey;
use super::lexicon::{NounPosition, WordSense, look_up};
use super::names::Class;
use super::{found, found_text};
use crate::detector::ActionKind;
use crate::lists::acting_key::{
    CHANGED, CHANGING, CHANGING_PARTS, CLICKING, FLAGS, LOOKS, NOUNS, SENDING, STARTING, WRITING_MODES,
};
use crate::verdict::Decision;
use pipewright_record::identifier::words;
use serde_json::Value;

/// What such a key does with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyAction {
    /// Starts a program, or a browser with options; for any tool.
    Starts,
    /// Sends what is read.
    Sends,
    /// Clicks on a page.
    Clicks,
    /// Changes something.
    Changes(ActionKind),
    /// Changes something if it has parts.
    ChangesParts,
    /// Acts if it is set.
    IsFlag,
    /// Writes to a file, or empties a queue, in some modes.
    Opens,
    /// Asks another repository.
    Fetches,
    /// Names an index, behind which a command of Elasticsearch may follow.
    Indexes,
}

impl KeyAction {
    /// The action of a key, as it is written and without capitals and punctuation.
    pub fn of(written: &str, plain: &str) -> Option<KeyAction> {
        let is = |keys: &[&str]| keys.contains(&plain);
        match () {
            () if is(STARTING) => Some(KeyAction::Starts),
            () if is(SENDING) => Some(KeyAction::Sends),
            () if is(CLICKING) => Some(KeyAction::Clicks),
            () if is(CHANGING) => Some(KeyAction::Changes(ActionKind::Overwrite)),
            () if is(CHANGING_PARTS) => Some(KeyAction::ChangesParts),
            () if is(FLAGS) => Some(KeyAction::IsFlag),
            () if is(&["ackmode", "filemode", "mode", "openmode"]) => Some(KeyAction::Opens),
            () if is(&["remote", "remoteurl", "repo", "repository", "repourl"]) => Some(KeyAction::Fetches),
            () if is(&["index", "indexname", "indices"]) => Some(KeyAction::Indexes),
            () => changed(written).map(KeyAction::Changes),
        }
    }

    /// The decision on a value of such a key, if it needs approval.
    pub fn judge(self, key: &ArgumentKey<'_>, value: &Value, class: &Class) -> Option<Decision> {
        if self != KeyAction::Starts && !matches!(class, Class::Observe | Class::Navigate) || is_empty(value) {
            return None;
        }
        let ask = |kind, what: &str| Some(found(kind, "builtin.argument", format!("{:?} {what}", key.written)));
        let has_parts = matches!(value, Value::Object(_) | Value::Array(_));
        match self {
            KeyAction::Starts if only_looks(value) => None,
            KeyAction::Starts => {
                let because = format!("{:?} chooses a program, or how it is started", key.written);
                Some(found_text(ActionKind::Run, "builtin.argument", because))
            }
            KeyAction::Sends if has_parts || value.is_string() => ask(ActionKind::Send, "sends what is read"),
            KeyAction::Clicks if has_parts || value.is_string() => ask(ActionKind::Submit, "clicks on the page"),
            KeyAction::Changes(kind) if !value.is_boolean() => ask(kind, "changes what is read"),
            KeyAction::ChangesParts if has_parts => ask(ActionKind::Overwrite, "changes what is read"),
            KeyAction::IsFlag if *value == Value::Bool(true) => ask(ActionKind::Overwrite, "is set"),
            KeyAction::Opens if value.as_str().is_some_and(|mode| WRITING_MODES.contains(&mode)) => {
                ask(ActionKind::Overwrite, "changes it")
            }
            KeyAction::Indexes if value.as_str().is_some_and(|index| index.contains("/_")) => {
                ask(ActionKind::Run, "has a command in it")
            }
            KeyAction::Fetches if value.as_str().is_some_and(|remote| asks_another(&key.plain, remote)) => {
                ask(ActionKind::Run, "is another repository")
            }
            _ => None,
        }
    }
}

/// Judges keys that act together, for a tool whose name alone reads: `messages` with a recipient and a text, and `list_item`
/// with a price.
pub fn judge_together(tool: &[String], keys: &[ArgumentKey<'_>]) -> Option<Decision> {
    let has = |plain: &[&str]| keys.iter().any(|key| key.is(plain));
    let ask = |kind, why: &str| Some(found(kind, "builtin.argument", why.to_owned()));
    match tool {
        [messages]
            if ["chats", "emails", "mails", "messages"].contains(&messages.as_str())
                && has(&["recipient", "recipients", "to"])
                && has(&["body", "content", "message", "text"]) =>
        {
            ask(ActionKind::Send, "it has a recipient and a text")
        }
        [.., list, thing] if list == "list" && !thing.ends_with('s') && has(&["price", "startingprice"]) => {
            ask(ActionKind::Publish, "it offers a thing for a price")
        }
        _ => None,
    }
}

/// The kind of a verb with what it changes: `delete_ids`, `addLabelIds`, `mark_as`.
fn changed(written: &str) -> Option<ActionKind> {
    let words = words(written);
    let [verb, .., last] = &words[..] else { return None };
    if !CHANGED.contains(&last.as_str()) || NOUNS.contains(&verb.as_str()) {
        return None;
    }
    match look_up(verb)?.1 {
        WordSense::Effect(kind, NounPosition::Never) => Some(kind.unwrap_or(ActionKind::Overwrite)),
        WordSense::Effect(kind, _) if verb == "archive" => kind,
        _ => None,
    }
}

/// Whether a repository is another one than those that Git knows by their names. It runs the text behind `ext::`.
fn asks_another(key: &str, remote: &str) -> bool {
    remote.contains("::") || key.starts_with("remote") && remote.contains("://")
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

/// Whether options of a browser choose nothing but how it looks.
fn only_looks(value: &Value) -> bool {
    let is_look = |key: &String| LOOKS.contains(&&*super::plain_key(key));
    value.as_object().is_some_and(|options| options.keys().all(is_look))
}

#[cfg(test)]
mod tests {
    use super::super::Hint;
    use super::super::tests::judge_with;
    use crate::verdict::Verdict;

    fn verdict(tool: &str, arguments: &str) -> Verdict {
        judge_with(&format!(r#"{{"tool":"{tool}","args":{arguments}}}"#), Hint::None).verdict
    }

    #[test]
    fn a_key_that_acts_needs_approval() {
        for (tool, arguments) in [
            ("puppeteer_navigate", r#"{"url":"https://x.org","launchOptions":{"executablePath":"/bin/sh"}}"#),
            ("puppeteer_navigate", r#"{"url":"https://x.org","launchOptions":{"args":["--no-sandbox"]}}"#),
            ("puppeteer_navigate", r#"{"url":"https://x.org","allowDangerous":true}"#),
            ("puppeteer_navigate", r#"{"url":"https://x.org","args":["--renderer-cmd-prefix=sh"]}"#),
            ("browser_navigate", r#"{"url":"https://x.org","executable_path":"/tmp/a"}"#),
            ("firecrawl_extract", r#"{"urls":["https://x.org"],"webhook":"https://y.org"}"#),
            ("screenshot", r##"{"url":"https://x.org","click":"#buy"}"##),
            ("screenshot", r#"{"url":"https://x.org","js_script":"a.submit()"}"#),
            ("get_emails", r#"{"delete_ids":[1]}"#),
            ("get_emails", r#"{"archive_ids":[1]}"#),
            ("get_emails", r#"{"removeLabelIds":["a"]}"#),
            ("get_emails", r#"{"mark_as":"read"}"#),
            ("get_emails", r#"{"move_to":"trash"}"#),
            ("get_user", r#"{"set_role":"admin"}"#),
            ("get_user", r#"{"delete":{"id":1}}"#),
            ("get_user", r#"{"merge":true}"#),
            ("get_user", r#"{"forward_to":"a@b.org"}"#),
            ("get_user", r#"{"callback_url":"https://y.org"}"#),
            ("get_file", r#"{"path":"a","mode":"w"}"#),
            ("get_messages", r#"{"ackmode":"ack_requeue_false"}"#),
            ("git_fetch", r#"{"remote":"https://y.org/a"}"#),
            ("messages", r#"{"to":"a","text":"b"}"#),
            ("ebay_list_item", r#"{"title":"a","price":5}"#),
            ("list_nft", r#"{"token":1,"price":5}"#),
            ("git_ls_remote", r#"{"repository":"ext::sh -c id"}"#),
            ("get_document", r#"{"index":"a/_delete_by_query"}"#),
        ] {
            assert_eq!(verdict(tool, arguments), Verdict::Confirm, "{tool} {arguments}");
        }
    }

    #[test]
    fn a_key_that_only_looks_passes() {
        for (tool, arguments) in [
            ("puppeteer_navigate", r#"{"url":"https://x.org","launchOptions":{"headless":true}}"#),
            ("puppeteer_navigate", r#"{"url":"https://x.org","allowDangerous":false}"#),
            ("get_emails", r#"{"delete_ids":[],"order_ids":[1],"train_ids":[2]}"#),
            ("get_user", r#"{"merge":false,"webhook":null}"#),
            ("get_file", r#"{"path":"a","mode":"r"}"#),
            ("git_fetch", r#"{"remote":"origin"}"#),
            ("messages", r#"{"to":"2024-01-01"}"#),
            ("list_items", r#"{"price":5}"#),
            ("get_document", r#"{"index":"logs-2024"}"#),
        ] {
            assert_eq!(verdict(tool, arguments), Verdict::Allow, "{tool} {arguments}");
        }
    }
}
