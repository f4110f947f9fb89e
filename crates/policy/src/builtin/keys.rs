//! Keys: which of them enter, delete or press the focused element.

use super::element::{judge_element, judge_target};
use super::typing::{is_text_field, judge_submit};
use super::{Focus, JudgedCall, allow, found};
use crate::detector::ActionKind;
use crate::snapshot::NamedElement;
use crate::submitting::ENTER_CODES;
use crate::target::Target;
use crate::verdict::{Decision, Verdict};
use pipewright_record::Fields;
use serde_json::Value;

/// The effect of a combination of keys on a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyEffect {
    /// Enters the typed text, or presses the focused button.
    Enter,
    /// Deletes the selection.
    Delete,
    /// Presses the focused button.
    Space,
    /// Moves the focus.
    Move,
    /// None of these.
    Other,
}

/// The arguments that name a key.
const KEYS: &[&str] =
    &["key", "keys", "combo", "action", "hotkey", "shortcut", "keycode", "code", "modifiers", "modifier", "text"];

/// Roles that Enter and the space bar activate like a click.
const BUTTON_ROLES: &[&str] =
    &["button", "clickable", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "tab", "treeitem"];
/// Roles that only the space bar activates.
const CHECKBOX_ROLES: &[&str] = &["checkbox", "radio", "switch"];

/// Judges a key by the element that the call names, or else by the focused one.
pub fn judge_key(call: &JudgedCall<'_>, focus: &Focus) -> Decision {
    let target = match (&call.named, focus) {
        (NamedElement::Unknown(_), _) => return judge_element(&call.named),
        (NamedElement::Element(target), _) | (_, Focus::Text(target)) => Some(target),
        _ => None,
    };
    // A server may ignore the element in the call, and press the key elsewhere.
    let role = target.and_then(|target| target.role.as_deref()).filter(|_| call.is_focused);
    let has_role = |roles: &[&str]| role.is_some_and(|role| roles.contains(&role));
    let key = match pressed(&call.arguments) {
        Some(key) => key,
        // A tool's default key does no more on a button than Enter does.
        None if has_role(BUTTON_ROLES) && !names_key(&call.arguments) => KeyEffect::Enter,
        None => return Decision::new(Verdict::Confirm, "builtin.unknown", "the key that it presses is not known"),
    };
    // In a field into which text was typed, as far as it is known, a space is text. A frame or a part of the page may
    // have anything in it.
    let is_written_in = |target: &Target| target.role.is_none() || is_text_field(target);
    let is_other = |target: &Target| target.role.is_some() && !is_text_field(target);
    match (key, target) {
        (KeyEffect::Enter | KeyEffect::Space, Some(target)) if has_role(BUTTON_ROLES) => judge_target(target),
        (KeyEffect::Space, Some(target)) if has_role(CHECKBOX_ROLES) => judge_target(target),
        (KeyEffect::Enter, _) => judge_submit(target),
        (KeyEffect::Delete, _) if target.is_none_or(is_other) => {
            found(ActionKind::Delete, "builtin.key", "the key deletes what is selected".to_owned())
        }
        (KeyEffect::Space, target) if !target.is_some_and(is_written_in) => {
            Decision::new(Verdict::Confirm, "builtin.key", "the key may press an element that is not known")
        }
        _ => allow("the key submits nothing"),
    }
}

fn is_key(argument: &str) -> bool {
    KEYS.contains(&&*super::plain_key(argument))
}

fn names_key(arguments: &Fields<'_>) -> bool {
    arguments.iter().any(|(argument, _)| is_key(argument))
}

/// The effect of the keys in a call: the first one in the order of [`KeyEffect`]. `None` if it has no key, or one by
/// its code: `13`, `KEYCODE_66`.
pub fn pressed(arguments: &Fields<'_>) -> Option<KeyEffect> {
    let mut keys = String::new();
    for (_, value) in arguments.iter().filter(|(key, _)| is_key(key)) {
        append(&serde_json::from_str(value.get()).ok()?, &mut keys)?;
    }
    let is_code = |word: &str| word.starts_with("0x") || word.len() > 1 && word.bytes().all(|one| one.is_ascii_digit());
    let has_code = keys.to_lowercase().split(|one: char| !one.is_alphanumeric()).any(is_code);
    (!keys.is_empty() && !has_code).then(|| key(&keys))
}

/// `None` if a value is not text: the meanings of key codes differ.
fn append(value: &Value, keys: &mut String) -> Option<()> {
    match value {
        Value::String(text) => {
            keys.push_str(text);
            // Keys in sequence, or held together.
            keys.push('+');
        }
        Value::Array(items) => items.iter().try_for_each(|item| append(item, keys))?,
        Value::Null => {}
        _ => return None,
    }
    Some(())
}

fn key(keys: &str) -> KeyEffect {
    const ENTER_NAMES: &[&str] =
        &["enter", "return", "numpadenter", "kpenter", "numenter", "linefeed", "accept", "cr", "lf", "crlf"];
    let lower = keys.to_lowercase();
    let words: Vec<&str> = lower.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let any = |known: &[&str]| words.iter().any(|word| known.contains(word));
    // Terminals send a carriage return or a line feed for these.
    let is_control = any(&["ctrl", "control", "c"]) || lower.contains('^');
    if keys.contains(ENTER_CODES) || any(ENTER_NAMES) || is_control && any(&["m", "j"]) {
        KeyEffect::Enter
    } else if any(&["delete", "del", "numpaddelete"]) {
        KeyEffect::Delete
    } else if any(&["space", "spacebar", "select"])
        || keys.split('+').any(|key| !key.is_empty() && key.trim().is_empty())
    {
        KeyEffect::Space
    } else if any(&["tab", "arrowdown", "arrowup", "arrowleft", "arrowright", "down", "up", "left", "right"]) {
        KeyEffect::Move
    } else {
        KeyEffect::Other
    }
}
