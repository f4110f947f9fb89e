//! A session's state as its client knows it from the records that it sent and received: whether the agent works or waits and for what, its plan, its calls,
//! and the agents of a chain. docs/protocol.md defines the records and their order.

use crate::record::{Fields, is_same_id, recognise};
use serde_json::value::RawValue;
use std::collections::{HashMap, VecDeque};
use std::fmt;

/// The agent's state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// It works on nothing, or has not reported its state yet.
    #[default]
    Idle,
    /// It works on a goal.
    Running,
    /// A gate holds a call until a person decides.
    Confirm,
    /// It waits for the person to do something by hand and then send a message.
    Manual,
    /// It has asked the person a question and waits for a message.
    Question,
}

impl State {
    /// The state in a status record; `None` if the status is not an agent's.
    fn read(status: &Fields<'_>) -> Option<State> {
        Some(match (status.text("status")?.as_str(), status.text("pending_kind").as_deref()) {
            ("running", _) => State::Running,
            ("idle", _) => State::Idle,
            ("waiting_user", Some("confirm")) => State::Confirm,
            ("waiting_user", Some("manual")) => State::Manual,
            ("waiting_user", _) => State::Question,
            _ => return None,
        })
    }
}

/// A step of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Unique in its plan.
    pub id: String,
    /// A text for people.
    pub desc: String,
    /// Its progress: `pending`, `running`, `blocked`, `error` or `done`.
    pub status: String,
}

/// Why a record is out of order. The session's state follows the record anyway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disorder(String);

impl fmt::Display for Disorder {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Disorder {}

/// A session's state according to the records so far.
#[derive(Debug, Clone, Default)]
pub struct Session {
    state: State,
    goal: Option<String>,
    /// The call that a gate holds, as JSON text.
    pending_action: Option<String>,
    /// The number of messages sent that no record has followed yet.
    unread: usize,
    /// The latest plans with their steps; the last one is current.
    plans: VecDeque<(String, Vec<Step>)>,
    /// The agent's calls without a result: ids and tools.
    calls: HashMap<String, String>,
    /// The latest of those with a result.
    answered: VecDeque<String>,
    /// The latest calls by the client itself without a result: their ids as JSON text.
    own: VecDeque<String>,
    /// The agents of the chain, each with its state.
    agents: Vec<(String, String)>,
}

impl Session {
    /// The agent's state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The goal that the agent works on.
    pub fn goal(&self) -> Option<&str> {
        self.goal.as_deref()
    }

    /// The call that a gate holds, as JSON text: `{"call_id","tool_name","arguments"}`.
    pub fn pending_action(&self) -> Option<&str> {
        self.pending_action.as_deref()
    }

    /// The steps of the plan; empty without a plan.
    pub fn plan(&self) -> &[Step] {
        self.plans.back().map_or(&[], |(_, steps)| steps)
    }

    /// Whether the agent has made a call with this id (JSON text).
    pub fn has_call(&self, id: &str) -> bool {
        serde_json::from_str::<String>(id).is_ok_and(|id| self.calls.contains_key(&id) || self.answered.contains(&id))
    }

    /// Whether a message was sent that no record has followed yet.
    pub fn has_unread(&self) -> bool {
        self.unread > 0
    }

    /// The agents of the chain, each with its state.
    pub fn agents(&self) -> &[(String, String)] {
        &self.agents
    }

    /// The agent's process has ended. A process that resumes the session names its plans, and gives the results of calls in progress.
    pub fn agent_ended(&mut self) {
        let before = std::mem::take(self);
        self.plans = before.plans;
        before.calls.keys().for_each(|id| push(&mut self.own, quoted(id), CALLS));
    }

    /// Takes a line that the client sent.
    pub fn sent(&mut self, line: &str) {
        let Ok(fields) = Fields::read(line) else { return };
        match fields.text("type").as_deref() {
            Some("user_message") => self.unread += 1,
            // Earlier messages are dropped with it.
            Some("cancel") => self.unread = 0,
            _ => {
                if let Ok(Some(call)) = recognise(line) {
                    call.id.into_iter().for_each(|id| push(&mut self.own, id.get().to_owned(), CALLS));
                }
            }
        }
    }

