//! JSON in the spelling of Python, and with surplus commas. Nothing that is missing is added: an incomplete text stays incomplete.

use crate::json::{one_line, quoted};
use serde_json::value::RawValue;

/// The JSON text that is meant; `None` if it is none.
pub(super) fn lenient(text: &str) -> Option<String> {
    let mut json = String::with_capacity(text.len());
    let mut rest = text.trim();
    while let Some(next) = rest.chars().next() {
        let length = match next {
            '"' | '\'' => {
                let length = string_length(rest, next)?;
                let inner = &rest[1..length - 1];
                json.push_str(&if next == '"' { rest[..length].to_owned() } else { requoted(inner)? });
                length
            }
            '}' | ']' => {
                if json.trim_end().ends_with(',') {
                    json.truncate(json.trim_end().len() - 1);
                }
                json.push(next);
                1
            }
            _ if next.is_ascii_alphabetic() => {
                let length = rest.find(|each: char| !each.is_ascii_alphanumeric()).unwrap_or(rest.len());
                json.push_str(match &rest[..length] {
                    "True" => "true",
                    "False" => "false",
                    "None" => "null",
                    word => word,
                });
                length
            }
            _ => {
                json.push(next);
                next.len_utf8()
            }
        };
        rest = &rest[length..];
    }
    let json = one_line(&json);
    serde_json::from_str::<&RawValue>(&json).is_ok().then_some(json)
}

/// The length of the string at the beginning of a text, with its quotes.
pub(super) fn string_length(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, each) in text.char_indices().skip(1) {
        match each {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if each == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The content of a string in single quotes, as JSON. Escapes that JSON does not have are not understood.
fn requoted(inner: &str) -> Option<String> {
    let escaped = inner.replace("\\'", "'").replace('"', "\\\"").replace("\\\\\"", "\\\"");
    let text: String = serde_json::from_str(&one_line(&format!("\"{escaped}\""))).ok()?;
    Some(quoted(&text))
}

#[cfg(test)]
mod tests {
    use super::lenient;

    #[test]
    fn what_is_meant_is_read_and_nothing_is_added() {
        for (text, json) in [
            (r#"{"a": 1.10,}"#, Some(r#"{"a": 1.10}"#)),
            ("[1, 2, ]", Some("[1, 2]")),
            ("{'a': 'b\\'c', 'd': True, 'e': None}", Some(r#"{"a": "b'c", "d": true, "e": null}"#)),
            (r#"{'a': 'say "x"'}"#, Some(r#"{"a": "say \"x\""}"#)),
            (r#"{"a": "True, 'x',}"}"#, Some(r#"{"a": "True, 'x',}"}"#)),
            (r#"{"a": {"b": 1}"#, None),
            ("{'a': 'b}", None),
            ("{a: 1}", None),
            ("{'a': b}", None),
            ("", None),
        ] {
            assert_eq!(lenient(text).as_deref(), json, "{text}");
        }
    }
}
