//! Answers: whether one is for the open question, and its effect on the held call.

use super::decide::ApprovedCall;
use super::gate::Gate;
use crate::cmd::options::{TOO_DEEP, TOO_LONG};
use pipewright_clients::approvals::{refused, revoked_rule};
use pipewright_io::stage::Out;
use pipewright_lines::{Piece, deeper_than};
use pipewright_policy::arguments::edited_arguments;
use pipewright_policy::audit::{SettledBy, Settlement, sha256};
use pipewright_policy::marks::{settle, with_arguments};
use pipewright_record::{Action, Call, HitlResponse, Scope, Unreadable, is_same_id, recognise};
use serde_json::value::RawValue;

impl Gate {
    /// Takes a line of the answers.
    pub(super) fn take_answer_line(&mut self, piece: &Piece<'_>, out: &mut Out) {
        match piece {
            // The terminal and the approvers send an empty line to report that nobody is there; from any other source
            // it has no meaning.
            Piece::Line(line) if line.is_blank() => self.check_who_is_left(out),
            Piece::Line(line) => {
                let place = format!("answers:{}", line.number());
                if deeper_than(line.body(), self.settings.limits.max_depth) {
                    return self.passage.report.fault(place, TOO_DEEP);
                }
                match std::str::from_utf8(line.body()) {
                    Ok(body) if let Some(rule) = revoked_rule(body) => self.revoke_rule(&place, &rule),
                    Ok(body) => self.take_answer(&place, HitlResponse::read(body), out),
                    Err(_) => self.passage.report.fault(place, "it is not UTF-8"),
                }
            }
            Piece::Part { last: true, number, .. } => {
                self.passage.report.fault(format_args!("answers:{number}"), TOO_LONG);
            }
            Piece::Part { .. } => {}
        }
    }

    /// Takes an answer. A wrong one is reported, and changes nothing.
    pub(super) fn take_answer(
        &mut self,
        place: &str,
        answer: Result<Option<HitlResponse<'_>>, Unreadable>,
        out: &mut Out,
    ) {
        let wrong = match answer {
            Ok(Some(answer)) => match self.who_answers(&answer) {
                Ok(by) => return self.decide(&answer, by, out),
                Err(why) => why.to_owned(),
            },
            Ok(None) => "it is not a hitl_response".to_owned(),
            Err(error) => error.to_string(),
        };
        self.passage.report.fault(place, format_args!("not accepted as an answer: {wrong}"));
    }

    /// Who gave the answer.
    ///
    /// # Errors
    /// Why it is not an answer to the open question.
    fn who_answers(&self, answer: &HitlResponse<'_>) -> Result<SettledBy, &'static str> {
        let (Some(pending), Some(first)) = (&self.pending, self.calls.first()) else {
            return Err("no question is open");
        };
        let by = match &*answer.nonce {
            nonce if nonce == pending.terminal_nonce => SettledBy::Terminal,
            nonce if nonce == pending.question.nonce => SettledBy::Approver,
            nonce if nonce == pending.nonce => SettledBy::Answers,
            "" => return Err("it has no nonce; copy the nonce of the question"),
            _ => return Err("its nonce is not that of the open question"),
        };
        if !is_same_id(answer.call_id.map(RawValue::get), first.asked().call().id.map(RawValue::get)) {
            return Err("its call_id is not that of the held call");
        }
        if answer.arguments_sha256.as_ref().is_some_and(|sha256| *sha256 != pending.sha256) {
            return Err("its arguments_sha256 is not that of the held call");
        }
        Ok(by)
    }

    pub(super) fn decide(&mut self, answer: &HitlResponse<'_>, by: SettledBy, out: &mut Out) {
        let feedback = answer.feedback.as_deref().filter(|feedback| !feedback.trim().is_empty());
        if answer.action == Action::Reject {
            return self.close_first(Settlement::Rejected, by, feedback, None, &rejection(by, feedback), out);
        }
        let Some(first) = self.calls.first() else { return };
        let (text, held) = (first.text().into_owned(), first.call.clone());
        let agreed = self.approved_call(&text, &held.call(), answer).and_then(|agreed| match answer.scope {
            Scope::Call => Ok(agreed),
            Scope::Session => self.add_session_rule(&held.call(), answer, by).map(|()| agreed),
        });
        let agreed = match agreed {
            Ok(agreed) => agreed,
            Err(why) => {
                let call = held.call();
                match (&mut self.people.asker, &mut self.people.approvers, &self.pending) {
                    // They may edit it again.
                    (Some(asker), ..) if by == SettledBy::Terminal => asker.refuse(&why),
                    (_, Some(approvers), Some(pending)) if by == SettledBy::Approver => {
                        approvers.send_to_connected(&refused(&call, &pending.question.nonce, &why));
                    }
                    _ => {
                        let why = format!("the edited call does not pass: {why}");
                        self.close_first(Settlement::Rejected, by, feedback, None, &why, out);
                    }
                }
                return;
            }
        };
        let verdict = if answer.action == Action::Edit { Settlement::Edited } else { Settlement::Approved };
        self.close_first(verdict, by, feedback, Some(&agreed), "", out);
    }

    /// The text of a call as it was approved, without the mark that held it.
    fn approved_call(&self, text: &str, call: &Call<'_>, answer: &HitlResponse<'_>) -> Result<ApprovedCall, String> {
        // Only arguments that were shown may pass.
        let shown = sha256(call.arguments_text().as_bytes());
        if self.pending.as_ref().is_none_or(|pending| pending.sha256 != shown) {
            return Err("the arguments are not those that were shown".to_owned());
        }
        let edited = answer.edited_arguments;
        let edited =
            edited.map(|edited| edited_arguments(call.arguments_text(), edited.get(), answer.replace)).transpose()?;
        self.agreed_with(text, call, edited.as_deref())
    }

    /// The approved call with these arguments, JSON text, if they were edited.
    pub(super) fn agreed_with(
        &self,
        text: &str,
        call: &Call<'_>,
        edited: Option<&str>,
    ) -> Result<ApprovedCall, String> {
        let failed = |error: &dyn std::fmt::Display| format!("cannot change the call: {error}");
        let agreed = |call: &Call<'_>, text: &str| {
            let text = settle(call, text).map_err(|error| failed(&error))?;
            Ok(ApprovedCall { text, call: call.into() })
        };
        let Some(arguments) = edited else {
            return agreed(call, text);
        };
        let edited = with_arguments(call, text, arguments).map_err(|error| failed(&error))?;
        let limits = self.settings.limits;
        if edited.len() > limits.max_line || deeper_than(edited.as_bytes(), limits.max_depth) {
            return Err("it would be longer than --max-line, or deeper than --max-depth".to_owned());
        }
        let call = match recognise(&edited) {
            Ok(Some(call)) => call,
            Ok(None) => return Err("it would no longer be a call".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        self.check_policy(&call)?;
        agreed(&call, &edited)
    }
}

/// The reason that the caller gets. An answer on a channel may not be from a person.
fn rejection(by: SettledBy, feedback: Option<&str>) -> String {
    let reason = if matches!(by, SettledBy::Terminal | SettledBy::Approver) {
        "a person rejected it"
    } else {
        "it was rejected"
    };
    feedback.map_or_else(|| reason.to_owned(), |feedback| format!("{reason}: {feedback}"))
}
