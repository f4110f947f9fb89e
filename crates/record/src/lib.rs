//! The vocabulary of records, and the only recogniser of calls.
//!
//! A call comes in one of four forms and is answered in the same form:
//!
//! | form | a call |
//! |---|---|
//! | [`Form::Record`] | `{"type":"tool_call","call_id","tool_name","arguments"}` |
//! | [`Form::Short`] | `{"id"?,"tool","args"?}` |
//! | [`Form::Godot`] | `{"cmd","id"?,"args"?}` |
//! | [`Form::JsonRpc`] | `{"jsonrpc","id"?,"method":"tools/call","params":{"name","arguments"?,"_meta"?}}` |
//!
//! The first three take the arguments under `args` or `arguments`. Null counts as no arguments.
//!
//! Gates and worlds all read calls with [`recognise`], so a gate never passes a call that a world would read differently.

use serde_json::value::RawValue;
use std::borrow::Cow;

mod answer;
mod approval;
mod beside;
mod cancel;
mod ending;
mod error;
mod fields;
mod gap;
pub mod glob;
mod history;
pub mod hook;
pub mod identifier;
mod ids;
mod input;
pub mod json;
mod message;
mod model;
mod named;
mod own;
mod owned;
mod plan;
mod policy_result;
mod reason;
mod result;
pub mod rpc;
pub mod schema;
mod session_record;
mod status;
pub mod text_calls;
pub mod toml_error;
mod tool_call;
mod tools;
mod unreadable;

pub use answer::{Outcome, failed_kind, looks_like_json_rpc};
pub use approval::{Action, HitlResponse, Scope, is_decision};
pub use cancel::{Cancel, cancelled_id, is_same_id};
pub use ending::{Final, GoalLimit, GoalOutcome};
pub use error::{ErrorContext, ErrorRecord};
pub use fields::{Fields, has_lone_surrogate, without_lone_surrogates};
pub use gap::Gap;
pub use history::History;
pub use ids::{About, AgentIds, Context, PlanStep, id_text};
pub use input::{InputAction, InputRequest, InputResponse};
pub use message::{AgentQuestion, AssistantMessage, MessageKind, UserMessage};
pub use model::{
    ActionChoice, Arguments, Attempts, CallForm, Choices, Image, ImageSource, Message, ModelCall, ModelRequest,
    ModelTurn, OwnTurn, Part, ShownChoices, Stop, ToolChoice, TurnFailure, TurnRecord, Usage,
};
pub use own::Record;
pub use owned::OwnedCall;
pub use plan::{ChainAgent, ChainUpdate, PlanProgress, PlanUpdate, Step, StepStatus};
pub use policy_result::{PolicyResult, SettledBy, Settlement};
pub use reason::Reason;
pub use result::{CallResult, ToolError, ToolResult};
pub use session_record::SessionRecord;
pub use status::{Pending, State, Status};
pub use tool_call::{CallFields, ToolCall};
pub use tools::{ListTools, ListedTools, OwnedTool, Tool, ToolList};
pub use unreadable::Unreadable;
pub use unreadable::unreadable;

named! {
    /// Why a call was not carried out or failed. All commands use this list.
    #[allow(missing_docs)] // the names explain themselves
    pub enum Kind as "kind" {
        BadInput = "bad_input",
        UnknownTool = "unknown_tool",
        InvalidArgs = "invalid_args",
        Denied = "denied",
        Rejected = "rejected",
        NeedsApproval = "needs_approval",
        NotFound = "not_found",
        ToolError = "tool_error",
        Timeout = "timeout",
        Cancelled = "cancelled",
        Lost = "lost",
        StartFailed = "start_failed",
        TooLarge = "too_large",
        Protocol = "protocol",
        Internal = "internal",
        BadRequest = "bad_request",
        Auth = "auth",
        Quota = "quota",
        RateLimited = "rate_limited",
        Overflow = "overflow",
        Unavailable = "unavailable",
    }
}

named! {
    /// The form of a call.
    pub enum Form as "call_form" {
        /// With `type`: the records of this vocabulary.
        Record = "record",
        /// With `tool`: for typing by hand and for shells.
        Short = "short",
        /// With `cmd`: the Godot bridge's form.
        Godot = "godot",
        /// With `method`: MCP's form.
        JsonRpc = "jsonrpc",
    }
}

