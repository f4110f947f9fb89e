//! Groups of ids that records share: the call that a record is about, and the agent that wrote it.

use super::{Call, Fields, schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The caller, and the reason for a call: any JSON values. Records about the call repeat them.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct Context<'a> {
    /// The session of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<&'a RawValue>,
    /// The agent that calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<&'a RawValue>,
    /// The plan that the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_id: Option<&'a RawValue>,
    /// The step of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_id: Option<&'a RawValue>,
}

impl<'a> Context<'a> {
    /// The names of the fields, in order.
    pub const KEYS: [&'static str; 4] = ["session_id", "agent_id", "plan_id", "step_id"];

    /// The context with these values, in the order of the names.
    pub(super) fn new([session_id, agent_id, plan_id, step_id]: [Option<&'a RawValue>; 4]) -> Context<'a> {
        Context { session_id, agent_id, plan_id, step_id }
    }

    /// The context in a record.
    pub(super) fn of(fields: &Fields<'a>) -> Context<'a> {
        Context::new(Context::KEYS.map(|key| fields.get(key)))
    }

    /// All values, in the order of the names.
    pub(super) fn values(self) -> [Option<&'a RawValue>; 4] {
        [self.session_id, self.agent_id, self.plan_id, self.step_id]
    }

    /// The fields that are present, in order.
    pub fn fields(self) -> impl Iterator<Item = (&'static str, &'a RawValue)> {
        Context::KEYS.into_iter().zip(self.values()).filter_map(|(key, value)| Some((key, value?)))
    }
}

/// The call that a record is about.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct About<'a> {
    /// The id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Id>")]
    pub call_id: Option<&'a RawValue>,
    /// The context of the call.
    #[serde(flatten)]
    pub context: Context<'a>,
}

impl<'a> About<'a> {
    /// The call that a record with these fields is about.
    pub fn of(fields: &Fields<'a>) -> About<'a> {
        About { call_id: fields.get("call_id"), context: Context::of(fields) }
    }
}

impl<'a> Call<'a> {
    /// The fields that identify the call in records about it.
    pub fn about(&self) -> About<'a> {
        About { call_id: self.id, context: self.context }
    }
}

/// The text of an id, which may be empty: an id that is no string has none.
pub fn id_text(id: Option<&RawValue>) -> String {
    id.and_then(|id| serde_json::from_str(id.get()).ok()).unwrap_or_default()
}

/// The plan and its running step.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct PlanStep<'a> {
    /// The plan of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub plan_id: Option<Cow<'a, str>>,
    /// The step of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub step_id: Option<Cow<'a, str>>,
}

/// The agent, and its chain, that wrote the record.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct AgentIds<'a> {
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub session_id: Option<Cow<'a, str>>,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<Cow<'a, str>>,
    /// The agent's role in the chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Cow<'a, str>>,
    /// The chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain_id: Option<Cow<'a, str>>,
}

impl AgentIds<'_> {
    /// The same ids, borrowed.
    pub fn borrowed(&self) -> AgentIds<'_> {
        AgentIds {
            session_id: self.session_id.as_deref().map(Cow::Borrowed),
            agent_id: self.agent_id.as_deref().map(Cow::Borrowed),
            role: self.role.as_deref().map(Cow::Borrowed),
            chain_id: self.chain_id.as_deref().map(Cow::Borrowed),
        }
    }
}
