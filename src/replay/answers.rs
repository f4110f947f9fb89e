//! What a recorded JSON-RPC server answered, found again by what is asked: method and parameters, not the place in the
//! conversation. Pure.
//!
//! An **exchange** is a client's message and all that the server said about it: its answer, and before it (progress, logs, requests
//! of the server's own) or after it what stands there in the recording. Of several requests that wait at once, progress belongs to
//! the one whose token it bears, everything else to the latest.

mod miss;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;

pub use miss::{Miss, Near};

use super::canonical;
use super::compare::{Comparison, Object, below};
use super::json_rpc::{asked_token, cancelled, name, progress_token, read, with_id, with_token};
use crate::io::lines::{Path, Step};
use crate::rpc::Message;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Everything that was asked and answered.
pub struct Answers {
    same: Comparison,
    exchanges: Vec<Exchange>,
    asked: HashMap<String, RecordedMessage>,
}

/// One thing that was asked, however often.
struct RecordedMessage {
    about: About,
    is_request: bool,
    exchanges: Vec<usize>,
    /// How many of them have been given.
    given: usize,
}

/// What a message is about.
struct About {
    method: String,
    /// The tool that is called.
    tool: Option<String>,
}

/// A client's message, and what the server said about it.
#[derive(Debug, Default)]
pub struct Exchange {
    /// When it was asked, in microseconds since the session's start.
    pub t: u64,
    /// The client's message, and the file (counted from 0) and line that it stands in.
    pub asked: String,
    /// See `asked`.
    pub place: (usize, u64),
    token: Option<String>,
    said: Vec<RecordedReply>,
}

#[derive(Debug)]
struct RecordedReply {
    t: u64,
    line: String,
    kind: ReplyKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyKind {
    Answer,
    /// It bears the request's token.
    Progress,
    Other,
}

/// Something to say: when that was said in the recording, and the line with its line feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// In microseconds since the session's start.
    pub t: u64,
    /// With the ids of whoever asks now.
    pub line: Vec<u8>,
}

impl Exchange {
    /// Whether the request was answered.
    pub fn is_answered(&self) -> bool {
        self.said.iter().any(|said| said.kind == ReplyKind::Answer)
    }

    /// What is to be said to who asks now by this id, with this token for progress. Who gave no token hears of none.
    pub fn replies(&self, id: Option<&RawValue>, token: Option<&RawValue>) -> Vec<Due> {
        let line = |said: &RecordedReply| match said.kind {
            ReplyKind::Answer => with_id(&said.line, id?),
            ReplyKind::Progress => with_token(&said.line, token?),
            ReplyKind::Other => Some(format!("{}\n", said.line).into_bytes()),
        };
        self.said.iter().filter_map(|said| Some(Due { t: said.t, line: line(said)? })).collect()
    }
}

impl Answers {
    /// How many requests there are.
    pub fn requests(&self) -> usize {
        self.asked.values().filter(|asked| asked.is_request).map(|asked| asked.exchanges.len()).sum()
    }

    /// The recorded requests that were not asked for, in their order. A client's greeting is not among them.
    pub fn unasked(&self) -> Vec<&Exchange> {
        let requests = self.asked.values().filter(|asked| asked.is_request && !is_greeting(&asked.about.method));
        let mut places: Vec<usize> = requests.flat_map(|asked| &asked.exchanges[asked.given..]).copied().collect();
        places.sort_unstable();
        places.into_iter().map(|at| &self.exchanges[at]).collect()
    }

    /// Finds what was answered to a request: of one that was recorded several times the answers come in order, and the last
    /// one again when they are used up.
    ///
    /// # Errors
    /// It isn't in the recording.
    pub fn find_request(&mut self, line: &str) -> Result<&Exchange, Miss> {
        let Some((key, about)) = key(&self.same, line) else { return Err(Miss::default()) };
        match self.asked.get_mut(&key).filter(|asked| asked.is_request).and_then(RecordedMessage::next) {
            Some(at) => Ok(&self.exchanges[at]),
            None => Err(self.miss(&key, about)),
        }
    }

    /// Finds what followed a notification.
    pub fn find_notification(&mut self, line: &str) -> Option<&Exchange> {
        let (key, _) = key(&self.same, line)?;
        let at = self.asked.get_mut(&key).filter(|asked| !asked.is_request)?.next()?;
        Some(&self.exchanges[at])
    }
}

impl RecordedMessage {
    fn next(&mut self) -> Option<usize> {
        let at = self.exchanges.get(self.given).or(self.exchanges.last()).copied();
        self.given = self.exchanges.len().min(self.given + 1);
        at
    }
}

/// Makes [`Answers`] of a recording, line by line.
pub struct Recording {
    answers: Answers,
    /// Requests without an answer as yet, by their ids.
    open: Vec<(String, usize)>,
    /// The latest message of the client's.
    last: Option<usize>,
}

impl Recording {
    /// `same` says which requests are: what is normalised and ignored in them.
    pub fn new(same: Comparison) -> Recording {
        let answers = Answers { same, exchanges: Vec::new(), asked: HashMap::new() };
        Recording { answers, open: Vec::new(), last: None }
    }

    /// Another session begins, which has ids of its own.
    pub fn begin_session(&mut self) {
        self.open.clear();
        self.last = None;
    }

