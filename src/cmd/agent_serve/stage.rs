//! The stage: the HTTP threads as far side 0, one far side per session for its agent, gates as clients.

use super::exchange::{Inbound, Outbound};
use super::session::{Process, ServedSession, with_session};
use crate::cmd::agents::{Agents, END, LOAD, MUCH};
use crate::cmd::approver::gates::Gates;
use crate::io::child::describe;
use crate::io::lines::{Line, Piece};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::json::Object;
use crate::record::Fields;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The far side of the HTTP threads.
pub const HTTP: usize = 0;
/// Records that only clients and gates make. An agent could impersonate them with these.
const NOT_OF_AGENTS: [&str; 5] = ["gap", "hitl_response", "policy_result", "session_rules", "user_message"];
/// The same for fields.
const FIELDS_NOT_OF_AGENTS: [&str; 3] = ["ended", "nonce", "requires_approval"];

pub struct Settings {
    pub most_sessions: usize,
    pub idle_timeout: Duration,
    pub max_depth: usize,
}

pub struct Serving {
    pub(super) agents: Agents,
    pub(super) gates: Gates,
    pub(super) settings: Settings,
    /// By the number of the agent's far side.
    pub(super) sessions: BTreeMap<usize, ServedSession>,
    /// The number of the next agent.
    pub(super) next_session: usize,
    /// The session id of each client that shows a session.
    pub(super) clients: HashMap<u64, String>,
    /// Whether a recorded session is shown, without an agent.
    pub(super) is_replay: bool,
    /// The records of the recorded session, until they are shown.
    pub(super) recorded: Vec<String>,
    pub(super) report: Arc<Report>,
}

impl Serving {
    pub fn new(
        agents: Agents,
        gates: Gates,
        settings: Settings,
        recorded: Vec<String>,
        report: Arc<Report>,
    ) -> Serving {
        Serving {
            agents,
            gates,
            settings,
            sessions: BTreeMap::new(),
            next_session: HTTP + 1,
            clients: HashMap::new(),
            is_replay: !recorded.is_empty(),
            recorded,
            report,
        }
    }

    pub(super) fn send(&self, outbound: &Outbound<'_>, out: &mut Out) {
        out.choose_far(HTTP);
        out.add_line(Side::Far, &outbound.line());
    }

    /// Sends an error to one client.
    pub(super) fn refuse(&self, client: u64, why: &str, context: Option<&str>, out: &mut Out) {
        let record =
            Object::default().text("type", "error").put("context", context.unwrap_or("{}")).text("content", why);
        self.send(&Outbound::Line { client, text: &record.end() }, out);
    }

    pub(super) fn number(&self, id: &str) -> Option<usize> {
        self.sessions.iter().find(|(_, session)| session.id == id).map(|(&number, _)| number)
    }

    /// Shows our own record, an object, to all clients of a session.
    pub(super) fn publish(&mut self, number: usize, record: &str, out: &mut Out) {
        if let Ok(fields) = Fields::read(record) {
            self.publish_read(number, record, &fields, out);
        }
    }

    fn publish_read(&mut self, number: usize, record: &str, fields: &Fields<'_>, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        // Records are sent in the order of their numbers.
        session.next_number += 1;
        session.used_at = Instant::now();
        let record = with_session(record, fields, &session.id);
        let taken = session.thread.as_mut().map(|thread| thread.take(&record));
        let line = Outbound::Record { session: &session.id, text: &record }.line();
        out.choose_far(HTTP);
        out.add_line(Side::Far, &line);
        if let Some(taken) = taken {
            self.give_run(number, taken, out);
        }
    }

    /// Shows an error of a session.
    pub(super) fn publish_error(&mut self, number: usize, why: &str, out: &mut Out) {
        let record = Object::default().text("type", "error").put("context", "{}").text("content", why).end();
        self.publish(number, &record, out);
    }

    pub(super) fn send_agent(&self, number: usize, record: &str, out: &mut Out) {
        out.choose_far(number);
        out.add_line(Side::Far, record);
    }

    /// Passes a person's record to a session's agent, or queues it until the agent takes records.
    ///
    /// # Errors
    /// Why it is not passed on, for people.
    pub(super) fn give_agent(&mut self, number: usize, record: &str, out: &mut Out) -> Result<(), String> {
        let Some(session) = self.sessions.get_mut(&number) else { return Err("the session is closed".to_owned()) };
        match &session.process {
            Process::Starting(_) | Process::Loading { .. } => {
                if session.unsent.iter().map(String::len).sum::<usize>() as u64 > MUCH {
                    return Err("the agent has not started yet, and its queue is full".to_owned());
                }
                session.unsent.push(record.to_owned());
            }
            Process::Running => {
                out.choose_far(number);
                if out.sent(Side::Far).saturating_sub(out.written(Side::Far)) > MUCH {
                    return Err("the agent has not read the earlier messages yet".to_owned());
                }
                session.records.sent(record);
                if let Some(thread) = &mut session.thread {
                    thread.sent(record);
                }
                self.send_agent(number, record, out);
            }
            Process::Ending { .. } => return Err("the agent is ending: try again in a moment".to_owned()),
            Process::Ended(why) => return Err(why.clone()),
        }
        self.publish(number, record, out);
        Ok(())
    }

