//! The end of a request: a turn or a failure, printed in order.

use super::ModelStage;
use crate::cmd::llm_pipe::job::Job;
use crate::cmd::llm_pipe::repair::{MAX_DESCRIPTIONS, MAX_REPAIRS, matches_schema, own, send_back};
use pipewright_io::report::Status;
use pipewright_io::stage::{Out, Side};
use pipewright_llm::{Ability, Token, object_calls, text_calls};
use pipewright_record::{CallForm, Kind, Message, ModelTurn, OwnTurn, Stop, TurnFailure};
use std::time::Instant;

impl ModelStage {
    /// Takes a turn. Text that does not match the schema is sent back to the model.
    pub(super) fn end(&mut self, number: u64, mut turn: ModelTurn, out: &mut Out) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let has_objects = turn.form == Some(CallForm::Schema) && turn.stop == Stop::End;
        if let Some(tool) = object_calls::asked_tool(&turn.text, &job.request).filter(|_| has_objects)
            && job.repairs < MAX_DESCRIPTIONS
        {
            let description = object_calls::full(tool);
            return self.ask_again(number, &turn, description);
        }
        if self.settings.endpoint.provider.has_calls_in_text() || !self.abilities.has(Ability::Tools) {
            turn = text_calls::recognise(turn, &job.request);
        }
        if has_objects && turn.calls.is_empty() {
            turn.text = object_calls::words(&turn.text).unwrap_or(turn.text);
        }
        turn.context = self.abilities.context();
        let checked = match &job.schema {
            // A refusal is not questioned, and a turn cut by a limit is incomplete.
            Some(schema) if turn.stop == Stop::End => matches_schema(&mut turn, schema),
            _ => Ok(()),
        };
        if let Err(why) = checked {
            return self.repair(number, &turn, &why, out);
        }
        self.remember(number, &turn);
        self.store(number, &turn);
        let Some(job) = self.jobs.remove(&number) else { return };
        if let Some(tokens) =
            turn.usage.input.filter(|tokens| self.settings.endpoint.provider.drops_text(job.length, *tokens))
        {
            let (place, length) = (&job.place, job.length);
            self.report.note_limited(format_args!(
                "{place}: the server counted {tokens} tokens in {length} bytes: it has probably dropped the front, \
                 because its context window is full; give it a larger one (OLLAMA_CONTEXT_LENGTH)"
            ));
        }
        if job.is_cached && self.settings.streams {
            self.settings.answer.token(job.id(), &Token::Text(turn.text.clone()), out);
        }
        turn.usage = self.settings.endpoint.priced(job.usage().plus(turn.usage));
        if let Some(tally) = &mut self.tally {
            tally.end(turn.usage, false, job.is_cached);
        }
        let line = self.settings.answer.turn(&turn, job.id(), job.attempts(Instant::now()));
        self.print(number, Some(line), out);
    }

    /// Makes the model answer again, unless it has failed too often.
    fn repair(&mut self, number: u64, turn: &ModelTurn, why: &str, out: &mut Out) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        if job.repairs == MAX_REPAIRS {
            job.add_usage(turn.usage);
            let message = format!("the answer does not match the schema, even after {MAX_REPAIRS} repairs: {why}");
            return self.fail(number, &TurnFailure { kind: Kind::Protocol, message, code: None }, out);
        }
        let why = format!("This does not match the JSON Schema: {why}. Answer again, with JSON that matches it.");
        self.ask_again(number, turn, why);
    }

    /// Sends the conversation again, with the turn and the answer to it.
    fn ask_again(&mut self, number: u64, turn: &ModelTurn, answer: String) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        job.add_usage(turn.usage);
        job.repairs += 1;
        send_back(&mut job.request, turn, answer);
        job.reset();
    }

    /// Keeps the prompt and the answer as text: a turn's signatures are only valid together with everything before it.
    fn remember(&mut self, number: u64, turn: &ModelTurn) {
        let turns = self.settings.history;
        let Some(job) = self.jobs.get(&number).filter(|_| turns > 0) else { return };
        // The prompt is followed by the repairs, two messages each.
        let prompt = job.request.messages.iter().rev().nth(2 * job.repairs as usize);
        self.history.extend(prompt.cloned());
        self.history.push(Message::Assistant(OwnTurn { raw: None, calls: Vec::new(), ..own(turn) }));
        let much = self.history.len().saturating_sub(turns.saturating_mul(2));
        self.history.drain(..much);
    }

    pub(super) fn fail(&mut self, number: u64, failure: &TurnFailure, out: &mut Out) {
        let Some(job) = self.jobs.get(&number) else { return };
        let code = failure.code.as_deref().map(|code| self.settings.endpoint.without_secrets(code));
        let failure = &TurnFailure {
            kind: failure.kind,
            message: self.settings.endpoint.without_secrets(&failure.message),
            code,
        };
        self.report.fault(&job.place, &failure.message);
        self.give_up(number, failure, out);
    }

    /// Prints that the request failed.
    pub(super) fn give_up(&mut self, number: u64, failure: &TurnFailure, out: &mut Out) {
        let Some(job) = self.jobs.remove(&number) else { return };
        let usage = self.settings.endpoint.priced(job.usage());
        if let Some(tally) = &mut self.tally {
            tally.end(usage, true, false);
        }
        let line = self.settings.answer.failure(failure, job.id(), usage, job.attempts(Instant::now()));
        self.print(number, line, out);
    }

    fn print(&mut self, number: u64, line: Option<String>, out: &mut Out) {
        if self.settings.unordered {
            line.iter().for_each(|line| out.add_line(Side::NEAR, line));
            return;
        }
        self.done.insert(number, line);
        while let Some(line) = self.done.remove(&self.next_out) {
            line.iter().for_each(|line| out.add_line(Side::NEAR, line));
            self.next_out += 1;
        }
    }

    /// Fails all open requests in this way, and ends the run.
    pub(super) fn fail_all(&mut self, kind: Kind, message: &str, out: &mut Out) {
        let numbers: Vec<u64> = self.jobs.keys().copied().collect();
        for number in numbers {
            if let Some(attempt) = self.jobs.get(&number).and_then(Job::number) {
                self.exchanges.cancel(attempt);
            }
            self.fail(number, &TurnFailure { kind, message: message.to_owned(), code: None }, out);
        }
        self.attempts.clear();
    }

    pub(super) fn end_late(&mut self, out: &mut Out) {
        self.fail_all(Kind::Timeout, "no answer within --deadline", out);
        self.report.finish();
        out.stop(Status::Deadline);
    }

    /// Stores the turn of this request in the cache.
    fn store(&mut self, number: u64, turn: &ModelTurn) {
        let Some(job) = self.jobs.get(&number).filter(|job| !job.is_cached) else { return };
        let (Some(cache), Some(entry), place) = (&self.cache, &job.entry, &job.place) else { return };
        if self.settings.endpoint.is_secret(turn.raw.get()) {
            return self
                .report
                .note_limited(format_args!("{place}: --cache: the answer contains the key, so it is not stored"));
        }
        if let Err(why) = cache.write(entry, turn) {
            self.report.fault(place, format_args!("--cache: {why}"));
        }
    }
}
