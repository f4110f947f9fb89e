//! The state of one session.

use crate::cmd::sessions::{Agent, State as AgentState};
use jiff::Timestamp;
use pipewright_clients::agui::Thread;
use pipewright_clients::approvals::Question;
use pipewright_clients::session::{Session, State};
use pipewright_lines::{Change, change};
use pipewright_record::Fields;
use pipewright_record::json::quoted;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Instant;

/// The most image paths that are kept.
const IMAGES: usize = 256;
/// The number of call ids for which the count of questions is kept.
const MAX_COUNTED_CALLS: usize = 4096;

/// An open question of a gate.
#[derive(Debug)]
pub struct OpenQuestion {
    pub question: Question,
    /// The number of the record that shows it.
    pub number: u64,
    /// The gate has got an answer and has not settled the question yet.
    pub is_answered: bool,
}

/// A session.
#[derive(Debug)]
pub struct ServedSession {
    pub agent: Agent,
    pub records: Session,
    /// The number of the next record.
    pub next_number: u64,
    pub begun_at: Timestamp,
    /// Open questions, by nonce.
    pub held: BTreeMap<String, OpenQuestion>,
    /// The ids of calls that a gate has held; true if more than one call had that id.
    asked: HashMap<String, bool>,
    /// The latest image paths in records.
    images: VecDeque<String>,
    /// The number of clients that show it.
    pub clients: usize,
    /// When the session was last active or shown.
    pub used_at: Instant,
    /// The session as the thread of an AG-UI client, from its first run on.
    pub thread: Option<Thread>,
    /// The client that reads the open run.
    pub run_client: Option<u64>,
}

impl AsRef<Agent> for ServedSession {
    fn as_ref(&self) -> &Agent {
        &self.agent
    }
}

impl AsMut<Agent> for ServedSession {
    fn as_mut(&mut self) -> &mut Agent {
        &mut self.agent
    }
}

impl ServedSession {
    pub fn new(agent: Agent, clients: usize) -> ServedSession {
        let begun_at = Timestamp::now();
        ServedSession {
            agent,
            records: Session::default(),
            next_number: first_number(begun_at),
            begun_at,
            held: BTreeMap::new(),
            asked: HashMap::new(),
            images: VecDeque::new(),
            clients,
            used_at: Instant::now(),
            thread: None,
            run_client: None,
        }
    }

    /// A word for the session's state.
    pub fn state(&self) -> &'static str {
        match (&self.agent.state, self.records.state()) {
            (AgentState::Starting(_) | AgentState::Loading { .. }, _) => "starting",
            (AgentState::Ending { .. } | AgentState::Ended(_), _) => "ended",
            (_, State::Idle) => "idle",
            (_, State::Running) => "running",
            (_, State::Confirm) => "confirm",
            (_, State::Manual) => "manual",
            (_, State::Question) => "question",
        }
    }

    /// Whether the session is unused: no client shows it, and its agent does nothing.
    pub fn is_unused(&self) -> bool {
        let is_at_work = matches!(self.state(), "starting" | "running" | "confirm") || !self.held.is_empty();
        self.clients == 0 && self.run_client.is_none() && !is_at_work
    }

    /// Takes note of a record that the agent gets.
    pub fn note_sent(&mut self, record: &str) {
        self.records.sent(record);
        if let Some(thread) = &mut self.thread {
            thread.sent(record);
        }
    }

    /// Counts a question about a call.
    pub fn count_question(&mut self, question: &Question) {
        let Some(id) = question.call.call().id else { return };
        // When the table is full, the count of a new id is unknown: it is treated as ambiguous.
        if self.asked.len() < MAX_COUNTED_CALLS || self.asked.contains_key(&value_of(id.get())) {
            let is_known = self.asked.contains_key(&value_of(id.get()));
            self.asked.insert(value_of(id.get()), is_known);
        }
    }

    /// Whether more than one call with this id was held. An answer then has to name its question.
    pub fn is_ambiguous(&self, question: &Question) -> bool {
        let id = question.call.call().id.map(|id| value_of(id.get()));
        id.and_then(|id| self.asked.get(&id).copied()).unwrap_or(true)
    }

    /// Keeps the paths of the images in a result.
    pub fn note_images(&mut self, result: &Fields<'_>) {
        let Some(result) = result.object("result") else { return };
        let blocks = result.list("content").unwrap_or_default();
        let blocks = blocks.iter().filter_map(|block| Fields::read(block.get()).ok()?.text("path"));
        for path in result.text("path").into_iter().chain(blocks) {
            if self.images.len() >= IMAGES {
                self.images.pop_front();
            }
            self.images.push_back(path);
        }
    }

    /// Whether a record has named this image.
    pub fn has_image(&self, path: &str) -> bool {
        self.images.iter().any(|own| own == path)
    }
}

/// The value of an id (JSON text): `"a1"` equals `"\u00611"`, and 7 equals 7.0.
fn value_of(id: &str) -> String {
    match serde_json::from_str::<Value>(id) {
        Ok(Value::String(text)) => format!("text {text}"),
        Ok(Value::Number(number)) => number.as_f64().map_or_else(|| id.to_owned(), |number| format!("number {number}")),
        _ => id.to_owned(),
    }
}

/// The number of a session's first record. Earlier sessions had lower numbers, so the last record number that a client
/// got from one of them is never mistaken for a record of this session.
fn first_number(begun_at: Timestamp) -> u64 {
    u64::try_from(begun_at.as_millisecond()).unwrap_or(1)
}

/// Sets the session's id on a record, and removes a foreign record number.
pub fn with_session(record: &str, fields: &Fields<'_>, session: &str) -> String {
    let id = quoted(session);
    let is_ours = fields.get("session_id").is_some_and(|own| own.get() == id);
    let mut changes = Vec::new();
    if !is_ours {
        changes.push(("session_id", Change::Set(id.as_bytes())));
    }
    if fields.get("seq").is_some() {
        changes.push(("seq", Change::Remove));
    }
    let mut changed = Vec::with_capacity(record.len() + 96);
    // A record that was read as an object can be changed.
    let written = change(record.trim(), &changes, &mut changed).ok().and_then(|()| String::from_utf8(changed).ok());
    written.unwrap_or_else(|| record.trim().to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_record_has_the_id_of_its_session() {
        let with = |record: &str| with_session(record, &Fields::read(record).unwrap(), "s");
        assert_eq!(with(r#"{"a":1} "#), r#"{"a":1,"session_id":"s"}"#);
        assert_eq!(with("{}"), r#"{"session_id":"s"}"#);
        assert_eq!(with(r#"{"session_id":"s","a":1.10}"#), r#"{"session_id":"s","a":1.10}"#);
        assert_eq!(with(r#"{"session_id":"other","seq":7,"a":1}"#), r#"{"session_id":"s","a":1}"#);
    }
}