    /// All that was recorded.
    pub fn finish(self) -> Answers {
        self.answers
    }

    /// Takes a line of the client's. What is no JSON-RPC is left out.
    /// `place` is the file (counted from 0) and the line that it stands in.
    pub fn client(&mut self, line: &str, t: u64, place: (usize, u64)) {
        match read(line) {
            // Whether somebody is alive isn't recorded.
            Ok(Message::Request { method, .. }) if method == PING => {}
            Ok(Message::Request { id, params, .. }) => {
                let Some(at) = self.begin(line, t, place, true, asked_token(params).map(name)) else { return };
                let id = name(id);
                self.open.retain(|(other, _)| *other != id);
                self.open.push((id, at));
            }
            Ok(Message::Notification { method, params }) => match cancelled(&method, params) {
                // What comes of it isn't waited for any more.
                Some(id) => self.open.retain(|(other, _)| *other != name(id)),
                None => _ = self.begin(line, t, place, false, None),
            },
            Ok(Message::Response { .. }) | Err(_) => {}
        }
    }

    fn begin(
        &mut self,
        line: &str,
        t: u64,
        place: (usize, u64),
        is_request: bool,
        token: Option<String>,
    ) -> Option<usize> {
        let (key, about) = key(&self.answers.same, line)?;
        let at = self.answers.exchanges.len();
        self.answers.exchanges.push(Exchange { t, asked: line.to_owned(), place, token, said: Vec::new() });
        let asked = || RecordedMessage { about, is_request, exchanges: Vec::new(), given: 0 };
        self.answers.asked.entry(key).or_insert_with(asked).exchanges.push(at);
        self.last = Some(at);
        Some(at)
    }

    /// Takes a line of the server's.
    pub fn server(&mut self, line: &str, t: u64) {
        let (at, kind) = match read(line) {
            Ok(Message::Response { id, .. }) => {
                let id = name(id);
                let Some(open) = self.open.iter().position(|(other, _)| *other == id) else { return };
                (Some(self.open.remove(open).1), ReplyKind::Answer)
            }
            Ok(Message::Notification { method, params }) => match progress_token(&method, params) {
                Some(token) => (self.of_token(&name(token)), ReplyKind::Progress),
                None => (self.latest(), ReplyKind::Other),
            },
            Ok(Message::Request { .. }) => (self.latest(), ReplyKind::Other),
            Err(_) => return,
        };
        if let Some(exchange) = at.and_then(|at| self.answers.exchanges.get_mut(at)) {
            exchange.said.push(RecordedReply { t, line: line.trim_ascii().to_owned(), kind });
        }
    }

    fn latest(&self) -> Option<usize> {
        self.open.last().map(|(_, at)| *at).or(self.last)
    }

    /// Progress may come late.
    fn of_token(&self, token: &str) -> Option<usize> {
        let mut candidates = self.open.iter().rev().map(|(_, at)| *at).chain(self.last);
        candidates.find(|at| self.answers.exchanges[*at].token.as_deref() == Some(token))
    }
}

/// Answered without a recording.
pub const PING: &str = "ping";

/// These are the same whatever the client says of itself.
const GREETINGS: [&str; 2] = ["initialize", "server/discover"];

fn is_greeting(method: &str) -> bool {
    GREETINGS.contains(&method)
}

const CALL: &str = "tools/call";

/// What makes two messages the same: the method and, but for `_meta`, the parameters; as JSON text.
fn key(same: &Comparison, line: &str) -> Option<(String, About)> {
    let changed = same.normalise.as_ref().and_then(|normalise| normalise(line.as_bytes()));
    let changed = changed.and_then(|line| String::from_utf8(line).ok());
    let ignored: Vec<&[Step]> = same.ignored.iter().map(Path::steps).collect();
    let key = |line: &str| match read(line) {
        Ok(Message::Request { method, params, .. } | Message::Notification { method, params }) => {
            Some(key_of(method, params, &below(&ignored, |step| matches!(step, Step::Field(key) if key == "params"))))
        }
        _ => None,
    };
    changed.as_deref().and_then(key).or_else(|| key(line))
}

fn key_of(method: String, params: Option<&RawValue>, ignored: &[&[Step]]) -> (String, About) {
    let mut text = "{\"method\":".to_owned();
    canonical::write_text(&method, &mut text);
    let mut tool = None;
    text.push_str(",\"params\":");
    let is_same_anyway = is_greeting(&method) || ignored.iter().any(|steps| steps.is_empty());
    let params = params.map_or("{}", RawValue::get);
    match serde_json::from_str::<Object<'_>>(params) {
        _ if is_same_anyway => text.push_str("{}"),
        Ok(mut fields) => {
            fields.remove("_meta");
            if method == CALL {
                tool = fields.get("name").and_then(|name| serde_json::from_str(name.get()).ok());
                // No arguments are empty ones.
                if let Ok(none) = serde_json::from_str("{}") {
                    fields.entry("arguments".to_owned()).or_insert(none);
                }
            }
            canonical::write_object(&fields, ignored, &mut text);
        }
        Err(_) => canonical::write(params, ignored, &mut text),
    }
    text.push('}');
    (text, About { method, tool })
}
