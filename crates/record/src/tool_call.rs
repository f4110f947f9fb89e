//! `tool_call`, as it is written; [`recognise`](super::recognise) reads calls in all forms.

use super::{About, AgentIds, PlanStep, Record, schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A call.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "tool_call")]
pub struct ToolCall<'a> {
    /// Its id and context.
    #[serde(flatten)]
    pub about: About<'a>,
    /// The tool, its arguments, and the question about the call.
    #[serde(flatten)]
    pub call: CallFields<'a>,
    /// Whether a person must be asked first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub requires_approval: bool,
    /// The plan and the step that the agent works on.
    #[serde(flatten)]
    pub step: PlanStep<'a>,
    /// The agent that calls.
    #[serde(flatten)]
    pub agent: AgentIds<'a>,
}

impl Record for ToolCall<'_> {}

impl<'a> ToolCall<'a> {
    /// A call with this id and these arguments, an object.
    pub fn new(call_id: &'a RawValue, tool_name: &'a str, arguments: Option<&'a RawValue>) -> ToolCall<'a> {
        let about = About { call_id: Some(call_id), ..About::default() };
        let call = CallFields { tool_name: tool_name.into(), arguments, ..CallFields::default() };
        ToolCall { about, call, ..ToolCall::default() }
    }
}

/// A call; with a nonce, the question about it.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct CallFields<'a> {
    /// The nonce of the question about a held call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Nonce>")]
    pub nonce: Option<&'a str>,
    /// The tool of the call.
    pub tool_name: Cow<'a, str>,
    /// The arguments of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Arguments>")]
    pub arguments: Option<&'a RawValue>,
    /// Fields of the call that are not defined here and are passed on as well, nested as in the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub beside_arguments: Option<&'a RawValue>,
    /// The element that the call acts on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Target>")]
    pub target: Option<&'a RawValue>,
    /// A gate's decision on the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Policy>")]
    pub policy: Option<&'a RawValue>,
    /// The hash of the arguments, which an answer may repeat.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Sha256>")]
    pub arguments_sha256: Option<&'a str>,
    /// The side that makes the calls, if it is known; for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<&'a str>,
    /// The time at which the question was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Time>")]
    pub asked_at: Option<String>,
    /// The time at which the call is rejected if it is not answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Time>")]
    pub expires_at: Option<String>,
    /// Rules that can allow this call and others until the end of the run, the widest first; none for a whole tool that runs text. If
    /// absent, that is not possible.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub rule_offers: &'a [String],
}
