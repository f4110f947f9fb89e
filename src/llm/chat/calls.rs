//! The calls of a message that comes in pieces.

use super::growing::unescaped;
use super::message::{Object, Value};
use crate::llm::conversation::CallIds;
use crate::record::{Arguments, Fields, ModelCall};
use serde_json::value::RawValue;

/// Calls in the order of their first pieces.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Call>);

#[derive(Debug)]
struct Call {
    /// The index of its pieces.
    index: Option<u64>,
    /// All fields except its function.
    fields: Object,
    /// Its name and arguments.
    function: Object,
}

impl Calls {
    /// Takes an element of a delta's `tool_calls`: `{"index"?,"id"?,"type"?,"function":{"name"?,"arguments"?}}`.
    pub(super) fn take(&mut self, piece: &Fields<'_>) {
        let function = piece.object("function").unwrap_or_default();
        let named = function.text("name").is_some_and(|name| !name.is_empty());
        let index = piece.count("index");
        let at = self.continued(index, piece.text("id").filter(|id| !id.is_empty()).as_deref(), named);
        let at = at.unwrap_or_else(|| {
            self.0.push(Call { index, fields: Object::default(), function: Object::default() });
            self.0.len() - 1
        });
        let call = &mut self.0[at];
        for (key, json) in piece.iter().filter(|(key, _)| !["index", "function"].contains(key)) {
            call.fields.merge(key, Value::of(json));
        }
        for (key, json) in function.iter() {
            call.function.merge(key, if key == "arguments" { arguments(json) } else { Value::of(json) });
        }
    }

    /// The call that a piece belongs to; `None` if it starts a new call.
    ///
    /// Ollama sends every call of a turn under index 0, and some of them without an id. So a different id starts a call, and without an id a
    /// name does if the previous call is complete. Other servers repeat id and name in every piece, or omit the index.
    fn continued(&self, index: Option<u64>, id: Option<&str>, is_named: bool) -> Option<usize> {
        let at = self.0.iter().rposition(|call| index.is_none() || call.index == index)?;
        let own = self.0[at].fields.escaped("id").map(unescaped).filter(|own| !own.is_empty());
        let begins = match (own.as_deref(), id) {
            (Some(own), Some(id)) => own != id,
            _ => is_named && self.0[at].is_complete(),
        };
        (!begins).then_some(at)
    }

    /// The calls in the form of the message (JSON texts), and in the form of the turn. Missing ids are generated.
    pub(super) fn end(self, ids: &mut CallIds) -> (Vec<String>, Vec<ModelCall>) {
        self.0.into_iter().map(|call| call.end(ids)).unzip()
    }
}

impl Call {
    fn text(&self, key: &str) -> String {
        self.function.escaped(key).map(unescaped).unwrap_or_default()
    }

    fn is_complete(&self) -> bool {
        let text = self.text("arguments");
        !text.is_empty() && matches!(Arguments::of_text(&text), Arguments::Object(_))
    }

    fn end(mut self, ids: &mut CallIds) -> (String, ModelCall) {
        let own = self.fields.escaped("id").map(unescaped);
        let call_id = ids.take(own.clone());
        // Unchanged, unless another call of the conversation has the same id.
        if own.as_ref() != Some(&call_id) {
            self.fields.put("id", Value::text(&call_id));
        }
        self.fields.put_missing("type", || Value::text("function"));
        let (tool_name, arguments) = (self.text("name"), Arguments::of_text(&self.text("arguments")));
        self.fields.put("function", Value::Object(self.function));
        (Value::Object(self.fields).json(), ModelCall { call_id, tool_name, arguments })
    }
}

/// The API sends arguments as JSON text; some servers send the object itself, but none accepts it in a request.
fn arguments(json: &RawValue) -> Value {
    if json.get().starts_with('{') { Value::text(json.get()) } else { Value::of(json) }
}
