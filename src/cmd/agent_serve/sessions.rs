//! How sessions start, continue and end, and which clients show them.

use super::exchange::Outbound;
use super::session::ServedSession;
use super::stage::AgentServer;
use crate::cmd::agents::{is_session_id, new_session_id};
use crate::cmd::sessions::{Agent, State as AgentState};
use pipewright_io::stage::Out;
use pipewright_record::json::Object;
use pipewright_record::{Fields, Record, State, Status};
use std::path::Path;
use std::time::Instant;

/// The session of `--replay`: its id, and its number, under which no agent is ever started.
const RECORDED: (&str, usize) = ("recorded", super::stage::HTTP);
pub(super) const REPLAY: &str = "this is a recorded session: it has no agent";

/// A session that a client wants to use.
pub(super) struct OpenedSession {
    pub(super) number: usize,
    is_new: bool,
}

/// Why there is no session for a client.
pub(super) struct SessionRefusal {
    /// The HTTP status.
    status: u16,
    /// The reason, for people.
    pub(super) why: String,
}

impl SessionRefusal {
    fn new(status: u16, why: impl ToString) -> SessionRefusal {
        SessionRefusal { status, why: why.to_string() }
    }
}

impl AgentServer {
    /// Gets the session with this id: new, continued, or as it is.
    pub(super) fn begin(&mut self, id: &str, out: &mut Out) -> Result<OpenedSession, SessionRefusal> {
        if let Some(number) = self.sessions.number(id) {
            return match &self.sessions.by_number[&number].agent.state {
                AgentState::Ended(why) if !self.sessions.agents.keeps_sessions() => {
                    Err(SessionRefusal::new(409, format_args!("{why}. Start a new session")))
                }
                AgentState::Ended(_) => {
                    self.restart(number, out);
                    Ok(OpenedSession { number, is_new: false })
                }
                AgentState::Ending { .. } => {
                    Err(SessionRefusal::new(409, "the agent is ending: try again in a moment"))
                }
                _ => Ok(OpenedSession { number, is_new: false }),
            };
        }
        if !is_session_id(id) {
            let why = "use letters, digits, - and _, at most 64, starting with a letter or digit";
            return Err(SessionRefusal::new(400, format_args!("{id:?} is not a session id: {why}")));
        }
        self.make_room(out)?;
        let is_kept = self.sessions.agents.has_session(id, Path::new("."));
        let clients = self.clients.values().filter(|session| *session == id).count();
        let session = |agent| ServedSession::new(agent, clients);
        let number =
            self.sessions.start(id, None, is_kept, session, out).map_err(|error| SessionRefusal::new(503, error))?;
        self.show(number, out);
        Ok(OpenedSession { number, is_new: true })
    }

    /// Tells the HTTP threads about a new session.
    fn show(&self, number: usize, out: &mut Out) {
        if let Some(session) = self.sessions.get(number) {
            self.send(&Outbound::Open { session: &session.agent.id, first: session.next_number }, out);
        }
    }

    fn restart(&mut self, number: usize, out: &mut Out) {
        if let Some(session) = self.sessions.get_mut(number) {
            session.used_at = Instant::now();
        }
        self.sessions.restart(number, out);
    }

    /// # Errors
    /// As many sessions are open as allowed.
    fn make_room(&mut self, out: &mut Out) -> Result<(), SessionRefusal> {
        let most = self.settings.most_sessions;
        while self.sessions.by_number.len() >= most {
            let ended =
                self.sessions.by_number.iter().filter(|(_, session)| session.state() == "ended" && session.is_unused());
            let oldest = ended.min_by_key(|(_, session)| session.used_at).map(|(&number, _)| number);
            match oldest {
                Some(number) => self.forget(number, out),
                None => {
                    let why = format_args!("{most} sessions are open (--max-sessions): close one first");
                    return Err(SessionRefusal::new(503, why));
                }
            }
        }
        Ok(())
    }

    /// Closes a session and ends its agent.
    pub(super) fn forget(&mut self, number: usize, out: &mut Out) {
        if let Some(session) = self.sessions.forget(number, out) {
            self.send(&Outbound::Forget { session: &session.agent.id }, out);
        }
    }

