//! The answers to calls: in the form of the call, with its own id.

use super::server::Loss;
use crate::cmd::queue::Waiting;
use crate::mcp::{Given, given, reported};
use crate::record::{Call, Kind, Outcome};
use crate::rpc::RpcError;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use std::time::Instant;

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

/// The answer to a call that is not sent.
pub fn refused(call: &Call<'_>, kind: Kind, why: &str, epoch: u64) -> String {
    let error = Outcome::Error { kind, message: why, code: None, data: None };
    call.answer_with(error, &[("epoch", &epoch.to_string())])
}

/// The server's result for a call that was sent.
pub fn answered(call: &Call<'_>, outcome: Outcome<'_>, sent_at: Option<Instant>, epoch: u64) -> String {
    with_times(call, outcome, &[], sent_at, epoch)
}

/// The answer to a call that gets no result from the server. One that was sent may have been executed all the same.
pub fn unanswered(waiting: &Waiting, kind: Kind, why: &str, data: Option<&RawValue>, epoch: u64) -> String {
    let error = Outcome::Error { kind, message: why, code: None, data };
    let maybe: &[_] = if waiting.sent_at.is_some() { &[("maybe_executed", "true")] } else { &[] };
    waiting.answer(|call| with_times(call, error, maybe, waiting.sent_at, epoch))
}

/// The same for a call that the server was lost with, or before.
pub fn lost(waiting: &Waiting, kind: Kind, loss: &Loss, epoch: u64) -> String {
    let data = to_raw_value(&json!({"status": loss.status, "stderr": loss.stderr})).ok();
    unanswered(waiting, kind, &loss.message, data.as_deref(), epoch)
}

fn with_times(
    call: &Call<'_>,
    outcome: Outcome<'_>,
    more: &[(&str, &str)],
    sent_at: Option<Instant>,
    epoch: u64,
) -> String {
    let (took, epoch) = (sent_at.map(|at| at.elapsed().as_millis().to_string()), epoch.to_string());
    let took = took.as_deref().map(|took| ("duration_ms", took));
    let fields = more.iter().copied().chain(took).chain([("epoch", epoch.as_str())]);
    call.answer_with(outcome, &Vec::from_iter(fields))
}
