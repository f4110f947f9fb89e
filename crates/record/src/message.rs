//! `user_message` and `assistant_message`: what a person and an agent say to each other.

use super::{AgentIds, Context, PlanStep, Record, named, schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A message of the person to the agent.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "user_message")]
pub struct UserMessage<'a> {
    /// The session, and others that the message names.
    #[serde(flatten)]
    pub context: Context<'a>,
    /// A goal, an answer, or feedback.
    #[schemars(length(min = 1))]
    pub content: Cow<'a, str>,
    /// For readers that know several roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("const" = "user"))]
    pub role: Option<&'static str>,
}

impl Record for UserMessage<'_> {}

impl<'a> UserMessage<'a> {
    /// A message with this text, with the role.
    pub fn new(content: impl Into<Cow<'a, str>>) -> UserMessage<'a> {
        UserMessage { content: content.into(), role: Some("user"), ..UserMessage::default() }
    }

    /// The same without the role.
    pub fn without_role(content: impl Into<Cow<'a, str>>) -> UserMessage<'a> {
        UserMessage { role: None, ..UserMessage::new(content) }
    }
}

named! {
    /// What a message of an agent is.
    pub enum MessageKind as "message_kind" {
        /// What the agent does.
        Progress = "progress",
        /// An answer to the person.
        Answer = "answer",
        /// A question to the person.
        Question = "question",
        /// What was done, when the agent stops before the end.
        Summary = "summary",
        /// The reasoning that the model shows.
        Thought = "thought",
    }
}

/// A message of a model or an agent.
///
/// With request_id, a part of a model's text; the model_turn that follows has the complete text. From an agent, a complete message to
/// the person.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "assistant_message")]
pub struct AssistantMessage<'a> {
    /// The request_id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Id>")]
    pub request_id: Option<&'a RawValue>,
    /// The next part of the text.
    pub token: Cow<'a, str>,
    /// Whether it is the last part.
    pub is_final: bool,
    /// What the message is.
    #[schemars(with = "MessageKind")]
    pub kind: Cow<'a, str>,
    /// The parts so far are void, because the request is sent again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub restarted: bool,
    /// The question, and the answers to choose from, if kind is question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<AgentQuestion<'a>>,
    /// The plan and the step that the agent works on.
    #[serde(flatten)]
    pub step: PlanStep<'a>,
    /// The agent.
    #[serde(flatten)]
    pub agent: AgentIds<'a>,
}

impl Record for AssistantMessage<'_> {}

impl<'a> AssistantMessage<'a> {
    /// A complete message to the person.
    pub fn whole(kind: MessageKind, text: &'a str) -> AssistantMessage<'a> {
        AssistantMessage { token: text.into(), is_final: true, kind: kind.into(), ..AssistantMessage::default() }
    }

    /// A part of the text of a model; `request_id` is that of the request.
    pub fn part(request_id: Option<&'a RawValue>, kind: MessageKind, text: &'a str) -> AssistantMessage<'a> {
        AssistantMessage { request_id, token: text.into(), kind: kind.into(), ..AssistantMessage::default() }
    }
}

/// A question of an agent.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct AgentQuestion<'a> {
    /// The text of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Cow<'a, str>>,
    /// The answers to choose from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Cow<'a, str>>,
}
