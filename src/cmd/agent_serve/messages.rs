//! Messages that clients send over WebSocket.

use super::sessions::REPLAY;
use super::stage::AgentServer;
use crate::cmd::options::TOO_DEEP;
use pipewright_io::stage::Out;
use pipewright_lines::deeper_than;
use pipewright_record::{Call, ErrorRecord, Fields, recognise};
use serde_json::value::RawValue;

impl AgentServer {
    pub(super) fn take_message(&mut self, client: u64, seen: u64, text: &str, out: &mut Out) {
        let Some(id) = self.clients.get(&client).cloned() else { return };
        if let Err(why) = self.take_line(&id, seen, text, out) {
            let fields = Fields::read(text).ok();
            let call_id = fields.as_ref().and_then(|fields| fields.get("call_id"));
            self.refuse(client, &ErrorRecord::about(call_id, None, why), out);
        }
    }

    /// # Errors
    /// Why it is not accepted, for people.
    fn take_line(&mut self, id: &str, seen: u64, text: &str, out: &mut Out) -> Result<(), String> {
        if text.trim().is_empty() {
            return Ok(());
        }
        if deeper_than(text.as_bytes(), self.settings.max_depth) {
            return Err(TOO_DEEP.to_owned());
        }
        if self.is_replay {
            return Err(REPLAY.to_owned());
        }
        let fields = Fields::read(text).map_err(|why| why.to_string())?;
        let session_id = fields.string("session_id").map_err(|why| why.to_string())?;
        if let Some(other) = session_id.filter(|other| other != id) {
            return Err(format!("this connection is for the session {id:?}, not {other:?}"));
        }
        let kind = fields.text("type");
        match kind.as_deref() {
            Some("user_message") => {
                fields.string("content").ok().flatten().ok_or("its content is not a string")?;
                let begun = self.begin(id, out).map_err(|refused| refused.why)?;
                return self.give_agent(begun.number, text.trim(), out);
            }
            Some("hitl_response") => {
                let number = self.sessions.number(id).ok_or(NO_SESSION)?;
                return self.answer_held(number, Some(seen), text, out);
            }
            Some("cancel" | "list_tools" | "input_response") => {}
            kind => match recognise(text).map_err(|why| why.to_string())? {
                Some(call) => self.check_call(id, &call)?,
                None => {
                    return Err(format!(
                        "{} is not a message to an agent: {KNOWN_MESSAGES}",
                        kind.unwrap_or("a line without a type")
                    ));
                }
            },
        }
        let number = self.sessions.number(id).ok_or(NO_SESSION)?;
        self.give_agent(number, text.trim(), out)
    }

    /// Checks a call by the person. Clients distinguish it from the agent's calls by its id.
    fn check_call(&self, id: &str, call: &Call<'_>) -> Result<(), String> {
        let session = self.sessions.number(id).and_then(|number| self.sessions.get(number));
        match (session, call.id.map(RawValue::get)) {
            (_, None | Some("null")) => Err("the call has no id".to_owned()),
            (Some(session), Some(id)) if session.records.has_call(id) => {
                Err(format!("{id} is the id of a call by the agent: use another one"))
            }
            _ => Ok(()),
        }
    }
}

const NO_SESSION: &str = "the session does not exist yet: start it with a user_message or POST /sessions";
const KNOWN_MESSAGES: &str = "send user_message, cancel, hitl_response, input_response, list_tools, or a call";
