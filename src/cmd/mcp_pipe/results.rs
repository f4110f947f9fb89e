//! What a server's result is: a result, or one of several ways to report an error.

use crate::mcp::{Given, given, reported};
use crate::record::{Kind, Outcome};
use crate::rpc::RpcError;
use serde_json::value::RawValue;

/// What a server's result is, given to `answer`. `status` is what `--status-from` makes of it.
pub fn outcome(
    result: &Result<&RawValue, RpcError>,
    status: Option<&RawValue>,
    answer: &mut dyn FnMut(Outcome<'_>) -> String,
) -> String {
    let raw = |json: &str| serde_json::from_str::<Box<RawValue>>(json).ok();
    let failed = |message, data| Outcome::Error { kind: Kind::ToolError, message, code: None, data: Some(data) };
    match result {
        Ok(result) => match (given(result), status) {
            (Given::Result(whole), Some(status)) => match reported(status, whole) {
                Given::Error { message, data } => answer(failed(&message, data)),
                Given::Result(data) | Given::InputRequired(data) => answer(Outcome::Ok(data)),
            },
            (Given::Result(data), None) => answer(Outcome::Ok(data)),
            (Given::Error { message, data }, _) => answer(failed(&message, data)),
            (Given::InputRequired(whole), _) => {
                answer(failed("the tool asks for input, which nobody here can give", whole))
            }
        },
        Err(error) => {
            let kind = match error.code {
                -32601 => Kind::UnknownTool,
                -32602 => Kind::InvalidArgs,
                _ => Kind::ToolError,
            };
            let (code, data) = (error.code.to_string(), error.data.as_deref().and_then(raw));
            let (message, code) = (&error.message, Some(code.as_str()));
            answer(Outcome::Error { kind, message, code, data: data.as_deref() })
        }
    }
}
