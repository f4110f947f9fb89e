//! A JSON object that a stream delivers in pieces.

use super::Failure;
use super::conversation::arguments_object;
use pipewright_record::json::{Object, one_line, quoted};
use pipewright_record::{Arguments, Fields};
use serde_json::value::RawValue;

/// The fields of an object in the order of their arrival, unchanged except for strings that are appended to.
#[derive(Debug, Default)]
pub(super) struct Assembly(Vec<(String, Value)>);

#[derive(Debug)]
enum Value {
    Json(Box<RawValue>),
    Text(String),
}

impl Assembly {
    /// The fields of an object.
    pub(super) fn of(fields: &Fields<'_>) -> Assembly {
        Assembly(fields.iter().map(|(key, json)| (key.to_owned(), Value::Json(json.to_owned()))).collect())
    }

    /// Replaces a field, or adds it at the end.
    pub(super) fn put(&mut self, key: &str, json: Box<RawValue>) {
        *self.value(key) = Value::Json(json);
    }

    /// Appends to a string; any other value is replaced.
    pub(super) fn append(&mut self, key: &str, more: &str) {
        let value = self.value(key);
        if let Value::Json(json) = value {
            *value = Value::Text(serde_json::from_str(json.get()).unwrap_or_default());
        }
        if let Value::Text(text) = value {
            text.push_str(more);
        }
    }

    /// The text of a field.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        match &self.0.iter().find(|(name, _)| name == key)?.1 {
            Value::Text(text) => Some(text.clone()),
            Value::Json(json) => serde_json::from_str(json.get()).ok(),
        }
    }

    /// The arguments of a call: `pieces` joined, or the field's first value if there were no pieces. If there are both,
    /// neither can be chosen, and they are no object together. The field is set to the object.
    pub(super) fn arguments(&mut self, key: &str, pieces: &str) -> Result<Arguments, Failure> {
        let begun = match self.value(key) {
            Value::Json(json) if pieces.trim().is_empty() || !["{}", "null", "\"\""].contains(&json.get()) => {
                json.get()
            }
            _ => "",
        };
        let arguments = Arguments::of_text(&format!("{begun}{pieces}"));
        self.put(key, raw(arguments_object(&arguments).into_owned())?);
        Ok(arguments)
    }

    /// JSON text.
    pub(super) fn json(&self) -> String {
        let fields = self.0.iter().map(|(key, value)| match value {
            Value::Json(json) => (key, json.get().to_owned()),
            Value::Text(text) => (key, quoted(text)),
        });
        fields.fold(Object::default(), |object, (key, json)| object.put_any(key, json)).end()
    }

    fn value(&mut self, key: &str) -> &mut Value {
        let at = self.0.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
            self.0.push((key.to_owned(), Value::Text(String::new())));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

/// The data of an event as JSON text without line ends, so that its parts can be used in a record.
pub(super) fn event_text(data: &[u8]) -> Result<String, Failure> {
    std::str::from_utf8(data).map(one_line).map_err(Failure::protocol)
}

/// A list of JSON texts.
pub(super) fn list<Item: AsRef<str>>(items: &[Item]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    format!("[{}]", items.join(","))
}

/// JSON text that was assembled here.
pub(super) fn raw(json: String) -> Result<Box<RawValue>, Failure> {
    RawValue::from_string(json).map_err(Failure::protocol)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_assembled_with_every_digit() {
        let fields = Fields::read(r#"{"type":"text","text":"a","n":1.10,"input":{},"note":null}"#).unwrap();
        let mut object = Assembly::of(&fields);
        object.append("text", "\"b");
        object.append("note", "x");
        object.append("new", "y");
        object.put("input", raw(r#"{"a":1e2}"#.to_owned()).unwrap());
        assert_eq!(object.json(), r#"{"type":"text","text":"a\"b","n":1.10,"input":{"a":1e2},"note":"x","new":"y"}"#);
        assert_eq!((object.text("text").as_deref(), object.text("n")), (Some("a\"b"), None));
    }
}
