//! A tool's question during a call, and its answer: `input_request` and `input_response`.

use super::{Fields, Unreadable, unreadable};
use crate::json::{Object, one_line};
use serde_json::value::RawValue;

/// `{"type":"input_request","request_id","call_id"?,"tool"?,"source","method","params"}`.
#[derive(Debug, Clone)]
pub struct InputRequest<'a> {
    /// Our id, which the answer repeats.
    pub id: &'a str,
    /// The call that waits for the answer, if known: its id as written, and its tool.
    pub call: Option<(Option<&'a RawValue>, &'a str)>,
    /// The name of the server that asks.
    pub source: &'a str,
    /// The method of the request, in its own protocol.
    pub method: &'a str,
    /// JSON text: the question.
    pub params: &'a str,
}

impl InputRequest<'_> {
    /// The record, JSON text without a line feed, with the fields of `more` at the end (plain names and JSON text).
    pub fn record(&self, more: &[(&str, &str)]) -> String {
        let record = Object::default().text("type", "input_request").text("request_id", self.id);
        let record = match self.call {
            Some((id, tool)) => record.put_some("call_id", id).text("tool", tool),
            None => record,
        };
        let record = record.text("source", self.source).text("method", self.method);
        record.put("params", one_line(self.params)).put_all(more.iter().copied()).end()
    }
}

/// `{"type":"input_response","request_id","action":"accept|decline|cancel","content"?}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputResponse<'a> {
    /// The id of the [`InputRequest`].
    pub id: String,
    /// `accept`, `decline` or `cancel`.
    pub action: String,
    /// JSON text, an object: the answer.
    pub content: Option<&'a str>,
}

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
        let text = |key| fields.get(key).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        let Some(id) = text("request_id") else {
            return unreadable("an input_response without a request_id that is a string");
        };
        let action = text("action").filter(|action| ["accept", "decline", "cancel"].contains(&action.as_str()));
        let Some(action) = action else {
            return unreadable("an input_response whose action is not accept, decline or cancel");
        };
        let content = fields.get("content").map(RawValue::get);
        if content.is_some_and(|content| !content.starts_with('{')) {
            return unreadable("an input_response whose content is not an object");
        }
        Ok(Some(InputResponse { id, action, content }))
    }

    /// The result of an elicitation in MCP, JSON text.
    pub fn result(&self) -> String {
        Object::default().text("action", &self.action).put_some("content", self.content).end()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_one_line_and_keeps_every_digit() {
        let id: Box<RawValue> = serde_json::from_str("7.10").unwrap();
        let (call, params) = (Some((Some(&*id), "ask")), "{\n\"n\": 1.10}");
        let asked = InputRequest { id: "q1", call, source: "mcp", method: "elicitation/create", params };
        assert_eq!(
            asked.record(&[("epoch", "0")]),
            r#"{"type":"input_request","request_id":"q1","call_id":7.10,"tool":"ask","source":"mcp","method":"elicitation/create","params":{ "n": 1.10},"epoch":0}"#
        );
    }

    #[test]
    fn an_answer_is_read_or_its_fault_is_reported() {
        let line = r#"{"type":"input_response","request_id":"q1","action":"accept","content":{"n":1.10}}"#;
        let read = InputResponse::read(line).unwrap().unwrap();
        assert_eq!((read.id.as_str(), read.result().as_str()), ("q1", r#"{"action":"accept","content":{"n":1.10}}"#));
        assert_eq!(InputResponse::read(r#"{"type":"observation"}"#), Ok(None));
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
