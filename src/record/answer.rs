//! What is answered to a call: in the form that it came in, with its own id.

use super::{Call, Form, Kind};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// What became of a call.
#[derive(Debug, Clone, Copy)]
pub enum Outcome<'a> {
    /// JSON text: the result.
    Ok(&'a RawValue),
    /// It was not carried out, or failed.
    Error {
        /// Which sort of failure.
        kind: Kind,
        /// For people: what happened and what to do.
        message: &'a str,
        /// The other side's own code.
        code: Option<&'a str>,
        /// JSON text: what else there is to know.
        data: Option<&'a RawValue>,
    },
}

/// JSON-RPC's code for a failure of the server's own.
const SERVER_ERROR: i32 = -32000;

impl Call<'_> {
    /// A record of ours about the call, of this type: its id and context, its tool, and `more` (plain names and JSON text); JSON text
    /// without a line feed.
    pub fn tell(&self, record_type: &str, more: &[(&str, &str)]) -> String {
        let mut record = Answer::default();
        record.text("type", record_type).put("call_id", self.id);
        for &(key, value) in &self.context {
            record.put(key, Some(value));
        }
        record.text("tool_name", &self.tool);
        more.iter().for_each(|(key, json)| _ = record.raw(key, json));
        record.end()
    }

    /// The answer in the call's form, with its id and context; JSON text without a line feed.
    pub fn answer(&self, outcome: Outcome<'_>) -> String {
        self.answer_with(outcome, &[])
    }

    /// The same with `more` fields behind it, their names plain and their values JSON text. JSON-RPC's answer has no place for
    /// them.
    pub fn answer_with(&self, outcome: Outcome<'_>, more: &[(&str, &str)]) -> String {
        let mut answer = Answer::default();
        match self.form {
            Form::Record => {
                answer.text("type", "tool_result").put("call_id", self.id);
                for &(key, value) in &self.context {
                    answer.put(key, Some(value));
                }
                answer.status(outcome, "result");
            }
            Form::Short => {
                answer.put("id", self.id).text("tool", &self.tool);
                answer.status(outcome, "data");
            }
            Form::Godot => {
                answer.raw("ok", if matches!(outcome, Outcome::Ok(_)) { "true" } else { "false" });
                answer.put("id", self.id);
                match outcome {
                    Outcome::Ok(result) => _ = answer.put("data", Some(result)),
                    Outcome::Error { kind, message, code, data } => {
                        answer.text("error", message).put("data", data);
                        match code {
                            Some(code) => answer.text("code", code),
                            None => answer.value("code", &kind),
                        };
                    }
                }
                answer.raw("events", "[]");
            }
            Form::JsonRpc => {
                answer.text("jsonrpc", "2.0").put("id", self.id);
                match outcome {
                    Outcome::Ok(result) => _ = answer.put("result", Some(result)),
                    Outcome::Error { kind, message, code, data } => {
                        let mut more = Answer::default();
                        more.value("kind", &kind);
                        if let Some(code) = code {
                            more.text("code", code);
                        }
                        more.put("data", data);
                        let mut error = Answer::default();
                        error.value("code", &SERVER_ERROR).text("message", message);
                        error.raw("data", &more.end());
                        answer.raw("error", &error.end());
                    }
                }
            }
        }
        if self.form != Form::JsonRpc {
            more.iter().for_each(|(key, value)| _ = answer.raw(key, value));
        }
        answer.end()
    }
}

/// Whether a line, or a part of it, is JSON-RPC's as far as can be seen without reading it.
pub fn looks_like_json_rpc(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"\"jsonrpc\"").is_some()
}

/// What is answered to a line that may be a call and can't be read for certain: an error without an id, in JSON-RPC's form or our own;
/// JSON text without a line feed.
pub fn refuse_unreadable(is_json_rpc: bool, kind: Kind, message: &str) -> String {
    let form = if is_json_rpc { Form::JsonRpc } else { Form::Record };
    let call = Call {
        form,
        id: is_json_rpc.then_some(RawValue::NULL),
        tool: Cow::Borrowed(""),
        arguments: None,
        target: None,
        requires_approval: false,
        policy: None,
        context: Vec::new(),
    };
    call.answer(Outcome::Error { kind, message, code: None, data: None })
}

/// JSON text of an object, field by field.
#[derive(Default)]
struct Answer(String);

impl Answer {
    fn raw(&mut self, key: &str, json: &str) -> &mut Answer {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.push_str(&format!("\"{key}\":{json}"));
        self
    }

    fn put(&mut self, key: &str, value: Option<&RawValue>) -> &mut Answer {
        if let Some(value) = value {
            self.raw(key, value.get());
        }
        self
    }

    fn value(&mut self, key: &str, value: &impl Serialize) -> &mut Answer {
        // Names and numbers: there is nothing in them that can't be JSON.
        self.raw(key, &serde_json::to_string(value).unwrap_or_default())
    }

    fn text(&mut self, key: &str, value: &str) -> &mut Answer {
        self.value(key, &value)
    }

    fn status(&mut self, outcome: Outcome<'_>, result_key: &str) {
        match outcome {
            Outcome::Ok(result) => _ = self.text("status", "ok").put(result_key, Some(result)),
            Outcome::Error { kind, message, code, data } => {
                self.text("status", "error").text("error", message).value("kind", &kind);
                if let Some(code) = code {
                    self.text("code", code);
                }
                self.put("data", data);
            }
        }
    }

    fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }
}