    /// Takes a line that the client received. The state follows the record even if it is out of order.
    ///
    /// # Errors
    /// Why the record is out of order.
    pub fn received(&mut self, line: &str) -> Result<(), Disorder> {
        let fields = Fields::read(line).map_err(|why| Disorder(why.to_string()))?;
        match fields.text("type").as_deref() {
            Some("status") if fields.get("call_id").is_none() => self.take_status(&fields),
            Some("tool_call") => self.take_call(&fields),
            Some("tool_result") => self.take_result(fields.get("call_id")),
            Some("plan_update") => self.take_plan(&fields),
            Some("plan_progress") => {
                let id = fields.text("step_id").unwrap_or_default();
                let status = fields.text("status").unwrap_or_default();
                self.check_step(&fields)?;
                let plan_id = fields.text("plan_id").unwrap_or_default();
                let plans = self.plans.iter_mut().filter(|(own, _)| *own == plan_id);
                let steps = plans.flat_map(|(_, steps)| steps);
                steps.filter(|step| step.id == id).for_each(|step| step.status.clone_from(&status));
                Ok(())
            }
            Some("agent_chain_update") => self.take_chain(&fields),
            // The agent answered a message without working on it, or refused it.
            Some("error") => {
                self.unread = 0;
                Ok(())
            }
            Some("assistant_message") if self.state == State::Idle && fields.get("request_id").is_none() => {
                self.unread = 0;
                Ok(())
            }
            Some("final") => {
                self.unread = 0;
                self.state = State::Idle;
                let open = std::mem::take(&mut self.calls);
                let is_done = fields.text("outcome").as_deref() == Some("done");
                // A call that was given up may still get a result.
                self.answered.retain(|id| !open.contains_key(id));
                open.keys().for_each(|id| push(&mut self.own, quoted(id), CALLS));
                match open.values().next().filter(|_| is_done) {
                    Some(tool) => disorder(format!("the goal is done, but a call of {tool} has no result")),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn take_status(&mut self, fields: &Fields<'_>) -> Result<(), Disorder> {
        let Some(state) = State::read(fields) else { return disorder("a status of a gate names no call") };
        let before = std::mem::replace(&mut self.state, state);
        self.goal = fields.text("current_goal").or(self.goal.take());
        let action = fields.present("pending_action").map(|action| action.get().to_owned());
        let held = std::mem::replace(&mut self.pending_action, action);
        let unread = self.unread;
        if state == State::Running {
            self.unread = 0;
        }
        match (state, &self.pending_action) {
            (State::Confirm, None) => disorder("a gate holds a call, but the status does not name it"),
            (State::Confirm, Some(_)) if held.is_some() => disorder("a second call is held while another one is held"),
            (State::Running, _) if matches!(before, State::Manual | State::Question) && unread == 0 => {
                disorder("the agent runs, but its question was not answered")
            }
            _ => Ok(()),
        }
    }

    fn take_call(&mut self, fields: &Fields<'_>) -> Result<(), Disorder> {
        let id = fields.text("call_id").unwrap_or_default();
        let tool = fields.text("tool_name").unwrap_or_default();
        let is_known = self.calls.contains_key(&id) || self.answered.contains(&id);
        let state = self.state;
        self.calls.insert(id.clone(), tool);
        self.check_step(fields)?;
        match state {
            _ if is_known => disorder(format!("the call id {id} was used before")),
            State::Idle => disorder(format!("the call {id} is made while the agent works on no goal")),
            State::Manual | State::Question => {
                disorder(format!("the call {id} is made while the agent waits for the person"))
            }
            State::Running | State::Confirm => Ok(()),
        }
    }

    fn take_result(&mut self, id: Option<&RawValue>) -> Result<(), Disorder> {
        if let Some(place) = self.own.iter().position(|own| is_same_id(Some(own), id.map(RawValue::get))) {
            self.own.remove(place);
            return Ok(());
        }
        let id = id.and_then(|id| serde_json::from_str::<String>(id.get()).ok()).unwrap_or_default();
        if self.calls.remove(&id).is_none() {
            return disorder(format!("a result of {id:?}, which is not an open call"));
        }
        push(&mut self.answered, id, CALLS);
        Ok(())
    }

    fn take_plan(&mut self, fields: &Fields<'_>) -> Result<(), Disorder> {
        let step = |step: &RawValue| {
            let fields = Fields::read(step.get()).ok()?;
            Some(Step { id: fields.text("id")?, desc: fields.text("desc")?, status: fields.text("status")? })
        };
        let steps: Vec<Step> = fields.list("steps").unwrap_or_default().into_iter().filter_map(step).collect();
        let current = fields.text("current_step");
        let is_known = current.as_ref().is_none_or(|current| steps.iter().any(|step| step.id == *current));
        let plan_id = fields.text("plan_id").unwrap_or_default();
        self.plans.retain(|(id, _)| *id != plan_id);
        push(&mut self.plans, (plan_id, steps), PLANS);
        match current.filter(|_| !is_known) {
            Some(current) => disorder(format!("the plan has no step {current:?}")),
            None => Ok(()),
        }
    }

    fn take_chain(&mut self, fields: &Fields<'_>) -> Result<(), Disorder> {
        let agent = |agent: &RawValue| {
            let fields = Fields::read(agent.get()).ok()?;
            Some((fields.text("agent_id")?, fields.text("status")?))
        };
        self.agents = fields.list("agents").unwrap_or_default().into_iter().filter_map(agent).collect();
        match fields.text("current_agent") {
            Some(current) if !self.agents.iter().any(|(id, _)| *id == current) => {
                disorder(format!("the chain has no agent {current:?}"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the named plan and step are known.
    fn check_step(&self, fields: &Fields<'_>) -> Result<(), Disorder> {
        let Some(plan_id) = fields.text("plan_id") else { return Ok(()) };
        let Some((_, steps)) = self.plans.iter().find(|(id, _)| *id == plan_id) else {
            return disorder(format!("unknown plan {plan_id:?}"));
        };
        match fields.text("step_id") {
            Some(step_id) if !steps.iter().any(|step| step.id == step_id) => {
                disorder(format!("the plan {plan_id:?} has no step {step_id:?}"))
            }
            _ => Ok(()),
        }
    }
}

/// The most calls and plans that are kept of a session.
const CALLS: usize = 1024;
const PLANS: usize = 16;

/// Adds an item, and drops the oldest ones beyond `most`.
fn push<T>(kept: &mut VecDeque<T>, new: T, most: usize) {
    if kept.len() >= most {
        kept.pop_front();
    }
    kept.push_back(new);
}

fn quoted(text: &str) -> String {
    crate::json::quoted(text)
}

fn disorder<T>(why: impl Into<String>) -> Result<T, Disorder> {
    Err(Disorder(why.into()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
