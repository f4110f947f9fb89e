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
    /// A question is no longer open.
    Settled {
        /// The nonce of the question.
        nonce: String,
        /// How it was settled.
        settlement: Settlement,
    },
    /// An answer was not taken; its question is still open.
    Refused {
        /// The nonce of the question.
        nonce: String,
        /// Why the gate did not take the answer.
        why: String,
    },
    /// The gate has sent its rules in force.
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
    /// The hash of the arguments with which the call passes or, if it is rejected, would have passed; `None` if the
    /// gate did not send it.
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
    /// In the order of their turns.
    pending: Vec<PendingQuestion>,
    /// The latest turn in which a question was settled.
    turn: u64,
    /// The rules in force of each gate.
    rules: BTreeMap<usize, Vec<RuleInForce>>,
}

impl Queue {
    /// Takes a line of the gate with this number.
    ///
    /// # Errors
    /// What is wrong with the line, which then changes nothing.
    pub fn take(&mut self, gate: usize, line: &str) -> Result<QueueChange, Unreadable> {
        if let Some(question) = Question::read(line)? {
            return self.ask(gate, question);
        }
        let fields = Fields::read(line)?;
        let field = |key: &str| fields.get(key).map(text).unwrap_or_default();
        match type_of(line).as_deref() {
            Some("policy_result") => {
                let (nonce, verdict, by) = (field("nonce"), field("verdict"), field("by"));
                if self.remove(|pending| pending.gate == gate && pending.question.nonce == nonce).is_none() {
                    return Ok(QueueChange::Nothing);
                }
                let (note, sha256) = (settlement_note(&verdict, &by), fields.text("arguments_sha256"));
                Ok(QueueChange::Settled { nonce, settlement: Settlement { verdict, by, sha256, note } })
            }
            Some("error") => {
                let context = fields.get("context").map(|context| Fields::read(context.get())).transpose()?;
                let nonce = context.and_then(|context| context.get("nonce").map(text)).unwrap_or_default();
                if self.find(&nonce).is_none_or(|pending| pending.gate != gate) {
                    return Ok(QueueChange::Nothing);
                }
                Ok(QueueChange::Refused { nonce, why: field("content") })
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

    /// The gate with this number has gone: its question is no longer open. Gives that question's nonce.
    pub fn leave(&mut self, gate: usize) -> Option<String> {
        self.rules.remove(&gate);
        self.remove(|pending| pending.gate == gate).map(|pending| pending.question.nonce)
    }

    /// The open question with this nonce.
    pub fn find(&self, nonce: &str) -> Option<&PendingQuestion> {
        self.pending.iter().find(|pending| pending.question.nonce == nonce)
    }

    /// The place in the queue, from 0, of the question with this nonce.
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

    /// Removes the first question for which `is_meant` is true, and notes that one of its turn was settled.
    fn remove(&mut self, is_meant: impl Fn(&PendingQuestion) -> bool) -> Option<PendingQuestion> {
        let pending = self.pending.remove(self.pending.iter().position(is_meant)?);
        self.turn = self.turn.max(pending.turn);
        Some(pending)
    }
}

/// How a question was settled, in words for people.
fn settlement_note(verdict: &str, by: &str) -> String {
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
