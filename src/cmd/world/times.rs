//! When a call was sent and answered: the additional fields of every answer.

use crate::cmd::refusal::Refusal;
use pipewright_record::{Call, Outcome};
use std::time::Instant;

/// When a call was sent, and the epoch of its far side in which it is answered.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub sent_at: Option<Instant>,
    /// `None` if the far side is never restarted.
    pub epoch: Option<u64>,
}

impl Times {
    /// The answer to the call, with its times if the far side has epochs.
    pub fn answer(&self, call: &Call<'_>, outcome: Outcome<'_>) -> String {
        self.answer_with(call, outcome, &[])
    }

    /// The answer to a call that gets no result. A call that was sent is marked as possibly executed.
    pub(super) fn refuse(&self, call: &Call<'_>, refusal: &Refusal) -> String {
        let maybe: &[_] = if self.sent_at.is_some() { &[("maybe_executed", "true")] } else { &[] };
        self.answer_with(call, refusal.outcome(), maybe)
    }

    fn answer_with(&self, call: &Call<'_>, outcome: Outcome<'_>, more: &[(&str, &str)]) -> String {
        let Some(epoch) = self.epoch.map(|epoch| epoch.to_string()) else { return call.answer_with(outcome, more) };
        let took = self.sent_at.map(|at| at.elapsed().as_millis().to_string());
        let took = took.as_deref().map(|took| ("duration_ms", took));
        let fields = more.iter().copied().chain(took).chain([("epoch", epoch.as_str())]);
        call.answer_with(outcome, &Vec::from_iter(fields))
    }
}
