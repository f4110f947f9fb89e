//! What is told about a call that is held: `status` and `policy_result`.

use super::waiting::arguments;
use crate::record::{Call, Form};
use crate::rpc::{Object, quoted};
use serde_json::value::RawValue;

/// How it ended for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Approved,
    Edited,
    Rejected,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Approved => "approved",
            Verdict::Edited => "edited",
            Verdict::Rejected => "rejected",
        }
    }

    fn status(self) -> &'static str {
        match self {
            Verdict::Edited => "edited_by_human",
            other => other.name(),
        }
    }
}

/// Who or what decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A person at the terminal.
    Terminal,
    /// Whoever answers on `--answers`.
    Answers,
    /// Nobody did in time.
    Timeout,
    /// There is nobody to ask.
    Nobody,
    /// The run, or one of the sides, ended first.
    End,
    /// Whoever had made the call has taken it back.
    Caller,
}

impl By {
    pub fn name(self) -> &'static str {
        match self {
            By::Terminal => "terminal",
            By::Answers => "answers",
            By::Timeout => "timeout",
            By::Nobody => "nobody",
            By::End => "end",
            By::Caller => "caller",
        }
    }
}

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

/// It waits no more, and why.
pub fn settled(call: &Call<'_>, verdict: Verdict, by: By, sha256: &str, feedback: Option<&str>) -> [String; 2] {
    let status = Object::default().put("type", "\"status\"").put("status", &quoted(verdict.status()));
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
