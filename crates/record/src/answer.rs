//! The answer to a call: in the call's form, with its id.

use super::{Call, Fields, Form, Kind};
use crate::json::Object;
use serde_json::value::RawValue;

/// The outcome of a call.
#[derive(Debug, Clone, Copy)]
pub enum Outcome<'a> {
    /// JSON text: the result.
    Ok(&'a RawValue),
    /// It was not carried out, or failed.
    Error {
        /// The kind of failure.
        kind: Kind,
        /// For people: what happened and what to do.
        message: &'a str,
        /// The other side's own error code.
        code: Option<&'a str>,
        /// JSON text: further details.
        data: Option<&'a RawValue>,
    },
}

/// JSON-RPC's code for an error of the server itself.
const SERVER_ERROR: i32 = -32000;

impl Call<'_> {
    /// Adds the fields that identify the call: its id and its context.
    fn identify(&self, record: Object) -> Object {
        let context = self.context.fields().map(|(key, value)| (key, value.get()));
        record.put_some("call_id", self.id).put_all(context)
    }

    /// The answer in the call's form, with its id and context; JSON text without a line feed.
    pub fn answer(&self, outcome: Outcome<'_>) -> String {
        self.answer_with(outcome, &[])
    }

    /// The same with the fields of `more` at the end (plain names and JSON text). In JSON-RPC's form, an error has them in its
    /// `data`, and a result has no place for them.
    pub fn answer_with(&self, outcome: Outcome<'_>, more: &[(&str, &str)]) -> String {
        let answer = Object::default();
        let answer = match self.form {
            Form::Record => outcome.status(self.identify(answer.text("type", "tool_result")), "result"),
            Form::Short => outcome.status(answer.put_some("id", self.id).text("tool", &self.tool), "data"),
            Form::Godot if more.iter().any(|(key, _)| *key == "events") => outcome.godots_own(answer, self.id),
            Form::Godot => outcome.godots_own(answer, self.id).put("events", "[]"),
            Form::JsonRpc => {
                return outcome.json_rpc(answer.text("jsonrpc", "2.0").put_some("id", self.id), more).end();
            }
        };
        answer.put_all(more.iter().copied()).end()
    }

    /// The answer to a JSON-RPC call that was not carried out, as the result of a failed tool (MCP 2025-11-25, tools, error
    /// handling): models read results, while most SDKs raise a JSON-RPC error as an exception. `text` is for the model; `_meta`
    /// has what an error has in its `data`.
    pub fn failed_result(&self, kind: Kind, text: &str, data: Option<&RawValue>) -> String {
        let block = Object::default().text("type", "text").text("text", text).end();
        let result = Object::default().put("content", format_args!("[{block}]")).put("isError", true);
        let result = result.put("_meta", about(kind, None, data).end());
        Object::default().text("jsonrpc", "2.0").put_some("id", self.id).put("result", result.end()).end()
    }
}

/// The kind of failure in a result made by [`Call::failed_result`]; `result` is JSON text. `None` for any other result.
pub fn failed_kind(result: &str) -> Option<Kind> {
    let result =
        Fields::read(result).ok().filter(|result| result.get("isError").is_some_and(|it| it.get() == "true"))?;
    let meta = Fields::read(result.get("_meta")?.get()).ok()?;
    Kind::named(&serde_json::from_str::<String>(meta.get("kind")?.get()).ok()?)
}

/// Details of a failure that JSON-RPC's forms have in addition to its message.
fn about(kind: Kind, code: Option<&str>, data: Option<&RawValue>) -> Object {
    Object::default().text("kind", kind.name()).text_some("code", code).put_some("data", data)
}

impl Outcome<'_> {
    fn status(self, answer: Object, result_key: &str) -> Object {
        match self {
            Outcome::Ok(result) => answer.text("status", "ok").put(result_key, result),
            Outcome::Error { kind, message, code, data } => answer
                .text("status", "error")
                .text("error", message)
                .text("kind", kind.name())
                .text_some("code", code)
                .put_some("data", data),
        }
    }

    fn godots_own(self, answer: Object, id: Option<&RawValue>) -> Object {
        let answer = answer.put("ok", matches!(self, Outcome::Ok(_))).put_some("id", id);
        match self {
            Outcome::Ok(result) => answer.put("data", result),
            Outcome::Error { kind, message, code, data } => {
                answer.text("error", message).put_some("data", data).text("code", code.unwrap_or(kind.name()))
            }
        }
    }

    fn json_rpc(self, answer: Object, more: &[(&str, &str)]) -> Object {
        match self {
            Outcome::Ok(result) => answer.put("result", result),
            Outcome::Error { kind, message, code, data } => {
                let about = about(kind, code, data).put_all(more.iter().copied());
                let error = Object::default().put("code", SERVER_ERROR).text("message", message);
                answer.put("error", error.put("data", about.end()).end())
            }
        }
    }
}

/// Whether a line, or a part of it, looks like JSON-RPC. Does not parse it.
pub fn looks_like_json_rpc(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"\"jsonrpc\"").is_some()
}
