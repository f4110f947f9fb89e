//! The stage: the editor on stdin and stdout, gates as clients, and one far side per session for its agent.

use super::permissions::{OpenQuestion, SentRequest};
use super::session::{EditorSession, START};
use crate::cmd::agents::Agents;
use crate::cmd::approver::gates::Gates;
use crate::cmd::options::{TOO_DEEP, TOO_LONG};
use crate::cmd::sessions::{SessionNews, Sessions};
use pipewright_clients::acp::{ClientCapabilities, RecordUpdates, StopReason};
use pipewright_io::report::{Failure, Report};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Piece, deeper_than};
use pipewright_record::Fields;
use pipewright_record::json::Object;
use pipewright_record::rpc::{self, INTERNAL_ERROR, RpcError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

pub struct Editor {
    /// `None` before `initialize`.
    pub(super) client: Option<ClientCapabilities>,
    pub(super) sessions: Sessions<EditorSession>,
    /// Unanswered requests to the editor, by our request ids.
    pub(super) asked: BTreeMap<u64, SentRequest>,
    pub(super) last_request: u64,
    /// Open questions of gates, by nonce.
    pub(super) held: BTreeMap<String, OpenQuestion>,
    pub(super) max_depth: usize,
    /// Whether the ignored offers of the editor were reported.
    pub(super) has_reported_unused: bool,
    pub(super) report: Arc<Report>,
}

impl Editor {
    pub fn new(agents: Agents, gates: Gates, max_depth: usize, report: Arc<Report>) -> Editor {
        Editor {
            client: None,
            sessions: Sessions::new(agents, gates, 0, max_depth, Arc::clone(&report)),
            asked: BTreeMap::new(),
            last_request: 0,
            held: BTreeMap::new(),
            max_depth,
            has_reported_unused: false,
            report,
        }
    }

    /// Sends the editor a line, which ends with a line feed.
    pub(super) fn send(&self, line: &str, out: &mut Out) {
        out.to(Side::NEAR).extend_from_slice(line.as_bytes());
    }

    /// Answers a request; `request` is its id as JSON text.
    pub(super) fn answer(&self, request: &str, result: Result<&str, &RpcError>, out: &mut Out) {
        self.send(&rpc::response(request, result), out);
    }

    /// Shows the updates that a record caused, and answers the prompt if its turn has ended.
    pub(super) fn show(&mut self, number: usize, taken: &RecordUpdates, out: &mut Out) {
        let Some(session) = self.sessions.get(number) else { return };
        for update in &taken.updates {
            self.send(&session.update(update), out);
        }
        if let Some(why) = &taken.disorder {
            self.report.note_limited(format_args!("session {}: {why}", session.agent.id));
        }
        if let Some(stop) = taken.stop {
            self.end_prompt(number, stop, out);
        }
    }

    /// Shows a message from agent-acp itself.
    pub(super) fn say(&mut self, number: usize, text: &str, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        let update = session.updates.say(text);
        let line = session.update(&update);
        self.send(&line, out);
    }

    /// Answers a session's prompt, if there is one.
    pub(super) fn end_prompt(&mut self, number: usize, stop: StopReason, out: &mut Out) {
        let prompt = self.sessions.get_mut(number).and_then(|session| {
            session.updates.end_turn();
            session.prompt.take()
        });
        let Some(prompt) = prompt else { return };
        let stop = if prompt.cancelled.is_some() { StopReason::Cancelled } else { stop };
        self.answer(&prompt.request, Ok(&stop.result()), out);
    }

    /// Takes what has happened to a session.
    fn take_news(&mut self, number: usize, news: SessionNews<'_>, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        match news {
            SessionNews::Gate(change) => self.take_change(number, change, out),
            SessionNews::History(record) => {
                let shown = RecordUpdates { disorder: None, stop: None, ..session.updates.take(record) };
                self.show(number, &shown, out);
            }
            SessionNews::Running { has_loaded: true, .. } => {
                let result = Object::default().put("modes", session.mode.state()).end();
                let (request, updates) = (session.request.take(), session.updates.end_history());
                self.show(number, &RecordUpdates { updates, ..RecordUpdates::default() }, out);
                if let Some(request) = request {
                    self.answer(&request, Ok(&result), out);
                }
            }
            SessionNews::Running { given, .. } => {
                session.started_by = Some(Instant::now() + START);
                given.iter().for_each(|record| session.updates.prompt(record));
            }
            SessionNews::Record(text, fields) => self.take_record(number, text, &fields, out),
            SessionNews::Ended { why, .. } => self.take_end(number, &why, out),
        }
    }

    fn take_record(&mut self, number: usize, text: &str, fields: &Fields<'_>, out: &mut Out) {
        self.confirm_start(number, out);
        let Some(session) = self.sessions.get_mut(number) else { return };
        let taken = session.updates.take(text);
        self.show(number, &taken, out);
        match fields.text("type").as_deref() {
            Some("input_request") => self.ask_for_input(number, text, fields, out),
            Some("tool_result") => self.withdraw_input(number, fields.get("call_id").map(|id| id.get()), out),
            Some("status") => self.ask_about_held(out),
            _ => {}
        }
    }

    /// The agent of a session that is created has started: answers `session/new`.
    fn confirm_start(&mut self, number: usize, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        if let Some(request) = session.request.take() {
            let result = Object::default().text("sessionId", &session.agent.id);
            let result = result.put("modes", session.mode.state()).end();
            self.answer(&request, Ok(&result), out);
        }
    }

    /// An agent's process has ended, or could not be started.
    fn take_end(&mut self, number: usize, why: &str, out: &mut Out) {
        self.withdraw_all(number, out);
        let Some(session) = self.sessions.get_mut(number) else { return };
        let error = RpcError::new(INTERNAL_ERROR, why);
        if let Some(request) = session.request.take() {
            self.answer(&request, Err(&error), out);
            return self.forget(number, out);
        }
        let taken = session.updates.ended();
        self.show(number, &taken, out);
        if let Some(prompt) = self.sessions.get_mut(number).and_then(|session| session.prompt.take()) {
            match prompt.cancelled {
                Some(_) => self.answer(&prompt.request, Ok(&StopReason::Cancelled.result()), out),
                None => self.answer(&prompt.request, Err(&error), out),
            }
        }
    }

    /// Removes a session.
    pub(super) fn forget(&mut self, number: usize, out: &mut Out) {
        self.withdraw_all(number, out);
        self.held.retain(|_, held| held.session != number);
        self.sessions.forget(number, out);
    }

    fn take_due(&mut self, out: &mut Out) {
        self.ask_about_held(out);
        let now = Instant::now();
        let is_over = |limit: Option<Instant>| limit.is_some_and(|by| by <= now);
        while let Some(number) = self.sessions.find(|session| is_over(session.cancelled_by())) {
            self.end_prompt(number, StopReason::Cancelled, out);
        }
        while let Some(number) = self.sessions.find(|session| is_over(session.counts_as_started())) {
            self.confirm_start(number, out);
        }
        while let Some((number, news)) = self.sessions.take_overdue(out) {
            self.take_news(number, news, out);
        }
    }

    fn take_editor_piece(&mut self, piece: &Piece<'_>, out: &mut Out) {
        let refused = match piece {
            Piece::Line(line) if line.is_blank() => return,
            Piece::Line(line) if deeper_than(line.body(), self.max_depth) => {
                Err((rpc::INVALID_REQUEST, TOO_DEEP.to_owned()))
            }
            Piece::Line(line) => match std::str::from_utf8(line.body()) {
                Ok(text) => self.take_message(text, out),
                Err(_) => Err((rpc::PARSE_ERROR, "not UTF-8".to_owned())),
            },
            Piece::Part { last: true, .. } => Err((rpc::INVALID_REQUEST, TOO_LONG.to_owned())),
            Piece::Part { .. } => return,
        };
        if let Err((code, why)) = refused {
            self.report.fault(format_args!("stdin:{}", piece.number()), &why);
            self.answer("null", Err(&RpcError::new(code, why)), out);
        }
    }
}

impl Stage for Editor {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(Side::NEAR, piece) => self.take_editor_piece(&piece, out),
            Event::Closed(Side::NEAR) => out.stop(self.report.finish()),
            Event::Due => self.take_due(out),
            event => {
                if let Some((number, news)) = self.sessions.take(event, out) {
                    self.take_news(number, news, out);
                }
            }
        }
        Ok(())
    }

    fn not_started(&mut self, far: usize, failure: Failure, out: &mut Out) -> Result<(), Failure> {
        if let Some((number, news)) = self.sessions.not_started(far, &failure) {
            self.take_news(number, news, out);
        }
        Ok(())
    }

    fn end(&mut self, _: &Out) {
        self.sessions.agents.end();
    }

    fn deadline(&self) -> Option<Instant> {
        let sessions = self.sessions.by_number.values().filter_map(EditorSession::deadline);
        sessions.chain(self.sessions.deadline()).chain(self.held.values().filter_map(OpenQuestion::deadline)).min()
    }
}
