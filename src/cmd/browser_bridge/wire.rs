//! The lines between the stage and the thread that owns the browser.

use pipewright_record::json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A request to the thread.
#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    Call(Call),
    /// Give up the call with this number.
    Cancel(u64),
}

/// A call of a tool.
#[derive(Debug, Serialize, Deserialize)]
pub struct Call {
    pub id: u64,
    pub tool: String,
    /// JSON text of an object.
    pub arguments: Box<RawValue>,
    /// Time limit in milliseconds; `None`: no limit.
    pub limit: Option<u64>,
}

/// A reply of the thread.
#[derive(Debug, Serialize, Deserialize)]
pub enum Reply {
    /// The browser accepts calls.
    Ready,
    /// Why the browser cannot be started.
    NotStarted(String),
    /// Why the browser has ended.
    Lost(String),
    /// A fault to report that is not the answer to a call.
    Note(String),
    /// The result of a call.
    Result { id: u64, result: Box<RawValue> },
    /// Why a call has no result.
    Failed { id: u64, kind: String, code: Option<String>, message: String, data: Option<Box<RawValue>> },
}

/// A request or a reply as a line, with its line feed.
pub fn line(message: &impl Serialize) -> String {
    json::text(message) + "\n"
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn written_lines_can_be_read_back() {
        let arguments = RawValue::from_string("{\"x\":1.10}".to_owned()).unwrap();
        let call = Request::Call(Call { id: 7, tool: "a\"b".to_owned(), arguments, limit: Some(5) });
        let call: Request = serde_json::from_str(&line(&call)).unwrap();
        let Request::Call(Call { id: 7, tool, arguments, limit: Some(5) }) = call else { panic!("{call:?}") };
        assert_eq!((tool.as_str(), arguments.get()), ("a\"b", "{\"x\":1.10}"));
        let lost: Reply = serde_json::from_str(&line(&Reply::Lost("a\nb".to_owned()))).unwrap();
        assert!(matches!(lost, Reply::Lost(why) if why == "a\nb"));
    }
}
