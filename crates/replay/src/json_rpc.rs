//! Requests to a recorded JSON-RPC server: messages that are not nested too deeply to be compared, with ids and tokens
//! of any JSON type.

use super::canonical;
use super::compare::MAX_DEPTH;
use pipewright_lines::{Line, deeper_than, range_in, set};
use pipewright_record::Reason;
use pipewright_record::rpc::Message;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Reads a line.
///
/// # Errors
/// Why it cannot be compared, for people.
pub fn read(line: &str) -> Result<Message<'_>, Reason> {
    if deeper_than(line.as_bytes(), MAX_DEPTH) {
        return Err(format!("nested deeper than {MAX_DEPTH} levels").into());
    }
    Message::read(line)
}

/// An id or a token, in one notation for all equal values.
pub(super) fn name(value: &RawValue) -> String {
    let mut name = String::new();
    canonical::write(value.get(), &[], &mut name);
    name
}

/// The token in a progress notification.
pub(super) fn progress_token<'a>(method: &str, params: Option<&'a RawValue>) -> Option<&'a RawValue> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Progress<'a> {
        #[serde(borrow)]
        progress_token: Option<&'a RawValue>,
    }
    let params = params.filter(|_| method == "notifications/progress")?;
    serde_json::from_str::<Progress<'_>>(params.get()).ok()?.progress_token
}

/// The id that a notification asks to cancel.
pub fn cancelled<'a>(method: &str, params: Option<&'a RawValue>) -> Option<&'a RawValue> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Cancelled<'a> {
        #[serde(borrow)]
        request_id: Option<&'a RawValue>,
    }
    let params = params.filter(|_| method == "notifications/cancelled")?;
    serde_json::from_str::<Cancelled<'_>>(params.get()).ok()?.request_id
}

/// The line with another id, and a line feed; otherwise unchanged.
pub(super) fn with_id(line: &str, id: &RawValue) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    // Not the first line of a stream: a byte order mark would be data.
    set(&Line::new(line.as_bytes(), 0), "id", id.get().as_bytes(), &mut out).ok()?;
    out.push(b'\n');
    Some(out)
}

/// The line with another progress token.
pub(super) fn with_token(line: &str, token: &RawValue) -> Option<Vec<u8>> {
    let Ok(Message::Notification { method, params }) = read(line) else { return None };
    let old = range_in(line, progress_token(&method, params)?.get());
    Some([&line.as_bytes()[..old.start], token.get().as_bytes(), &line.as_bytes()[old.end..], b"\n"].concat())
}
