//! The records of a session, as its clients read them.

use super::{
    About, AgentIds, AgentQuestion, AssistantMessage, CallFields, CallResult, ChainAgent, ChainUpdate, Context,
    ErrorContext, ErrorRecord, Fields, Final, PlanProgress, PlanStep, PlanUpdate, Status, Step, ToolCall, Unreadable,
    Usage, UserMessage,
};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A record of a session. What a record lacks, or has with another type, is read as empty: clients show what they can.
#[derive(Debug, Clone)]
#[allow(missing_docs)] // the types explain themselves
pub enum SessionRecord<'a> {
    UserMessage(UserMessage<'a>),
    AssistantMessage(AssistantMessage<'a>),
    ToolCall(Box<ToolCall<'a>>),
    ToolResult(CallResult<'a>),
    Status(Box<Status<'a>>),
    PlanUpdate(PlanUpdate<'a>),
    PlanProgress(PlanProgress<'a>),
    ChainUpdate(ChainUpdate<'a>),
    Error(ErrorRecord<'a>),
    Final(Box<Final<'a>>),
    /// Another record: its type, empty if it has none.
    Other(Cow<'a, str>),
}

impl<'a> SessionRecord<'a> {
    /// Reads a line.
    ///
    /// # Errors
    /// Text that is not an object, or that two readers could read differently.
    pub fn read(line: &'a str) -> Result<SessionRecord<'a>, Unreadable> {
        Fields::read(line).map(|fields| SessionRecord::of(&fields))
    }

    /// The record with these fields.
    pub fn of(fields: &Fields<'a>) -> SessionRecord<'a> {
        let kind = fields.borrowed_text("type").unwrap_or_default();
        match &*kind {
            "user_message" => SessionRecord::UserMessage(user_message(fields)),
            "assistant_message" => SessionRecord::AssistantMessage(assistant_message(fields)),
            "tool_call" => SessionRecord::ToolCall(Box::new(tool_call(fields))),
            "tool_result" => SessionRecord::ToolResult(CallResult::of(fields)),
            "status" => SessionRecord::Status(Box::new(status(fields))),
            "plan_update" => SessionRecord::PlanUpdate(plan_update(fields)),
            "plan_progress" => SessionRecord::PlanProgress(plan_progress(fields)),
            "agent_chain_update" => SessionRecord::ChainUpdate(chain_update(fields)),
            "error" => SessionRecord::Error(error(fields)),
            "final" => SessionRecord::Final(Box::new(end(fields))),
            _ => SessionRecord::Other(kind),
        }
    }
}

fn text<'a>(fields: &Fields<'a>, key: &str) -> Cow<'a, str> {
    fields.borrowed_text(key).unwrap_or_default()
}

fn is_true(fields: &Fields<'_>, key: &str) -> bool {
    fields.get(key).is_some_and(|value| value.get() == "true")
}

/// The objects of a list that `read` accepts.
fn list<'a, T>(fields: &Fields<'a>, key: &str, read: impl Fn(Fields<'a>) -> Option<T>) -> Vec<T> {
    let objects = fields.list(key).unwrap_or_default().into_iter();
    objects.filter_map(|object: &RawValue| read(Fields::read(object.get()).ok()?)).collect()
}

fn step<'a>(fields: &Fields<'a>) -> PlanStep<'a> {
    PlanStep { plan_id: fields.borrowed_text("plan_id"), step_id: fields.borrowed_text("step_id") }
}

fn agent<'a>(fields: &Fields<'a>) -> AgentIds<'a> {
    let [session_id, agent_id, role, chain_id] =
        ["session_id", "agent_id", "role", "chain_id"].map(|key| fields.borrowed_text(key));
    AgentIds { session_id, agent_id, role, chain_id }
}

fn user_message<'a>(fields: &Fields<'a>) -> UserMessage<'a> {
    UserMessage { context: Context::of(fields), ..UserMessage::without_role(text(fields, "content")) }
}

fn assistant_message<'a>(fields: &Fields<'a>) -> AssistantMessage<'a> {
    let request_id = fields.get("request_id");
    let question = fields.object("question").map(|question| AgentQuestion {
        question: question.borrowed_text("question"),
        options: question.list("options").unwrap_or_default().into_iter().filter_map(string).collect(),
    });
    AssistantMessage {
        request_id,
        token: text(fields, "token"),
        is_final: match fields.get("is_final") {
            Some(value) => value.get() == "true",
            None => request_id.is_none(),
        },
        kind: text(fields, "kind"),
        restarted: is_true(fields, "restarted"),
        question,
        step: step(fields),
        agent: agent(fields),
    }
}

fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<String>(value.get()).ok().map(Cow::Owned)
}

/// The call in our own form, without the marks of a gate.
fn tool_call<'a>(fields: &Fields<'a>) -> ToolCall<'a> {
    let call = CallFields {
        tool_name: text(fields, "tool_name"),
        arguments: fields.present("arguments").or(fields.present("args")),
        target: fields.get("target"),
        ..CallFields::default()
    };
    let requires_approval = is_true(fields, "requires_approval");
    ToolCall { about: About::of(fields), call, requires_approval, step: step(fields), agent: agent(fields) }
}

