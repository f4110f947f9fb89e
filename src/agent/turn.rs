//! A `model_turn` as the loop reads it: what it says, and what of it goes back to the model.

use crate::json::Object;
use crate::record::{Fields, Message, ModelCall, ModelRequest, Unreadable, Usage, unreadable};

/// What a turn cost, and how it came, is no part of the conversation: a replay would differ in it.
const LEFT_OUT: [&str; 4] = ["usage", "latency_ms", "retries", "from_cache"];

/// A turn of the model's.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) text: String,
    /// What is shown of the model's reasoning.
    pub(super) reasoning: String,
    pub(super) calls: Vec<ModelCall>,
    pub(super) usage: Usage,
    /// It was kept from an earlier request, and cost nothing.
    pub(super) is_cached: bool,
    /// Why it ended: `call`, `end`, `length` or `refusal`.
    pub(super) stop: String,
    /// JSON text: what goes back as the assistant's message.
    pub(super) kept: String,
}

/// What the model side has answered.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Turn(Turn),
    /// The kind, the message for people, and what it cost.
    Failed(String, String, Usage),
}

/// Reads a `model_turn`; gives its `request_id` as JSON text, too. `None` is another record.
///
/// # Errors
/// It has neither `"status":"ok"` with calls that can be read, nor `"status":"error"`.
pub(super) fn read(line: &str) -> Result<Option<(String, Answer)>, Unreadable> {
    let fields = Fields::read(line)?;
    if fields.text("type").as_deref() != Some("model_turn") {
        return Ok(None);
    }
    let id = fields.get("request_id").map(|id| id.get().to_owned()).unwrap_or_default();
    let usage = fields.object("usage").map(|usage| Usage::of(&usage)).unwrap_or_default();
    let answer = match fields.text("status").as_deref() {
        Some("ok") => {
            let kept = fields.iter().filter(|(key, _)| !LEFT_OUT.contains(key));
            let kept = kept.fold(Object::default(), |object, (key, json)| object.put_any(key, json)).end();
            let calls = calls(&kept)?;
            let reasoning = fields.text("reasoning").unwrap_or_default();
            let (text, stop) = (fields.text("text").unwrap_or_default(), fields.text("stop").unwrap_or_default());
            let is_cached = fields.get("from_cache").is_some_and(|value| value.get() == "true");
            Answer::Turn(Turn { text, reasoning, calls, usage, is_cached, stop, kept })
        }
        Some("error") => {
            let kind = fields.text("kind").unwrap_or_else(|| "protocol".to_owned());
            Answer::Failed(kind, fields.text("error").unwrap_or_default(), usage)
        }
        _ => return unreadable("a model_turn has \"status\":\"ok\" or \"error\""),
    };
    Ok(Some((id, answer)))
}

/// The calls of a turn, read as the next request will be read that holds it.
fn calls(turn: &str) -> Result<Vec<ModelCall>, Unreadable> {
    let request = format!(r#"{{"type":"model_request","messages":[{{"role":"assistant","turn":{turn}}}]}}"#);
    let request = ModelRequest::read(&request)?;
    let message = request.and_then(|request| request.messages.into_iter().next());
    Ok(match message {
        Some(Message::Assistant(turn)) => turn.calls,
        _ => Vec::new(),
    })
}
