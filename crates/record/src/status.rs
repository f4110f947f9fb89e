//! `status`: the state of a held call, or of an agent.

use super::{About, AgentIds, CallFields, PlanStep, Record, named, schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

named! {
    /// The state of a held call, or of an agent.
    pub enum State as "state" {
        /// A gate holds the call until a person decides.
        WaitingHuman = "waiting_human",
        /// A person has approved the call.
        Approved = "approved",
        /// A person has changed the call's arguments, with which it passes.
        EditedByHuman = "edited_by_human",
        /// The call does not pass.
        Rejected = "rejected",
        /// The agent works on a goal.
        Running = "running",
        /// The agent works on nothing.
        Idle = "idle",
        /// The agent waits for what pending_kind says.
        WaitingUser = "waiting_user",
        /// From agent-serve: the agent's process has failed.
        Error = "error",
    }
}

named! {
    /// What an agent waits for.
    pub enum Pending as "pending_kind" {
        /// Nothing.
        None = "none",
        /// An approval of pending_action.
        Confirm = "confirm",
        /// An action that only a person can do.
        Manual = "manual",
        /// An answer.
        Question = "question",
    }
}

/// The state of a held call, or of an agent.
///
/// From a gate: waiting_human with a nonce is a question, answered with a hitl_response with its call_id and nonce; without a nonce,
/// it is a notice to the side that makes the calls. From an agent: running, idle, or waiting_user with a pending_kind.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "status")]
#[schemars(
    extend("dependentRequired" = {
        "nonce": ["tool_name", "arguments", "arguments_sha256"],
        "arguments": ["nonce"]
    })
)]
pub struct Status<'a> {
    /// The state.
    #[schemars(with = "State")]
    pub status: Cow<'a, str>,
    /// What an agent waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Pending>")]
    pub pending_kind: Option<Cow<'a, str>>,
    /// The call that a gate holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub pending_action: Option<&'a RawValue>,
    /// The goal in work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_goal: Option<Cow<'a, str>>,
    /// From agent-serve: why the agent's process has ended; for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Cow<'a, str>>,
    /// The held call.
    #[serde(flatten)]
    pub about: About<'a>,
    /// The question about the call.
    #[serde(flatten)]
    pub question: Option<CallFields<'a>>,
    /// The rules file to which a rule of rule_offers can also be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules_file: Option<&'a str>,
    /// The arguments with which a call passes after a person's edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Arguments>")]
    pub edited_arguments: Option<&'a RawValue>,
    /// The plan and the step that the agent works on.
    #[serde(flatten)]
    pub step: PlanStep<'a>,
    /// The agent.
    #[serde(flatten)]
    pub agent: AgentIds<'a>,
}

impl Record for Status<'_> {}

impl<'a> Status<'a> {
    /// The state of a call.
    pub fn of_call(state: State, about: About<'a>) -> Status<'a> {
        Status { status: state.into(), about, ..Status::default() }
    }
}
