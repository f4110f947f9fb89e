//! `final`: the end of the work on a goal.

use super::{AgentIds, CallForm, PlanStep, Record, Usage, named};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

named! {
    /// How the work on a goal ended.
    pub enum GoalOutcome as "goal_outcome" {
        /// The goal was reached.
        Done = "done",
        /// A limit ended it, or the model kept repeating itself.
        Limit = "limit",
        /// It could not continue.
        Failed = "failed",
        /// The person cancelled it.
        Cancelled = "cancelled",
    }
}

named! {
    /// A limit of the work on a goal.
    pub enum GoalLimit as "goal_limit" {
        /// Turns of the model.
        Steps = "steps",
        /// Time.
        Time = "time",
        /// Tokens.
        Tokens = "tokens",
        /// US dollars.
        Cost = "cost",
        /// The same calls were repeated.
        Circles = "circles",
    }
}

/// The end of the work on a goal.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "final")]
#[schemars(
    extend("required" = ["outcome", "content", "usage", "steps", "denied", "exit_status"])
)]
pub struct Final<'a> {
    /// How it ended.
    #[schemars(with = "GoalOutcome")]
    pub outcome: Cow<'a, str>,
    /// For people: the answer, or why there is none.
    pub content: Cow<'a, str>,
    /// The tokens and the cost of the run so far.
    pub usage: Usage,
    /// Turns of the model.
    pub steps: u32,
    /// Calls that a gate or a person did not allow.
    pub denied: u32,
    /// With the outcome limit, the limit that was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<GoalLimit>")]
    pub limit: Option<Cow<'a, str>>,
    /// The form in which the model was asked for calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<CallForm>")]
    pub form: Option<Cow<'a, str>>,
    /// The plan and the step that the agent worked on.
    #[serde(flatten)]
    pub step: PlanStep<'a>,
    /// The agent.
    #[serde(flatten)]
    pub agent: AgentIds<'a>,
    /// The exit status of the process, if it ends with this goal. It is added when the record is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u8")]
    pub exit_status: Option<u8>,
}

impl Record for Final<'_> {}
