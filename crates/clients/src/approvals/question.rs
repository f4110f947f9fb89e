//! A question, and the records about it.

use jiff::Timestamp;
use pipewright_lines::plain_text;
use pipewright_record::json::raw;
use pipewright_record::{
    About, Action, Call, CallFields, ErrorRecord, Fields, HitlResponse, OwnedCall, PolicyResult, Record, Scope, State,
    Status, ToolCall, Unreadable, recognise, type_of, unreadable,
};
use serde_json::value::RawValue;
use std::borrow::Cow;

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
    /// Rules that can allow this call and others until the end of the run, the widest first; empty if that is not
    /// possible.
    pub rule_offers: Vec<String>,
    /// The rules file to which such a rule can also be written.
    pub rules_file: Option<String>,
}

impl Question {
    /// The record, JSON text without a line feed.
    pub fn record(&self) -> String {
        let call = self.call.call();
        let status = Status {
            question: Some(self.fields(&call)),
            rules_file: self.rules_file.as_deref(),
            ..Status::of_call(State::WaitingHuman, call.about())
        };
        status.json()
    }

    /// The call as a `tool_call` with `"requires_approval":true`, for clients of a session; JSON text without a line
    /// feed.
    pub fn held_call(&self) -> String {
        let call = self.call.call();
        let held =
            ToolCall { about: call.about(), call: self.fields(&call), requires_approval: true, ..ToolCall::default() };
        held.json()
    }

    fn fields<'a>(&'a self, call: &Call<'a>) -> CallFields<'a> {
        let time = |time: Option<Timestamp>| time.map(|time| format!("{time:.6}"));
        CallFields {
            nonce: Some(&self.nonce),
            tool_name: call.tool.clone(),
            arguments: Some(call.arguments.unwrap_or(raw("{}"))),
            beside_arguments: self.beside_arguments.as_deref().map(raw),
            target: call.target,
            policy: call.policy,
            arguments_sha256: Some(&self.sha256),
            caller: self.caller.as_deref(),
            asked_at: time(self.asked_at),
            expires_at: time(self.expires_at),
            rule_offers: &self.rule_offers,
        }
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
        let call = CallFields {
            tool_name: needed("tool_name")?.into(),
            arguments: fields.get("arguments"),
            target: fields.get("target"),
            policy: fields.get("policy"),
            ..CallFields::default()
        };
        let call = ToolCall { about: About::of(&fields), call, ..ToolCall::default() }.json();
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
        let response = HitlResponse {
            call_id: question.call.call().id,
            nonce: (&*question.nonce).into(),
            action: self.action,
            arguments_sha256: Some((&*question.sha256).into()),
            edited_arguments: self.edited.map(raw),
            replace: self.edited.is_some(),
            feedback: Some(self.feedback.into()).filter(|feedback: &Cow<'_, str>| !feedback.is_empty()),
            scope: if self.rule.is_some() { Scope::Session } else { Scope::Call },
            rule: self.rule.map(|(text, _)| text.into()),
            remember: self.rule.is_some_and(|(_, remember)| remember),
        };
        response.json()
    }
}

/// The record of a settled question. `verdict` and `by` are as in records; `sha256` is of the arguments that the call
/// passes with, or would have passed with.
pub fn settled(call: &Call<'_>, nonce: &str, verdict: &str, by: &str, sha256: &str) -> String {
    let (about, nonce) = (call.about(), Some(nonce));
    PolicyResult {
        about,
        nonce,
        verdict: verdict.into(),
        by: by.into(),
        arguments_sha256: sha256.into(),
        feedback: None,
    }
    .json()
}

/// The record of an answer that cannot be taken, with the reason.
pub fn refused(call: &Call<'_>, nonce: &str, why: &str) -> String {
    ErrorRecord::about(call.id, Some(nonce), why).json()
}

/// A field's text; if it is not a string, its JSON.
pub(super) fn text(value: &RawValue) -> String {
    plain_text(value.get()).into_owned()
}
