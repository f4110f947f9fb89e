//! HTTP requests that do more than get a page: their method, headers and body.

use super::found;
use crate::detector::ActionKind;
use crate::lists::request::{BODY_KEYS, BODY_OPTIONS, METHOD_OPTIONS};
use crate::verdict::Decision;
use serde_json::Value;

/// Keys that are only for a method.
const METHODS: &[&str] = &["httpmethod", "requestmethod", "httpverb"];
/// Methods that change nothing (RFC 9110, 9.2.1; RFC 3253, 3.6; RFC 4918, 9.1; RFC 5323; the QUERY method).
const SAFE: &[&str] = &["GET", "HEAD", "OPTIONS", "PROPFIND", "QUERY", "REPORT", "SEARCH", "TRACE"];
/// Whether a key, without punctuation, is for a method.
pub fn is_method(key: &str) -> bool {
    key == "method" || METHODS.contains(&key)
}

/// Whether a method changes nothing.
pub fn is_safe(method: &str) -> bool {
    SAFE.contains(&method.to_uppercase().as_str())
}

pub fn is_body(key: &str) -> bool {
    BODY_KEYS.contains(&key)
}

pub fn is_headers(key: &str) -> bool {
    key.ends_with("header") || key.ends_with("headers")
}

/// Judges the method of a call; `has_address` if the call is certainly a request.
pub fn judge_method(key: &str, method: &str, has_address: bool) -> Option<Decision> {
    let kind = match method.to_uppercase().as_str() {
        "DELETE" | "PURGE" => ActionKind::Delete,
        "PUT" | "PATCH" => ActionKind::Overwrite,
        "POST" => ActionKind::Submit,
        // Without an address, a method may be any way to do something (`"method":"average"`).
        _ if is_safe(method) || key == "method" && !has_address => return None,
        _ => ActionKind::Submit,
    };
    Some(found(kind, "builtin.argument", format!("its {key} is {method:?}")))
}

/// Judges headers that make a server take another method than the request's own.
pub fn judge_headers(key: &str, headers: &Value) -> Option<Decision> {
    let text = headers.to_string().to_lowercase().replace('_', "-");
    let overrides = text.contains("method-override") || text.contains("x-http-method");
    overrides.then(|| found(ActionKind::Submit, "builtin.argument", format!("its {key} replace the request's method")))
}

/// Judges options of a program that gets pages, such as curl: a method, or content to send.
pub fn judge_options(key: &str, texts: &[&str]) -> Option<Decision> {
    texts.iter().enumerate().find_map(|(at, text)| {
        let (option, own) = split_option(text)?;
        match option {
            _ if BODY_OPTIONS.contains(&option) => {
                Some(found(ActionKind::Submit, "builtin.argument", format!("its {key} send content, by {text:?}")))
            }
            _ if METHOD_OPTIONS.contains(&option) => judge_method(key, own.or(texts.get(at + 1).copied())?, true),
            _ => None,
        }
    })
}

/// An option and the value in the same word: `--data=x`, `-XPOST`, and `-sd`, where the last letter counts.
fn split_option(text: &str) -> Option<(&str, Option<&str>)> {
    if text.starts_with("--") {
        return Some(text.split_once('=').map_or((text, None), |(option, value)| (option, Some(value))));
    }
    let letters = text.strip_prefix('-')?;
    let at = letters.find(['d', 'F', 'T', 'X'])?;
    let value = letters.get(at + 1..).filter(|value| !value.is_empty());
    letters[..at].bytes().all(|one| one.is_ascii_alphabetic()).then_some((letters.get(at..=at)?, value))
}

/// Judges the body of a request that is not a GET: without a method, clients send a body by POST.
pub fn judge_body(key: &str, body: &Value) -> Option<Decision> {
    let is_sent = match body {
        Value::String(text) => !["", "true", "false"].contains(&text.trim()),
        Value::Object(fields) => !fields.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    is_sent.then(|| found(ActionKind::Submit, "builtin.argument", format!("it sends the content of {key:?}")))
}
