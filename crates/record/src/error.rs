//! `error`: a record was not accepted.

use super::{AgentIds, PlanStep, Record, schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A record that was not accepted.
///
/// hitl-gate refuses a hitl_response from the side that makes the calls. jsonl-mask withholds a line that it cannot search, and
/// writes this in its place. agent-loop and agent-serve refuse what they cannot take.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "error")]
pub struct ErrorRecord<'a> {
    /// The record in question.
    pub context: ErrorContext<'a>,
    /// For people: what happened, and what to do.
    pub content: Cow<'a, str>,
    /// The agent that did not accept it.
    #[serde(flatten)]
    pub agent: AgentIds<'a>,
}

impl Record for ErrorRecord<'_> {}

/// The record that was not accepted, as far as it is known.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ErrorContext<'a> {
    /// The id of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Id>")]
    pub call_id: Option<&'a RawValue>,
    /// The nonce of a question: an approver's answer to it was not accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Nonce>")]
    pub nonce: Option<Cow<'a, str>>,
    /// The plan and the step in which the agent worked.
    #[serde(flatten)]
    pub step: PlanStep<'a>,
}

impl<'a> ErrorRecord<'a> {
    /// An error about no record in particular. `content` is for people.
    pub fn new(content: impl Into<Cow<'a, str>>) -> ErrorRecord<'a> {
        ErrorRecord { content: content.into(), ..ErrorRecord::default() }
    }

    /// An error about a record with this `call_id`, and about the answer to the question with this nonce.
    pub fn about(
        call_id: Option<&'a RawValue>,
        nonce: Option<&'a str>,
        content: impl Into<Cow<'a, str>>,
    ) -> ErrorRecord<'a> {
        let context = ErrorContext { call_id, nonce: nonce.map(Cow::Borrowed), ..ErrorContext::default() };
        ErrorRecord { context, ..ErrorRecord::new(content) }
    }
}
