//! The stage: the HTTP threads as far side 0, one far side per session for its agent, gates as clients.

use super::exchange::Outbound;
use super::session::{ServedSession, with_session};
use crate::cmd::agents::Agents;
use crate::cmd::approver::gates::Gates;
use crate::cmd::sessions::{SessionNews, Sessions, State};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Line, Piece};
use pipewright_record::{ErrorRecord, Fields, Record, SessionRecord};
use pipewright_serve::sessions::Inbound;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The far side of the HTTP threads.
pub const HTTP: usize = 0;
/// Records that only clients and gates make. An agent could impersonate them with these.
const RESERVED_RECORDS: [&str; 5] = ["gap", "hitl_response", "policy_result", "session_rules", "user_message"];
/// Fields that only clients and gates write.
const RESERVED_FIELDS: [&str; 3] = ["ended", "nonce", "requires_approval"];

pub struct AgentServeSettings {
    pub most_sessions: usize,
    pub idle_timeout: Option<Duration>,
    pub max_depth: usize,
}

pub struct AgentServer {
    pub(super) settings: AgentServeSettings,
    pub(super) sessions: Sessions<ServedSession>,
    /// The session id of each client that shows a session.
    pub(super) clients: HashMap<u64, String>,
    /// Whether a recorded session is shown, without an agent.
    pub(super) is_replay: bool,
    /// The records of the recorded session, until they are shown.
    pub(super) recorded: Vec<String>,
    pub(super) report: Arc<Report>,
}

impl AgentServer {
    pub fn new(
        agents: Agents,
        gates: Gates,
        settings: AgentServeSettings,
        recorded: Vec<String>,
        report: Arc<Report>,
    ) -> AgentServer {
        AgentServer {
            sessions: Sessions::new(agents, gates, HTTP + 1, settings.max_depth, Arc::clone(&report)),
            settings,
            clients: HashMap::new(),
            is_replay: !recorded.is_empty(),
            recorded,
            report,
        }
    }

    pub(super) fn send(&self, outbound: &Outbound<'_>, out: &mut Out) {
        out.add_line(Side::Far(HTTP), &outbound.line());
    }

    /// Sends an error to one client.
    pub(super) fn refuse(&self, client: u64, error: &ErrorRecord<'_>, out: &mut Out) {
        self.send(&Outbound::Line { client, text: &error.json() }, out);
    }

    /// Shows our own record, an object, to all clients of a session.
    pub(super) fn publish(&mut self, number: usize, record: &str, out: &mut Out) {
        if let Ok(fields) = Fields::read(record) {
            self.publish_read(number, record, &fields, out);
        }
    }

    fn publish_read(&mut self, number: usize, record: &str, fields: &Fields<'_>, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        // Records are sent in the order of their numbers.
        session.next_number += 1;
        session.used_at = Instant::now();
        let record = with_session(record, fields, &session.agent.id);
        let taken = session.thread.as_mut().map(|thread| thread.take(&record));
        let line = Outbound::Record { session: &session.agent.id, text: &record }.line();
        out.add_line(Side::Far(HTTP), &line);
        if let Some(taken) = taken {
            self.give_run(number, taken, out);
        }
    }

    /// Shows an error of a session.
    pub(super) fn publish_error(&mut self, number: usize, why: &str, out: &mut Out) {
        self.publish(number, &ErrorRecord::new(why).json(), out);
    }

    /// Passes a person's record to a session's agent, or queues it until the agent takes records.
    ///
    /// # Errors
    /// Why it is not passed on, for people.
    pub(super) fn give_agent(&mut self, number: usize, record: &str, out: &mut Out) -> Result<(), String> {
        let is_behind = self.sessions.is_behind(number, out);
        let Some(session) = self.sessions.get_mut(number) else { return Err("the session is closed".to_owned()) };
        match &session.agent.state {
            State::Starting(_) | State::Loading { .. } => {
                if !session.agent.keep(record) {
                    return Err("the agent has not started yet, and its queue is full".to_owned());
                }
            }
            State::Running if is_behind => return Err("the agent has not read the earlier messages yet".to_owned()),
            State::Running => {
                session.note_sent(record);
                self.sessions.send(number, record, out);
            }
            State::Ending { .. } => return Err("the agent is ending: try again in a moment".to_owned()),
            State::Ended(why) => return Err(why.clone()),
        }
        self.publish(number, record, out);
        Ok(())
    }

