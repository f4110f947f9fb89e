//! Held calls: shown to the clients of their session; any of these can answer.

use super::session::OpenQuestion;
use super::stage::AgentServer;
use pipewright_clients::approvals::{Answer, Question, QueueChange, Settlement, settled};
use pipewright_io::stage::Out;
use pipewright_lines::{Change as FieldChange, change};
use pipewright_policy::arguments::edited_arguments;
use pipewright_record::json::quoted;
use pipewright_record::{Action, ErrorRecord, Fields, HitlResponse, Record, Scope, State, Status, is_same_id};
use serde_json::value::RawValue;
use std::borrow::Cow;

impl AgentServer {
    /// Takes a question of a session's gate, or its settlement.
    pub(super) fn take_change(&mut self, number: usize, change: QueueChange, out: &mut Out) {
        match change {
            QueueChange::Asked => {
                let queue = self.sessions.gates.queue(number);
                let open = (0..queue.len()).filter_map(|place| queue.get(place)).map(|pending| &pending.question);
                let Some(session) = self.sessions.get(number) else { return };
                let new = open.filter(|question| !session.held.contains_key(&question.nonce)).cloned();
                for question in new.collect::<Vec<_>>() {
                    self.show_held(number, question, out);
                }
            }
            QueueChange::Settled { nonce, settlement } => self.show_settled(number, &nonce, &settlement, out),
            QueueChange::Refused { nonce, why } => {
                let held = self.sessions.get_mut(number).and_then(|session| session.held.get_mut(&nonce));
                let Some(held) = held else { return };
                held.is_answered = false;
                let question = held.question.clone();
                let content = format!("the answer was not accepted: {why}");
                let error = ErrorRecord::about(question.call.call().id, Some(&nonce), content);
                self.publish(number, &error.json(), out);
                let thread = self.sessions.get_mut(number).and_then(|session| session.thread.as_mut());
                if let Some(taken) = thread.map(|thread| thread.hold(&question)) {
                    self.give_run(number, taken, out);
                }
            }
            QueueChange::SecondQuestion | QueueChange::Rules | QueueChange::Nothing => {}
        }
    }

    fn show_held(&mut self, number: usize, question: Question, out: &mut Out) {
        let status = Status::of_call(State::WaitingHuman, question.call.call().about()).json();
        self.publish(number, &status, out);
        let Some(session) = self.sessions.get_mut(number) else { return };
        session.count_question(&question);
        let (record, nonce) = (question.held_call(), question.nonce.clone());
        let taken = session.thread.as_mut().map(|thread| thread.hold(&question));
        let held = OpenQuestion { question, number: session.next_number, is_answered: false };
        session.held.insert(nonce, held);
        self.publish(number, &record, out);
        if let Some(taken) = taken {
            self.give_run(number, taken, out);
        }
    }

    fn show_settled(&mut self, number: usize, nonce: &str, settlement: &Settlement, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        let Some(OpenQuestion { question, .. }) = session.held.remove(nonce) else { return };
        if let Some(thread) = &mut session.thread {
            thread.release(nonce);
        }
        let Settlement { verdict, by, sha256, .. } = settlement;
        let sha256 = sha256.as_ref().unwrap_or(&question.sha256);
        self.publish(number, &settled(&question.call.call(), nonce, verdict, by, sha256), out);
        // Other verdicts are reported by the agent's side, with the edited arguments.
        if verdict == "rejected" {
            let status = Status::of_call(State::Rejected, question.call.call().about()).json();
            self.publish(number, &status, out);
        }
    }

    /// Rejects the held calls of a session whose agent has ended.
    pub(super) fn end_gates(&mut self, number: usize, out: &mut Out) {
        self.sessions.gates.close(number, out);
        let Some(session) = self.sessions.get(number) else { return };
        for nonce in session.held.keys().cloned().collect::<Vec<_>>() {
            let (verdict, by) = ("rejected".to_owned(), "end".to_owned());
            self.show_settled(number, &nonce, &Settlement { verdict, by, sha256: None, note: String::new() }, out);
        }
    }

