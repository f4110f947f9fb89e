//! The stage: the editor on stdin and stdout, gates as clients, and one far side per session for its agent.

use super::permissions::{Asked, Held};
use super::session::{EditorSession, Process, START};
use crate::acp::{Client, StopReason, Taken};
use crate::cmd::agents::{Agents, END};
use crate::cmd::approver::gates::Gates;
use crate::cmd::options::{TOO_DEEP, TOO_LONG};
use crate::io::child::describe;
use crate::io::lines::{Piece, deeper_than};
use crate::io::report::{Failure, Report};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::json::Object;
use crate::record::Fields;
use crate::rpc::{self, INTERNAL_ERROR, RpcError};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// The editor's number among the near sides; the others are gates.
const EDITOR: usize = 0;

pub struct Editor {
    pub(super) agents: Agents,
    pub(super) gates: Gates,
    /// `None` before `initialize`.
    pub(super) client: Option<Client>,
    /// By the number of the agent's far side.
    pub(super) sessions: BTreeMap<usize, EditorSession>,
    /// The number of the next agent.
    pub(super) next_session: usize,
    /// Unanswered requests to the editor, by our request ids.
    pub(super) asked: BTreeMap<u64, Asked>,
    pub(super) last_request: u64,
    /// Open questions of gates, by nonce.
    pub(super) held: BTreeMap<String, Held>,
    pub(super) max_depth: usize,
    /// Whether the ignored offers of the editor were reported.
    pub(super) has_reported_unused: bool,
    pub(super) report: Arc<Report>,
}

