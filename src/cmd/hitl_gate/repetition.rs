//! Calls that are held longer than their callers wait. Most MCP SDKs give up after 60 s, so a JSON-RPC caller gets an
//! answer before that: it is to repeat the call. The question stays open meanwhile, and its answer counts for one
//! repetition.

use super::decide::Decision;
use super::gate::Gate;
use super::held::HeldCall;
use crate::cmd::refusal::Refusal;
use pipewright_io::stage::{Out, Side};
use pipewright_policy::audit::{SettledBy, Settlement};
use pipewright_record::{Call, Kind};
use std::ops::ControlFlow;
use std::time::Instant;

/// A decision on a call whose caller had been answered.
pub struct KeptDecision {
    held: HeldCall,
    verdict: Settlement,
    by: SettledBy,
    feedback: Option<String>,
    /// The arguments that it passes with, JSON text, if they were edited.
    edited: Option<String>,
    /// Why a rejected call does not pass.
    why: String,
    /// How long it counts.
    until: Option<Instant>,
}

const STILL_ASKED: &str = "a person is still being asked whether it may pass";
const STILL_QUEUED: &str = "it waits behind another call, which a person is being asked about";
const REPEAT: &str = "Repeat the call with the same arguments to get the answer.";

impl Gate {
    /// Answers the callers whose calls have been held for `--hold-limit`, and sends progress.
    pub(super) fn answer_waiting(&mut self, out: &mut Out) {
        let now = Instant::now();
        let is_late = |held: &HeldCall| !held.is_answered && held.answer_by.is_some_and(|by| by <= now);
        if self.pending.is_some() {
            let mut late = None;
            self.calls.change(0, |first| {
                if is_late(first) {
                    first.is_answered = true;
                    late = Some(first.call.clone());
                }
                ControlFlow::Break(())
            });
            if let Some(call) = late {
                self.send_back(&call.call(), STILL_ASKED, out);
                // Calls that only waited behind it need not be repeated.
                self.advance(out);
            }
        }
        let mut late = Vec::new();
        self.calls.take(is_late, |held| late.push(held));
        for held in late {
            self.settle_unanswered(&held, SettledBy::Timeout, out);
            self.send_back(&held.call.call(), STILL_QUEUED, out);
        }
        self.calls.change(0, |held| {
            if let Some(line) = held.progress.as_mut().filter(|_| !held.is_answered).and_then(|it| it.step(now)) {
                out.add_line(Side::NEAR, line.trim_end());
            }
            ControlFlow::Continue(())
        });
    }

    fn send_back(&self, call: &Call<'_>, why: &str, out: &mut Out) {
        let refusal = Refusal::new(Kind::NeedsApproval, why);
        self.passage.refuse_advising(call, &refusal, REPEAT, out);
    }

    /// Takes a call about which a person has been asked before; gives back any other.
    pub(super) fn take_repetition(&mut self, held: HeldCall, out: &mut Out) -> Option<HeldCall> {
        let now = Instant::now();
        self.kept.retain(|kept| kept.until.is_none_or(|until| now < until));
        if let Some(at) = self.kept.iter().position(|kept| kept.held.is_same_action(&held)) {
            let kept = self.kept.remove(at);
            self.close_repetition(held, &kept, out);
            return None;
        }
        let mut new = Some(held);
        self.calls.change(0, |first| {
            if first.is_answered
                && let Some(mut held) = new.take_if(|held| first.is_same_action(held))
            {
                std::mem::swap(first, &mut held);
                first.repeat(held);
            }
            ControlFlow::Break(())
        });
        new
    }

    /// Keeps a decision for the repetition of the call.
    pub(super) fn keep(&mut self, held: HeldCall, decision: &Decision<'_>) {
        let &Decision { verdict, by, feedback, agreed, why } = decision;
        if matches!(by, SettledBy::Timeout | SettledBy::Nobody | SettledBy::End | SettledBy::Caller) {
            return;
        }
        let edited = agreed.filter(|_| verdict == Settlement::Edited);
        let edited = edited.map(|agreed| agreed.call.call().arguments_text().to_owned());
        let until = self.settings.timeout.map(|timeout| Instant::now() + timeout);
        let (feedback, why) = (feedback.map(str::to_owned), why.to_owned());
        self.kept.push(KeptDecision { held, verdict, by, feedback, edited, why, until });
    }

    /// Settles a repeated call with the kept decision.
    fn close_repetition(&mut self, held: HeldCall, kept: &KeptDecision, out: &mut Out) {
        let &KeptDecision { mut verdict, by, .. } = kept;
        let agreed = match self.agreed_with(&held.text(), &held.call.call(), kept.edited.as_deref()) {
            Ok(agreed) => Ok(agreed),
            Err(why) => {
                verdict = Settlement::Rejected;
                Err(why)
            }
        };
        let why = agreed.as_ref().err().unwrap_or(&kept.why);
        let agreed = agreed.as_ref().ok().filter(|_| verdict != Settlement::Rejected);
        let decision = Decision { verdict, by, feedback: kept.feedback.as_deref(), agreed, why };
        self.close(held, &decision, out);
    }

    /// No more calls come, so no repetition either: withdraws the question of a caller that was asked to repeat its
    /// call.
    pub(super) fn end_repetitions(&mut self, out: &mut Out) {
        if self.calls.first().is_some_and(|first| first.is_answered) {
            self.reject_first(SettledBy::End, "stdin has ended, so the call cannot be repeated", out);
        }
    }
}
