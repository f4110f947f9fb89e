//! A person's answer about a held call: `hitl_response`.

use super::{Fields, Unreadable, unreadable};
use serde_json::value::RawValue;

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

/// What to do with the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Pass it unchanged.
    Approve,
    /// Pass it with other arguments.
    Edit,
    /// Do not pass it.
    Reject,
}

/// `{"type":"hitl_response","call_id","nonce","action":"approve|edit|reject","edited_arguments"?,"replace"?,"arguments_sha256"?,"feedback"?,"scope"?,"rule"?,"remember"?}`.
#[derive(Debug, Clone)]
pub struct HitlResponse<'a> {
    /// The id of the call, as written.
    pub call_id: Option<&'a RawValue>,
    /// The nonce of the question. Only the person or client who was asked has it.
    pub nonce: String,
    /// What to do with the call.
    pub action: Action,
    /// JSON text, an object; present if the action is to edit. Its fields are merged over the call's own arguments, at the top
    /// level.
    pub edited_arguments: Option<&'a str>,
    /// `edited_arguments` replaces all of the call's arguments.
    pub replace: bool,
    /// The hash of the arguments that were approved, if given.
    pub arguments_sha256: Option<String>,
    /// A message for the caller.
    pub feedback: Option<String>,
    /// What is approved: only this call, or also every call that the rule matches until the end of the run.
    pub scope: Scope,
    /// The rule: one that the question offered, perhaps edited. Without it, the first one offered.
    pub rule: Option<String>,
    /// Also write the rule to the rules file that the question names.
    pub remember: bool,
}

/// The scope of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Only the call in the question.
    Call,
    /// Every call that a rule matches, until the end of the run.
    Session,
}

impl<'a> HitlResponse<'a> {
    /// Reads a line; `None` is another record.
    ///
    /// # Errors
    /// Why it is not valid.
    pub fn read(line: &'a str) -> Result<Option<HitlResponse<'a>>, Unreadable> {
        let fields = Fields::read(line)?;
        let text = |key| fields.get(key).and_then(|value| serde_json::from_str::<String>(value.get()).ok());
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
        let edited_arguments = match fields.get("edited_arguments").map(RawValue::get) {
            None | Some("null") => None,
            Some(json) if json.starts_with('{') => Some(json),
            Some(_) => return unreadable("its edited_arguments is not an object"),
        };
        let flag = |key| match fields.get(key).map(RawValue::get) {
            None | Some("null" | "false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => unreadable(format_args!("its {key} is neither true nor false")),
        };
        let replace = flag("replace")?;
        let action = match text("action").as_deref() {
            Some("approve") => Action::Approve,
            Some("edit") => Action::Edit,
            Some("reject") => Action::Reject,
            _ => return unreadable("a hitl_response whose action is not approve, edit or reject"),
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
        assert_eq!((read.call_id.unwrap().get(), read.nonce.as_str(), read.action), ("7.10", "n", Action::Edit));
        assert_eq!((read.edited_arguments, read.replace, read.feedback), (Some(r#"{"n":1.10}"#), false, None));
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
