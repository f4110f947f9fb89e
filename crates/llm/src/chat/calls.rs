//! The calls of a message that comes in pieces.

use super::growing_text::unescaped;
use super::message::{Object, Value};
use crate::Failure;
use crate::conversation::{CallIds, only_arguments};
use pipewright_record::{Arguments, Fields, ModelCall};
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
    ///
    /// # Errors
    /// Its function cannot be read, or has arguments in a place that is not known.
    pub(super) fn take(&mut self, piece: &Fields<'_>) -> Result<(), Failure> {
        let function =
            piece.present("function").map_or_else(|| Ok(Fields::default()), |json| Fields::read(json.get()))?;
        only_arguments(&function, "arguments")?;
        // Its own fields may be a server's additions, except for those of a call.
        let beside = ["arguments", "args", "parameters", "input", "custom"];
        if let Some(key) = beside.iter().find(|key| piece.present(key).is_some_and(|json| json.get() != "\"\"")) {
            return Err(Failure::protocol(format_args!("a call has a field {key:?} beside its function")));
        }
        let name = function.text("name").filter(|name| !name.is_empty());
        let (index, id) = (piece.count("index"), piece.text("id").filter(|id| !id.is_empty()));
        let at = self.continued(index, id.as_deref(), name.as_deref());
        let is_blank = |json: &RawValue| json.get().trim_matches('"').trim().is_empty();
        // Some servers end with a piece of nothing.
        if at.is_none() && id.is_none() && name.is_none() && function.present("arguments").is_none_or(is_blank) {
            return Ok(());
        }
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
        Ok(())
    }

    /// The call that a piece belongs to; `None` if it starts a new call.
    ///
    /// Ollama sends every call of a turn under index 0, and some of them without an id. So a different id starts a
    /// call, and without an id a name does if the previous call is complete, or has another one. Other servers repeat
    /// id and name in every piece, or omit the index.
    fn continued(&self, index: Option<u64>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let is_only = self.0.len() == 1;
        let at = self.0.iter().rposition(|call| call.index == index || (index.is_none() && is_only))?;
        let call = &self.0[at];
        let own = call.fields.escaped("id").map(unescaped).filter(|own| !own.is_empty());
        let (own_name, is_named) = (call.text("name"), name.is_some());
        let begins = match (own.as_deref(), id) {
            _ if is_named && !own_name.is_empty() && name != Some(&own_name) => true,
            (Some(own), Some(id)) => own != id,
            _ => is_named && call.is_complete(),
        };
        (!begins).then_some(at)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the last call has no complete arguments, not even empty ones.
    pub(super) fn is_cut(&self) -> bool {
        self.0.last().is_some_and(|call| !call.is_complete())
    }

    /// The calls in the form of the message (JSON texts), and in the form of the turn. Missing ids are generated.
    ///
    /// # Errors
    /// A call has no name or no arguments: those of another call may be its own.
    pub(super) fn end(self, ids: &mut CallIds) -> Result<(Vec<String>, Vec<ModelCall>), Failure> {
        if self.0.iter().any(|call| call.text("name").is_empty()) {
            return Err(Failure::protocol("a call has no name, so that its arguments may be those of another call"));
        }
        let has_arguments_behind = |at: usize, call: &Call| {
            let behind = &self.0[at + 1..];
            behind.iter().any(|other| other.text("name") == call.text("name") && !other.has_no_arguments())
        };
        if self.0.iter().enumerate().any(|(at, call)| call.has_no_arguments() && has_arguments_behind(at, call)) {
            return Err(Failure::protocol(
                "a call has no arguments, and those of the next call of the same tool may be its own",
            ));
        }
        // Arguments that cannot be read may contain those of a call that has none.
        let is_mixed = self.0.iter().any(|call| !call.has_no_arguments() && !call.is_complete());
        Ok(self.0.into_iter().map(|call| call.end(is_mixed, ids)).unzip())
    }
}

impl Call {
    fn text(&self, key: &str) -> String {
        self.function.escaped(key).map(unescaped).unwrap_or_default()
    }

    fn arguments(&self) -> Arguments {
        arguments_of(self.function.escaped("arguments").unwrap_or_default())
    }

    fn has_no_arguments(&self) -> bool {
        self.text("arguments").trim().is_empty()
    }

    fn is_complete(&self) -> bool {
        // Most pieces end within a text: the whole is not read for each.
        let may_end = |text: &str| text.trim_end().ends_with(['}', 'l']);
        self.function.escaped("arguments").is_some_and(may_end)
            && !self.has_no_arguments()
            && matches!(self.arguments(), Arguments::Object(_))
    }

    fn end(mut self, is_mixed: bool, ids: &mut CallIds) -> (String, ModelCall) {
        let own = self.fields.escaped("id").map(unescaped);
        let call_id = ids.take(own.clone());
        // Unchanged, unless another call of the conversation has the same id.
        if own.as_ref() != Some(&call_id) {
            self.fields.put("id", Value::text(&call_id));
        }
        self.fields.put_missing("type", || Value::text("function"));
        let tool_name = self.text("name");
        let arguments = match is_mixed && self.has_no_arguments() {
            true => Arguments::Text(String::new()),
            false => self.arguments(),
        };
        self.fields.put("function", Value::Object(self.function));
        (Value::Object(self.fields).json(), ModelCall { call_id, tool_name, arguments })
    }
}

/// The API sends arguments as JSON text; some servers send the object itself, but none accepts it in a request.
fn arguments(json: &RawValue) -> Value {
    if json.get().starts_with('"') || json.get() == "null" { Value::of(json) } else { Value::text(json.get()) }
}

/// Arguments in a JSON string, given between its quotes. An unpaired surrogate stands for no character, so that the
/// text cannot be kept.
pub(crate) fn arguments_of(escaped: &str) -> Arguments {
    match serde_json::from_str::<String>(&format!("\"{escaped}\"")) {
        Ok(text) => Arguments::of_text(&text),
        Err(_) => Arguments::Text(unescaped(escaped)),
    }
}
