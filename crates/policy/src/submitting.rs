//! Whether typed text is also entered: by a flag of the call, or by the text itself.

use crate::lists::typing::FLAGS;
use pipewright_record::identifier::unspelled;
use serde_json::Value;

/// WebDriver's codes of Return and Enter, and line ends.
pub(crate) const ENTER_CODES: &[char] = &[
    '\u{e006}', '\u{e007}', '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}', '\u{23ce}', '\u{21b5}',
    '\u{21a9}',
];

/// Whether an argument enters what is typed.
pub(crate) fn submits(key: &str, value: &Value) -> bool {
    is_flag(key, value) || ends_line(value)
}

fn is_flag(key: &str, value: &Value) -> bool {
    let is_off = match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => {
            matches!(text.trim().to_lowercase().as_str(), "" | "false" | "no" | "off" | "0" | "none" | "never" | "null")
        }
        _ => false,
    };
    FLAGS.contains(&unspelled(key).as_str()) && !is_off
}

fn ends_line(value: &Value) -> bool {
    match value {
        Value::String(text) => enters(text),
        Value::Array(items) => items.iter().any(ends_line),
        Value::Object(fields) => fields.iter().any(|(key, value)| submits(key, value)),
        _ => false,
    }
}

/// Whether typed text enters itself: a line end, WebDriver's codes, or the `{ENTER}` of tools that send keys as text.
fn enters(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_named = |bracket: char| {
        lower.split(bracket).skip(1).any(|behind| {
            let name: String = behind.chars().take_while(|one| one.is_alphanumeric()).collect();
            ["enter", "return", "numpadenter", "cr"].contains(&name.as_str())
        })
    };
    text.contains(ENTER_CODES) || is_named('{') || is_named('<')
}
