//! Keys: which of them enter, delete or press what has the focus.

use serde_json::Value;

/// What a combination of keys does to a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// It enters what was typed, or presses the button that has the focus.
    Enter,
    /// It deletes what is selected.
    Delete,
    /// It presses the button that has the focus.
    Space,
    /// It moves the focus.
    Move,
    /// Nothing of these.
    Other,
}

/// WebDriver's codes of Return and Enter, and what ends a line.
const ENTERING: &[char] = &[
    '\u{e006}', '\u{e007}', '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}', '\u{23ce}', '\u{21b5}',
    '\u{21a9}',
];

/// The arguments that name a key.
const KEYS: &[&str] =
    &["key", "keys", "combo", "action", "hotkey", "shortcut", "keycode", "code", "modifiers", "modifier", "text"];

/// What the keys that a call names do: the first that counts of the order in [`Key`]; `None` where it names none, or
/// by its code: `13`, `KEYCODE_66`.
pub fn pressed(arguments: &Value) -> Option<Key> {
    let fields = arguments.as_object()?;
    let named: Vec<&Value> =
        fields.iter().filter(|(key, _)| KEYS.contains(&&*super::plain_key(key))).map(|(_, value)| value).collect();
    let mut keys = String::new();
    for value in named {
        append(value, &mut keys)?;
    }
    let is_code = |word: &str| word.starts_with("0x") || word.len() > 1 && word.bytes().all(|one| one.is_ascii_digit());
    let has_code = keys.to_lowercase().split(|one: char| !one.is_alphanumeric()).any(is_code);
    (!keys.is_empty() && !has_code).then(|| key(&keys))
}

/// `None` where it is no text: what the code of a key means differs.
fn append(value: &Value, keys: &mut String) -> Option<()> {
    match value {
        Value::String(text) => {
            keys.push_str(text);
            // Keys that follow each other, or are held together.
            keys.push('+');
        }
        Value::Array(items) => items.iter().try_for_each(|item| append(item, keys))?,
        Value::Null => {}
        _ => return None,
    }
    Some(())
}

fn key(keys: &str) -> Key {
    let lower = keys.to_lowercase();
    let words: Vec<&str> = lower.split(|one: char| !one.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let any = |known: &[&str]| words.iter().any(|word| known.contains(word));
    // Terminals send a carriage return or a line feed for these.
    let is_control = any(&["ctrl", "control", "c"]) || lower.contains('^');
    match () {
        () if keys.contains(ENTERING) => Key::Enter,
        () if any(&[
            "enter",
            "return",
            "numpadenter",
            "kpenter",
            "numenter",
            "linefeed",
            "accept",
            "cr",
            "lf",
            "crlf",
        ]) =>
        {
            Key::Enter
        }
        () if is_control && any(&["m", "j"]) => Key::Enter,
        () if any(&["delete", "del", "numpaddelete"]) => Key::Delete,
        () if any(&["space", "spacebar", "select"])
            || keys.split('+').any(|key| !key.is_empty() && key.trim().is_empty()) =>
        {
            Key::Space
        }
        () if any(&["tab", "arrowdown", "arrowup", "arrowleft", "arrowright", "down", "up", "left", "right"]) => {
            Key::Move
        }
        () => Key::Other,
    }
}

/// Whether typed text enters itself: a line's end, WebDriver's codes, or the `{ENTER}` of those who send keys as text.
pub fn enters(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_named = |bracket: char| {
        lower.split(bracket).skip(1).any(|behind| {
            let name: String = behind.chars().take_while(|one| one.is_alphanumeric()).collect();
            ["enter", "return", "numpadenter", "cr"].contains(&name.as_str())
        })
    };
    text.contains(ENTERING) || is_named('{') || is_named('<')
}
