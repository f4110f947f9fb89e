//! JSON-RPC lines of either side, as open views of their raw text: ids and tokens of whatever JSON type.

use super::canonical;
use super::compare::DEEPEST;
use crate::io::lines::{Line, deeper_than, range_in, set};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a line is.
#[derive(Debug)]
pub enum Message<'a> {
    /// It asks, and wants an answer.
    Request {
        /// Whoever asks numbers it so.
        id: &'a RawValue,
        /// What it asks for.
        method: String,
        /// With what.
        params: Option<&'a RawValue>,
    },
    /// It tells, and wants no answer.
    Notification {
        /// What it tells.
        method: String,
        /// About what.
        params: Option<&'a RawValue>,
    },
    /// It answers the request of that id.
    Answer(&'a RawValue),
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl<'a> Message<'a> {
    /// Reads a line.
    ///
    /// # Errors
    /// Why it is none, for people.
    pub fn read(line: &'a str) -> Result<Message<'a>, String> {
        if line.trim_ascii_start().starts_with('[') {
            return Err("a batch: send one message a line".to_owned());
        }
        if deeper_than(line.as_bytes(), DEEPEST) {
            return Err(format!("nested deeper than {DEEPEST} levels"));
        }
        let Fields { id, method, params } =
            serde_json::from_str(line).map_err(|error| format!("no JSON-RPC message: {error}"))?;
        match (id, method) {
            (Some(id), Some(method)) => Ok(Message::Request { id, method, params }),
            (None, Some(method)) => Ok(Message::Notification { method, params }),
            (Some(id), None) => Ok(Message::Answer(id)),
            (None, None) => Err("no JSON-RPC message: it has neither method nor id".to_owned()),
        }
    }
}

/// An id or a token, the same text however it is written.
pub(super) fn name(value: &RawValue) -> String {
    let mut name = String::new();
    canonical::write(value.get(), &[], &mut name);
    name
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Meta<'a> {
    #[serde(borrow)]
    progress_token: Option<&'a RawValue>,
}

/// The token that a request's progress is to bear.
pub fn asked_token(params: Option<&RawValue>) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, default)]
        _meta: Meta<'a>,
    }
    serde_json::from_str::<Params<'_>>(params?.get()).ok()?._meta.progress_token
}

/// The token that a progress notification bears.
pub(super) fn progress_token<'a>(method: &str, params: Option<&'a RawValue>) -> Option<&'a RawValue> {
    let params = params.filter(|_| method == "notifications/progress")?;
    serde_json::from_str::<Meta<'_>>(params.get()).ok()?.progress_token
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
    let Ok(Message::Notification { method, params }) = Message::read(line) else { return None };
    let old = range_in(line, progress_token(&method, params)?.get());
    Some([&line.as_bytes()[..old.start], token.get().as_bytes(), &line.as_bytes()[old.end..], b"\n"].concat())
}
