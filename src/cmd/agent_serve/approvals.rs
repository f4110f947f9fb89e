//! Calls that gates hold: they are shown to the clients of their session, and one of these answers.

use super::session::Held;
use super::stage::Serving;
use crate::approvals::{Answer, Change, Question, Settlement, settled};
use crate::io::lines::{Change as FieldChange, change};
use crate::io::stage::Out;
use crate::json::{Object, quoted};
use crate::policy::arguments::edited_arguments;
use crate::record::{Action, Fields, HitlResponse, Scope, is_same_id};
use serde_json::value::RawValue;

impl Serving {
    /// A gate of a session has asked, or answered.
    pub(super) fn take_change(&mut self, number: usize, change: Change, out: &mut Out) {
        match change {
            Change::Asked => {
                let queue = self.gates.queue(number);
                let open = (0..queue.len()).filter_map(|place| queue.get(place)).map(|pending| &pending.question);
                let Some(session) = self.sessions.get(&number) else { return };
                let new = open.filter(|question| !session.held.contains_key(&question.nonce)).cloned();
                for question in new.collect::<Vec<_>>() {
                    self.show_held(number, question, out);
                }
            }
            Change::Settled(nonce, settlement) => self.show_settled(number, &nonce, &settlement, out),
            Change::Refused(nonce, why) => {
                let held = self.sessions.get_mut(&number).and_then(|session| session.held.get_mut(&nonce));
                let Some(held) = held else { return };
                held.is_answered = false;
                let call_id = held.question.call.call().id;
                let context = Object::default().put_some("call_id", call_id).text("nonce", &nonce).end();
                let record = Object::default().text("type", "error").put("context", context);
                let record = record.text("content", &format!("the answer was not taken: {why}")).end();
                self.publish(number, &record, out);
            }
            Change::SecondQuestion | Change::Rules | Change::Nothing => {}
        }
    }

    fn show_held(&mut self, number: usize, question: Question, out: &mut Out) {
        self.publish(number, &of_call("status", &question).text("status", "waiting_human").end(), out);
        let Some(session) = self.sessions.get_mut(&number) else { return };
        session.count_question(&question);
        let (record, nonce) = (question.held_call(), question.nonce.clone());
        let taken = session.thread.as_mut().map(|thread| thread.hold(&question));
        let held = Held { question, number: session.next_number, is_answered: false };
        session.held.insert(nonce, held);
        self.publish(number, &record, out);
        if let Some(taken) = taken {
            self.give_run(number, taken, out);
        }
    }

    fn show_settled(&mut self, number: usize, nonce: &str, settlement: &Settlement, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        let Some(Held { question, .. }) = session.held.remove(nonce) else { return };
        if let Some(thread) = &mut session.thread {
            thread.release(nonce);
        }
        let Settlement { verdict, by, sha256, .. } = settlement;
        let sha256 = sha256.as_ref().unwrap_or(&question.sha256);
        self.publish(number, &settled(&question.call.call(), nonce, verdict, by, sha256), out);
        // Of the others, the agent's side says so, with the arguments that were edited.
        if verdict == "rejected" {
            self.publish(number, &of_call("status", &question).text("status", "rejected").end(), out);
        }
    }

    /// The agent of a session has ended: what its gates hold is rejected.
    pub(super) fn end_gates(&mut self, number: usize, out: &mut Out) {
        self.gates.close(number, out);
        let Some(session) = self.sessions.get(&number) else { return };
        for nonce in session.held.keys().cloned().collect::<Vec<_>>() {
            let (verdict, by) = ("rejected".to_owned(), "end".to_owned());
            self.show_settled(number, &nonce, &Settlement { verdict, by, sha256: None, note: String::new() }, out);
        }
    }

    /// Gives a gate the answer of a client, a `hitl_response` that may leave out the nonce and the hash. `seen` is the number of the record
    /// that the client was sent last, where what it has seen counts.
    ///
    /// # Errors
    /// Why it is not taken, for people.
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
        let response =
            HitlResponse::read(&completed).map_err(|why| why.to_string())?.ok_or("it is no hitl_response")?;
        let own = question.call.call();
        let edited = match (response.action, response.edited_arguments) {
            (Action::Edit, Some(edited)) => Some(edited_arguments(own.arguments_text(), edited, response.replace)?),
            (Action::Edit, None) => return Err("an edit needs edited_arguments".to_owned()),
            _ => None,
        };
        let offered = question.rule_offers.first().cloned();
        let rule = match response.scope {
            Scope::Call => None,
            Scope::Session => Some(response.rule.clone().or(offered).ok_or("no rule is offered for this call")?),
        };
        let answer = Answer {
            action: response.action,
            edited: edited.as_deref(),
            feedback: response.feedback.as_deref().unwrap_or_default(),
            rule: rule.as_deref().map(|rule| (rule, response.remember)),
        };
        let record = answer.record(&question);
        let gate = self.gates.queue(number).find(&question.nonce).map(|pending| pending.gate).ok_or(SETTLED)?;
        self.gates.send(gate, &record, out);
        let held = self.sessions.get_mut(&number).and_then(|session| session.held.get_mut(&question.nonce));
        held.into_iter().for_each(|held| held.is_answered = true);
        self.publish(number, &record, out);
        Ok(())
    }

    /// The question that an answer is for.
    fn find_held(&self, number: usize, seen: Option<u64>, answer: &Fields<'_>) -> Result<Question, String> {
        let session = self.sessions.get(&number).ok_or(SETTLED)?;
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
            (None, _) => return Err(SETTLED.to_owned()),
            (Some(_), Some(_)) => return Err(AMBIGUOUS.to_owned()),
        };
        if held.is_answered {
            return Err(SETTLED.to_owned());
        }
        if sha256.as_ref().is_some_and(|sha256| *sha256 != held.question.sha256) {
            return Err("the arguments are others than those that the answer is for".to_owned());
        }
        // The hash says nothing of the tool.
        if nonce.is_none() && session.is_ambiguous(&held.question) {
            return Err(AMBIGUOUS.to_owned());
        }
        if nonce.is_none() && seen.is_some_and(|seen| seen < held.number) {
            return Err("this client has not been shown the call yet".to_owned());
        }
        Ok(held.question.clone())
    }
}

const SETTLED: &str = "no call with this id is held, or its question is settled already";
const AMBIGUOUS: &str = "calls with this id were asked about more than once: answer with the nonce of the question";

/// The answer with the nonce and the hash of its question.
fn completed(text: &str, question: &Question) -> Result<String, String> {
    let (nonce, sha256) = (quoted(&question.nonce), quoted(&question.sha256));
    let changes = [("nonce", nonce.as_bytes()), ("arguments_sha256", sha256.as_bytes())];
    let mut out = Vec::with_capacity(text.len() + 160);
    change(text, &changes.map(|(key, value)| (key, FieldChange::Set(value))), &mut out)
        .map_err(|why| why.to_string())?;
    String::from_utf8(out).map_err(|why| why.to_string())
}

/// A record about the call of a question.
fn of_call(kind: &str, question: &Question) -> Object {
    question.call.call().identify(Object::default().text("type", kind))
}
