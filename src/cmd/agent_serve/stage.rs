//! The stage: the threads that serve HTTP as far side 0, an agent as a far side for each session, gates as clients.

use super::exchange::{Inbound, Outbound};
use super::session::{END, LOAD, Process, ServedSession, with_session};
use crate::cmd::agents::{Agents, LONGEST_RECORD};
use crate::cmd::approver::gates::Gates;
use crate::cmd::options::TOO_DEEP;
use crate::io::child::describe;
use crate::io::lines::{Line, Piece, deeper_than};
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Event, Out, Side, Stage};
use crate::json::Object;
use crate::record::Fields;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The far side of the threads that serve HTTP.
pub const HTTP: usize = 0;
/// Records that clients and gates make: an agent that says them would speak in their name.
const NOT_OF_AGENTS: [&str; 5] = ["gap", "hitl_response", "policy_result", "session_rules", "user_message"];
/// The same of fields.
const FIELDS_NOT_OF_AGENTS: [&str; 3] = ["ended", "nonce", "requires_approval"];
/// While so many bytes wait for an agent that does not read, it gets no further message.
const MUCH: u64 = 1 << 20;

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
    /// The session's id of each client that shows one.
    pub(super) clients: HashMap<u64, String>,
    /// A recorded session is shown, and there is no agent.
    pub(super) is_replay: bool,
    /// Its records, until they are shown.
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

    /// A line of an error for one client alone.
    pub(super) fn refuse(&self, client: u64, why: &str, context: Option<&str>, out: &mut Out) {
        let record =
            Object::default().text("type", "error").put("context", context.unwrap_or("{}")).text("content", why);
        self.send(&Outbound::Line { client, text: &record.end() }, out);
    }

    pub(super) fn number(&self, id: &str) -> Option<usize> {
        self.sessions.iter().find(|(_, session)| session.id == id).map(|(&number, _)| number)
    }

    /// Shows a record of ours to all clients of a session. It is an object.
    pub(super) fn publish(&mut self, number: usize, record: &str, out: &mut Out) {
        if let Ok(fields) = Fields::read(record) {
            self.publish_read(number, record, &fields, out);
        }
    }

    fn publish_read(&mut self, number: usize, record: &str, fields: &Fields<'_>, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        // Records go out in the order in which they are numbered.
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

    /// Gives a session's agent a record of the person's, once it takes one.
    ///
    /// # Errors
    /// Why it does not, for people.
    pub(super) fn give_agent(&mut self, number: usize, record: &str, out: &mut Out) -> Result<(), String> {
        let Some(session) = self.sessions.get_mut(&number) else { return Err("the session is closed".to_owned()) };
        match &session.process {
            Process::Starting(_) | Process::Loading { .. } => {
                if session.unsent.iter().map(String::len).sum::<usize>() as u64 > MUCH {
                    return Err("the agent has not started yet, and too much waits for it".to_owned());
                }
                session.unsent.push(record.to_owned());
            }
            Process::Running => {
                out.choose_far(number);
                if out.sent(Side::Far).saturating_sub(out.written(Side::Far)) > MUCH {
                    return Err("the agent has not read what was sent before".to_owned());
                }
                session.records.sent(record);
                if let Some(thread) = &mut session.thread {
                    thread.sent(record);
                }
                self.send_agent(number, record, out);
            }
            Process::Ending { .. } => return Err("the agent is ending: repeat it in a moment".to_owned()),
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

    fn take_agent_line(&mut self, number: usize, line: &Line<'_>, out: &mut Out) {
        if line.is_blank() {
            return;
        }
        match std::str::from_utf8(line.body()) {
            _ if deeper_than(line.body(), self.settings.max_depth) => self.skip(number, line.number(), TOO_DEEP),
            Ok(text) => self.take_record(number, text, line.number(), out),
            Err(_) => self.skip(number, line.number(), "not UTF-8"),
        }
    }

    /// A line of an agent's is not taken.
    fn skip(&self, number: usize, line: u64, why: &str) {
        let id = self.sessions.get(&number).map_or("", |session| &session.id);
        self.report.fault(format_args!("agent of session {id}:{line}"), format_args!("{why}; skipped"));
    }

    fn take_record(&mut self, number: usize, text: &str, line: u64, out: &mut Out) {
        let fields = match Fields::read(text) {
            Ok(fields) => fields,
            Err(why) => return self.skip(number, line, &why.to_string()),
        };
        let Some(session) = self.sessions.get_mut(&number) else { return };
        if let Process::Loading { .. } = session.process {
            // What is not part of the history came before it, and is in it, too.
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
            let why = format!("a record of type {kind:?} that only clients and gates make; left out");
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
                    self.take_end(number, false, "the agent has not shown the session's history in time", out);
                }
                Process::Ending { by } if by <= now => {
                    out.choose_far(number);
                    out.end_far();
                    self.take_end(number, false, "the agent has closed its stdout", out);
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
            Event::Piece(Side::Far, Piece::Line(line)) => self.take_agent_line(number, line, out),
            Event::Piece(Side::Far, Piece::Part { number: line, last: true, .. }) => {
                self.skip(number, *line, &format!("longer than {} MiB", LONGEST_RECORD >> 20));
            }
            // The threads have ended.
            Event::Closed(Side::Far) if number == HTTP => out.stop(Status::Fault),
            Event::Closed(Side::Far) => {
                if let Some(session) = self.sessions.get_mut(&number).filter(|session| session.is_alive()) {
                    session.process = Process::Ending { by: Instant::now() + END };
                }
            }
            Event::Exited(status) => {
                let hint = if status.success() { "" } else { "; its stderr may say why" };
                self.take_end(
                    number,
                    status.success(),
                    &format!("the agent has ended: {}{hint}", describe(*status)),
                    out,
                );
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
