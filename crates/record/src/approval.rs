//! A person's answer about a held call: `hitl_response`.

use super::{Fields, Record, Unreadable, named, schema, unreadable};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Whether a record is a gate's decision about a held call: a `policy_result`, or a `status` of such a call. Only gates write
/// them.
pub fn is_decision(line: &str) -> bool {
    let Ok(fields) = Fields::read(line) else { return false };
    let text = |key| fields.get(key).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
    match text("type").as_deref() {
        Some("policy_result") => true,
        Some("status") => text("status").is_some_and(|status| HELD.contains(&status.as_str())),
        _ => false,
    }
}

/// The statuses of a call that is or was held.
const HELD: [&str; 5] = ["waiting_human", "approved", "edited_by_human", "rejected", "cancelled"];

named! {
    /// What to do with a held call.
    pub enum Action as "approval_action" {
        /// Pass it unchanged.
        Approve = "approve",
        /// Pass it with other arguments.
        Edit = "edit",
        /// Do not pass it.
        Reject = "reject",
    }
}

named! {
    /// The scope of an approval.
    pub enum Scope as "scope" {
        /// Only the call in the question.
        Call = "call",
        /// Every call that a rule matches, until the end of the run.
        Session = "session",
    }
}

/// An answer to a question about a held call.
///
/// Accepted only from an approver or the channel of answers, with the question's nonce. An answer that does not fit is reported and
/// changes nothing.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "hitl_response")]
#[schemars(
    extend("allOf" = [
        {
            "if": { "properties": { "action": { "const": "edit" } } },
            "then": { "properties": { "edited_arguments": { "type": "object" } }, "required": ["edited_arguments"] }
        },
        {
            "if": { "properties": { "action": { "const": "approve" } } },
            "then": {
                "description": "Edited arguments require the action edit.",
                "properties": { "edited_arguments": { "type": "null" }, "replace": { "enum": [false, null] } }
            }
        }
    ])
)]
pub struct HitlResponse<'a> {
    /// The call_id of the question; left out if the call has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Id>")]
    pub call_id: Option<&'a RawValue>,
    /// The nonce of the question. Only the person or client who was asked has it.
    #[schemars(with = "schema::Nonce")]
    pub nonce: Cow<'a, str>,
    /// What to do with the call.
    pub action: Action,
    /// The arguments_sha256 of the question. If present, it must match.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["null", "string"]))]
    pub arguments_sha256: Option<Cow<'a, str>>,
    /// Merged over the call's own arguments at the top level; with replace, all of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["null", "object"]))]
    pub edited_arguments: Option<&'a RawValue>,
    /// Whether edited_arguments replace all of the call's arguments.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("type" = ["null", "boolean"]))]
    pub replace: bool,
    /// For the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["null", "string"]))]
    pub feedback: Option<Cow<'a, str>>,
    /// What is approved: the call, or also all calls that a rule matches, until the end of the run.
    #[serde(skip_serializing_if = "Scope::is_call")]
    #[schemars(with = "Value", extend("enum" = ["call", "session", null]))]
    pub scope: Scope,
    /// With the scope session, the rule; by default, the first one that the question offers. If the call runs text, a rule for other text
    /// is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["null", "string"]))]
    pub rule: Option<Cow<'a, str>>,
    /// With the scope session, whether the rule is also written to the question's rules_file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("type" = ["null", "boolean"]))]
    pub remember: bool,
}

impl Record for HitlResponse<'_> {}

impl Scope {
    fn is_call(&self) -> bool {
        *self == Scope::Call
    }
}

