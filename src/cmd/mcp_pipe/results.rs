//! Interprets a server's result: a success, or one of several forms of an error.

use pipewright_mcp::{CallOutcome, given, reported};
use pipewright_record::rpc::RpcError;
use pipewright_record::{Kind, Outcome};
use serde_json::value::RawValue;

/// Passes the outcome of a server's result to `answer`. `status` is the output of `--status-from`.
pub fn outcome(
    result: &Result<&RawValue, RpcError>,
    status: Option<&RawValue>,
    answer: &mut dyn FnMut(Outcome<'_>) -> String,
) -> String {
    let raw = |json: &str| serde_json::from_str::<Box<RawValue>>(json).ok();
    let failed = |message, data| Outcome::Error { kind: Kind::ToolError, message, code: None, data: Some(data) };
    match result {
        Ok(result) => match (given(result), status) {
            (CallOutcome::Result(whole), Some(status)) => match reported(status, whole) {
                CallOutcome::Error { message, data } => answer(failed(&message, data)),
                CallOutcome::Result(data) | CallOutcome::InputRequired(data) => answer(Outcome::Ok(data)),
            },
            (CallOutcome::Result(data), None) => answer(Outcome::Ok(data)),
            (CallOutcome::Error { message, data }, _) => answer(failed(&message, data)),
            (CallOutcome::InputRequired(whole), _) => {
                answer(failed("the tool asks for input, which is not supported here", whole))
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
