//! Asking the user of the MCP client that makes the calls, through the client: `elicitation/create` in its form mode
//! (MCP 2025-11-25, elicitation). The client's answer is trusted, so this is for clients that deserve it.

use super::gate::Gate;
use crate::cmd::approver::excerpt::visible;
use pipewright_clients::approvals::Question;
use pipewright_io::stage::{Out, Side};
use pipewright_policy::audit::SettledBy;
use pipewright_record::json::Object;
use pipewright_record::rpc::{Message, notification};
use pipewright_record::{Action, Call, Fields, Form, HitlResponse, Scope};
use pipewright_sys::random::token;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::VecDeque;

/// A user is asked only about what can be shown completely: at most this many bytes of arguments, other fields, target
/// and policy.
const MAX_SHOWN: usize = 4000;

/// At most this many settled requests are remembered, whose answers may come late or twice.
const MAX_SETTLED: usize = 64;

/// The form that the user fills in.
const SCHEMA: &str = r#"{"type":"object","properties":{"decision":{"type":"string","title":"May this call pass?","enum":["approve","reject"]},"feedback":{"type":"string","title":"Feedback","description":"For the model, if you reject the call"}},"required":["decision"]}"#;

/// The state of `--ask client`.
#[derive(Debug, Default)]
pub struct Elicitation {
    /// The client has declared in `initialize` that it can ask its user.
    is_supported: bool,
    /// The id of our request that is not answered yet.
    open: Option<String>,
    /// The ids of requests that were answered or withdrawn.
    settled: VecDeque<String>,
}

impl Elicitation {
    /// Reads the client's capabilities in an `initialize` request. An empty `elicitation` means the form mode.
    fn observe(&mut self, method: &str, params: Option<&RawValue>) {
        if method != "initialize" {
            return;
        }
        #[derive(Deserialize)]
        struct Params<'a> {
            #[serde(borrow)]
            capabilities: Option<Capabilities<'a>>,
        }
        #[derive(Deserialize)]
        struct Capabilities<'a> {
            #[serde(borrow)]
            elicitation: Option<&'a RawValue>,
        }
        let params = params.and_then(|params| serde_json::from_str::<Params<'_>>(params.get()).ok());
        let elicitation = params.and_then(|params| params.capabilities?.elicitation);
        self.is_supported = elicitation.and_then(|modes| Fields::read(modes.get()).ok()).is_some_and(|modes| {
            modes.iter().next().is_none() || modes.get("form").is_some_and(|form| form.get() != "null")
        });
    }

    /// Whether the client can ask its user about a call.
    pub(super) fn can_ask(&self, call: &Call<'_>, beside_arguments: Option<&str>) -> bool {
        let length = |json: Option<&RawValue>| json.map_or(0, |json| json.get().len());
        let beside = beside_arguments.map_or(0, str::len);
        let shown = length(call.arguments) + length(call.target) + length(call.policy) + beside;
        self.is_supported && call.form == Form::JsonRpc && shown <= MAX_SHOWN
    }

    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Sends the request to the client. The id is random, so it is never one of the server's own.
    pub(super) fn ask(&mut self, asked: &Question, out: &mut Out) {
        let Ok(id) = token() else { return };
        let id = format!("pipewright-{id}");
        let params = Object::default().text("message", &message(asked)).put("requestedSchema", SCHEMA).end();
        let request = Object::default().text("jsonrpc", "2.0").text("id", &id).text("method", "elicitation/create");
        out.add_line(Side::NEAR, &request.put("params", params).end());
        self.open = Some(id);
    }

    /// Withdraws a request that needs no answer any more.
    fn withdraw(&mut self, out: &mut Out) {
        let Some(id) = self.open.take() else { return };
        let params = Object::default().text("requestId", &id).text("reason", "the question is settled").end();
        out.add_line(Side::NEAR, notification("notifications/cancelled", Some(&params)).trim_end());
        self.settle(id);
    }

    fn settle(&mut self, id: String) {
        self.settled.push_back(id);
        if self.settled.len() > MAX_SETTLED {
            self.settled.pop_front();
        }
    }

    /// Whether an id, JSON text, is that of the open request; `None` if it is not one of ours.
    fn take(&mut self, id: &RawValue) -> Option<bool> {
        let id = serde_json::from_str::<String>(id.get()).ok()?;
        if self.open.take_if(|open| *open == id).is_some() {
            self.settle(id);
            return Some(true);
        }
        self.settled.contains(&id).then_some(false)
    }
}

