//! Reads a recording line by line, and finds the request of each answer.

use super::key::{MessageSubject, ModelKeys, key};
use super::{Answers, Exchange, RecordedMessage, RecordedReply, ReplyKind};
use crate::calls::{CallNews, OpenCalls, about, own_call};
use crate::compare::{Comparison, ReportedSettings};
use crate::json_rpc::{cancelled, name, progress_token, read};
use crate::model::{Conversations, ModelRecord, model_record};
use crate::turns::Place;
use pipewright_record::rpc::{Message, request_progress_token};
use pipewright_record::type_of;
use std::collections::HashMap;

/// Answered without a recording.
pub const PING: &str = "ping";

/// Builds [`Answers`] from a recording, line by line.
pub struct Recording {
    answers: Answers,
    /// Requests without an answer so far, by their ids.
    open: Vec<(String, usize)>,
    /// Open calls in our own forms.
    calls: OpenCalls<usize>,
    /// Open requests to a model.
    models: Vec<(Option<String>, usize)>,
    with_model: Conversations,
    model_keys: ModelKeys,
    /// The client's latest message.
    last: Option<usize>,
}

impl Recording {
    /// `same` decides which requests are equal: what is normalised and ignored in them.
    pub fn new(same: Comparison) -> Recording {
        let answers = Answers {
            same,
            exchanges: Vec::new(),
            asked: HashMap::new(),
            model_keys: ModelKeys::default(),
            settings: ReportedSettings::default(),
        };
        Recording {
            answers,
            open: Vec::new(),
            calls: OpenCalls::default(),
            models: Vec::new(),
            with_model: Conversations::default(),
            model_keys: ModelKeys::default(),
            last: None,
        }
    }

    /// Another session begins. Its ids are independent.
    pub fn begin_session(&mut self) {
        self.open.clear();
        self.calls = OpenCalls::default();
        self.models.clear();
        self.last = None;
    }

    /// Returns everything recorded.
    pub fn finish(self) -> Answers {
        self.answers
    }

    /// Takes a line of the client. Ignores lines that are not JSON-RPC, a call or a request to a model.
    pub fn client(&mut self, line: &str, t: u64, place: Place) {
        if let Some(request) = self.with_model.add(line.as_bytes()) {
            let (key, about) = self.model_keys.key(&self.answers.same, &request);
            let exchange = Exchange { t, asked: request.line, place, token: None, replies: Vec::new() };
            let at = self.keep(key, about, exchange, true);
            self.models.push((request.request_id.map(|id| name(&id)), at));
            return;
        }
        match read(line) {
            // Pings are not kept.
            Ok(Message::Request { method, .. }) if method == PING => {}
            Ok(Message::Request { id, params, .. }) => {
                let Some(at) = self.begin(line, t, place, true, request_progress_token(params).map(name)) else {
                    return;
                };
                let id = name(id);
                self.open.retain(|(other, _)| *other != id);
                self.open.push((id, at));
            }
            Ok(Message::Notification { method, params }) => match cancelled(&method, params) {
                // Its answer is no longer waited for.
                Some(id) => self.open.retain(|(other, _)| *other != name(id)),
                None => _ = self.begin(line, t, place, false, None),
            },
            Ok(Message::Response { .. }) | Err(_) => {
                if let Some(call) = own_call(line.as_bytes())
                    && let Some(at) = self.begin(line, t, place, true, None)
                {
                    self.calls.push(&call, at);
                }
            }
        }
    }

    fn begin(&mut self, line: &str, t: u64, place: Place, is_request: bool, token: Option<String>) -> Option<usize> {
        let (key, about) = key(&self.answers.same, line)?;
        let exchange = Exchange { t, asked: line.to_owned(), place, token, replies: Vec::new() };
        Some(self.keep(key, about, exchange, is_request))
    }

    fn keep(&mut self, key: String, about: MessageSubject, exchange: Exchange, is_request: bool) -> usize {
        let at = self.answers.exchanges.len();
        self.answers.exchanges.push(exchange);
        let asked = || RecordedMessage { about, is_request, exchanges: Vec::new(), given: 0 };
        self.answers.asked.entry(key).or_insert_with(asked).exchanges.push(at);
        self.last = Some(at);
        at
    }

    /// Takes a line of the world.
    pub fn server(&mut self, line: &str, t: u64) {
        if let Some((at, kind)) = self.model_reply(line) {
            return self.push(at, t, line, kind);
        }
        let about = || about(line.as_bytes()).filter(|about| !about.is_json_rpc());
        let open_call = if self.calls.is_empty() { None } else { about() };
        let (at, kind) = match (&open_call, read(line)) {
            (Some(about), _) if matches!(about.news, CallNews::Answered { .. }) => {
                (self.calls.close(about), ReplyKind::Answer)
            }
            (Some(about), _) => (self.calls.first(about).copied(), ReplyKind::Other),
            // A call that is already answered gets no further lines.
            (None, Err(_)) if type_of(line).is_some() && about().is_none() => (self.latest(), ReplyKind::Other),
            (None, Ok(Message::Response { id, .. })) => {
                let id = name(id);
                let Some(open) = self.open.iter().position(|(other, _)| *other == id) else { return };
                (Some(self.open.remove(open).1), ReplyKind::Answer)
            }
            (None, Ok(Message::Notification { method, params })) => match progress_token(&method, params) {
                Some(token) => (self.of_token(&name(token)), ReplyKind::Progress),
                None => (self.latest(), ReplyKind::Other),
            },
            (None, Ok(Message::Request { .. })) => (self.latest(), ReplyKind::Other),
            (None, Err(_)) => return,
        };
        if let Some(at) = at {
            self.push(at, t, line, kind);
        }
    }

    /// The request that a model's line belongs to.
    fn model_reply(&mut self, line: &str) -> Option<(usize, ReplyKind)> {
        let (record, id) = model_record(line.as_bytes())?;
        let id = id.map(name);
        let open = self.models.iter().position(|(other, _)| *other == id)?;
        match record {
            ModelRecord::Turn => Some((self.models.remove(open).1, ReplyKind::Answer)),
            ModelRecord::Token => Some((self.models[open].1, ReplyKind::Other)),
            ModelRecord::Request => None,
        }
    }

    fn push(&mut self, at: usize, t: u64, line: &str, kind: ReplyKind) {
        if let Some(exchange) = self.answers.exchanges.get_mut(at) {
            exchange.replies.push(RecordedReply { t, line: line.trim_ascii().to_owned(), kind });
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
