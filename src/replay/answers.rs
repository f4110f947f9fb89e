//! What a recorded world answered, found again by what is asked, not by the place in the conversation: a JSON-RPC request by its method
//! and parameters, a call in one of our own forms by its tool and arguments, a request to a model by its messages. Pure.
//!
//! An **exchange** is a client's message and all that the world said about it: its answer, and before it (progress, logs, requests
//! of the world's own) or after it what stands there in the recording. Of several requests that wait at once, progress belongs to
//! the one whose token it has, a record with a call's id to that call, and everything else to the latest.

mod key;
mod miss;
mod recording;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;

pub use miss::{Miss, Near};
pub use recording::{PING, Recording};

use super::compare::{Comparison, Difference, ReportedSettings};
use super::forms::said_to;
use super::json_rpc::{with_id, with_token};
use super::model::RequestDelta;
use super::requests::{is_answer, with_request_id};
use crate::record::Call;
use key::{About, MODEL_REQUEST, ModelKeys, TOOL_CALL, is_greeting, key};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Everything that was asked and answered.
pub struct Answers {
    same: Comparison,
    exchanges: Vec<Exchange>,
    asked: HashMap<String, RecordedMessage>,
    /// Of the requests that are made now.
    model_keys: ModelKeys,
    settings: ReportedSettings,
}

/// One thing that was asked, however often.
struct RecordedMessage {
    about: About,
    is_request: bool,
    exchanges: Vec<usize>,
    /// How many of them have been given.
    given: usize,
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

/// Who a recorded exchange is said to now.
#[derive(Debug, Clone, Copy)]
pub enum Caller<'a> {
    /// The caller of a tool, in one of our own forms.
    Call(&'a Call<'a>),
    /// The client that makes a JSON-RPC request with this id, and with this token if it wants progress.
    Request(&'a RawValue, Option<&'a RawValue>),
    /// The client that sends a notification.
    Notification,
    /// The agent that makes a request to a model, with this `request_id`.
    ModelRequest(Option<&'a RawValue>),
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

    /// What is to be said to `caller`: with its id and token, and to a call also in its form. Without a token, progress is left out.
    pub fn replies(&self, caller: Caller<'_>) -> Vec<Due> {
        let line = |said: &RecordedReply| match (caller, said.kind) {
            (Caller::Call(call), _) => Some((said_to(call, &said.line) + "\n").into_bytes()),
            (Caller::Request(id, _), ReplyKind::Answer) => with_id(&said.line, id),
            (Caller::Request(_, token), ReplyKind::Progress) => with_token(&said.line, token?),
            (Caller::ModelRequest(id), _) if is_answer(said.line.as_bytes()) => {
                let mut line = with_request_id(&said.line, id)?;
                line.push(b'\n');
                Some(line)
            }
            (Caller::Notification, ReplyKind::Answer | ReplyKind::Progress) => None,
            (_, ReplyKind::Other) | (Caller::ModelRequest(_), _) => Some(format!("{}\n", said.line).into_bytes()),
        };
        self.said.iter().filter_map(|said| Some(Due { t: said.t, line: line(said)? })).collect()
    }
}

impl Answers {
    /// How many requests and calls there are.
    pub fn requests(&self) -> usize {
        self.asked.values().filter(|asked| asked.is_request).map(|asked| asked.exchanges.len()).sum()
    }

    /// Whether the world speaks JSON-RPC.
    pub fn is_json_rpc(&self) -> bool {
        self.asked.values().any(|asked| ![TOOL_CALL, MODEL_REQUEST].contains(&asked.about.method.as_str()))
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
        match key(&self.same, line) {
            Some((key, about)) => self.find(&key, about),
            None => Err(Miss::default()),
        }
    }

    /// Finds what was answered to the next request to a model, as [`Answers::find_request`] does, and says in which settings it differs from
    /// the recorded one, each difference once.
    ///
    /// # Errors
    /// It isn't in the recording.
    pub fn find_model_request(&mut self, request: &RequestDelta) -> Result<(&Exchange, Vec<Difference>), Miss> {
        let (key, about) = self.model_keys.key(&self.same, request);
        let at = self.find_place(&key, about)?;
        let asked = self.exchanges[at].asked.as_bytes();
        let differences = self.settings.new_differences(&self.same, asked, request.line.as_bytes());
        Ok((&self.exchanges[at], differences))
    }

    fn find(&mut self, key: &str, about: About) -> Result<&Exchange, Miss> {
        let at = self.find_place(key, about)?;
        Ok(&self.exchanges[at])
    }

    fn find_place(&mut self, key: &str, about: About) -> Result<usize, Miss> {
        match self.asked.get_mut(key).filter(|asked| asked.is_request).and_then(RecordedMessage::next) {
            Some(at) => Ok(at),
            None => Err(self.miss(key, about)),
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
