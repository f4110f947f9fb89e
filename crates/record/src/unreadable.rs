//! Lines that cannot be read reliably, and the refusal that answers them.

use super::{Call, Context, Fields, Form, Kind, MARKERS, Outcome, looks_like_json_rpc};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Why a line cannot be read reliably. A gate refuses such a line; it never guesses.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{why}")]
pub struct Unreadable {
    why: String,
    /// The readable parts of a call, so that its caller can match the answer.
    form: Option<Form>,
    id: Option<Box<RawValue>>,
    tool: String,
}

impl PartialEq for Unreadable {
    fn eq(&self, other: &Unreadable) -> bool {
        let id = |it: &Unreadable| it.id().map(|id| id.get().to_owned());
        (&self.why, self.form, &self.tool, id(self)) == (&other.why, other.form, &other.tool, id(other))
    }
}

/// The error of a line about which nothing else is known.
///
/// # Errors
/// Always.
pub fn unreadable<T>(why: impl fmt::Display) -> Result<T, Unreadable> {
    Err(Unreadable::new(why))
}

impl Unreadable {
    /// A line about which nothing else is known.
    pub fn new(why: impl fmt::Display) -> Unreadable {
        Unreadable { why: why.to_string(), form: None, id: None, tool: String::new() }
    }

    /// The same, answered in JSON-RPC's form if the line, or the available part of it, looks like JSON-RPC.
    #[must_use]
    pub fn in_form_of(self, line: &[u8]) -> Unreadable {
        self.in_json_rpc(looks_like_json_rpc(line))
    }

    /// The same, answered in JSON-RPC's form if `is_json_rpc`.
    #[must_use]
    pub fn in_json_rpc(self, is_json_rpc: bool) -> Unreadable {
        Unreadable { form: self.form.or(is_json_rpc.then_some(Form::JsonRpc)), ..self }
    }

    /// The same with the form, id and tool of the call in `fields`.
    pub(super) fn about(self, fields: &Fields<'_>) -> Unreadable {
        let mut markers = MARKERS.iter().filter(|(key, _)| fields.get(key).is_some());
        let (form, key) = match (markers.next(), markers.next()) {
            (Some(&(key, form)), None) => (Some(form), key),
            _ => (fields.get("jsonrpc").map(|_| Form::JsonRpc), ""),
        };
        let id = form.and_then(|form| fields.get(form.id_key())).map(ToOwned::to_owned);
        let tool = fields.get(if form == Some(Form::Record) { "tool_name" } else { key });
        let tool = tool.and_then(|tool| serde_json::from_str(tool.get()).ok()).unwrap_or_default();
        Unreadable { form, id, tool, ..self }
    }

    /// The form of the call, if it can be read.
    pub fn form(&self) -> Option<Form> {
        self.form
    }

    /// The id of the call, JSON text, if it can be read.
    pub fn id(&self) -> Option<&RawValue> {
        self.id.as_deref()
    }

    /// The answer to the line with this number: an error in the form of the call and with its id, as far as those can be read,
    /// else an error record. JSON text without a line feed.
    pub fn refusal(&self, kind: Kind, line_number: u64) -> String {
        let message = format!("line {line_number}: {}", self.why);
        self.call().answer(Outcome::Error { kind, message: &message, code: None, data: None })
    }

    /// The refused call, as far as it can be read.
    pub fn call(&self) -> Call<'_> {
        let form = self.form.unwrap_or(Form::Record);
        let null = (form == Form::JsonRpc).then_some(RawValue::NULL);
        Call {
            form,
            id: self.id.as_deref().or(null),
            tool: Cow::Borrowed(&self.tool),
            arguments: None,
            arguments_key: "",
            timeout: None,
            target: None,
            requires_approval: false,
            policy: None,
            context: Context::default(),
        }
    }
}
