//! Calls that are made in another form now than they were recorded in: the same call in the form of now, and the recorded answer as a
//! `tool_result`.

use crate::json::Object;
use crate::record::{Call, Fields, Form, Kind, Outcome, recognise};
use serde_json::value::RawValue;

/// Two calls in forms of ours, to be compared field by field.
pub(super) struct Comparable {
    /// The recorded call in the form of now, JSON text.
    pub(super) recorded: String,
    /// The call of now, JSON text.
    pub(super) now: String,
    /// The field that has the ids of both.
    pub(super) id_key: &'static str,
}

/// Brings two calls into one form: that of now, with arguments, which are `{}` where they are missing or null. `None` where one of the
/// lines is no call in a form of ours, or their forms differ and that of now is not [`Form::Record`].
pub(super) fn comparable(recorded: &str, now: &str) -> Option<Comparable> {
    let own = |line| recognise(line).ok().flatten().filter(|call: &Call<'_>| call.form != Form::JsonRpc);
    let (call, call_now) = (own(recorded)?, own(now)?);
    if call.form != call_now.form && call_now.form != Form::Record {
        return None;
    }
    let id_key = call_now.form.id_key();
    Some(Comparable {
        recorded: in_form_of(&call_now, recorded, &call)?,
        now: in_form_of(&call_now, now, &call_now)?,
        id_key,
    })
}

/// A call's line in the form of another.
fn in_form_of(other: &Call<'_>, line: &str, call: &Call<'_>) -> Option<String> {
    let mut restated = Object::default();
    if call.form != other.form {
        restated = restated.text("type", "tool_call").text("tool_name", &call.tool).put_some("call_id", call.id);
    }
    for (key, value) in Fields::read(line).ok()?.iter() {
        let is_own = call.form != other.form && matches!(key, "tool" | "cmd" | "id");
        if !is_own && key != call.arguments_key {
            restated = restated.put_any(key, value);
        }
    }
    Some(restated.put(other.arguments_key, call.arguments.map_or("{}", RawValue::get)).end())
}

/// What an answer has beside its outcome.
const BESIDE: [&str; 6] = ["events", "dropped", "frame", "epoch", "maybe_executed", "duration_ms"];

/// A recorded answer in the form of a call that is made as a `tool_call` now; JSON text without a line feed. `None` where it has that form
/// already, or is no answer.
pub(super) fn restated_answer(line: &str, call: &Call<'_>) -> Option<String> {
    let fields = Fields::read(line).ok()?;
    let text = |key| fields.get(key).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
    if call.form != Form::Record || fields.get("type").is_some() {
        return None;
    }
    let is_ok = match fields.get("ok") {
        Some(ok) => ok.get() == "true",
        None => text("status")? == "ok",
    };
    let beside: Vec<(&str, &str)> = BESIDE.iter().filter_map(|key| Some((*key, fields.get(key)?.get()))).collect();
    let (data, code) = (fields.get("data"), text("code"));
    if is_ok {
        return Some(call.answer_with(Outcome::Ok(data.unwrap_or(RawValue::NULL)), &beside));
    }
    let message = [text("error"), text("hint")].into_iter().flatten().collect::<Vec<_>>().join("; ");
    // A game has codes of its own, and no kinds.
    let kind = text("kind").or_else(|| code.clone()).and_then(|kind| Kind::named(&kind)).unwrap_or(Kind::ToolError);
    let data = data.or(fields.get("details"));
    Some(call.answer_with(Outcome::Error { kind, message: &message, code: code.as_deref(), data }, &beside))
}
