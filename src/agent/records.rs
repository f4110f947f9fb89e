//! The records of a session: what the loop reports on its stdout. Each has the ids of the run.

use super::plan::Plan;
use crate::json::Object;
use crate::record::Fields;

/// The ids that every record has.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    /// Of the session.
    pub session_id: Option<String>,
    /// Of the agent in a chain.
    pub agent_id: Option<String>,
    /// What the agent does in the chain.
    pub role: Option<String>,
    /// Of the chain.
    pub chain_id: Option<String>,
}

impl Ids {
    /// A record of the world's, JSON text, with those that it does not have.
    pub(super) fn add(&self, record: &str, fields: &Fields<'_>, plan: &Plan) -> String {
        let (plan_id, step_id) = plan.ids().unzip();
        let own = [
            ("session_id", self.session_id.as_deref()),
            ("plan_id", plan_id.as_deref()),
            ("step_id", step_id.flatten()),
            ("agent_id", self.agent_id.as_deref()),
            ("role", self.role.as_deref()),
            ("chain_id", self.chain_id.as_deref()),
        ];
        let missing = own.iter().filter(|(key, _)| fields.get(key).is_none());
        let added = missing.fold(Object::default(), |object, (key, id)| object.text_some(key, *id)).end();
        let is_ours = fields.get("type").is_some();
        match record.trim_end().strip_suffix('}').filter(|_| is_ours) {
            // A record has a type, so that a comma has to stand between.
            Some(open) if added != "{}" => format!("{open},{}", &added[1..]),
            _ => record.to_owned(),
        }
    }

    /// The record with the ids behind it, and those of the plan.
    pub(super) fn put(&self, record: Object, plan: &Plan) -> Object {
        let record = match plan.ids() {
            Some((plan_id, step_id)) => record.text("plan_id", &plan_id).text_some("step_id", step_id),
            None => record,
        };
        self.put_own(record)
    }

    /// Those without the plan's: records of the plan have them themselves.
    pub(super) fn put_own(&self, record: Object) -> Object {
        let record = record.text_some("session_id", self.session_id.as_deref());
        let record = record.text_some("agent_id", self.agent_id.as_deref()).text_some("role", self.role.as_deref());
        record.text_some("chain_id", self.chain_id.as_deref())
    }
}

/// What a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    None,
    /// A person's approval of a call, which a gate holds.
    Confirm,
    /// What only the person can do.
    Manual,
    /// An answer.
    Question,
}

impl Pending {
    pub(super) fn name(self) -> &'static str {
        match self {
            Pending::None => "none",
            Pending::Confirm => "confirm",
            Pending::Manual => "manual",
            Pending::Question => "question",
        }
    }
}

/// How a goal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The goal is reached.
    Done,
    /// A limit ended it, or it went in circles.
    Limit,
    /// It could not go on.
    Failed,
    /// The person cancelled it.
    Cancelled,
}

impl Outcome {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::Limit => "limit",
            Outcome::Failed => "failed",
            Outcome::Cancelled => "cancelled",
        }
    }
}
