//! The answers of hooks: one JSON object with the fields that the harness knows, and no others (Codex voids an answer
//! with a field that it does not know, and runs the call).

use super::{HookEvent, said};
use crate::json::Object;

/// The decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookAnswer<'a> {
    /// The harness decides by its own rules.
    NoOpinion,
    /// The call runs without a question, for this reason.
    Allow(&'a str),
    /// The call runs with these arguments, JSON text, without a question.
    AllowWith(&'a str),
    /// The person is asked, for this reason.
    Ask(&'a str),
    /// The call does not run, for this reason.
    Deny(&'a str),
}

/// An answer as the harness takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenAnswer {
    /// On stdout: one JSON object with a line feed, or nothing.
    Text(String),
    /// By exit status 2, with this reason on stderr.
    ExitStatus(String),
}

/// The form of an event's answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerForm {
    /// `hookSpecificOutput` with `permissionDecision`.
    Nested,
    /// `hookSpecificOutput` with `decision.behavior`.
    NestedBehavior,
    /// `decision`, with `reason` for a denial and `systemMessage` for a question.
    Decision,
    /// `permissionDecision` at the top.
    PermissionDecision,
    /// `behavior` at the top.
    Behavior,
    /// `permission`, with one message for the person and one for the model.
    Permission,
    /// `cancel`, with `errorMessage`.
    Cancel,
    /// `permission` and `reason`, which our own plugin reads.
    Plugin,
    /// Exit status 2 denies; there is no other answer.
    ExitStatus,
}

/// What becomes of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskForm {
    /// The harness asks.
    Question,
    /// The harness cannot be made to ask, and would let the call run.
    Denial,
    /// The harness is asking already.
    Nothing,
}

impl HookEvent {
    /// Whether a call can be allowed with other arguments.
    pub fn can_change(&self) -> bool {
        self.has_update
    }

    /// Whether the answer to ask makes the harness ask.
    pub fn can_ask(&self) -> bool {
        self.ask != AskForm::Denial
    }

    pub(super) fn answer(&self, answer: &HookAnswer<'_>) -> WrittenAnswer {
        let answer = match *answer {
            HookAnswer::Allow(_) if !self.has_allow => HookAnswer::NoOpinion,
            HookAnswer::AllowWith(_) if !self.has_update => HookAnswer::Deny("its arguments cannot be changed here"),
            HookAnswer::Ask(reason) => match self.ask {
                AskForm::Question => HookAnswer::Ask(reason),
                AskForm::Denial => HookAnswer::Deny(reason),
                AskForm::Nothing => HookAnswer::NoOpinion,
            },
            answer => answer,
        };
        let (word, reason) = match answer {
            // Cursor takes nothing for a failure, if the hook is to fail closed.
            HookAnswer::NoOpinion if matches!(self.form, AnswerForm::Permission | AnswerForm::ExitStatus) => {
                return WrittenAnswer::Text("{}\n".to_owned());
            }
            HookAnswer::NoOpinion => return WrittenAnswer::Text(String::new()),
            HookAnswer::Deny(reason) if self.form == AnswerForm::ExitStatus => {
                return WrittenAnswer::ExitStatus(reason.to_owned());
            }
            HookAnswer::Allow(reason) if matches!(self.form, AnswerForm::Nested | AnswerForm::PermissionDecision) => {
                ("allow", Some(said(reason)))
            }
            HookAnswer::Allow(_) | HookAnswer::AllowWith(_) => ("allow", None),
            HookAnswer::Ask(reason) => ("ask", Some(said(reason))),
            HookAnswer::Deny(reason) => ("deny", Some(said(reason))),
        };
        let reason = reason.as_deref();
        let update = match answer {
            HookAnswer::AllowWith(arguments) => Some(arguments),
            _ => None,
        };
        let object = Object::default();
        let answer = match self.form {
            AnswerForm::Nested => {
                let output = object.text("hookEventName", self.name).text("permissionDecision", word);
                nested(output.put_some("permissionDecisionReason", reason).put_some("updatedInput", update))
            }
            AnswerForm::NestedBehavior => {
                let decision = Object::default().text("behavior", word).put_some("message", reason);
                let decision = decision.put_some("updatedInput", update).end();
                nested(object.text("hookEventName", self.name).put("decision", decision))
            }
            AnswerForm::Decision => {
                let key = if word == "ask" { "systemMessage" } else { "reason" };
                object.text("decision", word).put_some(key, reason)
            }
            AnswerForm::PermissionDecision => {
                object.text("permissionDecision", word).put_some("permissionDecisionReason", reason)
            }
            AnswerForm::Behavior => object.text("behavior", word).put_some("message", reason),
            AnswerForm::Permission => {
                object.text("permission", word).put_some("user_message", reason).put_some("agent_message", reason)
            }
            AnswerForm::Cancel => object.put("cancel", true).put_some("errorMessage", reason),
            AnswerForm::Plugin | AnswerForm::ExitStatus => object.text("permission", word).put_some("reason", reason),
        };
        WrittenAnswer::Text(answer.line())
    }
}

fn nested(output: Object) -> Object {
    Object::default().put("hookSpecificOutput", output.end())
}
