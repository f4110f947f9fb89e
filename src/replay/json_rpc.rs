//! What a recording of a JSON-RPC server is asked: messages that aren't nested too deep to be compared, their ids and tokens of
//! whatever JSON type.

use super::canonical;
use super::compare::DEEPEST;
use crate::io::lines::{Line, deeper_than, range_in, set};
use crate::rpc::Message;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Reads a line.
///
/// # Errors
/// Why it is none that can be compared, for people.
pub fn read(line: &str) -> Result<Message<'_>, String> {
    if deeper_than(line.as_bytes(), DEEPEST) {
        return Err(format!("nested deeper than {DEEPEST} levels"));
    }
    Message::read(line)
}

/// An id or a token, the same text however it is written.
pub(super) fn name(value: &RawValue) -> String {
    let mut name = String::new();
    canonical::write(value.get(), &[], &mut name);
    name
}

/// The token that a progress notification bears.
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

/// What a notification wants to have cancelled.
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

/// The line with another id, and a line feed; all else stays as it was.
pub(super) fn with_id(line: &str, id: &RawValue) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    // No first line of a stream: a byte order mark would be data.
    set(&Line::new(line.as_bytes(), 0), "id", id.get().as_bytes(), &mut out).ok()?;
    out.push(b'\n');
    Some(out)
}

/// The same with another progress token.
pub(super) fn with_token(line: &str, token: &RawValue) -> Option<Vec<u8>> {
    let Ok(Message::Notification { method, params }) = read(line) else { return None };
    let old = range_in(line, progress_token(&method, params)?.get());
    Some([&line.as_bytes()[..old.start], token.get().as_bytes(), &line.as_bytes()[old.end..], b"\n"].concat())
}
