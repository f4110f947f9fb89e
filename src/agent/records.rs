//! The records of a session, which the loop reports on stdout. Each has the ids of the run.

use super::plan::Plan;
use crate::json::Object;
use crate::record::Fields;

/// The ids in every record.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    /// The session's id.
    pub session_id: Option<String>,
    /// The agent's id in a chain.
    pub agent_id: Option<String>,
    /// The agent's role in the chain.
    pub role: Option<String>,
    /// The chain's id.
    pub chain_id: Option<String>,
}

impl Ids {
    /// A record of the world (JSON text) with the ids that it lacks.
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
            // A record is never empty, so a comma is needed.
            Some(open) if added != "{}" => format!("{open},{}", &added[1..]),
            _ => record.to_owned(),
        }
    }

    /// Adds the ids and those of the plan to a record.
    pub(super) fn put(&self, record: Object, plan: &Plan) -> Object {
        let record = match plan.ids() {
            Some((plan_id, step_id)) => record.text("plan_id", &plan_id).text_some("step_id", step_id),
            None => record,
        };
        self.put_own(record)
    }

    /// Adds the ids without the plan's: records of the plan have those themselves.
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
    /// A person's approval of a held call.
    Confirm,
    /// An action that only the person can do.
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
    /// The goal was reached.
    Done,
    /// A limit ended it, or the model kept repeating itself.
    Limit,
    /// It could not continue.
    Failed,
    /// The person cancelled it.
    Cancelled,
}

impl Outcome {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::Limit => "limit",
            Outcome::Failed => "failed",
            Outcome::Cancelled => "cancelled",
        }
    }
}
