//! `plan_update`, `plan_progress` and `agent_chain_update`: how far the work is.

use super::{AgentIds, Record, named};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

named! {
    /// The state of a step of a plan.
    pub enum StepStatus as "step_status" {
        /// Its work has not begun.
        Pending = "pending",
        /// In work.
        Running = "running",
        /// It waits for something else.
        Blocked = "blocked",
        /// It has failed.
        Error = "error",
        /// Its work is finished.
        Done = "done",
    }
}

/// The agent's plan; sent when it changes.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "plan_update")]
pub struct PlanUpdate<'a> {
    /// The plan.
    #[schemars(with = "serde_json::Value")]
    pub plan_id: Cow<'a, str>,
    /// All steps, in order.
    #[schemars(length(min = 1))]
    pub steps: Vec<Step<'a>>,
    /// The id of the running step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_step: Option<Cow<'a, str>>,
    /// The agent.
    #[serde(flatten)]
    pub agent: AgentIds<'a>,
}

impl Record for PlanUpdate<'_> {}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Step<'a> {
    /// Unique in its plan.
    pub id: Cow<'a, str>,
    /// For people.
    pub desc: Cow<'a, str>,
    /// Its state.
    #[schemars(with = "StepStatus")]
    pub status: Cow<'a, str>,
}

impl Step<'_> {
    /// The step without its record.
    pub fn into_owned(self) -> Step<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        Step { id: owned(self.id), desc: owned(self.desc), status: owned(self.status) }
    }
}

/// The progress of a step of the plan.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "plan_progress")]
pub struct PlanProgress<'a> {
    /// The plan.
    #[schemars(with = "serde_json::Value")]
    pub plan_id: Cow<'a, str>,
    /// The step.
    #[schemars(with = "serde_json::Value")]
    pub step_id: Cow<'a, str>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Cow<'a, str>>,
    /// The state of the step.
    #[schemars(with = "StepStatus")]
    pub status: Cow<'a, str>,
    /// The agent.
    #[serde(flatten)]
    pub agent: AgentIds<'a>,
}

impl Record for PlanProgress<'_> {}

/// The progress of a chain of agents.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "agent_chain_update")]
pub struct ChainUpdate<'a> {
    /// The chain.
    pub chain_id: Cow<'a, str>,
    /// In their order.
    #[schemars(length(min = 1))]
    pub agents: Vec<ChainAgent<'a>>,
    /// The agent that works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_agent: Option<Cow<'a, str>>,
}

impl Record for ChainUpdate<'_> {}

/// An agent of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ChainAgent<'a> {
    /// Unique in its chain.
    pub agent_id: Cow<'a, str>,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Cow<'a, str>>,
    /// The state of its work.
    #[schemars(with = "StepStatus")]
    pub status: Cow<'a, str>,
}