impl Editor {
    pub fn new(agents: Agents, gates: Gates, max_depth: usize, report: Arc<Report>) -> Editor {
        Editor {
            agents,
            gates,
            client: None,
            sessions: BTreeMap::new(),
            next_session: 0,
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
        out.choose_near(EDITOR);
        out.to(Side::Near).extend_from_slice(line.as_bytes());
    }

    /// Answers a request; `request` is its id as JSON text.
    pub(super) fn answer(&self, request: &str, result: Result<&str, &RpcError>, out: &mut Out) {
        self.send(&rpc::response(request, result), out);
    }

    pub(super) fn send_agent(&self, session: usize, record: &str, out: &mut Out) {
        out.choose_far(session);
        out.add_line(Side::Far, record);
    }

    /// Shows the updates that a record caused, and answers the prompt if its turn has ended.
    pub(super) fn show(&mut self, number: usize, taken: &Taken, out: &mut Out) {
        let Some(session) = self.sessions.get(&number) else { return };
        for update in &taken.updates {
            self.send(&session.update(update), out);
        }
        if let Some(why) = &taken.disorder {
            self.report.note_again(format_args!("session {}: {why}", session.id));
        }
        if let Some(stop) = taken.stop {
            self.end_prompt(number, stop, out);
        }
    }

    /// Shows a message from agent-acp itself.
    pub(super) fn say(&mut self, number: usize, text: &str, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        let update = session.updates.say(text);
        let line = session.update(&update);
        self.send(&line, out);
    }

    /// Answers a session's prompt, if there is one.
    pub(super) fn end_prompt(&mut self, number: usize, stop: StopReason, out: &mut Out) {
        let prompt = self.sessions.get_mut(&number).and_then(|session| {
            session.updates.end_turn();
            session.prompt.take()
        });
        let Some(prompt) = prompt else { return };
        let stop = if prompt.cancelled.is_some() { StopReason::Cancelled } else { stop };
        self.answer(&prompt.request, Ok(&stop.result()), out);
    }

    fn id(&self, number: usize) -> &str {
        self.sessions.get(&number).map_or("", |session| &session.id)
    }

    fn take_record(&mut self, number: usize, text: &str, line: u64, out: &mut Out) {
        let fields = match Fields::read(text) {
            Ok(fields) => fields,
            Err(why) => return self.agents.skip(self.id(number), line, &why.to_string()),
        };
        let record_type = fields.text("type");
        let Some(session) = self.sessions.get_mut(&number) else { return };
        if let Process::Loading { request, .. } = &session.process {
            // Records outside the history are repeated in it.
            if record_type.as_deref() != Some("history") {
                return;
            }
            if let Some(record) = fields.get("record") {
                let shown = Taken { disorder: None, stop: None, ..session.updates.take(record.get()) };
                return self.show(number, &shown, out);
            }
            let result = Object::default().put("modes", session.mode.state()).end();
            let request = request.clone();
            session.process = Process::Running;
            let shown = Taken { updates: session.updates.end_history(), ..Taken::default() };
            self.show(number, &shown, out);
            return self.answer(&request, Ok(&result), out);
        }
        self.has_started(number, out);
        let Some(session) = self.sessions.get_mut(&number) else { return };
        let taken = session.updates.take(text);
        self.show(number, &taken, out);
        match record_type.as_deref() {
            Some("input_request") => self.ask_for_input(number, text, &fields, out),
            Some("tool_result") => self.withdraw_input(number, fields.get("call_id").map(|id| id.get()), out),
            Some("status") => self.ask_about_held(out),
            _ => {}
        }
    }

    /// The agent has started: answers `session/new`, and sends a queued message.
    pub(super) fn has_started(&mut self, number: usize, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        let Process::Starting { request, .. } = &mut session.process else { return };
        let request = request.take();
        session.process = Process::Running;
        if let Some(request) = request {
            let result = Object::default().text("sessionId", &session.id);
            let result = result.put("modes", session.mode.state()).end();
            self.answer(&request, Ok(&result), out);
        }
    }

    /// An agent's process has ended, or could not be started.
    fn take_end(&mut self, number: usize, why: &str, out: &mut Out) {
        self.withdraw_all(number, out);
        let Some(session) = self.sessions.get_mut(&number) else { return };
        let process = std::mem::replace(&mut session.process, Process::Ended(why.to_owned()));
        let error = RpcError::new(INTERNAL_ERROR, why);
        match process {
            Process::Starting { request: Some(request), .. } | Process::Loading { request, .. } => {
                self.answer(&request, Err(&error), out);
                self.forget(number, out);
                return;
            }
            Process::Ended(_) => return,
            _ => {}
        }
        let taken = session.updates.ended();
        self.show(number, &taken, out);
        let prompt = self.sessions.get_mut(&number).and_then(|session| session.prompt.take());
        if let Some(prompt) = prompt {
            match prompt.cancelled {
                Some(_) => self.answer(&prompt.request, Ok(&StopReason::Cancelled.result()), out),
                None => self.answer(&prompt.request, Err(&error), out),
            }
        }
    }

    /// Removes a session.
    pub(super) fn forget(&mut self, number: usize, out: &mut Out) {
        self.withdraw_all(number, out);
        self.sessions.remove(&number);
        self.held.retain(|_, held| held.session != number);
        self.gates.close(number, out);
        self.agents.forget(number);
        out.choose_far(number);
        out.remove_far();
    }

    /// The agent was started (again): sends what was queued.
    fn take_start(&mut self, number: usize, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        session.is_silent = false;
        match &mut session.process {
            Process::Starting { by, .. } => *by = Some(Instant::now() + START),
            Process::Loading { .. } => return self.send_agent(number, r#"{"type":"history"}"#, out),
            _ => {}
        }
        let unsent = session.prompt.as_mut().and_then(|prompt| prompt.unsent.take());
        if let Some(record) = unsent {
            session.updates.prompt(&record);
            self.send_agent(number, &record, out);
        }
    }

    fn take_due(&mut self, out: &mut Out) {
        let now = Instant::now();
        self.ask_about_held(out);
        for number in self.sessions.keys().copied().collect::<Vec<_>>() {
            let Some(session) = self.sessions.get(&number) else { continue };
            if session.prompt.as_ref().is_some_and(|prompt| prompt.cancelled.is_some_and(|by| by <= now)) {
                self.end_prompt(number, StopReason::Cancelled, out);
            }
            let Some(session) = self.sessions.get(&number) else { continue };
            match &session.process {
                Process::Starting { by: Some(by), .. } if *by <= now && session.is_silent => {
                    self.take_end(number, "the agent closed its stdout", out);
                }
                Process::Starting { by: Some(by), .. } if *by <= now => self.has_started(number, out),
                Process::Loading { by, .. } if *by <= now => {
                    self.take_end(number, "the agent did not show the session's history in time", out);
                }
                Process::Ending { by } if *by <= now => {
                    out.choose_far(number);
                    out.end_far();
                    self.take_end(number, "the agent closed its stdout", out);
                }
                _ => {}
            }
        }
    }

    fn take_far(&mut self, event: &Event<'_>, out: &mut Out) {
        let number = out.far();
        match event {
            Event::Started => self.take_start(number, out),
            Event::Piece(Side::Far, piece) => {
                if let Some(text) = self.agents.text(self.id(number), piece, self.max_depth) {
                    self.take_record(number, text, piece.number(), out);
                }
            }
            Event::Closed(Side::Far) => {
                let Some(session) = self.sessions.get_mut(&number) else { return };
                session.is_silent = true;
                let by = Instant::now() + END;
                match &mut session.process {
                    process @ Process::Running => *process = Process::Ending { by },
                    Process::Starting { by: until, .. } => *until = Some(by),
                    Process::Loading { by: until, .. } => *until = by,
                    Process::Ending { .. } | Process::Ended(_) => {}
                }
            }
            Event::Exited(status) => {
                let why = format!("the agent ended: {}; see its stderr for the reason", describe(*status));
                self.take_end(number, &why, out);
            }
            _ => {}
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
        match &event {
            Event::Joined => _ = self.gates.take(&event, out),
            Event::Piece(Side::Near, piece) if out.near() == EDITOR => self.take_editor_piece(piece, out),
            Event::Closed(Side::Near) if out.near() == EDITOR => out.stop(self.report.finish()),
            Event::Piece(Side::Near, _) | Event::Closed(Side::Near) | Event::Broken(Side::Near, _)
                if out.near() != EDITOR =>
            {
                if let Some((session, change)) = self.gates.take(&event, out) {
                    self.take_change(session, change, out);
                }
            }
            Event::Due => self.take_due(out),
            _ => self.take_far(&event, out),
        }
        Ok(())
    }

    fn not_started(&mut self, failure: Failure, out: &mut Out) -> Result<(), Failure> {
        let number = out.far();
        self.take_end(number, &format!("the agent could not be started: {failure}"), out);
        Ok(())
    }

    fn end(&mut self, _: &Out) {
        self.agents.end();
    }

    fn deadline(&self) -> Option<Instant> {
        let sessions = self.sessions.values().filter_map(EditorSession::deadline);
        sessions.chain(self.held.values().filter_map(Held::deadline)).min()
    }
}