    pub(super) fn join(&mut self, client: u64, session: &str) {
        self.clients.insert(client, session.to_owned());
        if let Some(number) = self.sessions.number(session)
            && let Some(session) = self.sessions.get_mut(number)
        {
            session.clients += 1;
        }
    }

    pub(super) fn leave(&mut self, client: u64, out: &mut Out) {
        if let Some(id) = self.clients.remove(&client)
            && let Some(number) = self.sessions.number(&id)
            && let Some(session) = self.sessions.get_mut(number)
        {
            session.clients = session.clients.saturating_sub(1);
            session.used_at = Instant::now();
        }
        self.leave_run(client, out);
    }

    pub(super) fn take_begin(&mut self, client: u64, text: &str, out: &mut Out) {
        let begun = self.session_to_begin(text).and_then(|id| Ok((self.begin(&id, out)?, id)));
        let (status, text) = match begun {
            Ok((OpenedSession { is_new, .. }, id)) => {
                (if is_new { 201 } else { 200 }, Object::default().text("session_id", &id).end())
            }
            Err(SessionRefusal { status, why }) => (status, Object::default().text("error", &why).end()),
        };
        self.send(&Outbound::Reply { client, status, text: &text }, out);
    }

    fn session_to_begin(&self, text: &str) -> Result<String, SessionRefusal> {
        if self.is_replay {
            return Err(SessionRefusal::new(409, REPLAY));
        }
        let text = if text.trim().is_empty() { "{}" } else { text };
        let fields = Fields::read(text).map_err(|why| SessionRefusal::new(400, why))?;
        match fields.string("session_id").map_err(|why| SessionRefusal::new(400, why))? {
            Some(id) => Ok(id),
            None => new_session_id().map_err(|error| SessionRefusal::new(503, error)),
        }
    }

    pub(super) fn list(&self) -> String {
        let sessions = self.sessions.by_number.values().map(|session| {
            let entry = Object::default().text("session_id", &session.agent.id).text("state", session.state());
            let entry = entry.text_some("goal", session.records.goal()).put("held", session.held.len());
            let ended = match &session.agent.state {
                AgentState::Ended(why) => Some(why.as_str()),
                _ => None,
            };
            let entry = entry.put("clients", session.clients).text("begun_at", &format!("{:.3}", session.begun_at));
            entry.text_some("ended", ended).put_some("replay", self.is_replay.then_some("true")).end()
        });
        format!(r#"{{"sessions":[{}]}}"#, sessions.collect::<Vec<_>>().join(","))
    }

    /// An agent's process has ended, or could not be started.
    pub(super) fn take_end(&mut self, number: usize, is_well: bool, why: &str, out: &mut Out) {
        if let Some(session) = self.sessions.get_mut(number) {
            session.records.agent_ended();
        }
        self.end_gates(number, out);
        if !is_well {
            self.publish_error(number, why, out);
        }
        let state = if is_well { State::Idle } else { State::Error };
        let status = Status { status: state.into(), ended: Some(why.into()), ..Status::default() };
        self.publish(number, &status.json(), out);
        self.end_run(number, why, out);
    }

    /// When an unused session is closed.
    pub(super) fn idle_until(&self, session: &ServedSession) -> Option<Instant> {
        let timeout = self.settings.idle_timeout.filter(|_| session.is_unused() && !self.is_replay)?;
        Some(session.used_at + timeout)
    }

    pub(super) fn show_recorded(&mut self, out: &mut Out) {
        let records = std::mem::take(&mut self.recorded);
        if records.is_empty() {
            return;
        }
        let (id, number) = RECORDED;
        let agent = Agent::new(id, AgentState::Ended("the session is a recording".to_owned()));
        let clients = self.clients.values().filter(|session| *session == id).count();
        self.sessions.by_number.insert(number, ServedSession::new(agent, clients));
        self.show(number, out);
        for record in records {
            if let (Ok(fields), Some(session)) = (Fields::read(&record), self.sessions.get_mut(number)) {
                session.note_images(&fields);
            }
            self.publish(number, &record, out);
        }
    }
}