    fn take_inbound(&mut self, line: &Line<'_>, out: &mut Out) {
        match std::str::from_utf8(line.body()).ok().and_then(Inbound::read) {
            Some(Inbound::Joined { client, session }) => self.join(client, session),
            Some(Inbound::Left { client }) => self.leave(client, out),
            Some(Inbound::Message { client, seen, text }) => self.take_message(client, seen, text, out),
            Some(Inbound::Run { client, text }) => self.take_run(client, text, out),
            Some(Inbound::Begin { client, text }) => self.take_begin(client, text, out),
            Some(Inbound::List { client }) => {
                let text = self.list();
                self.send(&Outbound::Reply { client, status: 200, text: &text }, out);
            }
            Some(Inbound::Image { client, session, path }) => {
                let path: String = serde_json::from_str(path).unwrap_or_default();
                let is_named = self.number(session).is_some_and(|number| self.sessions[&number].has_image(&path));
                self.send(&Outbound::Reply { client, status: if is_named { 200 } else { 404 }, text: "" }, out);
            }
            None => {}
        }
    }

    fn id(&self, number: usize) -> &str {
        self.sessions.get(&number).map_or("", |session| &session.id)
    }

    fn take_record(&mut self, number: usize, text: &str, line: u64, out: &mut Out) {
        let fields = match Fields::read(text) {
            Ok(fields) => fields,
            Err(why) => return self.agents.skip(self.id(number), line, &why.to_string()),
        };
        let Some(session) = self.sessions.get_mut(&number) else { return };
        if let Process::Loading { .. } = session.process {
            // Records outside the history are repeated in it.
            if fields.text("type").as_deref() != Some("history") {
                return;
            }
            return match fields.get("record").map(|record| record.get()) {
                Some(record) => {
                    // Later records refer to its plan and calls. An error is no fault: a history may begin in the middle.
                    let _ = session.records.received(record);
                    if let Ok(fields) = Fields::read(record) {
                        session.note_images(&fields);
                    }
                    self.publish(number, record, out);
                }
                None => self.run(number, out),
            };
        }
        let kind = fields.text("type").unwrap_or_default();
        let has_foreign_field = FIELDS_NOT_OF_AGENTS.iter().any(|field| fields.get(field).is_some());
        if NOT_OF_AGENTS.contains(&kind.as_str()) || has_foreign_field {
            let why = format!("dropped a record of type {kind:?}, which only clients and gates may make");
            return self.report.note_again(format_args!("agent of session {}: {why}", session.id));
        }
        if let Err(why) = session.records.received(text) {
            self.report.note_again(format_args!("session {}: {why}", session.id));
        }
        if kind == "tool_result" {
            session.note_images(&fields);
        }
        self.publish_read(number, text, &fields, out);
    }

    fn take_start(&mut self, number: usize, out: &mut Out) {
        if number == HTTP {
            return self.show_recorded(out);
        }
        match self.sessions.get_mut(&number).map(|session| &mut session.process) {
            Some(process @ Process::Starting(true)) => {
                *process = Process::Loading { by: Instant::now() + LOAD };
                self.send_agent(number, r#"{"type":"history"}"#, out);
            }
            Some(Process::Starting(false)) => self.run(number, out),
            _ => {}
        }
    }

    fn take_due(&mut self, out: &mut Out) {
        let now = Instant::now();
        for number in self.sessions.keys().copied().collect::<Vec<_>>() {
            let Some(session) = self.sessions.get(&number) else { continue };
            match session.process {
                Process::Loading { by } if by <= now => {
                    out.choose_far(number);
                    out.end_far();
                    self.take_end(number, false, "the agent did not show the session's history in time", out);
                }
                Process::Ending { by } if by <= now => {
                    out.choose_far(number);
                    out.end_far();
                    self.take_end(number, false, "the agent closed its stdout", out);
                }
                _ if self.idle_until(session).is_some_and(|until| until <= now) => self.forget(number, out),
                _ => {}
            }
        }
    }

    fn take_far(&mut self, event: &Event<'_>, out: &mut Out) {
        let number = out.far();
        match event {
            Event::Started => self.take_start(number, out),
            Event::Piece(Side::Far, Piece::Line(line)) if number == HTTP => self.take_inbound(line, out),
            Event::Piece(Side::Far, piece) => {
                if let Some(text) = self.agents.text(self.id(number), piece, self.settings.max_depth) {
                    self.take_record(number, text, piece.number(), out);
                }
            }
            // The HTTP threads have ended.
            Event::Closed(Side::Far) if number == HTTP => out.stop(Status::Fault),
            Event::Closed(Side::Far) => {
                if let Some(session) = self.sessions.get_mut(&number).filter(|session| session.is_alive()) {
                    session.process = Process::Ending { by: Instant::now() + END };
                }
            }
            Event::Exited(status) => {
                let hint = if status.success() { "" } else { "; see its stderr for the reason" };
                self.take_end(number, status.success(), &format!("the agent ended: {}{hint}", describe(*status)), out);
            }
            _ => {}
        }
    }
}

impl Stage for Serving {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match &event {
            Event::Joined | Event::Piece(Side::Near, _) | Event::Closed(Side::Near) | Event::Broken(Side::Near, _) => {
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
        if number == HTTP {
            return Err(failure);
        }
        self.take_end(number, false, &format!("the agent could not be started: {failure}"), out);
        Ok(())
    }

    fn end(&mut self, _: &Out) {
        self.agents.end();
    }

    fn deadline(&self) -> Option<Instant> {
        let deadlines = self.sessions.values().flat_map(|session| [session.deadline(), self.idle_until(session)]);
        deadlines.flatten().min()
    }
}
