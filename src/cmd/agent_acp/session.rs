//! The state of one session.

use crate::acp::Updates;
use crate::json::Object;
use crate::rpc;
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

/// The state of a session's process.
#[derive(Debug, PartialEq, Eq)]
pub enum Process {
    /// Starting. `request` is the id of `session/new` as JSON text; it is answered when the process has started, or at `by`. `by` is `None` while there is no process yet.
    Starting { request: Option<String>, by: Option<Instant> },
    /// Showing the session's history, for the request `session/load`.
    Loading { request: String, by: Instant },
    /// Running: it takes messages.
    Running,
    /// It has closed its stdout.
    Ending { by: Instant },
    /// It has ended: why, for people.
    Ended(String),
}

impl Process {
    /// The unanswered request that creates or loads the session, its id as JSON text.
    pub fn request(&self) -> Option<&str> {
        match self {
            Process::Starting { request, .. } => request.as_deref(),
            Process::Loading { request, .. } => Some(request),
            Process::Running | Process::Ending { .. } | Process::Ended(_) => None,
        }
    }
}

/// An unanswered prompt.
#[derive(Debug)]
pub struct Prompt {
    /// The request's id as JSON text.
    pub request: String,
    /// Set after the person cancelled the prompt: when it is answered at the latest.
    pub cancelled: Option<Instant>,
    /// The `user_message`, while the agent is starting.
    pub unsent: Option<String>,
}

/// A session.
#[derive(Debug)]
pub struct EditorSession {
    pub id: String,
    pub mode: Mode,
    pub process: Process,
    pub prompt: Option<Prompt>,
    pub updates: Updates,
    /// Its process has closed its stdout.
    pub is_silent: bool,
}

impl EditorSession {
    /// When the session's next time limit is over.
    pub fn deadline(&self) -> Option<Instant> {
        let process = match &self.process {
            Process::Starting { by, .. } => *by,
            Process::Loading { by, .. } | Process::Ending { by } => Some(*by),
            Process::Running | Process::Ended(_) => None,
        };
        process.into_iter().chain(self.prompt.as_ref().and_then(|prompt| prompt.cancelled)).min()
    }

    /// Whether the process takes lines.
    pub fn is_running(&self) -> bool {
        !matches!(self.process, Process::Ended(_) | Process::Ending { .. })
    }

    /// The `session/update` with this update (JSON text), as a line.
    pub fn update(&self, update: &str) -> String {
        let params = Object::default().text("sessionId", &self.id).put("update", update).end();
        rpc::notification("session/update", Some(&params))
    }
}
