//! The editor's requests.

use super::permissions::SentRequest;
use super::session::{CANCEL, EditorSession, Mode, Prompt};
use super::stage::Editor;
use crate::cmd::agents::{is_session_id, new_session_id};
use crate::cmd::sessions::State as AgentState;
use pipewright_clients::acp::{ClientCapabilities, SessionRequest, StopReason, Updates, parameters, prompt_text};
use pipewright_clients::session::State;
use pipewright_io::stage::{Out, Side};
use pipewright_record::json::Object;
use pipewright_record::rpc::{
    INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message, PARSE_ERROR, RpcError,
};
use pipewright_record::{Cancel, Fields, Record, UserMessage, is_same_id};
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::time::Instant;

/// ACP's code for a missing resource.
const NOT_FOUND: i64 = -32002;
/// ACP's code for a cancelled request.
const REQUEST_CANCELLED: i64 = -32800;

/// The most sessions that can be open at once; each is a process.
const MAX_SESSIONS: usize = 64;

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
                if let Some(asked) = self.likely_request(text) {
                    self.take_answer(asked, Err(RpcError::new(INVALID_REQUEST, why)), out);
                    return Ok(());
                }
                let is_json = serde_json::from_str::<&RawValue>(text).is_ok();
                let why = if text.trim_start().starts_with('[') {
                    "batches are not part of ACP".to_owned()
                } else {
                    why.to_string()
                };
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
                    None => {
                        self.report.note_limited(format_args!("the editor answered request {id}, which is not open"))
                    }
                }
            }
        }
        Ok(())
    }

    /// The request that an unreadable answer most likely belongs to.
    fn likely_request(&mut self, text: &str) -> Option<SentRequest> {
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
                self.client = Some(ClientCapabilities::read(params).map_err(invalid)?);
                Ok(Some(self.description()))
            }
            "authenticate" => Err(invalid("authentication is not supported: authMethods is empty")),
            "session/new" => self.begin(id, params, out),
            "session/load" if self.sessions.agents.keeps_sessions() => self.load(id, params, out),
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
            .put("loadSession", self.sessions.agents.keeps_sessions())
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
        self.sessions.number(&id).ok_or_else(|| invalid(format!("unknown session {id:?}")))
    }

    fn begin(&mut self, request: &str, params: &Fields<'_>, out: &mut Out) -> Answer {
        let folder = self.read_session(params)?;
        let id = new_session_id().map_err(|error| RpcError::new(INTERNAL_ERROR, error.to_string()))?;
        self.start(request, &id, folder, false, out)
    }

    fn load(&mut self, request: &str, params: &Fields<'_>, out: &mut Out) -> Answer {
        let folder = self.read_session(params)?;
        let id = params.text("sessionId").filter(|id| is_session_id(id));
        let id = id.ok_or_else(|| {
            invalid("invalid sessionId: use letters, digits, - and _, at most 64, starting with a letter or digit")
        })?;
        if let Some(number) = self.sessions.number(&id) {
            // Once its agent has ended, it can be started again.
            if self.sessions.get(number).is_some_and(|session| !session.has_ended()) {
                return Err(invalid(format!("the session {id:?} is open already")));
            }
            self.forget(number, out);
        }
        if !self.sessions.agents.has_session(&id, &folder) {
            return Err(RpcError::new(NOT_FOUND, format!("unknown session {id:?}")));
        }
        self.start(request, &id, folder, true, out)
    }

    /// The folder of a session that is created or loaded.
    fn read_session(&mut self, params: &Fields<'_>) -> Result<PathBuf, RpcError> {
        let SessionRequest { folder, unused } = SessionRequest::read(params).map_err(invalid)?;
        if !folder.is_dir() {
            return Err(invalid(format!("cwd is not a folder: {}", folder.display())));
        }
        if self.sessions.by_number.values().filter(|session| !session.has_ended()).count() >= MAX_SESSIONS {
            return Err(refused(format!("{MAX_SESSIONS} sessions are open: close one first")));
        }
        if let Some(unused) = unused.filter(|_| !std::mem::replace(&mut self.has_reported_unused, true)) {
            self.report.note(format_args!("ignored {unused} that the editor offers: the agent has its own world"));
        }
        Ok(folder)
    }

    fn start(&mut self, request: &str, id: &str, folder: PathBuf, is_loaded: bool, out: &mut Out) -> Answer {
        let session = |agent| EditorSession {
            agent,
            mode: Mode::Ask,
            request: Some(request.to_owned()),
            started_by: None,
            prompt: None,
            updates: Updates::new(folder.clone()),
        };
        let started = self.sessions.start(id, Some(folder.clone()), is_loaded, session, out);
        started.map(|_| None).map_err(|error| RpcError::new(INTERNAL_ERROR, error.to_string()))
    }

    fn prompt(&mut self, request: &str, params: &Fields<'_>, out: &mut Out) -> Answer {
        let number = self.session(params)?;
        let blocks = params.list("prompt").map_err(|why| invalid(why.to_string()))?;
        let text = prompt_text(&blocks).map_err(invalid)?;
        let record = UserMessage::new(text).json();
        let (keeps_sessions, is_behind) = (self.sessions.agents.keeps_sessions(), self.sessions.is_behind(number, out));
        let Some(session) = self.sessions.get_mut(number) else { return Ok(None) };
        if session.prompt.is_some() {
            return Err(refused("the previous prompt of this session is not answered yet"));
        }
        // The editor itself is never held back, because a cancel has to be read.
        if session.agent.is_alive() && is_behind {
            return Err(refused("the agent has not read the previous prompt yet"));
        }
        match &session.agent.state {
            AgentState::Starting(false) => _ = session.agent.keep(&record),
            AgentState::Running => {
                session.updates.prompt(&record);
                out.add_line(Side::Far(number), &record);
            }
            AgentState::Ended(_) if keeps_sessions => _ = session.agent.keep(&record),
            AgentState::Ended(why) => return Err(refused(format!("{why}. Start a new session"))),
            AgentState::Starting(true) | AgentState::Loading { .. } => {
                return Err(refused("the session is not loaded yet"));
            }
            AgentState::Ending { .. } => return Err(refused("the agent is ending")),
        }
        session.prompt = Some(Prompt { request: request.to_owned(), cancelled: None });
        if session.has_ended() {
            self.sessions.restart(number, out);
        }
        Ok(None)
    }

    fn set_mode(&mut self, params: &Fields<'_>, out: &mut Out) -> Answer {
        let number = self.session(params)?;
        let id = params.text("modeId").unwrap_or_default();
        let mode = Mode::named(&id).ok_or_else(|| invalid(format!("unknown mode {id:?}")))?;
        if let Some(session) = self.sessions.get_mut(number) {
            session.mode = mode;
        }
        if mode == Mode::Observe {
            self.reject_all(number, super::permissions::OBSERVE_MODE, out);
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
        let Some(session) = self.sessions.get_mut(number) else { return };
        let is_at_work = matches!(session.updates.state(), State::Running | State::Confirm);
        match &mut session.prompt {
            Some(Prompt { cancelled: Some(_), .. }) => return,
            Some(prompt) => prompt.cancelled = Some(Instant::now() + CANCEL),
            None if !is_at_work => return,
            None => {}
        }
        if session.agent.drop_unsent() {
            return self.end_prompt(number, StopReason::Cancelled, out);
        }
        self.reject_all(number, "the person cancelled the turn", out);
        self.withdraw_all(number, out);
        if self.sessions.get(number).is_some_and(|session| session.agent.is_alive()) {
            self.sessions.send(number, &Cancel::TURN.json(), out);
        }
    }

    /// The editor cancels one of its requests.
    fn cancel_request(&mut self, id: Option<&RawValue>, out: &mut Out) {
        let is_meant = |own: &str| is_same_id(Some(own), id.map(RawValue::get));
        let is_prompt = |prompt: &Prompt| is_meant(&prompt.request);
        if let Some(number) = self.sessions.find(|session| session.prompt.as_ref().is_some_and(is_prompt)) {
            self.cancel(number, out);
        } else if let Some(number) = self.sessions.find(|session| session.request.as_deref().is_some_and(is_meant)) {
            self.refuse_start(number, out);
        }
    }

    /// Ends a session's start: if the request that creates or loads the session is unanswered, it is cancelled.
    fn refuse_start(&mut self, number: usize, out: &mut Out) {
        if let Some(request) = self.sessions.get_mut(number).and_then(|session| session.request.take()) {
            self.answer(&request, Err(&RpcError::new(REQUEST_CANCELLED, "cancelled")), out);
        }
        self.forget(number, out);
    }
}
