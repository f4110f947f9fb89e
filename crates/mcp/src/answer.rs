//! Interprets a server's result: the tool succeeded, failed, or asks for input first.

use pipewright_record::{Fields, Reason};
use serde_json::value::RawValue;

/// The outcome of a tool call.
#[derive(Debug, Clone)]
pub enum CallOutcome<'a> {
    /// The call succeeded: the complete result, or the `data` that [`reported`] finds.
    Result(&'a RawValue),
    /// The call failed.
    Error {
        /// The message, for people.
        message: String,
        /// The complete result, or the `data` that [`reported`] finds.
        data: &'a RawValue,
    },
    /// The call needs input before it continues (2026-07-28); the complete result.
    InputRequired(&'a RawValue),
}

/// Reads a `tools/call` result. Everything in it is kept: text, structured content, blocks, unknown fields, every
/// digit.
pub fn given(result: &RawValue) -> CallOutcome<'_> {
    let Ok(fields) = Fields::read(result.get()) else { return CallOutcome::Result(result) };
    let is = |key, value| fields.get(key).is_some_and(|found| found.get() == value);
    if is("resultType", "\"input_required\"") {
        return CallOutcome::InputRequired(result);
    }
    if is("isError", "true") {
        let message = texts(fields.get("content")).unwrap_or_else(|| UNSPECIFIED_ERROR.to_owned());
        return CallOutcome::Error { message, data: result };
    }
    CallOutcome::Result(result)
}

/// The outcome in a result that carries its own status: `status` is what the caller's filter found in it.
/// `"error"` means that the tool failed; so does `{"status":"error","error"?,"data"?}`, with a message and other data.
/// `{"status":"ok","data"}` selects other data. Any other status leaves the result as it is.
pub fn reported<'a>(status: &'a RawValue, result: &'a RawValue) -> CallOutcome<'a> {
    let failed = |message: Option<String>, data: Option<&'a RawValue>| {
        let content = || Fields::read(result.get()).ok().and_then(|fields| texts(fields.get("content")));
        let message = message.or_else(content).unwrap_or_else(|| UNSPECIFIED_ERROR.to_owned());
        CallOutcome::Error { message, data: data.unwrap_or(result) }
    };
    let fields = Fields::read(status.get()).ok();
    let field = |key| fields.as_ref().and_then(|fields| fields.get(key));
    let text =
        |value: &RawValue| serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned());
    match field("status").unwrap_or(status).get() {
        "\"error\"" => failed(field("error").filter(|error| error.get() != "null").map(text), field("data")),
        "\"ok\"" => CallOutcome::Result(field("data").unwrap_or(result)),
        _ => CallOutcome::Result(result),
    }
}

/// The input that a tool asks for (2026-07-28, multi round-trip requests).
#[derive(Debug, PartialEq, Eq)]
pub struct InputRequiredResult<'a> {
    /// Its requests: names, methods and parameters (JSON text).
    pub requests: Vec<(String, String, &'a str)>,
    /// The state to send back, as JSON text.
    pub state: Option<&'a str>,
}

