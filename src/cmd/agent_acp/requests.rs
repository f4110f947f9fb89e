//! The editor's requests.

use super::permissions::Asked;
use super::session::{CANCEL, EditorSession, Mode, Process, Prompt};
use super::stage::Editor;
use crate::acp::{Client, SessionRequest, StopReason, Updates, parameters, prompt_text};
use crate::cmd::agents::{LOAD, MUCH, is_session_id, new_session_id};
use crate::io::stage::{Out, Side};
use crate::json::Object;
use crate::record::{Fields, is_same_id};
use crate::rpc::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message, PARSE_ERROR, RpcError};
use crate::session::State;
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::time::Instant;

/// ACP's code for a missing resource.
const NOT_FOUND: i64 = -32002;
/// ACP's code for a cancelled request.
const REQUEST_CANCELLED: i64 = -32800;

/// The most sessions that can be open at once; each is a process.
const MOST_SESSIONS: usize = 64;

/// The answer to a request; `None` if it is sent later.
type Answer = Result<Option<String>, RpcError>;

fn invalid(why: impl Into<String>) -> RpcError {
    RpcError::new(INVALID_PARAMS, why)
}

fn refused(why: impl Into<String>) -> RpcError {
    RpcError::new(INVALID_REQUEST, why)
}

impl Editor {
    /// Takes a line from the editor.
    ///
    /// # Errors
    /// The line is not a message: JSON-RPC's code, and why.
    pub(super) fn take_message(&mut self, text: &str, out: &mut Out) -> Result<(), (i64, String)> {
        let message = match Message::read(text) {
            Ok(message) => message,
            Err(why) => {
                if let Some(asked) = self.meant_answer(text) {
                    self.take_answer(asked, Err(RpcError::new(INVALID_REQUEST, why)), out);
                    return Ok(());
                }
                let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
                let why =
                    if text.trim_start().starts_with('[') { "batches are not part of ACP".to_owned() } else { why };
                return Err((if is_json { INVALID_REQUEST } else { PARSE_ERROR }, why));
            }
        };
        match message {
            Message::Request { id, method, params } => {
                if !id.get().starts_with('"') && id.get().parse::<i64>().is_err() {
                    return Err((INVALID_REQUEST, format!("the id is neither an integer nor a string: {id}")));
                }
                let answer = parameters(params).map_err(invalid);
                match answer.and_then(|params| self.take_request(id.get(), &method, &params, out)) {
                    Ok(Some(result)) => self.answer(id.get(), Ok(&result), out),
                    Ok(None) => {}
                    Err(error) => self.answer(id.get(), Err(&error), out),
                }
            }
            Message::Notification { .. } if Fields::read(text).is_ok_and(|fields| fields.get("id").is_some()) => {
                return Err((INVALID_REQUEST, "the id is null, so its answer could not be matched to it".to_owned()));
            }
            Message::Notification { method, params } => {
                let Ok(params) = parameters(params) else { return Ok(()) };
                match method.as_str() {
                    "session/cancel" => {
                        if let Ok(number) = self.session(&params) {
                            self.cancel(number, out);
                        }
                    }
                    "$/cancel_request" => self.cancel_request(params.get("requestId"), out),
                    _ => {}
                }
            }
            Message::Response { id, outcome } => {
                let outcome = outcome.map(RawValue::get);
                let asked = id.get().parse().ok().and_then(|id: u64| self.asked.remove(&id));
                match asked {
                    Some(asked) => self.take_answer(asked, outcome, out),
                    None => self.report.note_again(format_args!("the editor answered request {id}, which is not open")),
                }
            }
        }
        Ok(())
    }

    /// The request that an unreadable answer most likely belongs to.
    fn meant_answer(&mut self, text: &str) -> Option<Asked> {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
        let id = object.get("id").filter(|_| !object.contains_key("method"))?.as_u64()?;
        self.asked.remove(&id)
    }

    fn take_request(&mut self, id: &str, method: &str, params: &Fields<'_>, out: &mut Out) -> Answer {
        if self.client.is_none() && method != "initialize" {
            return Err(refused(format!("{method} was sent before initialize")));
        }
        match method {
            "initialize" => {
                self.client = Some(Client::read(params).map_err(invalid)?);
                Ok(Some(self.description()))
            }
            "authenticate" => Err(invalid("authentication is not supported: authMethods is empty")),
            "session/new" => self.begin(id, params, out),
            "session/load" if self.agents.keeps_sessions() => self.load(id, params, out),
            "session/prompt" => self.prompt(id, params, out),
            "session/set_mode" => self.set_mode(params, out),
            "session/close" => self.close(params, out),
            _ => Err(RpcError::new(METHOD_NOT_FOUND, format!("unknown method {method}"))),
        }
    }

