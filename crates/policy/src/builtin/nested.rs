//! Calls within calls: objects with a tool's name in a call's arguments.

use super::names::{self, Class};
use super::plain_key;
use crate::verdict::{Decision, Verdict};
use pipewright_record::{Call, Context, Form};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

pub(super) fn unreadable_call() -> Decision {
    Decision::new(Verdict::Confirm, "builtin.unknown", "it has another call within it, which cannot be read")
}

/// Keys for the arguments of a call within a call.
pub(super) const ARGUMENTS: &[&str] =
    &["args", "arguments", "params", "parameters", "input", "toolinput", "argumentstext"];

/// The tool and the arguments of an object that is a call, in one of the forms of clients and servers.
pub(super) fn called(fields: &Map<String, Value>, may_lack_arguments: bool) -> Option<(&str, String)> {
    let get = |keys: &[&str]| fields.iter().find(|(key, _)| keys.contains(&&*plain_key(key))).map(|(_, value)| value);
    let tool = get(&["tool", "toolname", "cmd", "function", "functionname"])
        .or_else(|| get(&["name"]))
        .and_then(Value::as_str)?;
    let arguments = match get(ARGUMENTS) {
        Some(Value::Object(arguments)) => serde_json::to_string(arguments).ok()?,
        Some(Value::String(json)) if json.trim_start().starts_with('{') => json.clone(),
        None | Some(Value::Null) if fields.contains_key("name") && !may_lack_arguments => return None,
        None | Some(Value::Null)
            if may_lack_arguments
                || matches!(names::class(tool), Class::Destroy(..) | Class::Change(_) | Class::Run) =>
        {
            "{}".to_owned()
        }
        _ => return None,
    };
    Some((tool, arguments))
}

pub(super) fn short_call<'a>(tool: &'a str, arguments: &'a RawValue) -> Call<'a> {
    Call {
        form: Form::Short,
        id: None,
        tool: Cow::Borrowed(tool),
        arguments: Some(arguments),
        arguments_key: "args",
        timeout: None,
        target: None,
        requires_approval: false,
        policy: None,
        context: Context::default(),
    }
}
