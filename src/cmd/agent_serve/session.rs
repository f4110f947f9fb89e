//! What is kept of one session.

use crate::agui::Thread;
use crate::approvals::Question;
use crate::io::lines::{Change, change};
use crate::json::quoted;
use crate::record::Fields;
use crate::session::{Session, State};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::{Duration, Instant};

/// So long may an agent take to show the history of a session that goes on.
pub const LOAD: Duration = Duration::from_secs(60);
/// So long may an agent take to end once it has closed its stdout.
pub const END: Duration = Duration::from_secs(2);
/// So many paths of images are remembered.
const IMAGES: usize = 256;
/// For so many calls it is remembered how often they were asked about.
const ASKED: usize = 4096;

/// How far a session's process is.
#[derive(Debug, PartialEq, Eq)]
pub enum Process {
    /// It is started; with `true` it is to show the session's history then.
    Starting(bool),
    /// It shows the session's history.
    Loading { by: Instant },
    /// It takes messages.
    Running,
    /// It has closed its stdout.
    Ending { by: Instant },
    /// It has ended: why, for people.
    Ended(String),
}

/// A question of a gate that is open.
#[derive(Debug)]
pub struct Held {
    pub question: Question,
    /// The number of the record that shows it.
    pub number: u64,
    /// The gate has an answer, and has not said yet what became of it.
    pub is_answered: bool,
}

/// A session.
#[derive(Debug)]
pub struct ServedSession {
    pub id: String,
    pub process: Process,
    pub records: Session,
    /// The number of the next record.
    pub next_number: u64,
    pub begun_at: Timestamp,
    /// What was sent before the agent could take it.
    pub unsent: Vec<String>,
    /// By nonce.
    pub held: BTreeMap<String, Held>,
    /// The ids of calls that were asked about, and of which of them more than once.
    asked: HashMap<String, bool>,
    /// Paths of images that records have named, the newest.
    images: VecDeque<String>,
    /// The clients that show it.
    pub clients: usize,
    /// When there was last something to do, or somebody there.
    pub used_at: Instant,
    /// The session as the thread of an AG-UI client, from its first run on.
    pub thread: Option<Thread>,
    /// Who reads the run that is open.
    pub run_client: Option<u64>,
}

impl ServedSession {
    pub fn new(id: String, process: Process, clients: usize) -> ServedSession {
        let begun_at = Timestamp::now();
        ServedSession {
            id,
            process,
            records: Session::default(),
            next_number: first_number(begun_at),
            begun_at,
            unsent: Vec::new(),
            held: BTreeMap::new(),
            asked: HashMap::new(),
            images: VecDeque::new(),
            clients,
            used_at: Instant::now(),
            thread: None,
            run_client: None,
        }
    }

    /// Whether the process takes messages, now or soon.
    pub fn is_alive(&self) -> bool {
        !matches!(self.process, Process::Ending { .. } | Process::Ended(_))
    }

    /// A word for what the session does.
    pub fn state(&self) -> &'static str {
        match (&self.process, self.records.state()) {
            (Process::Starting(_) | Process::Loading { .. }, _) => "starting",
            (Process::Ending { .. } | Process::Ended(_), _) => "ended",
            (_, State::Idle) => "idle",
            (_, State::Running) => "running",
            (_, State::Confirm) => "confirm",
            (_, State::Manual) => "manual",
            (_, State::Question) => "question",
        }
    }

    /// Whether nobody would miss it: nobody shows it, and the agent does nothing.
    pub fn is_unused(&self) -> bool {
        let is_at_work = matches!(self.state(), "starting" | "running" | "confirm") || !self.held.is_empty();
        self.clients == 0 && self.run_client.is_none() && !is_at_work
    }

    /// A call is asked about.
    pub fn count_question(&mut self, question: &Question) {
        let Some(id) = question.call.call().id else { return };
        // Beyond so many nothing is known of an id that is new: it is ambiguous.
        if self.asked.len() < ASKED || self.asked.contains_key(&value_of(id.get())) {
            let is_known = self.asked.contains_key(&value_of(id.get()));
            self.asked.insert(value_of(id.get()), is_known);
        }
    }

    /// Whether calls with this id were asked about more than once: then an answer has to say which question it is for.
    pub fn is_ambiguous(&self, question: &Question) -> bool {
        let id = question.call.call().id.map(|id| value_of(id.get()));
        id.and_then(|id| self.asked.get(&id).copied()).unwrap_or(true)
    }

    /// Remembers the images that a result names.
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

    /// When it wants to be woken.
    pub fn deadline(&self) -> Option<Instant> {
        match self.process {
            Process::Loading { by } | Process::Ending { by } => Some(by),
            _ => None,
        }
    }
}

/// An id, JSON text, by its value: `"a1"` is also `"\u00611"`, and 7 is also 7.0.
fn value_of(id: &str) -> String {
    match serde_json::from_str::<Value>(id) {
        Ok(Value::String(text)) => format!("text {text}"),
        Ok(Value::Number(number)) => number.as_f64().map_or_else(|| id.to_owned(), |number| format!("number {number}")),
        _ => id.to_owned(),
    }
}

/// The number of a session's first record. Each session that a client may have seen before had lower ones, so what a client says it has
/// read last is never taken for a record of this session.
fn first_number(begun_at: Timestamp) -> u64 {
    u64::try_from(begun_at.as_millisecond()).unwrap_or(1)
}

/// A record of this session: it has the id of the session in any case, and no number of anybody else's.
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
    // What was read as an object can be changed.
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
