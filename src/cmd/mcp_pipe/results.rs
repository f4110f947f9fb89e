//! What is answered to whoever called: in the form of the call, with its own id.

use super::server::Loss;
use crate::mcp::{Given, given};
use crate::record::{Call, Kind, Outcome, recognise};
use crate::rpc::RpcError;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

/// What a server's result is, given to `answer`.
pub fn outcome(result: &Result<&RawValue, RpcError>, answer: &mut dyn FnMut(Outcome<'_>) -> String) -> String {
    let raw = |json: &str| serde_json::from_str::<Box<RawValue>>(json).ok();
    match result {
        Ok(result) => match given(result) {
            Given::Result(data) if data.len() == result.get().len() => answer(Outcome::Ok(result)),
            Given::Result(data) => answer(Outcome::Ok(raw(&data).as_deref().unwrap_or(RawValue::NULL))),
            Given::Error { message, data } => {
                let data = raw(&data);
                answer(Outcome::Error { kind: Kind::ToolError, message: &message, code: None, data: data.as_deref() })
            }
            Given::InputRequired(_) => {
                let message = "the tool asks for input, which nobody here can give";
                answer(Outcome::Error { kind: Kind::ToolError, message, code: None, data: Some(result) })
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

/// A call that is not carried out, or not to its end.
pub fn refused(call: &Call<'_>, kind: Kind, why: &str, epoch: u64) -> String {
    refused_with(call, kind, why, epoch, &[])
}

/// The same with more fields.
pub fn refused_with(call: &Call<'_>, kind: Kind, why: &str, epoch: u64, more: &[(&str, &str)]) -> String {
    let epoch = epoch.to_string();
    let more: Vec<(&str, &str)> = more.iter().copied().chain([("epoch", epoch.as_str())]).collect();
    call.answer_with(Outcome::Error { kind, message: why, code: None, data: None }, &more)
}

/// A call that the server was lost with, or before.
pub fn lost(line: &str, kind: Kind, loss: &Loss, more: &[(&str, &str)]) -> String {
    let data = to_raw_value(&json!({"status": loss.status, "stderr": loss.stderr})).ok();
    match recognise(line) {
        Ok(Some(call)) => {
            let outcome = Outcome::Error { kind, message: &loss.message, code: None, data: data.as_deref() };
            call.answer_with(outcome, more)
        }
        _ => String::new(),
    }
}
