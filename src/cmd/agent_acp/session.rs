//! What is kept of one session.

use crate::acp::Updates;
use crate::json::Object;
use crate::rpc;
use std::time::{Duration, Instant};

/// How calls that a gate holds are decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The person is asked.
    Ask,
    /// They are rejected.
    Observe,
}

/// Each with its id, its name and what it means.
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

/// An agent that has said nothing for so long after its start, and still runs, has started.
pub const START: Duration = Duration::from_secs(5);
/// So long may an agent take to show the history of a session that is loaded.
pub const LOAD: Duration = Duration::from_secs(60);
/// So long may an agent take to end its turn once it is cancelled.
pub const CANCEL: Duration = Duration::from_secs(5);
/// So long may an agent take to end once it has closed its stdout.
pub const END: Duration = Duration::from_secs(2);

/// How far a session's process is.
#[derive(Debug, PartialEq, Eq)]
pub enum Process {
    /// It is started; `request` is that of `session/new`, JSON text of its id, which is answered when it has, or `by` then. That is none while there is no process yet.
    Starting { request: Option<String>, by: Option<Instant> },
    /// It is to show the session's history, for the request of `session/load`.
    Loading { request: String, by: Instant },
    /// It takes messages.
    Running,
    /// It has closed its stdout.
    Ending { by: Instant },
    /// It has ended: why, for people.
    Ended(String),
}

impl Process {
    /// The request that begins or loads the session, JSON text of its id, until it is answered.
    pub fn request(&self) -> Option<&str> {
        match self {
            Process::Starting { request, .. } => request.as_deref(),
            Process::Loading { request, .. } => Some(request),
            Process::Running | Process::Ending { .. } | Process::Ended(_) => None,
        }
    }
}

/// A prompt that is not answered.
#[derive(Debug)]
pub struct Prompt {
    /// JSON text of the request's id.
    pub request: String,
    /// The person has cancelled it: by when it is answered in any case.
    pub cancelled: Option<Instant>,
    /// The `user_message`, while the agent is started.
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
    /// When it wants to be woken.
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

    /// The `session/update` with this update, JSON text; a line.
    pub fn update(&self, update: &str) -> String {
        let params = Object::default().text("sessionId", &self.id).put("update", update).end();
        rpc::notification("session/update", Some(&params))
    }
}
