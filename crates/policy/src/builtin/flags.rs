//! Flags that make a call that reads do more: `"fix": true`, `"delete_after": true`, and options of a command
//! (`--fix`).

use super::lexicon::{NounPosition, PREPOSITIONS, WordSense};
use super::phrase::{self, Word};
use super::{found, plain_key, shell};
use crate::detector::ActionKind;
use crate::lists::flags::{
    ACTING, COUNTING, HARMLESS_IF_SET, INJECTED, MODAL_WORDS, OPTIONS, SETTING, SHOWN, TEXT_PARTS,
};
use crate::verdict::Decision;
use crate::working_folder::WorkingFolder;
use pipewright_record::identifier::words;
use serde_json::Value;

/// Verbs without a kind in the lexicon that write if they are a flag.
const WRITE_VERBS: &[&str] =
    &["commit", "create", "edit", "fix", "insert", "modify", "persist", "post", "save", "update"];
/// Verbs that only change the shown text, and the parts that they remove from it.
const TEXT_VERBS: &[&str] = &["clear", "discard", "drop", "remove", "replace"];
/// Whether a flag is set or is off; `None` for a value that is none of a flag.
fn is_set(key: &str, value: &Value) -> Option<bool> {
    let counts = || words(key).last().is_some_and(|last| COUNTING.contains(&last.as_str()));
    match value {
        Value::Bool(is_on) => Some(*is_on),
        // A number of something is no flag: `"run_id": 1`.
        _ if counts() => None,
        Value::Number(number) if number.as_f64() == Some(1.0) => Some(true),
        Value::Number(number) if number.as_f64() == Some(0.0) => Some(false),
        Value::String(text) => match text.trim().to_lowercase().as_str() {
            "true" | "1" | "yes" | "on" | "all" => Some(true),
            "false" | "0" | "no" | "off" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a value, JSON text, may be one of a flag.
pub fn may_be_flag(json: &str) -> bool {
    match json.as_bytes().first() {
        Some(b't' | b'f' | b'1' | b'0') => true,
        // Plain, or with escapes.
        Some(b'"') => json.len() <= 10 || json.len() <= 40 && json.contains('\\'),
        _ => false,
    }
}

/// Judges a flag; gives a decision if the call does more than read with it.
pub fn judge_flag(key: &str, value: &Value) -> Option<Decision> {
    match is_set(key, value)? {
        true => judge_set(key),
        false => HARMLESS_IF_SET.contains(&&*plain_key(key)).then(|| {
            found(
                ActionKind::Run,
                "builtin.argument",
                format!("{key:?} is off: it does not only show what it would do"),
            )
        }),
    }
}

/// Judges a flag that is set.
fn judge_set(key: &str) -> Option<Decision> {
    let (texts, mut joined) = (words(key), Vec::new());
    let words = phrase::words(&texts, &mut joined);
    let start = words.iter().take_while(|word| word.is(MODAL_WORDS)).count();
    let kind = match words[start..].split_first() {
        None => words.iter().any(|word| word.is(&["force"])).then_some(ActionKind::Overwrite),
        Some((verb, after))
            if verb.is(&["inplace"]) || verb.is(&["in"]) && after.first().is_some_and(|word| word.is(&["place"])) =>
        {
            Some(ActionKind::Overwrite)
        }
        Some((verb, after)) => kind_of(verb, after),
    };
    kind.map(|kind| found(kind, "builtin.argument", format!("{key:?} is set")))
}

/// The kind of a verb with its objects, unless it changes only the shown text.
fn kind_of(verb: &Word<'_>, after: &[Word<'_>]) -> Option<ActionKind> {
    let has_preposition = after.first().is_some_and(|word| word.is(PREPOSITIONS) || word.is(&["when", "if"]));
    let is_of_text = verb.is(TEXT_VERBS) && after.iter().any(|word| word.is(TEXT_PARTS));
    if acts(verb, after) {
        return Some(ActionKind::Overwrite);
    }
    match verb.sense()? {
        _ if verb.is(SETTING) || is_of_text => None,
        _ if WRITE_VERBS.contains(&verb.listed()) => Some(ActionKind::Overwrite),
        // `stop_on_error`, `run_in_background`.
        WordSense::Run | WordSense::Effect(Some(ActionKind::Run), _) if has_preposition => None,
        WordSense::Run => Some(ActionKind::Run),
        // `email`, `report` and `order` are as often nouns.
        WordSense::Effect(kind, noun) if noun != NounPosition::Beside => kind,
        _ => None,
    }
}

/// Whether a verb without a kind changes what is read: `mark_as_read`, `make_public`, but not `close_tab`,
/// `mark_elements`.
fn acts(verb: &Word<'_>, after: &[Word<'_>]) -> bool {
    let is_of_screen = || after.iter().any(|word| word.sense() == Some(WordSense::Screen) || word.is(SHOWN));
    let opens = || after.iter().any(|word| word.is(&["private", "public", "shared", "visible"]));
    verb.is(ACTING) && !is_of_screen() || verb.is(&["make"]) && opens()
}

/// The options among the words of a command, as keys and values: `--output=x`, `--output x` and `--fix`.
pub fn options(key: &str, value: &Value) -> Vec<(String, Value)> {
    if !holds_options(key) {
        return Vec::new();
    }
    let texts = texts(value);
    let mut options = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let Some(option) = text.strip_prefix('-') else { continue };
        // `-o/a`.
        options.extend(option.strip_prefix('o').map(|file| ("output".to_owned(), Value::from(file))));
        let option = option.strip_prefix('-').unwrap_or(option);
        let name = |name: &str| if name == "o" { "output".to_owned() } else { name.to_owned() };
        match option.split_once('=') {
            Some((option, value)) => options.push((name(option), Value::from(value))),
            None => {
                options.push((name(option), Value::Bool(true)));
                let next = texts.get(at + 1).filter(|next| !next.starts_with('-'));
                options.extend(next.map(|next| (name(option), Value::from(*next))));
            }
        }
    }
    options
}

