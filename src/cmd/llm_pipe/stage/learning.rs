//! What a run learns of its server: a part of requests that it refuses, an address that it does not have, a limit that does not fit.

use super::ModelStage;
use crate::cmd::llm_pipe::learnt;
use pipewright_io::stage::Out;
use pipewright_llm::{Ability, Refusal, context_window, text_calls};
use pipewright_record::{CallForm, Kind, ModelTurn, TurnFailure};

/// Words for the answer's share in a refusal because of the context window.
const OUTPUT: [&str; 6] =
    ["completion", "max_tokens", "max_new_tokens", "max_completion_tokens", "output", "requested"];

/// The names of the limit of a turn's tokens.
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

impl ModelStage {
    /// Sends the request again without what the server refuses.
    pub(super) fn learn(&mut self, number: u64, refused: &Refusal, out: &mut Out) {
        self.remember_refusal(number, refused);
        let Some(job) = self.jobs.get_mut(&number) else { return };
        job.reset();
        if std::mem::take(&mut job.has_streamed) {
            self.settings.answer.restarted(job.id(), out);
        }
    }

    fn remember_refusal(&mut self, number: u64, refused: &Refusal) {
        let Some(job) = self.jobs.get(&number) else { return };
        let before = self.abilities.clone();
        self.abilities.learn(refused, &job.request);
        if before != self.abilities {
            self.report.note(format_args!("the server {}", refused.describe()));
            self.keep_learnt();
        }
    }

    fn keep_learnt(&self) {
        let endpoint = &self.settings.endpoint;
        if let Err(why) = learnt::write(&endpoint.url, &endpoint.model, &endpoint.place, &self.abilities) {
            self.report.note(format_args!("what the server refuses is not kept for the next run: {why}"));
        }
    }

    /// Learns from a turn that the server accepted its request, and whether its model answers with structured calls. `false` if the request
    /// is sent again in another form, since it required a call.
    pub(super) fn learn_from_turn(&mut self, number: u64, turn: &ModelTurn, out: &mut Out) -> bool {
        let Some(job) = self.jobs.get_mut(&number) else { return true };
        self.abilities.accept(&job.request);
        if !turn.calls.is_empty() && turn.form == Some(CallForm::Structured) && self.abilities.prove_calls() {
            self.keep_learnt();
        } else if self.settings.endpoint.provider.has_calls_in_text() && self.abilities.lacks_calls(turn, &job.request)
        {
            let refused = Refusal::Ability(Ability::Tools);
            if text_calls::recognise(turn.clone(), &job.request).calls.is_empty() {
                job.add_usage(turn.usage);
                self.learn(number, &refused, out);
                return false;
            }
            self.remember_refusal(number, &refused);
        }
        let Some(job) = self.jobs.get(&number) else { return true };
        if job.is_unlimited && !self.abilities.leaves_out(LIMITS[0]) {
            let request = &job.request;
            LIMITS.iter().for_each(|name| self.abilities.learn(&Refusal::Field((*name).to_owned()), request));
            self.keep_learnt();
        }
        true
    }

    /// Sends a failed request again if its address or our default limit may be the cause.
    pub(super) fn try_otherwise(&mut self, number: u64, failure: &TurnFailure, out: &mut Out) -> bool {
        if let Some(tokens) = context_window(&failure.message).filter(|_| failure.kind == Kind::Overflow)
            && self.abilities.context() != Some(tokens)
        {
            self.abilities.set_context(tokens);
            self.keep_learnt();
        }
        let Some(job) = self.jobs.get_mut(&number) else { return false };
        let message = failure.message.to_lowercase();
        let is_about_output = OUTPUT.iter().any(|word| message.contains(word));
        if failure.kind == Kind::Overflow && job.has_default_limit && is_about_output {
            (job.has_default_limit, job.is_unlimited) = (false, true);
            job.request.max_output_tokens = None;
            job.reset();
            return true;
        }
        if job.is_misplaced
            && let Some(address) = self.settings.endpoint.take_other_url()
        {
            self.exchanges.move_to(address);
            let asked = self.settings.endpoint.asked();
            let why = self.settings.endpoint.without_secrets(&failure.message);
            self.report.note(format_args!("{}: {why}; trying {asked}", job.place));
            job.reset();
            if std::mem::take(&mut job.has_streamed) {
                self.settings.answer.restarted(job.id(), out);
            }
            return true;
        }
        false
    }
}