/// The state without a question, which is for approvers.
fn status<'a>(fields: &Fields<'a>) -> Status<'a> {
    Status {
        status: text(fields, "status"),
        pending_kind: fields.borrowed_text("pending_kind"),
        pending_action: fields.present("pending_action"),
        current_goal: fields.borrowed_text("current_goal"),
        ended: fields.borrowed_text("ended"),
        about: About::of(fields),
        question: None,
        rules_file: None,
        edited_arguments: fields.get("edited_arguments"),
        step: step(fields),
        agent: agent(fields),
    }
}

fn plan_update<'a>(fields: &Fields<'a>) -> PlanUpdate<'a> {
    let step = |step: Fields<'a>| {
        let [id, desc, status] = ["id", "desc", "status"].map(|key| step.borrowed_text(key));
        Some(Step { id: id?, desc: desc?, status: status? })
    };
    PlanUpdate {
        plan_id: text(fields, "plan_id"),
        steps: list(fields, "steps", step),
        current_step: fields.borrowed_text("current_step"),
        agent: agent(fields),
    }
}

fn plan_progress<'a>(fields: &Fields<'a>) -> PlanProgress<'a> {
    PlanProgress {
        plan_id: text(fields, "plan_id"),
        step_id: text(fields, "step_id"),
        result: fields.borrowed_text("result"),
        status: text(fields, "status"),
        agent: agent(fields),
    }
}

fn chain_update<'a>(fields: &Fields<'a>) -> ChainUpdate<'a> {
    let agent = |agent: Fields<'a>| {
        let [agent_id, role, status] = ["agent_id", "role", "status"].map(|key| agent.borrowed_text(key));
        Some(ChainAgent { agent_id: agent_id?, role, status: status? })
    };
    ChainUpdate {
        chain_id: text(fields, "chain_id"),
        agents: list(fields, "agents", agent),
        current_agent: fields.borrowed_text("current_agent"),
    }
}

fn error<'a>(fields: &Fields<'a>) -> ErrorRecord<'a> {
    let context = fields.object("context").map(|context| ErrorContext {
        call_id: context.get("call_id"),
        nonce: context.borrowed_text("nonce"),
        step: step(&context),
    });
    ErrorRecord { context: context.unwrap_or_default(), content: text(fields, "content"), agent: agent(fields) }
}

fn end<'a>(fields: &Fields<'a>) -> Final<'a> {
    let number = |key: &str| fields.count(key).and_then(|count| count.try_into().ok());
    Final {
        outcome: text(fields, "outcome"),
        content: text(fields, "content"),
        usage: fields.object("usage").map(|usage| Usage::of(&usage)).unwrap_or_default(),
        steps: number("steps").unwrap_or_default(),
        denied: number("denied").unwrap_or_default(),
        limit: fields.borrowed_text("limit"),
        form: fields.borrowed_text("form"),
        step: step(fields),
        agent: agent(fields),
        exit_status: fields.count("exit_status").and_then(|status| status.try_into().ok()),
    }
}