/// The words of a program's arguments.
pub fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => text.split_whitespace().collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Judges the arguments of a tool that is named after a command that reads (`git_log`): with them, the command must
/// still only read.
pub fn judge_program(own_name: &str, arguments: &Value) -> Option<Decision> {
    let reads = |words: &[String]| shell::command_reads(words, &WorkingFolder::default());
    let mut command = words(own_name);
    if !reads(&command) {
        return None;
    }
    command.extend(texts(arguments).into_iter().map(str::to_owned));
    let why = || format!("{:?} may do more than read", command.join(" "));
    (!reads(&command)).then(|| found(ActionKind::Run, "builtin.argument", why()))
}

/// Whether a text is one that programs take for an option.
fn is_option(text: &str) -> bool {
    let name = text.trim_start().trim_start_matches('-');
    name.len() < text.trim_start().len() && name.starts_with(|one: char| one.is_ascii_alphabetic())
}

/// Whether a value is such a text, or a list with one.
pub fn has_option(value: &Value) -> bool {
    match value {
        Value::String(text) => is_option(text),
        Value::Array(items) => items.iter().filter_map(Value::as_str).any(is_option),
        _ => false,
    }
}

/// Whether a value, JSON text, may be such a text.
pub fn may_be_option(json: &str) -> bool {
    json.strip_prefix('"').is_some_and(|text| text.starts_with(['-', '\\', ' ']))
}

/// Judges options that make many programs write or run something, under any key: `"pattern": "--pre=sh"`.
pub fn judge_injected(key: &str, value: &Value) -> Option<Decision> {
    let acts = |text: &str| INJECTED.iter().any(|option| text.trim_start().starts_with(option));
    let acting = match value {
        Value::String(text) => acts(text),
        Value::Array(items) => items.iter().filter_map(Value::as_str).any(acts),
        _ => false,
    };
    let why = || format!("{key:?} has an option that makes programs do more than read");
    acting.then(|| found(ActionKind::Run, "builtin.argument", why()))
}

/// Whether a key is for options: `args`, `git_args`.
pub fn holds_options(key: &str) -> bool {
    OPTIONS.contains(&&*plain_key(key)) || words(key).last().is_some_and(|last| OPTIONS.contains(&last.as_str()))
}
