//! The answers of a recorded world, looked up by the request and not by its place in the conversation: a JSON-RPC
//! request by its method and parameters, a call in one of our own forms by its tool and arguments, a request to a model
//! by its messages. Pure.
//!
//! An **exchange** is a client's message and all the world's lines about it: its answer, lines before it (progress,
//! logs, requests of the world itself), and lines that follow it in the recording. If several requests are open at
//! once, progress belongs to the one with its token, a record with a call's id to that call, and everything else to the
//! latest.

mod key;
mod miss;
mod recording;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;

pub use miss::{Miss, NearRequest};
pub use recording::{PING, Recording};

use super::compare::{Comparison, Difference, ReportedSettings};
use super::forms::addressed_to;
use super::json_rpc::{with_id, with_token};
use super::model::RequestDelta;
use super::requests::{is_answer, with_request_id};
use super::turns::Place;
use key::{MODEL_REQUEST, MessageSubject, ModelKeys, TOOL_CALL, is_greeting, key};
use pipewright_record::Call;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// All recorded requests and their answers.
pub struct Answers {
    same: Comparison,
    exchanges: Vec<Exchange>,
    asked: HashMap<String, RecordedMessage>,
    /// The keys of live requests to a model.
    model_keys: ModelKeys,
    settings: ReportedSettings,
}

/// A message of a client, which may have been sent several times.
struct RecordedMessage {
    about: MessageSubject,
    is_request: bool,
    exchanges: Vec<usize>,
    /// How many of its exchanges have been given out.
    given: usize,
}

/// A client's message, and the server's lines about it.
#[derive(Debug, Default)]
pub struct Exchange {
    /// When it was asked, in microseconds since the session's start.
    pub t: u64,
    /// The client's message.
    pub asked: String,
    /// The place of `asked`.
    pub place: Place,
    token: Option<String>,
    replies: Vec<RecordedReply>,
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
    /// Has the request's progress token.
    Progress,
    Other,
}

/// The live recipient of a recorded exchange.
#[derive(Debug, Clone, Copy)]
pub enum Caller<'a> {
    /// The caller of a tool, in one of our own forms.
    Call(&'a Call<'a>),
    /// The client of a JSON-RPC request with this id, and with this token if it wants progress.
    Request(&'a RawValue, Option<&'a RawValue>),
    /// The client that sent a notification.
    Notification,
    /// The agent that sent a request to a model, with this `request_id`.
    ModelRequest(Option<&'a RawValue>),
}

/// A line to send, with its time in the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueLine {
    /// In microseconds since the session's start.
    pub t: u64,
    /// The line with its line feed, with the ids of the live client.
    pub line: Vec<u8>,
}

impl Exchange {
    /// Whether the request was answered.
    pub fn is_answered(&self) -> bool {
        self.replies.iter().any(|reply| reply.kind == ReplyKind::Answer)
    }

    /// The lines to send to `caller`: with its id and token, and for a call also in its form. Without a token, progress
    /// is left out.
    pub fn replies(&self, caller: Caller<'_>) -> Vec<DueLine> {
        let line = |reply: &RecordedReply| match (caller, reply.kind) {
            (Caller::Call(call), _) => Some((addressed_to(call, &reply.line) + "\n").into_bytes()),
            (Caller::Request(id, _), ReplyKind::Answer) => with_id(&reply.line, id),
            (Caller::Request(_, token), ReplyKind::Progress) => with_token(&reply.line, token?),
            (Caller::ModelRequest(id), _) if is_answer(reply.line.as_bytes()) => {
                let mut line = with_request_id(&reply.line, id)?;
                line.push(b'\n');
                Some(line)
            }
            (Caller::Notification, ReplyKind::Answer | ReplyKind::Progress) => None,
            (_, ReplyKind::Other) | (Caller::ModelRequest(_), _) => Some(format!("{}\n", reply.line).into_bytes()),
        };
        self.replies.iter().filter_map(|reply| Some(DueLine { t: reply.t, line: line(reply)? })).collect()
    }
}

impl Answers {
    /// The number of requests and calls.
    pub fn requests(&self) -> usize {
        self.asked.values().filter(|asked| asked.is_request).map(|asked| asked.exchanges.len()).sum()
    }

    /// Whether the world uses JSON-RPC.
    pub fn is_json_rpc(&self) -> bool {
        self.asked.values().any(|asked| ![TOOL_CALL, MODEL_REQUEST].contains(&asked.about.method.as_str()))
    }

    /// The recorded requests that were not made, in order. A client's greeting is not among them.
    pub fn unasked(&self) -> Vec<&Exchange> {
        let requests = self.asked.values().filter(|asked| asked.is_request && !is_greeting(&asked.about.method));
        let mut places: Vec<usize> = requests.flat_map(|asked| &asked.exchanges[asked.given..]).copied().collect();
        places.sort_unstable();
        places.into_iter().map(|at| &self.exchanges[at]).collect()
    }

    /// Finds the answer to a request. If it was recorded several times, the answers are given in order, and the last
    /// one again when they are used up.
    ///
    /// # Errors
    /// The request is not in the recording.
    pub fn find_request(&mut self, line: &str) -> Result<&Exchange, Miss> {
        match key(&self.same, line) {
            Some((key, about)) => self.find(&key, about),
            None => Err(Miss::default()),
        }
    }

    /// Finds the answer to the next request to a model, as [`Answers::find_request`] does. Also returns the settings in
    /// which it differs from the recorded one, each difference once.
    ///
    /// # Errors
    /// The request is not in the recording.
    pub fn find_model_request(&mut self, request: &RequestDelta) -> Result<(&Exchange, Vec<Difference>), Miss> {
        let (key, about) = self.model_keys.key(&self.same, request);
        let at = self.find_place(&key, about)?;
        let asked = self.exchanges[at].asked.as_bytes();
        let differences = self.settings.new_differences(&self.same, asked, request.line.as_bytes());
        Ok((&self.exchanges[at], differences))
    }

    fn find(&mut self, key: &str, about: MessageSubject) -> Result<&Exchange, Miss> {
        let at = self.find_place(key, about)?;
        Ok(&self.exchanges[at])
    }

    fn find_place(&mut self, key: &str, about: MessageSubject) -> Result<usize, Miss> {
        match self.asked.get_mut(key).filter(|asked| asked.is_request).and_then(RecordedMessage::next) {
            Some(at) => Ok(at),
            None => Err(self.miss(key, about)),
        }
    }

    /// Finds the lines that followed a notification.
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
