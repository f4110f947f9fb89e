//! Reads a line of a world in any form.

use super::call::id_value;
use crate::rules::CallOutcome;
use pipewright_record::{Fields, Kind, failed_kind};
use serde_json::Value;
use serde_json::value::RawValue;

/// A line of a world.
#[derive(Debug)]
pub(super) enum WorldOutput {
    /// Noise, a notification, a request: they show no elements.
    Nothing,
    /// A line that can't be read here, though other programs may read it.
    Unreadable,
    Answer(WorldAnswer),
}

#[derive(Debug)]
pub(super) struct WorldAnswer {
    /// The id of the call that it answers, by its value; an observation has none.
    pub id: Option<String>,
    /// Whether the world sent it by itself.
    pub is_observation: bool,
    pub failed: bool,
    /// The call was not carried out.
    pub is_refused: bool,
    /// The result.
    pub body: Value,
}

/// Longer lines are not read.
const MAX_LINE: usize = 8 << 20;

pub(super) fn read(line: &[u8]) -> WorldOutput {
    let line = line.trim_ascii();
    match line.first() {
        Some(b'{') if line.len() <= MAX_LINE => {}
        // A line with `[` may be a batch of answers.
        Some(b'{' | b'[') => return WorldOutput::Unreadable,
        _ => return WorldOutput::Nothing,
    }
    let Ok(text) = std::str::from_utf8(line) else { return WorldOutput::Unreadable };
    let Ok(fields) = Fields::read(text) else { return WorldOutput::Unreadable };
    let is = |key, value: &str| fields.get(key).is_some_and(|found: &RawValue| found.get() == value);
    let has = |key| fields.get(key).is_some();
    let (id, body) = if has("method") {
        return WorldOutput::Nothing;
    } else if is("type", "\"tool_result\"") {
        ("call_id", fields.get("result").or_else(|| fields.get("data")))
    } else if is("type", "\"observation\"") {
        ("", fields.get("data"))
    } else if has("type") || has("cmd") {
        return WorldOutput::Nothing;
    } else if has("tool") && has("status") || has("ok") {
        ("id", fields.get("data"))
    } else if has("id") {
        ("id", fields.get("result"))
    } else {
        return WorldOutput::Nothing;
    };
    let failed_kind = body.and_then(|body| failed_kind(body.get()));
    // serde_json reads at most 128 levels.
    let Ok(body) = body.map_or(Ok(Value::Null), |body| serde_json::from_str(body.get())) else {
        return WorldOutput::Unreadable;
    };
    let has_error = fields.get("error").is_some_and(|error| error.get() != "null");
    let is_error = Value::get(&body, "isError") == Some(&Value::Bool(true)) || is("status", "\"error\"");
    WorldOutput::Answer(WorldAnswer {
        id: fields.get(id).and_then(|id| id_value(id.get())),
        is_observation: id.is_empty(),
        failed: has_error || is_error || is("ok", "false"),
        is_refused: has_error && is_refused(&fields) || failed_kind.is_some_and(is_refusal),
        body,
    })
}

/// What a line of a world tells about a call: its id, as [`id_value`] gives it, and its outcome.
pub fn outcome(line: &[u8]) -> Option<(String, CallOutcome)> {
    let WorldOutput::Answer(answer) = read(line) else { return None };
    let outcome = match (answer.is_refused, answer.failed) {
        (true, _) => CallOutcome::Refused,
        (false, true) => CallOutcome::Failed,
        (false, false) => CallOutcome::Done,
    };
    Some((answer.id?, outcome))
}

/// Whether this kind of failure means that the call was not carried out.
fn is_refusal(kind: Kind) -> bool {
    matches!(kind, Kind::Denied | Kind::NeedsApproval | Kind::Rejected)
}

/// Whether a gate, or a world that refuses marked calls, reports a refusal: in a field of its own, or in JSON-RPC's
/// error.
fn is_refused(fields: &Fields<'_>) -> bool {
    let of_error = || serde_json::from_str::<Value>(fields.get("error")?.get()).ok()?.pointer("/data/kind").cloned();
    let own = || serde_json::from_str(fields.get("kind")?.get()).ok();
    let kind: Option<Value> = own().or_else(of_error);
    kind.as_ref().and_then(Value::as_str).and_then(Kind::named).is_some_and(is_refusal)
}

impl WorldAnswer {
    /// The texts of MCP's content blocks, or the result itself if it is a text.
    pub fn texts(&self) -> Vec<&str> {
        let content = self.body.get("content").and_then(Value::as_array).into_iter().flatten();
        content.filter_map(|block| block.get("text")?.as_str()).chain(self.body.as_str()).collect()
    }

    /// The structured results; JSON within a text block is one, too.
    pub fn values(&self) -> Vec<Value> {
        let is_json = |text: &&str| text.trim_start().starts_with(['{', '[']);
        let within = self.texts().into_iter().filter(is_json).filter_map(|text| serde_json::from_str(text).ok());
        within.chain(std::iter::once(self.body.clone())).collect()
    }
}
