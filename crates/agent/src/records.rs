//! The records of a session, which the loop reports on stdout. Each has the ids of the run.

use super::plan::Plan;
use super::{Agent, Effect};
use pipewright_record::json::{Object, raw};
use pipewright_record::{
    AgentIds, AssistantMessage, Fields, GoalLimit, GoalOutcome, MessageKind, Pending, Record, State, Status,
};
use std::borrow::Cow;

impl Agent {
    /// Reports the agent's state, and the call that a gate holds.
    pub(super) fn report_status(&mut self, state: State, pending: Pending, action: Option<&str>) {
        let status = Status {
            status: state.into(),
            pending_kind: Some(pending.into()),
            pending_action: action.map(raw),
            current_goal: self.goal.as_deref().map(Cow::Borrowed),
            step: self.plan.step(),
            agent: self.settings.ids.borrowed(),
            ..Status::default()
        };
        self.effects.push(Effect::Session(status.json()));
    }

    /// A message to the person.
    pub(super) fn say(&mut self, kind: MessageKind, text: &str) {
        let message = AssistantMessage {
            step: self.plan.step(),
            agent: self.settings.ids.borrowed(),
            ..AssistantMessage::whole(kind, text)
        };
        self.effects.push(Effect::Session(message.json()));
    }
}

/// A record of the world (JSON text) with the ids that it lacks.
pub(super) fn with_ids(ids: &AgentIds<'_>, record: &str, fields: &Fields<'_>, plan: &Plan) -> String {
    let step = plan.step();
    let own = [
        ("session_id", &ids.session_id),
        ("plan_id", &step.plan_id),
        ("step_id", &step.step_id),
        ("agent_id", &ids.agent_id),
        ("role", &ids.role),
        ("chain_id", &ids.chain_id),
    ];
    let missing = own.iter().filter(|(key, _)| fields.get(key).is_none());
    let added = missing.fold(Object::default(), |object, (key, id)| object.text_some(key, id.as_deref())).end();
    let is_ours = fields.get("type").is_some();
    match record.trim_end().strip_suffix('}').filter(|_| is_ours) {
        // A record is never empty, so a comma is needed.
        Some(open) if added != "{}" => format!("{open},{}", &added[1..]),
        _ => record.to_owned(),
    }
}

/// How a goal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The goal was reached.
    Done,
    /// A limit ended the goal, or the model kept repeating itself.
    Limit(GoalLimit),
    /// The run could not continue.
    Failed,
    /// The person cancelled it.
    Cancelled,
}

impl Outcome {
    /// The outcome in records.
    pub(super) fn kind(self) -> GoalOutcome {
        match self {
            Outcome::Done => GoalOutcome::Done,
            Outcome::Limit(_) => GoalOutcome::Limit,
            Outcome::Failed => GoalOutcome::Failed,
            Outcome::Cancelled => GoalOutcome::Cancelled,
        }
    }

    /// The limit that ended it.
    pub(super) fn limit(self) -> Option<GoalLimit> {
        match self {
            Outcome::Limit(limit) => Some(limit),
            _ => None,
        }
    }
}
