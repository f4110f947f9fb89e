//! JSON-RPC lines, as open views of their raw text.

use crate::record::Fields;
use serde_json::value::RawValue;
use std::fmt::Write;

/// A line from a server.
#[derive(Debug)]
pub enum Message<'a> {
    /// An answer to one of ours.
    Response(u64, Result<&'a RawValue, RpcError>),
    /// The server asks; the id is its own.
    Request(&'a RawValue, String, Option<&'a RawValue>),
    /// It tells, and wants no answer.
    Notification(String, Option<&'a RawValue>),
    /// Anything else: noise on the server's stdout, and why it is none of the above.
    Noise(String),
}

/// An error as JSON-RPC gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// JSON-RPC's number.
    pub code: i64,
    /// For people.
    pub message: String,
    /// JSON text.
    pub data: Option<String>,
}

impl<'a> Message<'a> {
    /// Reads a line's text.
    pub fn read(line: &'a str) -> Message<'a> {
        let fields = match Fields::read(line) {
            Ok(fields) => fields,
            Err(error) => return Message::Noise(error.to_string()),
        };
        let text = |key| fields.get(key).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        match (text("method"), fields.get("id").filter(|id| id.get() != "null")) {
            (Some(method), Some(id)) => Message::Request(id, method, fields.get("params")),
            (Some(method), None) => Message::Notification(method, fields.get("params")),
            // Some write both, and null for what isn't there.
            (None, Some(id)) => match (id.get().parse(), fields.get("result"), fields.get("error").filter(is_some)) {
                (Ok(id), Some(result), None) => Message::Response(id, Ok(result)),
                (Ok(id), result, Some(error)) if !result.is_some_and(|result| is_some(&result)) => {
                    Message::Response(id, Err(RpcError::read(error.get())))
                }
                _ => Message::Noise("an answer to nothing that was asked".to_owned()),
            },
            // Without an id, an error is about something that the server couldn't read.
            (None, None) => match fields.get("error") {
                Some(error) => Message::Noise(RpcError::read(error.get()).message),
                None => Message::Noise("no JSON-RPC message".to_owned()),
            },
        }
    }
}

fn is_some(value: &&RawValue) -> bool {
    value.get() != "null"
}

impl RpcError {
    fn read(json: &str) -> RpcError {
        #[derive(serde::Deserialize)]
        struct Error<'a> {
            #[serde(default)]
            code: i64,
            #[serde(default)]
            message: String,
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
        match serde_json::from_str::<Error<'_>>(json) {
            Ok(Error { code, message, data }) => {
                RpcError { code, message, data: data.map(|data| data.get().to_owned()) }
            }
            Err(_) => {
                RpcError { code: 0, message: "an error of another shape".to_owned(), data: Some(json.to_owned()) }
            }
        }
    }
}

/// JSON text of an object, field by field; values are JSON text.
#[derive(Default)]
pub(super) struct Object(String);

impl Object {
    pub(super) fn put(mut self, key: &str, json: &str) -> Object {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        // A string always takes it.
        let _ = write!(self.0, "\"{key}\":{json}");
        self
    }

    /// The same where the key is anybody's.
    pub(super) fn put_any(mut self, key: &str, json: &str) -> Object {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0 += &format!("{}:{json}", quoted(key));
        self
    }

    pub(super) fn end(self) -> String {
        if self.0.is_empty() { "{}".to_owned() } else { self.0 + "}" }
    }
}

/// A text as JSON.
pub(super) fn quoted(text: &str) -> String {
    // A text is a string: it can't fail.
    serde_json::to_string(text).unwrap_or_default()
}

/// A line that asks, with its line feed.
pub(super) fn request(id: u64, method: &str, params: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{},\"params\":{params}}}\n", quoted(method))
}

/// A line that tells.
pub(super) fn notification(method: &str, params: Option<&str>) -> String {
    let line = Object::default().put("jsonrpc", "\"2.0\"").put("method", &quoted(method));
    params.map_or(line.0.clone(), |params| Object(line.0).put("params", params).0) + "}\n"
}

/// A line that answers the server's own `id`.
pub(super) fn response(id: &str, result: Result<&str, (i64, &str)>) -> String {
    let line = Object::default().put("jsonrpc", "\"2.0\"").put("id", id);
    let line = match result {
        Ok(result) => line.put("result", result),
        Err((code, message)) => {
            line.put("error", &Object::default().put("code", &code.to_string()).put("message", &quoted(message)).end())
        }
    };
    line.end() + "\n"
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let Message::Response(7, Ok(result)) =
            Message::read(r#"{"jsonrpc":"2.0","id":7,"result":{"big":12345678901234567890123}}"#)
        else {
            panic!()
        };
        assert_eq!(result.get(), r#"{"big":12345678901234567890123}"#);
        let Message::Response(8, Err(error)) =
            Message::read(r#"{"id":8,"error":{"code":-32601,"message":"no","data":[1.10]}}"#)
        else {
            panic!()
        };
        assert_eq!(error, RpcError { code: -32601, message: "no".to_owned(), data: Some("[1.10]".to_owned()) });
        assert!(
            matches!(Message::read(r#"{"id":"s","method":"ping"}"#), Message::Request(id, method, None) if id.get() == "\"s\"" && method == "ping")
        );
        assert!(matches!(
            Message::read(r#"{"method":"notifications/message","params":{}}"#),
            Message::Notification(..)
        ));
        assert!(matches!(Message::read(r#"{"id":1,"result":{},"error":null}"#), Message::Response(1, Ok(_))));
        assert!(matches!(Message::read(r#"{"id":1,"result":null,"error":{}}"#), Message::Response(1, Err(_))));
        for noise in [
            "",
            "listening on stdio",
            "[]",
            "{}",
            r#"{"id":1}"#,
            r#"{"id":-1,"result":{}}"#,
            r#"{"id":null,"error":{"message":"?"}}"#,
        ] {
            assert!(matches!(Message::read(noise), Message::Noise(_)), "{noise}");
        }
    }

    #[test]
    fn lines_are_written() {
        assert_eq!(request(1, "ping", "{}"), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}}\n");
        assert_eq!(notification("a", None), "{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n");
        assert_eq!(notification("a", Some("{}")), "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{}}\n");
        assert_eq!(response("\"x\"", Ok("{}")), "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}\n");
        assert_eq!(
            response("1", Err((-32601, "n"))),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"n\"}}\n"
        );
    }
}