impl Gate {
    /// Withdraws the request if its question is settled.
    pub(super) fn withdraw_elicited(&mut self, out: &mut Out) {
        if let Some(elicitation) = self.people.elicitation.as_mut().filter(|_| self.pending.is_none()) {
            elicitation.withdraw(out);
        }
    }

    /// Takes a line of the client. Gives whether it answers a request of ours, and so must not reach the server.
    pub(super) fn take_elicited(&mut self, place: &str, body: &str, out: &mut Out) -> bool {
        let Some(elicitation) = &mut self.people.elicitation else { return false };
        let outcome = match Message::read(body) {
            Ok(Message::Response { id, outcome }) => match elicitation.take(id) {
                Some(true) => outcome,
                // Its question is settled.
                Some(false) => return true,
                None => return false,
            },
            Ok(Message::Request { method, params, .. }) => {
                elicitation.observe(&method, params);
                return false;
            }
            _ => return false,
        };
        match outcome.map_err(|error| error.message).and_then(|result| read(result.get())) {
            Ok(answer) => self.decide(&answer, SettledBy::Client, out),
            Err(why) => {
                self.passage.report.fault(place, format_args!("the client did not ask its user: {why}"));
                self.client_failed(out);
            }
        }
        true
    }
}

/// The user's answer. A user who closes the question without an answer has not approved it.
fn read(result: &str) -> Result<HitlResponse<'static>, String> {
    #[derive(Deserialize)]
    struct ElicitResult {
        action: String,
        content: Option<Content>,
    }
    #[derive(Deserialize)]
    struct Content {
        decision: Option<String>,
        feedback: Option<String>,
    }
    let ElicitResult { action, content } = serde_json::from_str(result).map_err(|error| error.to_string())?;
    let accepted = content.filter(|_| action == "accept");
    let is_approved = accepted.as_ref().is_some_and(|content| content.decision.as_deref() == Some("approve"));
    Ok(HitlResponse {
        call_id: None,
        nonce: Cow::default(),
        action: if is_approved { Action::Approve } else { Action::Reject },
        edited_arguments: None,
        replace: false,
        arguments_sha256: None,
        feedback: accepted.and_then(|content| content.feedback).map(Cow::Owned),
        scope: Scope::Call,
        rule: None,
        remember: false,
    })
}

/// The text for the user: everything that the approval covers.
fn message(asked: &Question) -> String {
    let call = asked.call.call();
    let mut lines = vec![format!("May this call of {} pass?", visible(&call.tool))];
    let reason = call.policy.and_then(|policy| Fields::read(policy.get()).ok()?.get("reason"));
    let text = |json: Option<&RawValue>| json.map(|json| json.get().to_owned());
    let parts = [
        ("reason", text(reason)),
        ("target", text(call.target)),
        ("arguments", text(call.arguments)),
        ("besides the arguments", asked.beside_arguments.clone()),
    ];
    lines.extend(parts.into_iter().filter_map(|(name, json)| Some(format!("{name}: {}", visible(&json?)))));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_accepted_approval_approves() {
        for (result, action, feedback) in [
            (r#"{"action":"accept","content":{"decision":"approve"}}"#, Action::Approve, None),
            (r#"{"action":"accept","content":{"decision":"reject","feedback":"no"}}"#, Action::Reject, Some("no")),
            (r#"{"action":"accept","content":{}}"#, Action::Reject, None),
            (r#"{"action":"accept"}"#, Action::Reject, None),
            (r#"{"action":"decline","content":{"decision":"approve"}}"#, Action::Reject, None),
            (r#"{"action":"cancel"}"#, Action::Reject, None),
        ] {
            let answer = read(result);
            assert!(
                matches!(&answer, Ok(answer) if answer.action == action && answer.feedback.as_deref() == feedback),
                "{result}: {answer:?}"
            );
        }
        assert!(read("{}").is_err() && read(r#"{"action":"accept","content":{"decision":1}}"#).is_err());
    }
}
