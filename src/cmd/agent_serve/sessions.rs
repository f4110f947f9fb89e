//! How sessions start, continue and end, and which clients show them.

use super::TOKEN;
use super::exchange::Outbound;
use super::session::{Process, ServedSession};
use super::stage::Serving;
use crate::cmd::agents::{is_session_id, new_session_id};
use crate::io::stage::{Out, Side};
use crate::json::Object;
use crate::record::Fields;
use std::path::Path;
use std::time::Instant;

/// The session of `--replay`: its id, and its number, under which no agent is ever started.
const RECORDED: (&str, usize) = ("recorded", super::stage::HTTP);
pub(super) const REPLAY: &str = "this is a recorded session: it has no agent";

impl Serving {
    /// Gets the session with this id: new, continued, or as it is. Gives its number, and whether it is new.
    ///
    /// # Errors
    /// An HTTP status, and why there is no such session, for people.
    pub(super) fn begin(&mut self, id: &str, out: &mut Out) -> Result<(usize, bool), (u16, String)> {
        if let Some(number) = self.number(id) {
            return match &self.sessions[&number].process {
                Process::Ended(why) if !self.agents.keeps_sessions() => {
                    Err((409, format!("{why}. Start a new session")))
                }
                Process::Ended(_) => {
                    self.restart(number, out);
                    Ok((number, false))
                }
                Process::Ending { .. } => Err((409, "the agent is ending: try again in a moment".to_owned())),
                _ => Ok((number, false)),
            };
        }
        if !is_session_id(id) {
            return Err((
                400,
                format!(
                    "{id:?} is not a session id: use letters, digits, - and _, at most 64, starting with a letter or digit"
                ),
            ));
        }
        self.make_room(out)?;
        let (number, is_kept) = (self.next_session, self.agents.has_session(id, Path::new(".")));
        let mut program = self.agents.program(number, id, None).map_err(|error| (503, error.to_string()))?;
        program.around.secrets.push(TOKEN.to_owned());
        self.next_session = out.add_far(program) + 1;
        self.open(number, id, Process::Starting(is_kept), out);
        Ok((number, true))
    }

    fn open(&mut self, number: usize, id: &str, process: Process, out: &mut Out) {
        let clients = self.clients.values().filter(|session| *session == id).count();
        let session = ServedSession::new(id.to_owned(), process, clients);
        self.send(&Outbound::Open { session: id, first: session.next_number }, out);
        self.sessions.insert(number, session);
    }

    fn restart(&mut self, number: usize, out: &mut Out) {
        if let Some(session) = self.sessions.get_mut(&number) {
            // The earlier records are already shown.
            session.process = Process::Starting(false);
            session.used_at = Instant::now();
            out.choose_far(number);
            out.respawn();
        }
    }

    /// # Errors
    /// As many sessions are open as allowed.
    fn make_room(&mut self, out: &mut Out) -> Result<(), (u16, String)> {
        let most = self.settings.most_sessions;
        while self.sessions.len() >= most {
            let ended = self.sessions.iter().filter(|(_, session)| session.state() == "ended" && session.is_unused());
            let oldest = ended.min_by_key(|(_, session)| session.used_at).map(|(&number, _)| number);
            match oldest {
                Some(number) => self.forget(number, out),
                None => return Err((503, format!("{most} sessions are open (--max-sessions): close one first"))),
            }
        }
        Ok(())
    }

    /// Closes a session and ends its agent.
    pub(super) fn forget(&mut self, number: usize, out: &mut Out) {
        let Some(session) = self.sessions.remove(&number) else { return };
        self.gates.close(number, out);
        self.agents.forget(number);
        out.choose_far(number);
        out.remove_far();
        self.send(&Outbound::Forget { session: &session.id }, out);
    }

    pub(super) fn join(&mut self, client: u64, session: &str) {
        self.clients.insert(client, session.to_owned());
        if let Some(number) = self.number(session)
            && let Some(session) = self.sessions.get_mut(&number)
        {
            session.clients += 1;
        }
    }

