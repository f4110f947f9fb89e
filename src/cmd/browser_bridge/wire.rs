//! The lines between the stage and the thread that owns the browser.

use crate::json::{Object, quoted};
use pipewright_browser::tools::Problem;
use serde::Deserialize;
use serde_json::value::RawValue;

/// A request to the thread.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Call a tool.
    Call {
        id: u64,
        tool: String,
        /// JSON text of an object.
        arguments: Box<RawValue>,
        /// Time limit in milliseconds; `None`: no limit.
        limit: Option<u64>,
    },
    /// Give up the call with this number.
    Cancel(u64),
}

/// A reply of the thread.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The browser accepts calls.
    Ready,
    /// It cannot be started; the reason.
    NotStarted(String),
    /// It has ended; the reason.
    Lost(String),
    /// A fault to report that is not the answer to a call.
    Note(String),
    /// The result of a call.
    Result { id: u64, result: Box<RawValue> },
    /// Why a call has no result.
    Failed { id: u64, kind: String, code: Option<String>, message: String, data: Option<Box<RawValue>> },
}

impl Request {
    /// The line that requests a call, with its line feed.
    pub fn call(id: u64, tool: &str, arguments: &str, limit: Option<u64>) -> String {
        let call =
            Object::default().put("id", id).text("tool", tool).put("arguments", arguments).put_some("limit", limit);
        line("call", &call.end())
    }

    /// The line that gives up a call, with its line feed.
    pub fn cancel(id: u64) -> String {
        line("cancel", &id.to_string())
    }
}

impl Reply {
    pub fn ready() -> String {
        "\"ready\"\n".to_owned()
    }

    pub fn not_started(why: &str) -> String {
        line("not_started", &quoted(why))
    }

    pub fn lost(why: &str) -> String {
        line("lost", &quoted(why))
    }

    pub fn note(text: &str) -> String {
        line("note", &quoted(text))
    }

    pub fn result(id: u64, result: &serde_json::Value) -> String {
        line("result", &Object::default().put("id", id).put("result", result).end())
    }

    pub fn failed(id: u64, problem: &Problem) -> String {
        let failed = Object::default().put("id", id).text("kind", problem.kind.name()).text_some("code", problem.code);
        line("failed", &failed.text("message", &problem.message).put_some("data", problem.data.as_ref()).end())
    }
}

fn line(name: &str, value: &str) -> String {
    Object::default().put(name, value).line()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn written_lines_can_be_read_back() {
        let call: Request = serde_json::from_str(&Request::call(7, "a\"b", "{\"x\":1.10}", Some(5))).unwrap();
        let Request::Call { id: 7, tool, arguments, limit: Some(5) } = call else { panic!("{call:?}") };
        assert_eq!((tool.as_str(), arguments.get()), ("a\"b", "{\"x\":1.10}"));
        assert!(matches!(serde_json::from_str(&Request::cancel(7)).unwrap(), Request::Cancel(7)));
        assert!(matches!(serde_json::from_str(&Reply::ready()).unwrap(), Reply::Ready));
        let lost: Reply = serde_json::from_str(&Reply::lost("a\nb")).unwrap();
        assert!(matches!(lost, Reply::Lost(why) if why == "a\nb"));
        let reply: Reply = serde_json::from_str(&Reply::result(7, &serde_json::json!({"a": 1}))).unwrap();
        assert!(matches!(reply, Reply::Result { id: 7, result } if result.get() == "{\"a\":1}"));
    }
}
