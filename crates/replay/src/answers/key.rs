//! Decides when two messages of a client are the same.

use crate::calls::own_call;
use crate::canonical;
use crate::compare::{Array, Comparison, Object, below};
use crate::json_rpc::read;
use crate::model::{RequestDelta, hash_of};
use pipewright_lines::{Path, Step};
use pipewright_record::Call;
use pipewright_record::rpc::Message;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The subject of a message.
pub(super) struct MessageSubject {
    /// The method; [`TOOL_CALL`] for a call in one of our own forms.
    pub(super) method: String,
    /// The tool that is called.
    pub(super) tool: Option<String>,
}

/// These are the same regardless of the client's data about itself.
const GREETINGS: [&str; 2] = ["initialize", "server/discover"];

pub(super) fn is_greeting(method: &str) -> bool {
    GREETINGS.contains(&method)
}

pub(super) const CALL: &str = "tools/call";

/// Stands in for the method of calls in our own forms.
pub(super) const TOOL_CALL: &str = "tool_call";

/// Stands in for the method of requests to a model.
pub(super) const MODEL_REQUEST: &str = "model_request";

/// Keys of requests to a model: two requests are the same if all of their messages are. Settings are compared
/// separately.
#[derive(Debug, Default)]
pub(super) struct ModelKeys {
    /// The hash of messages in their compared form, by their hash in [`RequestDelta`]. Each request continues the
    /// messages of an earlier one.
    hashes: HashMap<u64, u64>,
}

impl ModelKeys {
    /// The key contains the last message, and the hash of the earlier ones.
    pub(super) fn key(&mut self, same: &Comparison, request: &RequestDelta) -> (String, MessageSubject) {
        let line = same.normalised(request.line.as_bytes());
        let fields = std::str::from_utf8(&line).ok().and_then(|line| serde_json::from_str::<Object<'_>>(line).ok());
        let messages = fields.and_then(|fields| serde_json::from_str::<Array<'_>>(fields.get("messages")?.get()).ok());
        let ignored: Vec<&[Step]> = same.ignored.iter().map(Path::steps).collect();
        let ignored = below(&ignored, |step| matches!(step, Step::Field(key) if key == "messages"));
        let mut earlier = self.hashes.get(&request.earlier).copied().unwrap_or_default();
        let mut last = String::new();
        for (index, message) in messages.unwrap_or_default().iter().enumerate() {
            if index > 0 {
                earlier = hash_of((earlier, &last));
            }
            last.clear();
            canonical::write(message.get(), &below(&ignored, |step| *step == Step::Item(index)), &mut last);
        }
        self.hashes.insert(request.all, hash_of((earlier, &last)));
        let last = if last.is_empty() { "null" } else { &last };
        let text = format!("{{\"earlier_messages\":\"{earlier:x}\",\"last_message\":{last}}}");
        (text, MessageSubject { method: MODEL_REQUEST.to_owned(), tool: None })
    }
}

/// The key of a message, as JSON text; two messages with the same key are the same. For a call in one of our own forms
/// it is the tool and the arguments; else the method and the parameters without `_meta`.
pub(super) fn key(same: &Comparison, line: &str) -> Option<(String, MessageSubject)> {
    let changed = same.normalise.as_ref().and_then(|normalise| normalise(line.as_bytes()));
    let changed = changed.and_then(|line| String::from_utf8(line).ok());
    let ignored: Vec<&[Step]> = same.ignored.iter().map(Path::steps).collect();
    let at = |keys: &[&str]| below(&ignored, |step| matches!(step, Step::Field(key) if keys.contains(&key.as_str())));
    let key = |line: &str| match read(line) {
        Ok(Message::Request { method, params, .. } | Message::Notification { method, params }) => {
            Some(key_of(method, params, &at(&["params"])))
        }
        _ => own_call(line.as_bytes()).map(|call| key_of_call(call, &at(&["args", "arguments"]))),
    };
    changed.as_deref().and_then(key).or_else(|| key(line))
}

fn key_of_call(call: Call<'_>, ignored: &[&[Step]]) -> (String, MessageSubject) {
    let mut text = "{\"tool_name\":".to_owned();
    canonical::write_text(&call.tool, &mut text);
    text.push_str(",\"arguments\":");
    let is_same_anyway = ignored.iter().any(|steps| steps.is_empty());
    let arguments = call.arguments.filter(|_| !is_same_anyway).map_or("{}", RawValue::get);
    canonical::write(arguments, ignored, &mut text);
    text.push('}');
    (text, MessageSubject { method: TOOL_CALL.to_owned(), tool: Some(call.tool.into_owned()) })
}

fn key_of(method: String, params: Option<&RawValue>, ignored: &[&[Step]]) -> (String, MessageSubject) {
    let mut text = "{\"method\":".to_owned();
    canonical::write_text(&method, &mut text);
    let mut tool = None;
    text.push_str(",\"params\":");
    let is_same_anyway = is_greeting(&method) || ignored.iter().any(|steps| steps.is_empty());
    let params = params.map_or("{}", RawValue::get);
    match serde_json::from_str::<Object<'_>>(params) {
        _ if is_same_anyway => text.push_str("{}"),
        Ok(mut fields) => {
            fields.remove("_meta");
            if method == CALL {
                tool = fields.get("name").and_then(|name| serde_json::from_str(name.get()).ok());
                // Missing arguments count as empty ones.
                if let Ok(none) = serde_json::from_str("{}") {
                    fields.entry("arguments".to_owned()).or_insert(none);
                }
            }
            canonical::write_object(&fields, ignored, &mut text);
        }
        Err(_) => canonical::write(params, ignored, &mut text),
    }
    text.push('}');
    (text, MessageSubject { method, tool })
}