impl<'a> InputRequiredResult<'a> {
    /// Reads a result that is [`CallOutcome::InputRequired`].
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(whole: &'a str) -> Result<InputRequiredResult<'a>, Reason> {
        let read =
            |json: &'a RawValue| Fields::read(json.get()).map_err(|error| format!("its input_required: {error}"));
        let fields = Fields::read(whole).map_err(|error| error.to_string())?;
        let is_there = |value: &&RawValue| value.get() != "null";
        let mut requests = Vec::new();
        if let Some(asked) = fields.get("inputRequests").filter(is_there) {
            for (name, request) in read(asked)?.iter() {
                let request = read(request)?;
                let method = request.get("method").and_then(|method| serde_json::from_str(method.get()).ok());
                let method = method.ok_or_else(|| format!("its input_required: {name:?} has no method"))?;
                requests.push((name.to_owned(), method, request.get("params").map_or("{}", RawValue::get)));
            }
        }
        let state = fields.get("requestState").filter(is_there).map(RawValue::get);
        if requests.is_empty() && state.is_none() {
            return Err("its input_required contains no requests".into());
        }
        Ok(InputRequiredResult { requests, state })
    }
}

const UNSPECIFIED_ERROR: &str = "the tool reported an error";

#[derive(serde::Deserialize)]
struct Block {
    text: Option<String>,
}

fn blocks(content: Option<&RawValue>) -> Vec<Block> {
    content.and_then(|content| serde_json::from_str(content.get()).ok()).unwrap_or_default()
}

/// The texts of the blocks, joined.
fn texts(content: Option<&RawValue>) -> Option<String> {
    let texts: Vec<String> = blocks(content).into_iter().filter_map(|block| block.text).collect();
    if texts.is_empty() { None } else { Some(texts.join("\n")) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The outcome in short: the message of an error, and the data.
    fn short(given: &CallOutcome<'_>) -> (String, String) {
        match given {
            CallOutcome::Result(data) => ("ok".to_owned(), data.get().to_owned()),
            CallOutcome::Error { message, data } => (message.clone(), data.get().to_owned()),
            CallOutcome::InputRequired(whole) => ("input required".to_owned(), whole.get().to_owned()),
        }
    }

    fn raw(json: &str) -> Box<RawValue> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn everything_in_a_result_is_kept() {
        for (json, status) in [
            (
                r#"{"content":[{"type":"text","text":"hi"}],"structuredContent":{"n":12345678901234567890123,"x":1.10},"unknown":{}}"#,
                "ok",
            ),
            (
                r#"{"content":[{"type":"text","text":"no"},{"type":"image","data":""},{"type":"text","text":"way"}],"isError":true,"structuredContent":{"why":1}}"#,
                "no\nway",
            ),
            (r#"{"isError":true}"#, "the tool reported an error"),
            ("[1]", "ok"),
            (r#"{"resultType":"input_required","requestState":"s"}"#, "input required"),
            (
                r#"{"content":[{"type":"text","text":"{\"status\":\"error\"}"}],"structuredContent":{"status":"ok","data":1},"next_page":2}"#,
                "ok",
            ),
        ] {
            assert_eq!(short(&given(&raw(json))), (status.to_owned(), json.to_owned()));
        }
    }

    #[test]
    fn the_requests_of_a_tool_are_read() {
        let asked = r#"{"resultType":"input_required","inputRequests":{"q \"1\"":{"method":"elicitation/create","params":{"n":1.10}}},"requestState":"s\u0041"}"#;
        let requests = vec![("q \"1\"".to_owned(), "elicitation/create".to_owned(), r#"{"n":1.10}"#)];
        assert_eq!(InputRequiredResult::read(asked), Ok(InputRequiredResult { requests, state: Some(r#""s\u0041""#) }));
        assert_eq!(
            InputRequiredResult::read(r#"{"requestState":"s"}"#),
            Ok(InputRequiredResult { requests: Vec::new(), state: Some("\"s\"") })
        );
        for bad in ["{}", r#"{"inputRequests":{"a":{}}}"#, r#"{"inputRequests":[]}"#, r#"{"inputRequests":{"a":1}}"#] {
            assert!(InputRequiredResult::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_status_in_the_content_is_taken_from_the_caller() {
        let json = r#"{"content":[{"type":"text","text":"sold out"}]}"#;
        for (status, message, data) in [
            (r#"{"status":"ok","data":{"n":1.10},"next":2}"#, "ok", r#"{"n":1.10}"#),
            (r#"{"status":"error","error":"gone","data":[1.0]}"#, "gone", "[1.0]"),
            (r#"{"status":"error","error":{"why":1}}"#, r#"{"why":1}"#, json),
            (r#""error""#, "sold out", json),
            (r#"{"status":"error","error":null}"#, "sold out", json),
            (r#""ok""#, "ok", json),
            (r#"{"status":"shipped","data":1}"#, "ok", json),
            ("null", "ok", json),
        ] {
            let (status, result) = (raw(status), raw(json));
            assert_eq!(short(&reported(&status, &result)), (message.to_owned(), data.to_owned()), "{status}");
        }
    }
}
