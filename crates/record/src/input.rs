//! A tool's question during a call, and its answer: `input_request` and `input_response`.

use super::{Fields, Record, Unreadable, named, schema, unreadable};
use crate::json::Object;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A question of a tool during a call.
///
/// Answered with an input_response with the same request_id.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "input_request")]
pub struct InputRequest<'a> {
    /// Our id, which the answer repeats.
    pub request_id: &'a str,
    /// The id of the call that waits for the answer, if it is known and the call has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Id>")]
    pub call_id: Option<&'a RawValue>,
    /// The tool of that call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<&'a str>,
    /// The side that asks.
    pub source: &'a str,
    /// The method of the request, such as elicitation/create.
    pub method: &'a str,
    /// The question, unchanged.
    #[schemars(with = "Map<String, Value>")]
    pub params: &'a RawValue,
    /// How often the server had been restarted, from 0. After an increase, the state of the server (a page, a session) is lost.
    pub epoch: u64,
    /// The server that asks, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<&'a str>,
}

impl Record for InputRequest<'_> {}

named! {
    /// What a person does with the question of a tool.
    pub enum InputAction as "input_action" {
        /// Gives the requested data.
        Accept = "accept",
        /// Does not answer it.
        Decline = "decline",
        /// Ends what the tool does.
        Cancel = "cancel",
    }
}

/// The answer to an input_request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "input_response")]
pub struct InputResponse<'a> {
    /// The id of the input_request.
    pub request_id: Cow<'a, str>,
    /// What the person does.
    pub action: InputAction,
    /// The requested data, if the request is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub content: Option<&'a RawValue>,
}

impl Record for InputResponse<'_> {}

impl<'a> InputResponse<'a> {
    /// Reads a line; `None` is another record.
    ///
    /// # Errors
    /// Why it is not valid.
    pub fn read(line: &'a str) -> Result<Option<InputResponse<'a>>, Unreadable> {
        let fields = Fields::read(line)?;
        if fields.get("type").is_none_or(|value| value.get() != "\"input_response\"") {
            return Ok(None);
        }
        let Some(request_id) = fields.borrowed_text("request_id") else {
            return unreadable("an input_response without a request_id that is a string");
        };
        let Some(action) = fields.borrowed_text("action").and_then(|action| InputAction::named(&action)) else {
            return unreadable("an input_response whose action is not accept, decline or cancel");
        };
        let content = fields.get("content");
        if content.is_some_and(|content| !content.get().starts_with('{')) {
            return unreadable("an input_response whose content is not an object");
        }
        Ok(Some(InputResponse { request_id, action, content }))
    }

    /// The result of an elicitation in MCP, JSON text.
    pub fn result(&self) -> String {
        Object::default().text("action", self.action.name()).put_some("content", self.content).end()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::json::{one_line, raw};

    #[test]
    fn a_question_is_one_line_and_keeps_every_digit() {
        let id: Box<RawValue> = serde_json::from_str("7.10").unwrap();
        let params = one_line("{\n\"n\": 1.10}");
        let asked = InputRequest {
            request_id: "q1",
            call_id: Some(&*id),
            tool: Some("ask"),
            source: "mcp",
            method: "elicitation/create",
            params: raw(&params),
            epoch: 0,
            server: None,
        };
        assert_eq!(
            asked.json(),
            r#"{"type":"input_request","request_id":"q1","call_id":7.10,"tool":"ask","source":"mcp","method":"elicitation/create","params":{ "n": 1.10},"epoch":0}"#
        );
    }

    #[test]
    fn an_answer_is_read_or_its_fault_is_reported() {
        let line = r#"{"type":"input_response","request_id":"q1","action":"accept","content":{"n":1.10}}"#;
        let read = InputResponse::read(line).unwrap().unwrap();
        assert_eq!((&*read.request_id, read.result().as_str()), ("q1", r#"{"action":"accept","content":{"n":1.10}}"#));
        assert!(InputResponse::read(r#"{"type":"observation"}"#).unwrap().is_none());
        for bad in [
            r#"{"type":"input_response","action":"accept"}"#,
            r#"{"type":"input_response","request_id":1,"action":"accept"}"#,
            r#"{"type":"input_response","request_id":"q","action":"yes"}"#,
            r#"{"type":"input_response","request_id":"q","action":"accept","content":[]}"#,
            r#"{"type":"input_response","request_id":"q","request_id":"p","action":"accept"}"#,
        ] {
            assert!(InputResponse::read(bad).is_err(), "{bad}");
        }
    }
}