    pub(super) fn leave(&mut self, client: u64, out: &mut Out) {
        if let Some(id) = self.clients.remove(&client)
            && let Some(number) = self.number(&id)
            && let Some(session) = self.sessions.get_mut(&number)
        {
            session.clients = session.clients.saturating_sub(1);
            session.used_at = Instant::now();
        }
        self.leave_run(client, out);
    }

    pub(super) fn take_begin(&mut self, client: u64, text: &str, out: &mut Out) {
        let begun = self.session_to_begin(text).and_then(|id| Ok((self.begin(&id, out)?, id)));
        let (status, text) = match begun {
            Ok(((_, is_new), id)) => (if is_new { 201 } else { 200 }, Object::default().text("session_id", &id).end()),
            Err((status, why)) => (status, Object::default().text("error", &why).end()),
        };
        self.send(&Outbound::Reply { client, status, text: &text }, out);
    }

    fn session_to_begin(&self, text: &str) -> Result<String, (u16, String)> {
        let invalid = |why: String| (400, why);
        if self.is_replay {
            return Err((409, REPLAY.to_owned()));
        }
        let text = if text.trim().is_empty() { "{}" } else { text };
        let fields = Fields::read(text).map_err(|why| invalid(why.to_string()))?;
        match fields.string("session_id").map_err(|why| invalid(why.to_string()))? {
            Some(id) => Ok(id),
            None => new_session_id().map_err(|error| (503, error.to_string())),
        }
    }

    pub(super) fn list(&self) -> String {
        let sessions = self.sessions.values().map(|session| {
            let entry = Object::default().text("session_id", &session.id).text("state", session.state());
            let entry = entry.text_some("goal", session.records.goal()).put("held", session.held.len());
            let ended = match &session.process {
                Process::Ended(why) => Some(why.as_str()),
                _ => None,
            };
            let entry = entry.put("clients", session.clients).text("begun_at", &format!("{:.3}", session.begun_at));
            entry.text_some("ended", ended).put_some("replay", self.is_replay.then_some("true")).end()
        });
        format!(r#"{{"sessions":[{}]}}"#, sessions.collect::<Vec<_>>().join(","))
    }

    /// The agent takes messages from now on: sends the queued ones.
    pub(super) fn run(&mut self, number: usize, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        session.process = Process::Running;
        for record in std::mem::take(&mut session.unsent) {
            session.records.sent(&record);
            if let Some(thread) = &mut session.thread {
                thread.sent(&record);
            }
            out.choose_far(number);
            out.add_line(Side::Far, &record);
        }
    }

    /// An agent's process has ended, or could not be started.
    pub(super) fn take_end(&mut self, number: usize, is_well: bool, why: &str, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        if let Process::Ended(_) = session.process {
            return;
        }
        session.process = Process::Ended(why.to_owned());
        session.records.agent_ended();
        session.unsent.clear();
        self.end_gates(number, out);
        if !is_well {
            self.publish_error(number, why, out);
        }
        let status = Object::default().text("type", "status").text("status", if is_well { "idle" } else { "error" });
        self.publish(number, &status.text("ended", why).end(), out);
        self.end_run(number, why, out);
    }

    /// When an unused session is closed.
    pub(super) fn idle_until(&self, session: &ServedSession) -> Option<Instant> {
        let is_unused = session.is_unused() && !self.is_replay && !self.settings.idle_timeout.is_zero();
        is_unused.then(|| session.used_at + self.settings.idle_timeout)
    }

    pub(super) fn show_recorded(&mut self, out: &mut Out) {
        let records = std::mem::take(&mut self.recorded);
        if records.is_empty() {
            return;
        }
        let (id, number) = RECORDED;
        self.open(number, id, Process::Ended("the session is a recording".to_owned()), out);
        for record in records {
            if let (Ok(fields), Some(session)) = (Fields::read(&record), self.sessions.get_mut(&number)) {
                session.note_images(&fields);
            }
            self.publish(number, &record, out);
        }
    }
}