    /// Passes a client's answer to a gate: a `hitl_response`, in which the nonce and the hash may be missing. `seen` is
    /// the number of the last record that the client got; `None` if it does not matter.
    ///
    /// # Errors
    /// Why it is not accepted, for people.
    pub(super) fn answer_held(
        &mut self,
        number: usize,
        seen: Option<u64>,
        text: &str,
        out: &mut Out,
    ) -> Result<(), String> {
        let fields = Fields::read(text).map_err(|why| why.to_string())?;
        let question = self.find_held(number, seen, &fields)?;
        let completed = completed(text, &question)?;
        let response = HitlResponse::read(&completed).map_err(|why| why.to_string())?.ok_or("not a hitl_response")?;
        let own = question.call.call();
        let edited = match (response.action, response.edited_arguments) {
            (Action::Edit, Some(edited)) => {
                Some(edited_arguments(own.arguments_text(), edited.get(), response.replace)?)
            }
            (Action::Edit, None) => return Err("an edit needs edited_arguments".to_owned()),
            _ => None,
        };
        let offered = question.rule_offers.first().cloned();
        let rule = match response.scope {
            Scope::Call => None,
            Scope::Session => {
                Some(response.rule.clone().or(offered.map(Cow::Owned)).ok_or("this call has no rule for the session")?)
            }
        };
        let answer = Answer {
            action: response.action,
            edited: edited.as_deref(),
            feedback: response.feedback.as_deref().unwrap_or_default(),
            rule: rule.as_deref().map(|rule| (rule, response.remember)),
        };
        let record = answer.record(&question);
        let gate =
            self.sessions.gates.queue(number).find(&question.nonce).map(|pending| pending.gate).ok_or(NOT_HELD)?;
        self.sessions.gates.send(gate, &record, out);
        if let Some(session) = self.sessions.get_mut(number) {
            session.held.get_mut(&question.nonce).into_iter().for_each(|held| held.is_answered = true);
            // The gate settles it over another pipe than the agent's, perhaps after the end of the agent's turn: until
            // then it is no interrupt of the next run.
            session.thread.iter_mut().for_each(|thread| thread.release(&question.nonce));
        }
        self.publish(number, &record, out);
        Ok(())
    }

    /// Finds the question that an answer belongs to.
    fn find_held(&self, number: usize, seen: Option<u64>, answer: &Fields<'_>) -> Result<Question, String> {
        let session = self.sessions.get(number).ok_or(NOT_HELD)?;
        let id = answer.get("call_id").map(RawValue::get);
        let nonce = answer.string("nonce").map_err(|why| why.to_string())?;
        let sha256 = answer.string("arguments_sha256").map_err(|why| why.to_string())?;
        let is_meant = |question: &Question| {
            let is_call = is_same_id(question.call.call().id.map(RawValue::get), id);
            match &nonce {
                Some(nonce) => question.nonce == *nonce && (id.is_none() || is_call),
                None => is_call,
            }
        };
        let mut meant = session.held.values().filter(|held| is_meant(&held.question));
        let held = match (meant.next(), meant.next()) {
            (Some(held), None) => held,
            (None, _) => return Err(NOT_HELD.to_owned()),
            (Some(_), Some(_)) => return Err(AMBIGUOUS.to_owned()),
        };
        if held.is_answered {
            return Err(NOT_HELD.to_owned());
        }
        if sha256.as_ref().is_some_and(|sha256| *sha256 != held.question.sha256) {
            return Err("the call's arguments differ from those that the answer is for".to_owned());
        }
        // The hash does not cover the tool.
        if nonce.is_none() && session.is_ambiguous(&held.question) {
            return Err(AMBIGUOUS.to_owned());
        }
        if nonce.is_none() && seen.is_some_and(|seen| seen < held.number) {
            return Err("the call has not been sent to this client yet".to_owned());
        }
        Ok(held.question.clone())
    }
}

const NOT_HELD: &str = "no call with this id is held, or its question is already settled";
const AMBIGUOUS: &str = "more than one call with this id was held: give the question's nonce in the answer";

/// Adds the nonce and the hash of its question to an answer.
fn completed(text: &str, question: &Question) -> Result<String, String> {
    let (nonce, sha256) = (quoted(&question.nonce), quoted(&question.sha256));
    let changes = [("nonce", nonce.as_bytes()), ("arguments_sha256", sha256.as_bytes())];
    let mut out = Vec::with_capacity(text.len() + 160);
    change(text, &changes.map(|(key, value)| (key, FieldChange::Set(value))), &mut out)
        .map_err(|why| why.to_string())?;
    String::from_utf8(out).map_err(|why| why.to_string())
}
