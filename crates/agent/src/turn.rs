//! A `model_turn` as the loop uses it: its text and calls, and the part that goes back to the model.

use pipewright_record::json::Object;
use pipewright_record::{Fields, Message, ModelCall, ModelRequest, Unreadable, Usage, unreadable};
use std::collections::HashSet;

/// The cost and the delivery of a turn are not part of the conversation: they would differ in a replay.
const OMITTED_FIELDS: [&str; 5] = ["usage", "latency_ms", "retries", "from_cache", "context"];

/// A turn of the model's.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) text: String,
    /// The reasoning that the model shows.
    pub(super) reasoning: String,
    pub(super) calls: Vec<ModelCall>,
    pub(super) usage: Usage,
    /// Whether it came from a cache and cost nothing.
    pub(super) is_cached: bool,
    /// Why it ended: `call`, `end`, `length` or `refusal`.
    pub(super) stop: String,
    /// The form in which the model was asked for calls; empty if it is not known.
    pub(super) form: String,
    /// The model's context window in tokens.
    pub(super) context: Option<u64>,
    /// The assistant's message for the next request, as JSON text.
    pub(super) kept: String,
}

/// The model command's answer.
#[derive(Debug, Clone)]
pub(super) enum ModelAnswer {
    Turn(Turn),
    /// The kind, the message for people, and the usage.
    Failed(String, String, Usage),
}

/// Reads a `model_turn`; also gives its `request_id` as JSON text. `None` for another record.
///
/// # Errors
/// The answer has neither `"status":"ok"` with readable calls nor `"status":"error"`.
pub(super) fn read(line: &str) -> Result<Option<(String, ModelAnswer)>, Unreadable> {
    let fields = Fields::read(line)?;
    if fields.text("type").as_deref() != Some("model_turn") {
        return Ok(None);
    }
    let id = fields.get("request_id").map(|id| id.get().to_owned()).unwrap_or_default();
    let usage = fields.object("usage").map(|usage| Usage::of(&usage)).unwrap_or_default();
    let answer = match fields.text("status").as_deref() {
        Some("ok") => {
            let kept = fields.iter().filter(|(key, _)| !OMITTED_FIELDS.contains(key));
            let kept = kept.fold(Object::default(), |object, (key, json)| object.put_any(key, json)).end();
            let calls = calls(&kept)?;
            let reasoning = fields.text("reasoning").unwrap_or_default();
            let (text, stop) = (fields.text("text").unwrap_or_default(), fields.text("stop").unwrap_or_default());
            let is_cached = fields.get("from_cache").is_some_and(|value| value.get() == "true");
            let (form, context) = (fields.text("form").unwrap_or_default(), fields.count("context"));
            ModelAnswer::Turn(Turn { text, reasoning, calls, usage, is_cached, stop, form, context, kept })
        }
        Some("error") => {
            let kind = fields.text("kind").unwrap_or_else(|| "protocol".to_owned());
            ModelAnswer::Failed(kind, fields.text("error").unwrap_or_default(), usage)
        }
        _ => return unreadable("a model_turn has \"status\":\"ok\" or \"error\""),
    };
    Ok(Some((id, answer)))
}

/// The calls of a turn, read in the same way as in the next request. Each id counts once, since it has one result.
fn calls(turn: &str) -> Result<Vec<ModelCall>, Unreadable> {
    let request = format!(r#"{{"type":"model_request","messages":[{{"role":"assistant","turn":{turn}}}]}}"#);
    let request = ModelRequest::read(&request)?;
    let message = request.and_then(|request| request.messages.into_iter().next());
    let mut calls = match message {
        Some(Message::Assistant(turn)) => turn.calls,
        _ => Vec::new(),
    };
    let mut ids = HashSet::new();
    calls.retain(|call| ids.insert(call.call_id.clone()));
    Ok(calls)
}
