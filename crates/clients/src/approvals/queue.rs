//! The questions of all gates that are connected to a client.

use super::question::{Question, text};
use super::rules::{RuleInForce, read_rules};
use pipewright_record::{Fields, Unreadable, type_of, unreadable};
use std::collections::BTreeMap;

/// A question that is open.
#[derive(Debug, Clone)]
pub struct PendingQuestion {
    /// The number of the connection that it came over.
    pub gate: usize,
    /// The question.
    pub question: Question,
    /// Questions of an earlier turn come first.
    turn: u64,
}

/// The change that a line of a gate, or its end, has made.
#[derive(Debug, PartialEq, Eq)]
pub enum QueueChange {
    /// There is one more question.
    Asked,
    /// The gate asks a second question while its first is open, which gates do not do: it is not taken.
    SecondQuestion,
    /// The question with this nonce is no longer open.
    Settled(String, Settlement),
    /// The answer to the question with this nonce was not taken, with the reason.
    Refused(String, String),
    /// The gate's rules in force.
    Rules,
    /// Nothing.
    Nothing,
}

/// How a question was settled.
#[derive(Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The `verdict` of the `policy_result`: `approved`, `edited` or `rejected`.
    pub verdict: String,
    /// The `by` of the `policy_result`.
    pub by: String,
    /// Of the arguments that the call passes with, or would have passed with; `None` if the gate did not send it.
    pub sha256: Option<String>,
    /// The settlement in words for people.
    pub note: String,
}

/// Open questions, one of each gate.
///
/// Gates take turns: a new question belongs to the turn after the latest turn in which a question was settled. Within a
/// turn, the order is that in which the gates were connected. So neither a gate that asks again and again nor gates
/// that connect later get ahead of a waiting question.
#[derive(Debug, Default)]
pub struct Queue {
    /// In their order.
    pending: Vec<PendingQuestion>,
    /// The latest turn of which a question was settled.
    turn: u64,
    /// By gate.
    rules: BTreeMap<usize, Vec<RuleInForce>>,
}

impl Queue {
    /// Takes a line of the gate with this number.
    ///
    /// # Errors
    /// What is wrong with it. It changes nothing then.
    pub fn take(&mut self, gate: usize, line: &str) -> Result<QueueChange, Unreadable> {
        if let Some(question) = Question::read(line)? {
            return self.ask(gate, question);
        }
        let fields = Fields::read(line)?;
        let field = |key: &str| fields.get(key).map(text).unwrap_or_default();
        match type_of(line).as_deref() {
            Some("policy_result") => {
                let (nonce, verdict, by) = (field("nonce"), field("verdict"), field("by"));
                let settled = self.remove(|pending| pending.gate == gate && pending.question.nonce == nonce);
                let (note, sha256) = (note(&verdict, &by), fields.text("arguments_sha256"));
                let settlement = Settlement { verdict, by, sha256, note };
                Ok(settled.map_or(QueueChange::Nothing, |_| QueueChange::Settled(nonce, settlement)))
            }
            Some("error") => {
                let context = fields.get("context").map(|context| Fields::read(context.get())).transpose()?;
                let nonce = context.and_then(|context| context.get("nonce").map(text)).unwrap_or_default();
                Ok(match self.find(&nonce).is_some_and(|pending| pending.gate == gate) {
                    true => QueueChange::Refused(nonce, field("content")),
                    false => QueueChange::Nothing,
                })
            }
            Some("session_rules") => {
                self.rules.insert(gate, read_rules(&fields)?);
                Ok(QueueChange::Rules)
            }
            _ => Ok(QueueChange::Nothing),
        }
    }

    /// The rules in force of all gates, each with the number of its gate.
    pub fn rules(&self) -> impl Iterator<Item = (usize, &RuleInForce)> {
        self.rules.iter().flat_map(|(&gate, rules)| rules.iter().map(move |rule| (gate, rule)))
    }

    fn ask(&mut self, gate: usize, question: Question) -> Result<QueueChange, Unreadable> {
        if self.pending.iter().any(|pending| pending.gate == gate) {
            return Ok(QueueChange::SecondQuestion);
        }
        if self.find(&question.nonce).is_some() {
            return unreadable("its nonce is that of another question");
        }
        let turn = self.turn + 1;
        let place = self.pending.partition_point(|pending| (pending.turn, pending.gate) < (turn, gate));
        self.pending.insert(place, PendingQuestion { gate, question, turn });
        Ok(QueueChange::Asked)
    }

    /// The gate with this number has gone: its question is no longer open. Gives the nonce.
    pub fn leave(&mut self, gate: usize) -> Option<String> {
        self.rules.remove(&gate);
        self.remove(|pending| pending.gate == gate).map(|pending| pending.question.nonce)
    }

    /// The open question with this nonce.
    pub fn find(&self, nonce: &str) -> Option<&PendingQuestion> {
        self.pending.iter().find(|pending| pending.question.nonce == nonce)
    }

    /// Its place in the queue, from 0.
    pub fn position(&self, nonce: &str) -> Option<usize> {
        self.pending.iter().position(|pending| pending.question.nonce == nonce)
    }

    /// The question at a place, from 0.
    pub fn get(&self, place: usize) -> Option<&PendingQuestion> {
        self.pending.get(place)
    }

    /// How many questions are open.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether no question is open.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    fn remove(&mut self, is_meant: impl Fn(&PendingQuestion) -> bool) -> Option<PendingQuestion> {
        let pending = self.pending.remove(self.pending.iter().position(is_meant)?);
        self.turn = self.turn.max(pending.turn);
        Some(pending)
    }
}

/// How a question was settled, for people.
fn note(verdict: &str, by: &str) -> String {
    let why = match (verdict, by) {
        (_, "timeout") => "nobody answered in time",
        (_, "caller") => "the call was cancelled",
        (_, "end") => "the gate has ended",
        (_, "nobody") => "nobody can be asked any more",
        ("approved", _) => return "approved".to_owned(),
        ("edited", _) => return "approved as edited".to_owned(),
        _ => return "rejected".to_owned(),
    };
    format!("this question is withdrawn: {why}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