    fn take_inbound(&mut self, line: &Line<'_>, out: &mut Out) {
        match serde_json::from_slice(line.body()).ok() {
            Some(Inbound::Joined { client, session }) => self.join(client, &session),
            Some(Inbound::Left { client }) => self.leave(client, out),
            Some(Inbound::Message { client, seen, text }) => self.take_message(client, seen, &text, out),
            Some(Inbound::Run { client, text }) => self.take_run(client, &text, out),
            Some(Inbound::Begin { client, text }) => self.take_begin(client, &text, out),
            Some(Inbound::List { client }) => {
                let text = self.list();
                self.send(&Outbound::Reply { client, status: 200, text: &text }, out);
            }
            Some(Inbound::Image { client, session, path }) => {
                let path: String = serde_json::from_str(&path).unwrap_or_default();
                let is_named = self
                    .sessions
                    .number(&session)
                    .is_some_and(|number| self.sessions.by_number[&number].has_image(&path));
                self.send(&Outbound::Reply { client, status: if is_named { 200 } else { 404 }, text: "" }, out);
            }
            None => {}
        }
    }

    /// Takes what has happened to a session.
    fn take_news(&mut self, number: usize, news: SessionNews<'_>, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        match news {
            SessionNews::Gate(change) => self.take_change(number, change, out),
            SessionNews::History(record) => {
                // Later records refer to its plan and calls. An error is no fault: a history may begin in the middle.
                if let Ok(fields) = Fields::read(record) {
                    let _ = session.records.received(&SessionRecord::of(&fields));
                    session.note_images(&fields);
                }
                self.publish(number, record, out);
            }
            SessionNews::Running { given, .. } => given.iter().for_each(|record| session.note_sent(record)),
            SessionNews::Record(text, fields) => self.take_record(number, text, &fields, out),
            SessionNews::Ended { is_well, why } => self.take_end(number, is_well, &why, out),
        }
    }

    fn take_record(&mut self, number: usize, text: &str, fields: &Fields<'_>, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        let kind = fields.text("type").unwrap_or_default();
        let has_foreign_field = RESERVED_FIELDS.iter().any(|field| fields.get(field).is_some());
        if RESERVED_RECORDS.contains(&kind.as_str()) || has_foreign_field {
            let why = format!("dropped a record of type {kind:?}, which only clients and gates may make");
            return self.report.note_limited(format_args!("agent of session {}: {why}", session.agent.id));
        }
        if let Err(why) = session.records.received(&SessionRecord::of(fields)) {
            self.report.note_limited(format_args!("session {}: {why}", session.agent.id));
        }
        if kind == "tool_result" {
            session.note_images(fields);
        }
        self.publish_read(number, text, fields, out);
    }

    fn take_due(&mut self, out: &mut Out) {
        let now = Instant::now();
        while let Some((number, news)) = self.sessions.take_overdue(out) {
            self.take_news(number, news, out);
        }
        while let Some(number) =
            self.sessions.find(|session| self.idle_until(session).is_some_and(|until| until <= now))
        {
            self.forget(number, out);
        }
    }
}

impl Stage for AgentServer {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Started(HTTP) => self.show_recorded(out),
            Event::Piece(Side::Far(HTTP), Piece::Line(line)) => self.take_inbound(&line, out),
            // The HTTP threads have ended.
            Event::Closed(Side::Far(HTTP)) => out.stop(Status::Fault),
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
        if far == HTTP {
            return Err(failure);
        }
        if let Some((number, news)) = self.sessions.not_started(far, &failure) {
            self.take_news(number, news, out);
        }
        Ok(())
    }

    fn end(&mut self, _: &Out) {
        self.sessions.agents.end();
    }

    fn deadline(&self) -> Option<Instant> {
        let idle = self.sessions.by_number.values().filter_map(|session| self.idle_until(session));
        idle.chain(self.sessions.deadline()).min()
    }
}
