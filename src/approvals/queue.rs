//! The questions of all gates that are connected to a client.

use super::question::{Question, text};
use super::rules::{RuleInForce, read_rules};
use crate::record::{Fields, Unreadable, type_of, unreadable};
use std::collections::BTreeMap;

/// A gate asks about one call at a time, and perhaps about some more.
const MOST_OF_A_GATE: usize = 64;

/// A question that is open.
#[derive(Debug, Clone)]
pub struct Pending {
    /// The number of the connection that it came over.
    pub gate: usize,
    /// What is asked.
    pub question: Question,
}

/// What a line of a gate, or its end, has changed.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    /// There is one more question, the last.
    Asked,
    /// The question with this nonce is open no more; how it was settled, for people.
    Settled(String, String),
    /// The answer to the question with this nonce was not taken; why.
    Refused(String, String),
    /// The rules in force of this gate.
    Rules,
    /// Nothing.
    Nothing,
}

/// Open questions, the oldest first.
#[derive(Debug, Default)]
pub struct Queue {
    pending: Vec<Pending>,
    /// By gate.
    rules: BTreeMap<usize, Vec<RuleInForce>>,
}

impl Queue {
    /// Takes a line of the gate with this number.
    ///
    /// # Errors
    /// What is wrong with it. It changes nothing then.
    pub fn take(&mut self, gate: usize, line: &str) -> Result<Change, Unreadable> {
        if let Some(question) = Question::read(line)? {
            return self.ask(gate, question);
        }
        let fields = Fields::read(line)?;
        let field = |key: &str| fields.get(key).map(text).unwrap_or_default();
        match type_of(line).as_deref() {
            Some("policy_result") => {
                let (nonce, verdict, by) = (field("nonce"), field("verdict"), field("by"));
                Ok(match self.remove(gate, &nonce) {
                    true => Change::Settled(nonce, note(&verdict, &by)),
                    false => Change::Nothing,
                })
            }
            Some("error") => {
                let context = fields.get("context").map(|context| Fields::read(context.get())).transpose()?;
                let nonce = context.and_then(|context| context.get("nonce").map(text)).unwrap_or_default();
                Ok(match self.find(&nonce).is_some_and(|pending| pending.gate == gate) {
                    true => Change::Refused(nonce, field("content")),
                    false => Change::Nothing,
                })
            }
            Some("session_rules") => {
                self.rules.insert(gate, read_rules(&fields)?);
                Ok(Change::Rules)
            }
            _ => Ok(Change::Nothing),
        }
    }

    /// The rules in force of all gates, each with the number of its gate.
    pub fn rules(&self) -> impl Iterator<Item = (usize, &RuleInForce)> {
        self.rules.iter().flat_map(|(&gate, rules)| rules.iter().map(move |rule| (gate, rule)))
    }

    fn ask(&mut self, gate: usize, question: Question) -> Result<Change, Unreadable> {
        if self.pending.iter().filter(|pending| pending.gate == gate).count() >= MOST_OF_A_GATE {
            return unreadable(format_args!("a gate asks {MOST_OF_A_GATE} questions at once at most"));
        }
        if self.find(&question.nonce).is_some() {
            return unreadable("its nonce is that of another question");
        }
        self.pending.push(Pending { gate, question });
        Ok(Change::Asked)
    }

    /// The gate with this number has gone: its questions are open no more. Gives their nonces.
    pub fn leave(&mut self, gate: usize) -> Vec<String> {
        self.rules.remove(&gate);
        let (gone, left) = std::mem::take(&mut self.pending).into_iter().partition(|pending| pending.gate == gate);
        self.pending = left;
        let gone: Vec<Pending> = gone;
        gone.into_iter().map(|pending| pending.question.nonce).collect()
    }

    /// The open question with this nonce.
    pub fn find(&self, nonce: &str) -> Option<&Pending> {
        self.pending.iter().find(|pending| pending.question.nonce == nonce)
    }

    /// Its place in the queue, from 0.
    pub fn position(&self, nonce: &str) -> Option<usize> {
        self.pending.iter().position(|pending| pending.question.nonce == nonce)
    }

    /// The question at a place, from 0.
    pub fn get(&self, place: usize) -> Option<&Pending> {
        self.pending.get(place)
    }

    /// How many questions are open.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    fn remove(&mut self, gate: usize, nonce: &str) -> bool {
        let before = self.pending.len();
        self.pending.retain(|pending| pending.gate != gate || pending.question.nonce != nonce);
        self.pending.len() < before
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
