//! Merges the pieces of a message into the message that an unstreamed answer would have. It is kept as JSON text: every
//! digit and escape is preserved.
//!
//! Source: `accumulate_delta` of OpenAI's Python library. Strings are appended. List elements with the same `index` are
//! merged (the `reasoning_details` of OpenRouter), others are appended. Any other value replaces the earlier one.

use pipewright_record::Fields;
use pipewright_record::json::quoted;
use serde_json::value::RawValue;
use std::fmt::Write;

/// Strings under these keys are repeated in each piece, not continued.
const LABELS: [&str; 6] = ["role", "type", "id", "index", "name", "format"];

/// The depth to which values are merged: a field's list, its elements, their fields. Deeper values are replaced
/// completely.
const MERGE_DEPTH: u8 = 3;

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Value {
    /// The raw content of a string, between its quotes.
    Text(String),
    List(Vec<Value>),
    Object(Object),
    /// Any other value, as JSON text.
    Other(String),
}

/// The fields of an object, in the order of their first occurrence.
#[derive(Debug, Clone, Default)]
pub(super) struct Object(Vec<(String, Value)>);

impl Value {
    pub(super) fn of(json: &RawValue) -> Value {
        Value::within(json, MERGE_DEPTH)
    }

    fn within(json: &RawValue, depth: u8) -> Value {
        let text = json.get();
        let other = || Value::Other(text.to_owned());
        match text.as_bytes().first() {
            Some(b'"') => Value::Text(between_quotes(text).to_owned()),
            Some(b'[') if depth > 0 => serde_json::from_str::<Vec<&RawValue>>(text).map_or_else(
                |_| other(),
                |list| Value::List(list.into_iter().map(|json| Value::within(json, depth - 1)).collect()),
            ),
            Some(b'{') if depth > 0 => Fields::read(text).map_or_else(
                |_| other(),
                |fields| {
                    let fields = fields.iter();
                    let fields = fields.map(|(key, json)| (key.to_owned(), Value::within(json, depth - 1)));
                    Value::Object(Object(fields.collect()))
                },
            ),
            _ => other(),
        }
    }

    /// A string with this raw content.
    pub(super) fn text(text: &str) -> Value {
        Value::Text(between_quotes(&quoted(text)).to_owned())
    }

    pub(super) fn null() -> Value {
        Value::Other("null".to_owned())
    }

    fn is_null(&self) -> bool {
        matches!(self, Value::Other(json) if json == "null")
    }

    /// JSON text.
    pub(super) fn json(&self) -> String {
        let mut json = String::new();
        self.write(&mut json);
        json
    }

    fn write(&self, out: &mut String) {
        match self {
            // Writing to a string cannot fail.
            Value::Text(escaped) => _ = write!(out, "\"{escaped}\""),
            Value::Other(json) => out.push_str(json),
            Value::List(values) => {
                for (at, value) in values.iter().enumerate() {
                    out.push(if at == 0 { '[' } else { ',' });
                    value.write(out);
                }
                out.push_str(if values.is_empty() { "[]" } else { "]" });
            }
            Value::Object(Object(fields)) => {
                for (at, (key, value)) in fields.iter().enumerate() {
                    out.push(if at == 0 { '{' } else { ',' });
                    out.push_str(&quoted(key));
                    out.push(':');
                    value.write(out);
                }
                out.push_str(if fields.is_empty() { "{}" } else { "}" });
            }
        }
    }
}

impl Object {
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Replaces a field, or adds it at the end.
    pub(super) fn put(&mut self, key: &str, value: Value) {
        match self.0.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// Adds a field at the end, if it is missing.
    pub(super) fn put_missing(&mut self, key: &str, value: impl FnOnce() -> Value) {
        if self.get(key).is_none() {
            self.put(key, value());
        }
    }

    /// The raw content of a string, between its quotes.
    pub(super) fn escaped(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Value::Text(escaped)) => Some(escaped),
            _ => None,
        }
    }

    /// Merges the next piece of a field.
    pub(super) fn merge(&mut self, key: &str, piece: Value) {
        let Some((_, old)) = self.0.iter_mut().find(|(name, _)| name == key) else {
            self.0.push((key.to_owned(), piece));
            return;
        };
        match (old, piece) {
            (_, piece) if piece.is_null() => {}
            (Value::Text(_), Value::Text(again)) if LABELS.contains(&key) && again.is_empty() => {}
            (Value::Text(old), Value::Text(more)) if !LABELS.contains(&key) => old.push_str(&more),
            (Value::List(old), Value::List(more)) => more.into_iter().for_each(|element| add(old, element)),
            (Value::Object(old), Value::Object(more)) => old.merge_all(more),
            (old, piece) => *old = piece,
        }
    }

    /// Appends parts to a list; a text in its place becomes the first one. A part continues the previous one of its type.
    pub(super) fn extend_parts(&mut self, key: &str, parts: Value) {
        let Value::List(parts) = parts else { return };
        let mut list = match self.get(key) {
            Some(Value::List(list)) => list.clone(),
            Some(text @ Value::Text(escaped)) if !escaped.is_empty() => {
                vec![Value::Object(Object(vec![
                    ("type".to_owned(), Value::Text("text".to_owned())),
                    ("text".to_owned(), text.clone()),
                ]))]
            }
            _ => Vec::new(),
        };
        for part in parts {
            match (list.last_mut(), part) {
                (Some(Value::Object(last)), Value::Object(part))
                    if last.escaped("type").is_some() && last.escaped("type") == part.escaped("type") =>
                {
                    last.merge_all(part);
                }
                (_, part) => list.push(part),
            }
        }
        self.put(key, Value::List(list));
    }

    pub(super) fn merge_all(&mut self, pieces: Object) {
        for (key, piece) in pieces.0 {
            self.merge(&key, piece);
        }
    }
}

/// Adds an element to a list, or merges it with the element of the same index and type.
fn add(list: &mut Vec<Value>, element: Value) {
    let Value::Object(piece) = element else {
        list.push(element);
        return;
    };
    let mark = |object: &Object, key| object.get(key).map(Value::json);
    let same = list.iter_mut().find_map(|value| match value {
        Value::Object(object) => {
            let is_same = piece.get("index").is_some()
                && ["index", "type"].iter().all(|key| mark(object, key) == mark(&piece, key));
            is_same.then_some(object)
        }
        _ => None,
    });
    match same {
        Some(object) => object.merge_all(piece),
        None => list.push(Value::Object(piece)),
    }
}

/// The raw content of a JSON string.
pub(crate) fn between_quotes(json: &str) -> &str {
    json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or(json)
}
