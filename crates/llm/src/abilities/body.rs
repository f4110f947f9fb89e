//! The fields of a request's body: settings that are added, and fields that a server refuses.

use super::{Abilities, Ability};
use crate::Provider;
use crate::assembly::list;
use pipewright_record::Fields;
use pipewright_record::json::Object;
use serde_json::value::RawValue;

/// Fields without which no request is understood.
const NEEDED: [&str; 10] = [
    "model",
    "messages",
    "input",
    "contents",
    "system",
    "systemInstruction",
    "system_instruction",
    "instructions",
    "tools",
    "store",
];

/// Both names of the limit of a turn's tokens in Chat Completions.
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// What stands in front of the name of a field of messages.
pub(super) const MESSAGES: &str = "messages.";

/// Whether a field may be left out.
pub(super) fn is_optional(name: &str) -> bool {
    !NEEDED.contains(&name)
}

/// Whether a setting may have this name: the fields that llm-pipe writes itself are not settings.
pub fn is_setting(name: &str) -> bool {
    is_optional(name) && !["stream", "stream_options", "tool_choice", "response_format", ""].contains(&name)
}

/// Adds settings at their places, in front of the messages if they are new.
pub(super) fn with_settings(body: String, provider: &dyn Provider, settings: &[(String, String)]) -> String {
    settings.iter().fold(body, |body, (name, value)| {
        let path = provider.setting(name);
        put(&body, &path, value)
    })
}

/// Puts a value at a path of field names.
fn put(body: &str, path: &[&str], value: &str) -> String {
    let Some((first, rest)) = path.split_first() else { return value.to_owned() };
    let Ok(fields) = Fields::read(body) else { return body.to_owned() };
    let inner = fields.present(first).map_or("{}", |json| json.get());
    let inner = if rest.is_empty() { value.to_owned() } else { put(inner, rest, value) };
    let others = fields.iter().filter(|(name, _)| name != first);
    others.fold(Object::default().put_any(first, inner), |object, (name, json)| object.put_any(name, json)).end()
}

/// The body without the fields that the server refuses. Of the two names of a limit, the other one is used.
pub(super) fn without_fields(body: String, abilities: &Abilities) -> String {
    let is_whole = !abilities.has(Ability::Streaming);
    // A turn of calls alone has no text.
    let body = match abilities.has(Ability::Parts) {
        true => body,
        false => body.replace(r#""content":null"#, r#""content":"""#),
    };
    if abilities.fields.is_empty() && !is_whole {
        return body;
    }
    let Ok(fields) = Fields::read(&body) else { return body };
    let kept = fields.iter().filter_map(|(name, json)| {
        let name = match LIMITS.iter().position(|limit| *limit == name) {
            Some(at) if abilities.leaves_out(name) => LIMITS[1 - at],
            _ => name,
        };
        let is_left_out = abilities.leaves_out(name) || (is_whole && ["stream", "stream_options"].contains(&name));
        (!is_left_out).then_some((name, json))
    });
    let of_messages: Vec<&str> = abilities.fields.iter().filter_map(|name| name.strip_prefix(MESSAGES)).collect();
    kept.fold(Object::default(), |object, (name, json)| match name {
        "messages" if !of_messages.is_empty() => object.put_any(name, messages_without(json, &of_messages)),
        _ => object.put_any(name, json),
    })
    .end()
}

/// The messages, a JSON list, without these fields.
fn messages_without(json: &RawValue, left_out: &[&str]) -> String {
    let Ok(messages) = serde_json::from_str::<Vec<&RawValue>>(json.get()) else { return json.get().to_owned() };
    let without = |message: &&RawValue| match Fields::read(message.get()) {
        Ok(fields) => {
            let kept = fields.iter().filter(|(name, _)| !left_out.contains(name));
            kept.fold(Object::default(), |object, (name, json)| object.put_any(name, json)).end()
        }
        Err(_) => message.get().to_owned(),
    };
    list(&messages.iter().map(without).collect::<Vec<_>>())
}
