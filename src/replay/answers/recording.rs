//! A recording, read line by line: which answer belongs to which request.

use super::key::key;
use super::{Answers, Exchange, RecordedMessage, RecordedReply, ReplyKind};
use crate::record::type_of;
use crate::replay::calls::{News, OpenCalls, about, own_call};
use crate::replay::compare::Comparison;
use crate::replay::json_rpc::{cancelled, name, progress_token, read};
use crate::rpc::{Message, request_progress_token};
use std::collections::HashMap;

/// Answered without a recording.
pub const PING: &str = "ping";

/// Makes [`Answers`] of a recording, line by line.
pub struct Recording {
    answers: Answers,
    /// Requests without an answer as yet, by their ids.
    open: Vec<(String, usize)>,
    /// The same of calls in our own forms.
    calls: OpenCalls<usize>,
    /// The latest message of the client's.
    last: Option<usize>,
}

impl Recording {
    /// `same` says which requests are: what is normalised and ignored in them.
    pub fn new(same: Comparison) -> Recording {
        let answers = Answers { same, exchanges: Vec::new(), asked: HashMap::new() };
        Recording { answers, open: Vec::new(), calls: OpenCalls::default(), last: None }
    }

    /// Another session begins, which has ids of its own.
    pub fn begin_session(&mut self) {
        self.open.clear();
        self.calls = OpenCalls::default();
        self.last = None;
    }

    /// All that was recorded.
    pub fn finish(self) -> Answers {
        self.answers
    }

    /// Takes a line of the client's. What is neither JSON-RPC nor a call is left out.
    /// `place` is the file (counted from 0) and the line that it stands in.
    pub fn client(&mut self, line: &str, t: u64, place: (usize, u64)) {
        match read(line) {
            // Whether somebody is alive isn't recorded.
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
                // What comes of it isn't waited for any more.
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

    /// Takes a line of the world's.
    pub fn server(&mut self, line: &str, t: u64) {
        let about = || about(line.as_bytes()).filter(|about| !about.is_json_rpc());
        let open_call = if self.calls.is_empty() { None } else { about() };
        let (at, kind) = match (&open_call, read(line)) {
            (Some(about), _) if matches!(about.news, News::Answered { .. }) => {
                (self.calls.close(about), ReplyKind::Answer)
            }
            (Some(about), _) => (self.calls.first(about).copied(), ReplyKind::Other),
            // Of a call that is answered already, nothing more is said.
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