    /// The result of `initialize`: the capabilities.
    fn description(&self) -> String {
        let prompt = r#"{"image":false,"audio":false,"embeddedContext":true}"#;
        let capabilities = Object::default()
            .put("loadSession", self.agents.keeps_sessions())
            .put("promptCapabilities", prompt)
            .put("mcpCapabilities", r#"{"http":false,"sse":false}"#)
            .put("sessionCapabilities", r#"{"close":{}}"#)
            .end();
        let info =
            Object::default().text("name", self.report.command()).text("version", env!("CARGO_PKG_VERSION")).end();
        let result = Object::default().put("protocolVersion", 1).put("agentInfo", info);
        result.put("agentCapabilities", capabilities).put("authMethods", "[]").end()
    }

    /// The number of the session that the parameters name.
    fn session(&self, params: &Fields<'_>) -> Result<usize, RpcError> {
        let id = params.text("sessionId").ok_or_else(|| invalid("sessionId is missing"))?;
        let session = self.sessions.iter().find(|(_, session)| session.id == id);
        session.map(|(&number, _)| number).ok_or_else(|| invalid(format!("unknown session {id:?}")))
    }

    fn begin(&mut self, request: &str, params: &Fields<'_>, out: &mut Out) -> Answer {
        let folder = self.read_session(params)?;
        let id = new_session_id().map_err(|error| RpcError::new(INTERNAL_ERROR, error.to_string()))?;
        let process = Process::Starting { request: Some(request.to_owned()), by: None };
        self.start(id, folder, process, out)
    }

    fn load(&mut self, request: &str, params: &Fields<'_>, out: &mut Out) -> Answer {
        let folder = self.read_session(params)?;
        let id = params.text("sessionId").filter(|id| is_session_id(id));
        let id = id.ok_or_else(|| {
            invalid("invalid sessionId: use letters, digits, - and _, at most 64, starting with a letter or digit")
        })?;
        let open = self.sessions.iter().find(|(_, session)| session.id == id);
        match open.map(|(&number, session)| (number, matches!(session.process, Process::Ended(_)))) {
            // Its agent has ended, so it can be started again.
            Some((number, true)) => self.forget(number, out),
            Some((_, false)) => return Err(invalid(format!("the session {id:?} is open already"))),
            None => {}
        }
        if !self.agents.has_session(&id, &folder) {
            return Err(RpcError::new(NOT_FOUND, format!("unknown session {id:?}")));
        }
        let process = Process::Loading { request: request.to_owned(), by: Instant::now() + LOAD };
        self.start(id, folder, process, out)
    }

    /// The folder of a session that is created or loaded.
    fn read_session(&mut self, params: &Fields<'_>) -> Result<PathBuf, RpcError> {
        let SessionRequest { folder, unused } = SessionRequest::read(params).map_err(invalid)?;
        if !folder.is_dir() {
            return Err(invalid(format!("cwd is not a folder: {}", folder.display())));
        }
        let running = self.sessions.values().filter(|session| !matches!(session.process, Process::Ended(_)));
        if running.count() >= MOST_SESSIONS {
            return Err(refused(format!("{MOST_SESSIONS} sessions are open: close one first")));
        }
        if let Some(unused) = unused.filter(|_| !std::mem::replace(&mut self.has_reported_unused, true)) {
            self.report.note(format_args!("ignored {unused} that the editor offers: the agent has its own world"));
        }
        Ok(folder)
    }

    fn start(&mut self, id: String, folder: PathBuf, process: Process, out: &mut Out) -> Answer {
        let number = self.next_session;
        let program = self.agents.program(number, &id, Some(folder.clone()));
        let program = program.map_err(|error| RpcError::new(INTERNAL_ERROR, error.to_string()))?;
        // Far sides are numbered from 0 in the order in which they are added, and so are sessions.
        self.next_session = out.add_far(program) + 1;
        let session = EditorSession {
            id,
            mode: Mode::Ask,
            process,
            prompt: None,
            updates: Updates::new(folder),
            is_silent: false,
        };
        self.sessions.insert(number, session);
        Ok(None)
    }

    fn prompt(&mut self, request: &str, params: &Fields<'_>, out: &mut Out) -> Answer {
        let number = self.session(params)?;
        let blocks = params.list("prompt").map_err(|why| invalid(why.to_string()))?;
        let text = prompt_text(&blocks).map_err(invalid)?;
        let record = Object::default().text("type", "user_message").text("content", &text).text("role", "user").end();
        let keeps_sessions = self.agents.keeps_sessions();
        let Some(session) = self.sessions.get_mut(&number) else { return Ok(None) };
        if session.prompt.is_some() {
            return Err(refused("the previous prompt of this session is not answered yet"));
        }
        // The editor itself is never held back, because a cancel has to be read.
        out.choose_far(number);
        let unread = out.sent(Side::Far).saturating_sub(out.written(Side::Far));
        if session.is_running() && unread > MUCH {
            return Err(refused("the agent has not read the previous prompt yet"));
        }
        let mut prompt = Prompt { request: request.to_owned(), cancelled: None, unsent: None };
        match &session.process {
            Process::Starting { by: None, .. } => {
                prompt.unsent = Some(record);
                session.prompt = Some(prompt);
            }
            Process::Starting { .. } | Process::Running => {
                session.updates.prompt(&record);
                session.prompt = Some(prompt);
                self.send_agent(number, &record, out);
            }
            Process::Ended(_) if keeps_sessions => {
                prompt.unsent = Some(record);
                session.process = Process::Starting { request: None, by: None };
                session.prompt = Some(prompt);
                out.choose_far(number);
                out.respawn();
            }
            Process::Ended(why) => return Err(refused(format!("{why}. Start a new session"))),
            Process::Loading { .. } => return Err(refused("the session is not loaded yet")),
            Process::Ending { .. } => return Err(refused("the agent is ending")),
        }
        Ok(None)
    }

    fn set_mode(&mut self, params: &Fields<'_>, out: &mut Out) -> Answer {
        let number = self.session(params)?;
        let id = params.text("modeId").unwrap_or_default();
        let mode = Mode::named(&id).ok_or_else(|| invalid(format!("unknown mode {id:?}")))?;
        if let Some(session) = self.sessions.get_mut(&number) {
            session.mode = mode;
        }
        if mode == Mode::Observe {
            self.reject_all(number, super::permissions::OBSERVING, out);
        }
        Ok(Some("{}".to_owned()))
    }

    fn close(&mut self, params: &Fields<'_>, out: &mut Out) -> Answer {
        let number = self.session(params)?;
        self.end_prompt(number, StopReason::Cancelled, out);
        self.refuse_start(number, out);
        Ok(Some("{}".to_owned()))
    }

    /// Cancels the agent's work on a prompt or, in a loaded session, without a prompt.
    fn cancel(&mut self, number: usize, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        let is_at_work = matches!(session.updates.state(), State::Running | State::Confirm);
        match &mut session.prompt {
            Some(Prompt { cancelled: Some(_), .. }) => return,
            Some(prompt) => prompt.cancelled = Some(Instant::now() + CANCEL),
            None if !is_at_work => return,
            None => {}
        }
        if let Some(Prompt { unsent: unsent @ Some(_), .. }) = &mut session.prompt {
            *unsent = None;
            return self.end_prompt(number, StopReason::Cancelled, out);
        }
        self.reject_all(number, "the person cancelled the turn", out);
        self.withdraw_all(number, out);
        if self.sessions.get(&number).is_some_and(EditorSession::is_running) {
            self.send_agent(number, r#"{"type":"cancel"}"#, out);
        }
    }

    /// The editor cancels one of its requests.
    fn cancel_request(&mut self, id: Option<&RawValue>, out: &mut Out) {
        let is_meant = |own: &str| is_same_id(Some(own), id.map(RawValue::get));
        let prompted =
            |session: &EditorSession| session.prompt.as_ref().is_some_and(|prompt| is_meant(&prompt.request));
        if let Some(number) = self.sessions.iter().find(|(_, session)| prompted(session)).map(|(&number, _)| number) {
            return self.cancel(number, out);
        }
        let begun = self.sessions.iter().find(|(_, session)| session.process.request().is_some_and(is_meant));
        if let Some(number) = begun.map(|(&number, _)| number) {
            self.refuse_start(number, out);
        }
    }

    /// Ends a session's start: if the request that creates or loads the session is unanswered, it is cancelled.
    fn refuse_start(&mut self, number: usize, out: &mut Out) {
        let request = self.sessions.get(&number).and_then(|session| session.process.request()).map(str::to_owned);
        if let Some(request) = request {
            self.answer(&request, Err(&RpcError::new(REQUEST_CANCELLED, "cancelled")), out);
        }
        self.forget(number, out);
    }
}
