//! A question, and the records about it.

use crate::io::lines::plain_text;
use crate::json::{Object, quoted};
use crate::record::{Action, Call, Fields, OwnedCall, Unreadable, recognise, type_of, unreadable};
use jiff::Timestamp;
use serde_json::value::RawValue;

/// A call that a person is asked about: `{"type":"status","status":"waiting_human",...}`.
#[derive(Debug, Clone)]
pub struct Question {
    /// An answer must have it.
    pub nonce: String,
    /// Of the arguments as they are in the call, in hexadecimal digits.
    pub sha256: String,
    /// The call that is held.
    pub call: OwnedCall,
    /// Its fields besides the arguments that this program does not use: a JSON object ([`Call::beside_arguments`]).
    pub beside_arguments: Option<String>,
    /// The process that makes the calls, if it is known; for people.
    pub caller: Option<String>,
    /// Since when it is asked.
    pub asked_at: Option<Timestamp>,
    /// When the call is rejected, if nobody has answered.
    pub expires_at: Option<Timestamp>,
    /// Rules that can allow this call and others until the end of the run, the widest first; empty if that is not possible.
    pub rule_offers: Vec<String>,
    /// The rules file to which such a rule can also be written.
    pub rules_file: Option<String>,
}

impl Question {
    /// The record, JSON text without a line feed.
    pub fn record(&self) -> String {
        let record = Object::default().text("type", "status").text("status", "waiting_human");
        self.put_fields(record).text_some("rules_file", self.rules_file.as_deref()).end()
    }

    /// The call as a `tool_call` with `"requires_approval":true`, for clients of a session; JSON text without a line feed.
    pub fn held_call(&self) -> String {
        self.put_fields(Object::default().text("type", "tool_call")).put("requires_approval", "true").end()
    }

    fn put_fields(&self, record: Object) -> Object {
        let time = |time: Option<Timestamp>| time.map(|time| format!("{time:.6}"));
        let call = self.call.call();
        call.identify(record)
            .text("nonce", &self.nonce)
            .text("tool_name", &call.tool)
            .put("arguments", call.arguments_text())
            .put_some("beside_arguments", self.beside_arguments.as_ref())
            .put_some("target", call.target)
            .put_some("policy", call.policy)
            .text("arguments_sha256", &self.sha256)
            .text_some("caller", self.caller.as_deref())
            .text_some("asked_at", time(self.asked_at).as_deref())
            .text_some("expires_at", time(self.expires_at).as_deref())
            .put_some("rule_offers", (!self.rule_offers.is_empty()).then(|| list(&self.rule_offers)))
    }

    /// Reads a record; `None` if it is another one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(line: &str) -> Result<Option<Question>, Unreadable> {
        if type_of(line).as_deref() != Some("status") {
            return Ok(None);
        }
        let fields = Fields::read(line)?;
        let text = |key: &str| fields.get(key).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        if text("status").as_deref() != Some("waiting_human") {
            return Ok(None);
        }
        let needed = |key: &str| text(key).map_or_else(|| unreadable(format_args!("it has no {key}")), Ok);
        let time = |key: &str| text(key).and_then(|time| time.parse().ok());
        let context = ["session_id", "agent_id", "plan_id", "step_id"];
        let kept = ["call_id", "arguments", "target", "policy"].iter().chain(&context);
        let kept = kept.filter_map(|&key| Some((key, fields.get(key)?.get())));
        let call = Object::default().text("type", "tool_call").text("tool_name", &needed("tool_name")?).put_all(kept);
        let call = call.end();
        let Some(call) = recognise(&call)? else { return unreadable("it does not ask about a call") };
        Ok(Some(Question {
            nonce: needed("nonce")?,
            sha256: needed("arguments_sha256")?,
            call: (&call).into(),
            beside_arguments: fields.get("beside_arguments").map(|json| json.get().to_owned()),
            rules_file: text("rules_file"),
            caller: text("caller"),
            asked_at: time("asked_at"),
            expires_at: time("expires_at"),
            rule_offers: fields
                .get("rule_offers")
                .and_then(|list| serde_json::from_str(list.get()).ok())
                .unwrap_or_default(),
        }))
    }
}

/// A person's answer to a question.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// Whether the call may pass.
    pub action: Action,
    /// All of its arguments, JSON text, if they were edited.
    pub edited: Option<&'a str>,
    /// For the caller; may be empty.
    pub feedback: &'a str,
    /// A rule that allows such calls until the end of the run, and whether to write it to the rules file, too.
    pub rule: Option<(&'a str, bool)>,
}

impl Answer<'_> {
    /// The `hitl_response`, JSON text without a line feed.
    pub fn record(&self, question: &Question) -> String {
        let action = match self.action {
            Action::Approve => "approve",
            Action::Edit => "edit",
            Action::Reject => "reject",
        };
        Object::default()
            .text("type", "hitl_response")
            .put_some("call_id", question.call.call().id)
            .text("nonce", &question.nonce)
            .text("action", action)
            .text("arguments_sha256", &question.sha256)
            .put_some("edited_arguments", self.edited)
            .put_some("replace", self.edited.map(|_| "true"))
            .text_some("feedback", Some(self.feedback).filter(|feedback| !feedback.is_empty()))
            .text_some("scope", self.rule.map(|_| "session"))
            .text_some("rule", self.rule.map(|(text, _)| text))
            .put_some("remember", self.rule.filter(|(_, remember)| *remember).map(|_| "true"))
            .end()
    }
}

/// The record of a settled question. `verdict` and `by` are as in records; `sha256` is of the arguments that the call passes with, or
/// would have passed with.
pub fn settled(call: &Call<'_>, nonce: &str, verdict: &str, by: &str, sha256: &str) -> String {
    call.identify(Object::default().text("type", "policy_result"))
        .text("nonce", nonce)
        .text("verdict", verdict)
        .text("by", by)
        .text("arguments_sha256", sha256)
        .end()
}

/// The record of an answer that cannot be taken, with the reason.
pub fn refused(call: &Call<'_>, nonce: &str, why: &str) -> String {
    let context = Object::default().put_some("call_id", call.id).text("nonce", nonce).end();
    Object::default().text("type", "error").put("context", context).text("content", why).end()
}

fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(","))
}

/// A field's text; if it is not a string, its JSON.
pub(super) fn text(value: &RawValue) -> String {
    plain_text(value.get()).into_owned()
}
