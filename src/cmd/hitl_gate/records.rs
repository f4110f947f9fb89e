//! What is told about a call that is held: `status` and `policy_result`.

use super::waiting::arguments;
use crate::policy::audit::{By, Settlement};
use crate::record::{Call, Form};
use crate::rpc::{Object, quoted};
use serde_json::value::RawValue;

/// With the call's id and context.
fn about(call: &Call<'_>, record: Object) -> Object {
    let record = call.id.map(RawValue::get).into_iter().fold(record, |record, id| record.put("call_id", id));
    call.context.iter().fold(record, |record, (key, value)| record.put(key, value.get()))
}

/// It waits, and this is what whoever answers has to know.
pub fn waiting(call: &Call<'_>, nonce: &str, sha256: &str) -> String {
    let record = Object::default().put("type", "\"status\"").put("status", "\"waiting_human\"");
    let mut record = about(call, record)
        .put("nonce", &quoted(nonce))
        .put("tool_name", &quoted(&call.tool))
        .put("arguments", arguments(call));
    for (key, value) in [("target", call.target), ("policy", call.policy)] {
        if let Some(value) = value {
            record = record.put(key, value.get());
        }
    }
    record.put("arguments_sha256", &quoted(sha256)).end()
}

/// Seed 003's word for it.
fn status_of(verdict: Settlement) -> &'static str {
    match verdict {
        Settlement::Edited => "edited_by_human",
        other => other.name(),
    }
}

/// It waits no more, and why.
pub fn settled(call: &Call<'_>, verdict: Settlement, by: By, sha256: &str, feedback: Option<&str>) -> [String; 2] {
    let status = Object::default().put("type", "\"status\"").put("status", &quoted(status_of(verdict)));
    let result = about(call, Object::default().put("type", "\"policy_result\""))
        .put("verdict", &quoted(verdict.name()))
        .put("by", &quoted(by.name()))
        .put("arguments_sha256", &quoted(sha256));
    let result = feedback.into_iter().fold(result, |result, feedback| result.put("feedback", &quoted(feedback)));
    [about(call, status).end(), result.end()]
}

/// Whether whoever made the call waits for an answer to it.
pub fn wants_answer(call: &Call<'_>) -> bool {
    call.form != Form::JsonRpc || call.id.is_some()
}
