//! JSON-RPC lines in both directions, as views of their raw text: ids may have any JSON type, and numbers keep every digit.

use crate::json::Object;
use crate::{Fields, Reason};
use serde_json::value::RawValue;

/// A JSON-RPC message.
#[derive(Debug)]
pub enum Message<'a> {
    /// A request, which needs an answer.
    Request {
        /// The sender's id of the request.
        id: &'a RawValue,
        /// The method.
        method: String,
        /// The parameters.
        params: Option<&'a RawValue>,
    },
    /// A notification, which needs no answer.
    Notification {
        /// The method.
        method: String,
        /// The parameters.
        params: Option<&'a RawValue>,
    },
    /// The answer to the request with this id.
    Response {
        /// The id, as the request had it.
        id: &'a RawValue,
        /// The result or the error.
        outcome: Result<&'a RawValue, RpcError>,
    },
}

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcError {
    /// JSON-RPC's error code.
    pub code: i64,
    /// For people.
    pub message: String,
    /// JSON text.
    pub data: Option<String>,
}

impl<'a> Message<'a> {
    /// Reads a line's text.
    ///
    /// # Errors
    /// Why it is not a message, for people.
    pub fn read(line: &'a str) -> Result<Message<'a>, Reason> {
        let fields = Fields::read(line).map_err(|error| format!("not a JSON-RPC message: {error}"))?;
        let text = |key| fields.get(key).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        match (text("method"), fields.get("id").filter(is_some)) {
            (Some(method), Some(id)) => Ok(Message::Request { id, method, params: fields.get("params") }),
            (Some(method), None) => Ok(Message::Notification { method, params: fields.get("params") }),
            // Some peers send both fields, with null for the missing one.
            (None, Some(id)) => match (fields.get("result"), fields.get("error").filter(is_some)) {
                (Some(result), None) => Ok(Message::Response { id, outcome: Ok(result) }),
                (result, Some(error)) if !result.is_some_and(|result| is_some(&result)) => {
                    Ok(Message::Response { id, outcome: Err(RpcError::read(error.get())) })
                }
                _ => Err("not a JSON-RPC message: an answer has either a result or an error".into()),
            },
            // An error without an id is about a message that could not be read.
            (None, None) => Err(match fields.get("error").filter(is_some) {
                Some(error) => format!("an error without an id: {}", RpcError::read(error.get()).message).into(),
                None => "not a JSON-RPC message: it has neither method nor id".into(),
            }),
        }
    }
}

fn is_some(value: &&RawValue) -> bool {
    value.get() != "null"
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> RpcError {
        RpcError { code, message: message.into(), data: None }
    }

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
                RpcError { code: 0, message: "an error in an unknown form".to_owned(), data: Some(json.to_owned()) }
            }
        }
    }
}

/// MCP's token for the progress of a request: `_meta.progressToken` of its `params`, as JSON text.
pub fn request_progress_token(params: Option<&RawValue>) -> Option<&RawValue> {
    #[derive(serde::Deserialize, Default)]
    #[serde(rename_all = "camelCase")]
    struct Meta<'a> {
        #[serde(borrow)]
        progress_token: Option<&'a RawValue>,
    }
    #[derive(serde::Deserialize)]
    struct Params<'a> {
        #[serde(borrow, default)]
        _meta: Meta<'a>,
    }
    serde_json::from_str::<Params<'_>>(params?.get()).ok()?._meta.progress_token
}

/// JSON-RPC's code for text that is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// JSON-RPC's code for JSON that is not a message.
pub const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC's code for a method that does not exist.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC's code for invalid parameters.
pub const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC's code for an internal failure of the server.
pub const INTERNAL_ERROR: i64 = -32603;

/// The common start of every line.
fn versioned() -> Object {
    Object::default().text("jsonrpc", "2.0")
}

/// A request as a line with its line feed.
pub fn request(id: u64, method: &str, params: &str) -> String {
    versioned().put("id", id).text("method", method).put("params", params).line()
}

/// A notification as a line.
pub fn notification(method: &str, params: Option<&str>) -> String {
    versioned().text("method", method).put_some("params", params).line()
}

/// The answer to the request with the peer's `id`, as a line.
pub fn response(id: &str, result: Result<&str, &RpcError>) -> String {
    let line = versioned().put("id", id);
    match result {
        Ok(result) => line.put("result", result),
        Err(RpcError { code, message, data }) => {
            let error = Object::default().put("code", code).text("message", message);
            line.put("error", error.put_some("data", data.as_ref()).end())
        }
    }
    .line()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_distinguished() {
        let Ok(Message::Response { id, outcome: Ok(result) }) =
            Message::read(r#"{"jsonrpc":"2.0","id":7.0,"result":{"big":12345678901234567890123}}"#)
        else {
            panic!()
        };
        assert_eq!((id.get(), result.get()), ("7.0", r#"{"big":12345678901234567890123}"#));
        let Ok(Message::Response { outcome: Err(error), .. }) =
            Message::read(r#"{"id":8,"error":{"code":-32601,"message":"no","data":[1.10]}}"#)
        else {
            panic!()
        };
        assert_eq!(error, RpcError { code: -32601, message: "no".to_owned(), data: Some("[1.10]".to_owned()) });
        let request = Message::read(r#"{"id":"s","method":"ping"}"#);
        assert!(
            matches!(request, Ok(Message::Request { id, method, params: None }) if id.get() == "\"s\"" && method == "ping")
        );
        let notification = Message::read(r#"{"method":"notifications/message","id":null,"params":{}}"#);
        assert!(matches!(notification, Ok(Message::Notification { params: Some(_), .. })));
        let both = Message::read(r#"{"id":1,"result":{},"error":null}"#);
        assert!(matches!(both, Ok(Message::Response { outcome: Ok(_), .. })));
        let both = Message::read(r#"{"id":1,"result":null,"error":{}}"#);
        assert!(matches!(both, Ok(Message::Response { outcome: Err(_), .. })));
        for none in [
            "",
            "listening on stdio",
            "[]",
            "{}",
            r#"{"id":1}"#,
            r#"{"id":1,"id":1,"method":"x"}"#,
            r#"{"id":1,"result":{},"error":{}}"#,
            r#"{"id":null,"error":{"message":"?"}}"#,
        ] {
            assert!(Message::read(none).is_err(), "{none}");
        }
    }

    #[test]
    fn lines_are_written() {
        assert_eq!(request(1, "ping", "{}"), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}}\n");
        assert_eq!(notification("a", None), "{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n");
        assert_eq!(notification("a", Some("{}")), "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{}}\n");
        assert_eq!(response("\"x\"", Ok("{}")), "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}\n");
        assert_eq!(
            response("1", Err(&RpcError::new(-32601, "n"))),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"n\"}}\n"
        );
    }
}
