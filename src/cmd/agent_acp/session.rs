//! The state of one session.

use crate::cmd::sessions::{Agent, State};
use pipewright_clients::acp::Updates;
use pipewright_record::json::Object;
use pipewright_record::rpc;
use std::time::{Duration, Instant};

/// How calls that a gate holds are decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The person is asked.
    Ask,
    /// Calls are rejected.
    Observe,
}

/// Each mode with its id, name and description.
const MODES: [(Mode, &str, &str, &str); 2] = [
    (Mode::Ask, "ask", "Ask", "Asks before calls that a gate holds"),
    (Mode::Observe, "observe", "Observe", "Rejects calls that a gate holds, without asking"),
];

impl Mode {
    /// The mode with this id.
    pub fn named(id: &str) -> Option<Mode> {
        MODES.iter().find(|(_, own, ..)| *own == id).map(|(mode, ..)| *mode)
    }

    /// A `SessionModeState` in this mode, JSON text.
    pub fn state(self) -> String {
        let modes = MODES.map(|(_, id, name, description)| {
            Object::default().text("id", id).text("name", name).text("description", description).end()
        });
        let current = MODES.iter().find(|(mode, ..)| *mode == self).map_or("", |(_, id, ..)| id);
        let state = Object::default().text("currentModeId", current);
        state.put("availableModes", format_args!("[{}]", modes.join(","))).end()
    }
}

/// An agent that still runs this long after its start without output counts as started.
pub const START: Duration = Duration::from_secs(5);
/// How long an agent may take to end its turn after a cancel.
pub const CANCEL: Duration = Duration::from_secs(5);

/// An unanswered prompt.
#[derive(Debug)]
pub struct Prompt {
    /// The request's id as JSON text.
    pub request: String,
    /// Set after the person cancelled the prompt: when it is answered at the latest.
    pub cancelled: Option<Instant>,
}

/// A session.
#[derive(Debug)]
pub struct EditorSession {
    pub agent: Agent,
    pub mode: Mode,
    /// The unanswered request that creates or loads the session, its id as JSON text.
    pub request: Option<String>,
    /// When a session that is created counts as started; `None` while its agent has no process.
    pub started_by: Option<Instant>,
    pub prompt: Option<Prompt>,
    pub updates: Updates,
}

impl AsRef<Agent> for EditorSession {
    fn as_ref(&self) -> &Agent {
        &self.agent
    }
}

impl AsMut<Agent> for EditorSession {
    fn as_mut(&mut self) -> &mut Agent {
        &mut self.agent
    }
}

impl EditorSession {
    /// When the session counts as started, if it has not started before.
    pub fn counts_as_started(&self) -> Option<Instant> {
        self.started_by.filter(|_| self.request.is_some() && self.agent.is_alive())
    }

    /// When a prompt that the person cancelled is answered at the latest.
    pub fn cancelled_by(&self) -> Option<Instant> {
        self.prompt.as_ref().and_then(|prompt| prompt.cancelled)
    }

    /// Whether its agent has ended, so that it can be started again.
    pub fn has_ended(&self) -> bool {
        matches!(self.agent.state, State::Ended(_))
    }

    /// When the session's next time limit is over.
    pub fn deadline(&self) -> Option<Instant> {
        self.counts_as_started().into_iter().chain(self.cancelled_by()).min()
    }

    /// The `session/update` with this update (JSON text), as a line.
    pub fn update(&self, update: &str) -> String {
        let params = Object::default().text("sessionId", &self.agent.id).put("update", update).end();
        rpc::notification("session/update", Some(&params))
    }
}