impl<'a> HitlResponse<'a> {
    /// Reads a line; `None` is another record.
    ///
    /// # Errors
    /// Why it is not valid.
    pub fn read(line: &'a str) -> Result<Option<HitlResponse<'a>>, Unreadable> {
        let fields = Fields::read(line)?;
        let text = |key| fields.borrowed_text(key);
        if text("type").is_none_or(|kind| kind != "hitl_response") {
            return Ok(None);
        }
        fields.spelled_as(&[
            "call_id",
            "nonce",
            "action",
            "edited_arguments",
            "replace",
            "arguments_sha256",
            "feedback",
            "scope",
            "rule",
            "remember",
        ])?;
        if fields.get("arguments").is_some() {
            return unreadable("a hitl_response with arguments: use edited_arguments");
        }
        let optional = |key| match fields.get(key).map(RawValue::get) {
            None | Some("null") => Ok(None),
            Some(_) => {
                text(key).map(Some).ok_or(()).or_else(|()| unreadable(format_args!("its {key} is not a string")))
            }
        };
        let edited_arguments = fields.present("edited_arguments");
        if edited_arguments.is_some_and(|edited| !edited.get().starts_with('{')) {
            return unreadable("its edited_arguments is not an object");
        }
        let flag = |key| match fields.get(key).map(RawValue::get) {
            None | Some("null" | "false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => unreadable(format_args!("its {key} is neither true nor false")),
        };
        let replace = flag("replace")?;
        let Some(action) = text("action").and_then(|action| Action::named(&action)) else {
            return unreadable("a hitl_response whose action is not approve, edit or reject");
        };
        let scope = match optional("scope")?.as_deref() {
            None | Some("call") => Scope::Call,
            Some("session") if action == Action::Approve => Scope::Session,
            Some("session") => return unreadable("only an unchanged call can be approved for the session"),
            Some(_) => return unreadable("its scope is neither call nor session"),
        };
        let response = HitlResponse {
            call_id: fields.get("call_id"),
            nonce: optional("nonce")?.unwrap_or_default(),
            action,
            edited_arguments,
            replace,
            arguments_sha256: optional("arguments_sha256")?,
            feedback: optional("feedback")?,
            scope,
            rule: optional("rule")?,
            remember: flag("remember")?,
        };
        match response.action {
            _ if (response.rule.is_some() || response.remember) && scope == Scope::Call => {
                unreadable("a hitl_response with rule or remember, and without \"scope\":\"session\"")
            }
            Action::Edit if edited_arguments.is_none() => {
                unreadable("a hitl_response that edits, without edited_arguments")
            }
            Action::Approve if edited_arguments.is_some() || replace => {
                unreadable("a hitl_response that approves but has edited_arguments or replace: use edit")
            }
            _ => Ok(Some(response)),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_decision_is_a_result_or_the_status_of_a_held_call() {
        for decision in [
            r#"{"type":"policy_result","verdict":"approved"}"#,
            r#"{"type":"st\u0061tus","status":"waiting_human","call_id":1}"#,
            r#"{"status":"approved","type":"status"}"#,
        ] {
            assert!(is_decision(decision), "{decision}");
        }
        for other in
            [r#"{"type":"status","status":"running"}"#, r#"{"type":"policy_request"}"#, r#"{"status":"approved"}"#]
        {
            assert!(!is_decision(other), "{other}");
        }
    }

    #[test]
    fn a_response_is_read_or_its_fault_is_reported() {
        let line = r#"{"type":"hitl\u005fresponse","call_id":7.10,"nonce":"n","action":"edit","edited_arguments":{"n":1.10},"feedback":null}"#;
        let read = HitlResponse::read(line).unwrap().unwrap();
        assert_eq!((read.call_id.unwrap().get(), &*read.nonce, read.action), ("7.10", "n", Action::Edit));
        assert_eq!(read.edited_arguments.map(RawValue::get), Some(r#"{"n":1.10}"#));
        assert_eq!((read.replace, read.feedback), (false, None));
        let line = line.replace("\"feedback\":null", "\"replace\":true");
        assert!(HitlResponse::read(&line).unwrap().unwrap().replace);
        assert!(HitlResponse::read(r#"{"type":"tool_call"}"#).unwrap().is_none());
        for bad in [
            r#"{"type":"hitl_response","nonce":"n"}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"approve","arguments":{"path":"x"}}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"edit","edited_arguments":{},"Replace":true}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"approve","Arguments_Sha256":"x"}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"Approve"}"#,
            r#"{"type":"hitl_response","nonce":1,"action":"approve"}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"edit"}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"edit","edited_arguments":[]}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"approve","edited_arguments":{}}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"approve","replace":true}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"edit","edited_arguments":{},"replace":1}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"approve","Action":"reject"}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"reject","feedback":7}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"approve","scope":"run"}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"reject","scope":"session"}"#,
            r#"{"type":"hitl_response","nonce":"n","action":"approve","rule":"tool = \"x\""}"#,
        ] {
            assert!(HitlResponse::read(bad).is_err(), "{bad}");
        }
    }
}