/// A call, as a view of its line: fields not listed here stay in the line.
#[derive(Debug, Clone)]
pub struct Call<'a> {
    /// Its form.
    pub form: Form,
    /// Its id, of any JSON type, as written.
    pub id: Option<&'a RawValue>,
    /// The tool's name.
    pub tool: Cow<'a, str>,
    /// A JSON object, as written; `None` if it is missing or null, which both mean `{}`.
    pub arguments: Option<&'a RawValue>,
    /// The key of the arguments (or the key they would have) in the record or in JSON-RPC's `params`: `args` or `arguments`.
    pub arguments_key: &'static str,
    /// Time limit for a world that supports one: seconds as a number, or a text such as `"500ms"`.
    pub timeout: Option<&'a RawValue>,
    /// The element that the call acts on: `{"role","name",...}`.
    pub target: Option<&'a RawValue>,
    /// Whether a gate requires that a person is asked first. A world refuses such a call.
    pub requires_approval: bool,
    /// A gate's verdict.
    pub policy: Option<&'a RawValue>,
    /// Repeated in the answer.
    pub context: Context<'a>,
}

impl<'a> Call<'a> {
    /// Whether its caller expects an answer: a JSON-RPC notification gets none.
    pub fn wants_answer(&self) -> bool {
        self.form != Form::JsonRpc || self.id.is_some()
    }

    /// The arguments as JSON text: an object.
    pub fn arguments_text(&self) -> &'a str {
        self.arguments.map_or("{}", RawValue::get)
    }
}

/// Fields that may accompany a call in all forms except JSON-RPC.
const MARKS: [&str; 3] = ["target", "requires_approval", "policy"];
/// Exactly one of these decides what a line is.
const MARKERS: [(&str, Form); 4] =
    [("type", Form::Record), ("tool", Form::Short), ("cmd", Form::Godot), ("method", Form::JsonRpc)];

/// Recognises a call in a line's text. `None`: the record is not a call (an observation, a result, a notification).
///
/// ```
/// use pipewright_record::{Form, recognise};
/// let call = recognise(r#"{"id":7,"tool":"echo","args":{"text":"hi"}}"#)?.expect("a call");
/// assert_eq!((call.form, &*call.tool), (Form::Short, "echo"));
/// assert!(recognise(r#"{"type":"observation","data":{}}"#)?.is_none());
/// assert!(recognise(r#"{"type":"tool_call","cmd":"quit"}"#).is_err());
/// # Ok::<(), pipewright_record::Unreadable>(())
/// ```
///
/// # Errors
/// Text that two readers could read differently: not a JSON object, a batch, a bare carriage return, keys that are equal or
/// differ only in case, two markers, or a field of the wrong type. The error has the id and the form of the call if those can be
/// read.
pub fn recognise(line: &str) -> Result<Option<Call<'_>>, Unreadable> {
    if line.contains('\r') {
        return unreadable("it contains a carriage return, which some readers treat as a line break")
            .map_err(|error| error.in_form_of(line.as_bytes()));
    }
    let fields = Fields::read(line).map_err(|error| error.in_form_of(line.as_bytes()))?;
    call_in(&fields).map_err(|error| error.about(&fields))
}

fn call_in<'a>(fields: &Fields<'a>) -> Result<Option<Call<'a>>, Unreadable> {
    if let Some((key, _)) = fields.in_another_case(&MARKERS.map(|(marker, _)| marker)) {
        return unreadable(format_args!("{key:?} would make it a call for readers that ignore case"));
    }
    let mut markers = MARKERS.iter().filter_map(|&(key, form)| Some((form, key, fields.get(key)?)));
    let Some((form, key, value)) = markers.next() else {
        return Ok(None);
    };
    if let Some((_, other, _)) = markers.next() {
        return unreadable(format_args!("both {key:?} and {other:?} would make it a call"));
    }
    let value = string(key, value)?;
    match form {
        Form::Record if value == "tool_call" => {
            let Some(tool) = fields.get("tool_name") else {
                return unreadable("a tool_call without tool_name");
            };
            call(form, fields, string("tool_name", tool)?).map(Some)
        }
        // Our own answers have `tool` too, and a `status`.
        Form::Short if fields.get("status").is_some() => answer(fields).map(|()| None),
        Form::Short | Form::Godot => call(form, fields, value).map(Some),
        Form::JsonRpc if value == "tools/call" => json_rpc(fields).map(Some),
        Form::Record | Form::JsonRpc => Ok(None),
    }
}

