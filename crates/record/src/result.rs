//! `tool_result`, as read by the caller; [`Call::answer`](super::Call::answer) writes it.

use super::{Fields, Unreadable, unreadable};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// `{"type":"tool_result","call_id"?,"status":"ok","result"}`, or with `"status":"error","error","kind","code"?,"data"?`.
#[derive(Debug, Clone)]
pub struct ToolResult<'a> {
    /// The id of the call, as JSON text.
    pub call_id: Option<&'a RawValue>,
    /// The result, as JSON text, or why there is none.
    pub outcome: Result<&'a RawValue, ToolError<'a>>,
    /// JSON text: what the call caused in a game.
    pub events: Option<&'a RawValue>,
}

/// Why a call has no result.
#[derive(Debug, Clone)]
pub struct ToolError<'a> {
    /// For people and models.
    pub message: String,
    /// The name of a [`Kind`](super::Kind); a world in another language may use others.
    pub kind: String,
    /// The other side's own error code.
    pub code: Option<String>,
    /// JSON text: further details.
    pub data: Option<&'a RawValue>,
    /// The call was sent to the server behind the world and may have been executed.
    pub maybe_executed: bool,
}

impl<'a> ToolResult<'a> {
    /// Reads the fields of such a record.
    ///
    /// # Errors
    /// A status other than `ok` and `error`, or no result.
    pub fn read(fields: &Fields<'a>) -> Result<ToolResult<'a>, Unreadable> {
        let outcome = match (fields.text("status").as_deref(), fields.get("result")) {
            (Some("ok"), Some(result)) => Ok(result),
            (Some("error"), _) => Err(ToolError {
                message: fields.text("error").unwrap_or_else(|| "the world gave no reason".to_owned()),
                kind: fields.text("kind").unwrap_or_else(|| "tool_error".to_owned()),
                code: fields.text("code"),
                data: fields.get("data"),
                maybe_executed: fields.get("maybe_executed").is_some_and(|value| value.get() == "true"),
            }),
            _ => return unreadable("a tool_result needs \"status\":\"ok\" with \"result\", or \"status\":\"error\""),
        };
        Ok(ToolResult { call_id: fields.get("call_id"), outcome, events: fields.get("events") })
    }
}

/// The same as a client shows it, which takes what there is.
#[derive(Debug, Clone)]
pub struct CallResult<'a> {
    /// The id of the call, as JSON text.
    pub call_id: Option<&'a RawValue>,
    /// Whether the call succeeded.
    pub is_ok: bool,
    /// The result, as JSON text.
    pub result: Option<&'a RawValue>,
    /// The name of the kind of failure.
    pub kind: Option<Cow<'a, str>>,
    /// Why it failed, for people.
    pub error: Option<Cow<'a, str>>,
    /// JSON text: further details of a failure.
    pub data: Option<&'a RawValue>,
}

impl<'a> CallResult<'a> {
    /// Takes the fields of such a record.
    pub fn of(fields: &Fields<'a>) -> CallResult<'a> {
        CallResult {
            call_id: fields.get("call_id"),
            is_ok: fields.borrowed_text("status").as_deref() == Some("ok"),
            result: fields.get("result"),
            kind: fields.borrowed_text("kind"),
            error: fields.borrowed_text("error"),
            data: fields.get("data"),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn results_and_errors_are_read_with_every_digit() {
        let read = |line| ToolResult::read(&Fields::read(line).unwrap()).unwrap();
        let ok = read(r#"{"type":"tool_result","call_id":7.10,"status":"ok","result":1.10,"events":[1]}"#);
        assert_eq!(
            (ok.call_id.unwrap().get(), ok.outcome.unwrap().get(), ok.events.unwrap().get()),
            ("7.10", "1.10", "[1]")
        );
        let error = read(r#"{"status":"error","error":"no","kind":"lost","code":"X","data":{},"maybe_executed":true}"#);
        let error = error.outcome.unwrap_err();
        assert_eq!((&*error.message, &*error.kind, error.code.as_deref()), ("no", "lost", Some("X")));
        assert!(error.maybe_executed && error.data.unwrap().get() == "{}");
    }

    #[test]
    fn a_result_without_a_status_is_an_error() {
        for line in [r#"{"status":"ok"}"#, r#"{"result":1}"#, r#"{"status":"well","result":1}"#] {
            assert!(ToolResult::read(&Fields::read(line).unwrap()).is_err(), "{line}");
        }
    }
}
