//! A session's state as its client knows it from the records that it sent and received: whether the agent works or
//! waits and for what, its plan, its calls, and the agents of a chain. docs/protocol.md defines the records and their
//! order.

use pipewright_record::{
    ChainUpdate, Fields, GoalOutcome, PlanProgress, PlanUpdate, SessionRecord, Status, Step, ToolCall, Unreadable,
    id_text, is_same_id, recognise,
};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// The agent's state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// The agent works on nothing, or has not reported its state yet.
    #[default]
    Idle,
    /// The agent works on a goal.
    Running,
    /// A gate holds a call until a person decides.
    Confirm,
    /// The agent waits for the person to do something by hand and then send a message.
    Manual,
    /// The agent has asked the person a question and waits for a message.
    Question,
}

impl State {
    /// The state in a status record; `None` if the status is not an agent's.
    fn of(status: &Status<'_>) -> Option<State> {
        Some(match (&*status.status, status.pending_kind.as_deref()) {
            ("running", _) => State::Running,
            ("idle", _) => State::Idle,
            ("waiting_user", Some("confirm")) => State::Confirm,
            ("waiting_user", Some("manual")) => State::Manual,
            ("waiting_user", _) => State::Question,
            _ => return None,
        })
    }
}

/// Why a record is out of order. The session's state follows the record anyway.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OutOfOrder(String);

impl From<Unreadable> for OutOfOrder {
    fn from(why: Unreadable) -> OutOfOrder {
        OutOfOrder(why.to_string())
    }
}

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
    plans: VecDeque<(String, Vec<Step<'static>>)>,
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
    pub fn plan(&self) -> &[Step<'static>] {
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

    /// The agent's process has ended. A process that resumes the session names its plans, and gives the results of
    /// calls in progress.
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

    /// Takes a record that the client received. The state follows the record even if it is out of order.
    ///
    /// # Errors
    /// Why the record is out of order.
    pub fn received(&mut self, record: &SessionRecord<'_>) -> Result<(), OutOfOrder> {
        match record {
            SessionRecord::Status(status) if status.about.call_id.is_none() => self.take_status(status),
            SessionRecord::ToolCall(call) => self.take_call(call),
            SessionRecord::ToolResult(result) => self.take_result(result.call_id),
            SessionRecord::PlanUpdate(update) => self.take_plan(update),
            SessionRecord::PlanProgress(PlanProgress { plan_id, step_id, status, .. }) => {
                self.check_step(Some(plan_id).filter(|id| !id.is_empty()), Some(step_id).filter(|id| !id.is_empty()))?;
                let plans = self.plans.iter_mut().filter(|(own, _)| own == plan_id);
                let steps = plans.flat_map(|(_, steps)| steps);
                steps.filter(|step| step.id == *step_id).for_each(|step| step.status = status.to_string().into());
                Ok(())
            }
            SessionRecord::ChainUpdate(update) => self.take_chain(update),
            // The agent answered a message without working on it, or refused it.
            SessionRecord::Error(_) => {
                self.unread = 0;
                Ok(())
            }
            SessionRecord::AssistantMessage(message) if self.state == State::Idle && message.request_id.is_none() => {
                self.unread = 0;
                Ok(())
            }
            SessionRecord::Final(end) => {
                self.unread = 0;
                self.state = State::Idle;
                let open = std::mem::take(&mut self.calls);
                // A call that was given up may still get a result.
                self.answered.retain(|id| !open.contains_key(id));
                open.keys().for_each(|id| push(&mut self.own, quoted(id), CALLS));
                match open.values().next().filter(|_| end.outcome == GoalOutcome::Done.name()) {
                    Some(tool) => disorder(format!("the goal is done, but a call of {tool} has no result")),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn take_status(&mut self, status: &Status<'_>) -> Result<(), OutOfOrder> {
        let Some(state) = State::of(status) else { return disorder("a status of a gate names no call") };
        let before = std::mem::replace(&mut self.state, state);
        self.goal = status.current_goal.as_deref().map(ToOwned::to_owned).or(self.goal.take());
        let action = status.pending_action.map(|action| action.get().to_owned());
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

    fn take_call(&mut self, call: &ToolCall<'_>) -> Result<(), OutOfOrder> {
        let id = id_text(call.about.call_id);
        let is_known = self.calls.contains_key(&id) || self.answered.contains(&id);
        let state = self.state;
        self.calls.insert(id.clone(), call.call.tool_name.clone().into_owned());
        self.check_step(call.step.plan_id.as_ref(), call.step.step_id.as_ref())?;
        match state {
            _ if is_known => disorder(format!("the call id {id} was used before")),
            State::Idle => disorder(format!("the call {id} is made while the agent works on no goal")),
            State::Manual | State::Question => {
                disorder(format!("the call {id} is made while the agent waits for the person"))
            }
            State::Running | State::Confirm => Ok(()),
        }
    }

    fn take_result(&mut self, id: Option<&RawValue>) -> Result<(), OutOfOrder> {
        if let Some(place) = self.own.iter().position(|own| is_same_id(Some(own), id.map(RawValue::get))) {
            self.own.remove(place);
            return Ok(());
        }
        let id = id_text(id);
        if self.calls.remove(&id).is_none() {
            return disorder(format!("a result of {id:?}, which is not an open call"));
        }
        push(&mut self.answered, id, CALLS);
        Ok(())
    }

    fn take_plan(&mut self, update: &PlanUpdate<'_>) -> Result<(), OutOfOrder> {
        let PlanUpdate { plan_id, steps, current_step, .. } = update;
        self.plans.retain(|(id, _)| id != plan_id);
        let kept = steps.iter().cloned().map(Step::into_owned).collect();
        push(&mut self.plans, (plan_id.clone().into_owned(), kept), PLANS);
        match current_step {
            Some(current) if !steps.iter().any(|step| step.id == *current) => {
                disorder(format!("the plan has no step {current:?}"))
            }
            _ => Ok(()),
        }
    }

    fn take_chain(&mut self, update: &ChainUpdate<'_>) -> Result<(), OutOfOrder> {
        let agents = update.agents.iter();
        self.agents = agents.map(|agent| (agent.agent_id.to_string(), agent.status.to_string())).collect();
        match &update.current_agent {
            Some(current) if !self.agents.iter().any(|(id, _)| id == current) => {
                disorder(format!("the chain has no agent {current:?}"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the named plan and step are known.
    fn check_step(&self, plan_id: Option<&Cow<'_, str>>, step_id: Option<&Cow<'_, str>>) -> Result<(), OutOfOrder> {
        let Some(plan_id) = plan_id else { return Ok(()) };
        let Some((_, steps)) = self.plans.iter().find(|(id, _)| id == plan_id) else {
            return disorder(format!("unknown plan {plan_id:?}"));
        };
        match step_id {
            Some(step_id) if !steps.iter().any(|step| step.id == *step_id) => {
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
    pipewright_record::json::quoted(text)
}

fn disorder<T>(why: impl Into<String>) -> Result<T, OutOfOrder> {
    Err(OutOfOrder(why.into()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