/// Checks that a record with `tool` and `status` is an answer: a reader that ignores `status` would read any other as a call.
fn answer(fields: &Fields<'_>) -> Result<(), Unreadable> {
    let status = fields.get("status").map(RawValue::get);
    let is_answer = matches!(status, Some("\"ok\"" | "\"error\""));
    match ["args", "arguments"].into_iter().find(|key| fields.get(key).is_some()) {
        None if is_answer => Ok(()),
        None => unreadable("\"tool\" makes it a call, and \"status\" an answer, whose status is ok or error"),
        Some(key) => unreadable(format_args!("{key:?} makes it a call, and \"status\" an answer")),
    }
}

/// A record's `type`, if it is a string.
pub fn type_of(line: &str) -> Option<Cow<'_, str>> {
    let value = Fields::read(line).ok()?.get("type")?;
    string("type", value).ok()
}

impl Form {
    /// The field of a call's id in this form.
    pub fn id_key(self) -> &'static str {
        if self == Form::Record { "call_id" } else { "id" }
    }
}

fn call<'a>(form: Form, fields: &Fields<'a>, tool: Cow<'a, str>) -> Result<Call<'a>, Unreadable> {
    let id = form.id_key();
    fields.spelled_as(&[id, "tool_name", "args", "arguments", "timeout"])?;
    fields.spelled_as(&MARKS)?;
    fields.spelled_as(&Context::KEYS)?;
    let (usual, other) = if form == Form::Record { ("arguments", "args") } else { ("args", "arguments") };
    let arguments_key = match (fields.get(usual), fields.get(other)) {
        (Some(_), Some(_)) => return unreadable("it has both \"args\" and \"arguments\""),
        (None, Some(_)) => other,
        (_, None) => usual,
    };
    Ok(Call {
        form,
        id: fields.get(id),
        tool,
        arguments: arguments(arguments_key, fields)?,
        arguments_key,
        timeout: fields.get("timeout"),
        target: object("target", fields.get("target"))?,
        requires_approval: flag("requires_approval", fields.get("requires_approval"))?,
        policy: fields.get("policy"),
        context: Context::of(fields),
    })
}

/// MCP's form: the name and arguments are in `params`, a gate's marks in `params._meta`.
fn json_rpc<'a>(fields: &Fields<'a>) -> Result<Call<'a>, Unreadable> {
    let Some(params) = object("params", fields.get("params"))? else {
        return unreadable("tools/call without params");
    };
    let params = Fields::read(params.get())?;
    fields.spelled_as(&["id", "params"])?;
    params.spelled_as(&["name", "args", "arguments", "_meta"])?;
    if params.get("args").is_some() {
        return unreadable("params has \"args\": MCP's name is \"arguments\"");
    }
    let Some(name) = params.get("name") else {
        return unreadable("tools/call without params.name");
    };
    let meta = match object("_meta", params.get("_meta"))? {
        Some(meta) => Fields::read(meta.get())?,
        None => Fields::default(),
    };
    meta.spelled_as(&MARKS)?;
    Ok(Call {
        form: Form::JsonRpc,
        id: fields.get("id"),
        tool: string("name", name)?,
        arguments: arguments("arguments", &params)?,
        arguments_key: "arguments",
        timeout: None,
        target: object("target", meta.get("target"))?,
        requires_approval: flag("requires_approval", meta.get("requires_approval"))?,
        policy: meta.get("policy"),
        context: Context::default(),
    })
}

/// Null counts as no arguments.
fn arguments<'a>(key: &str, fields: &Fields<'a>) -> Result<Option<&'a RawValue>, Unreadable> {
    object(key, fields.get(key).filter(|value| value.get() != "null"))
}

/// A field's string, borrowed if it has no escapes.
fn string<'a>(key: &str, value: &'a RawValue) -> Result<Cow<'a, str>, Unreadable> {
    serde_json::from_str(value.get())
        .map(|Text(text)| text)
        .or_else(|_| unreadable(format_args!("{key:?} is not a string")))
}

#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

fn object<'a>(key: &str, value: Option<&'a RawValue>) -> Result<Option<&'a RawValue>, Unreadable> {
    match value {
        Some(value) if !value.get().starts_with('{') => unreadable(format_args!("{key:?} is not an object")),
        value => Ok(value),
    }
}

/// Reads a flag, which is false if it is missing.
///
/// # Errors
/// It is neither true nor false.
pub fn flag(key: &str, value: Option<&RawValue>) -> Result<bool, Unreadable> {
    match value.map(RawValue::get) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => unreadable(format_args!("{key:?} is neither true nor false")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
