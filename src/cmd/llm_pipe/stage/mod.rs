//! The stage of `llm-pipe`: reads requests on the near side, sends a few at a time, and prints their turns in order.

mod ending;
mod learning;

use crate::cmd::llm_pipe::answer::TurnForm;
use crate::cmd::llm_pipe::arrivals::ArrivalReceiver;
use crate::cmd::llm_pipe::cache::Cache;
use crate::cmd::llm_pipe::endpoint::Endpoint;
use crate::cmd::llm_pipe::input::{self, Line, Prompt};
use crate::cmd::llm_pipe::job::{AttemptProgress, Job};
use crate::cmd::llm_pipe::settings::RequestSettings;
use crate::cmd::llm_pipe::tally::Tally;
use pipewright_http::exchanges::{Arrival, Exchanges};
use pipewright_io::report::{Failure, Report};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::Piece;
use pipewright_llm::{Abilities, Encoded, Token, encode};
use pipewright_mcp::Schema;
use pipewright_record::{CallForm, Kind, Message, ModelRequest, ModelTurn, TurnFailure, is_same_id};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a server may keep an answer open after its turn is complete.
const END_GRACE: Duration = Duration::from_millis(250);

pub struct ModelStage {
    settings: RequestSettings,
    exchanges: Exchanges,
    arrivals: ArrivalReceiver,
    report: Arc<Report>,
    /// Requests without a turn, in the order of their lines.
    jobs: BTreeMap<u64, Job>,
    /// The jobs of the open attempts.
    attempts: HashMap<u64, u64>,
    /// Attempts whose turn is complete but whose answer has not ended, and when they are cancelled.
    ending: VecDeque<(u64, Instant)>,
    next_job: u64,
    next_attempt: u64,
    /// The next number to be printed, if the order is kept.
    next_out: u64,
    /// Lines that wait for earlier ones.
    done: BTreeMap<u64, Option<String>>,
    /// What the server is known to refuse.
    abilities: Abilities,
    /// The provider accepts no request before this time.
    paused_until: Option<Instant>,
    /// Earlier prompts and answers.
    history: Vec<Message>,
    /// The prompt of the command line; stdin is its text.
    prompt: Option<Prompt>,
    near_ended: bool,
    cache: Option<Cache>,
    tally: Option<Tally>,
}

impl ModelStage {
    pub fn new(
        settings: RequestSettings,
        exchanges: Exchanges,
        arrivals: ArrivalReceiver,
        report: Arc<Report>,
    ) -> ModelStage {
        ModelStage {
            abilities: settings.endpoint.abilities.clone(),
            settings,
            exchanges,
            arrivals,
            report,
            jobs: BTreeMap::new(),
            attempts: HashMap::new(),
            ending: VecDeque::new(),
            next_job: 0,
            next_attempt: 0,
            next_out: 0,
            done: BTreeMap::new(),
            paused_until: None,
            history: Vec::new(),
            prompt: None,
            near_ended: false,
            cache: None,
            tally: None,
        }
    }

    /// Sets the cache.
    pub fn keep(&mut self, cache: Option<Cache>) {
        self.cache = cache;
    }

    /// Sets the progress display.
    pub fn count(&mut self, tally: Option<Tally>) {
        self.tally = tally;
    }

    /// Adds the request of the command line.
    pub fn ask(&mut self, prompt: Prompt) {
        self.prompt = Some(prompt);
    }

    fn ask_prompt(&mut self, out: &mut Out) {
        let Some(prompt) = self.prompt.take() else { return };
        self.near_ended = true;
        let place = "the prompt".to_owned();
        match prompt.text() {
            Ok(text) => self.begin(input::ask(text), place, out),
            Err(why) => self.refuse(ModelRequest::default(), place, Kind::BadInput, why, out),
        }
    }

    /// Fails a request that cannot be sent.
    fn refuse(&mut self, request: ModelRequest, place: String, kind: Kind, message: String, out: &mut Out) {
        let job = self.next_job;
        self.next_job += 1;
        self.jobs.insert(job, Job::new(request, place, None));
        self.fail(job, &TurnFailure { kind, message, code: None }, out);
    }

    fn begin(&mut self, mut request: ModelRequest, place: String, out: &mut Out) {
        let settings = &self.settings;
        request.system = request.system.or_else(|| settings.system.clone());
        request.schema = request.schema.or_else(|| settings.schema.clone());
        request.max_output_tokens = request.max_output_tokens.or(settings.max_output_tokens);
        if request.tools.is_empty() {
            request.tools.clone_from(&settings.tools);
        }
        let has_default_limit = request.max_output_tokens.is_none() && !settings.endpoint.provider.has_own_limit();
        if has_default_limit {
            request.max_output_tokens = settings.default_limit;
        }
        let schema = request.schema.as_ref().map(|schema| Schema::compile(schema.get())).transpose();
        let schema = match schema {
            Ok(schema) => schema,
            Err(why) => {
                let why = format!("its \"schema\" is not a JSON Schema: {why}");
                return self.refuse(request, place, Kind::BadInput, why, out);
            }
        };
        let mut job = Job::new(request, place, schema);
        job.has_default_limit = has_default_limit;
        self.jobs.insert(self.next_job, job);
        self.next_job += 1;
    }

    fn line(&mut self, piece: &Piece<'_>, out: &mut Out) {
        if let Some(tally) = &mut self.tally {
            tally.line(piece.raw().len());
        }
        let place = format!("stdin:{}", piece.number());
        let read = match piece {
            // In lockstep, every line gets an answer, even an empty one.
            Piece::Line(line) if line.is_blank() && self.settings.answer != TurnForm::Line => return,
            Piece::Line(line) => input::read(self.settings.form, line.body(), self.settings.max_depth)
                .map_err(|why| (Kind::BadInput, why.to_string(), input::id(line.body()))),
            Piece::Part { last: false, .. } => return,
            Piece::Part { .. } => Err((Kind::TooLarge, crate::cmd::options::TOO_LONG.to_owned(), None)),
        };
        match read {
            Ok(Line::Request(request)) => self.begin(*request, place, out),
            Ok(Line::Cancel(id)) => self.cancel(&id, out),
            Err((kind, message, request_id)) => {
                let request = ModelRequest { request_id, ..ModelRequest::default() };
                self.refuse(request, place, kind, message, out);
            }
        }
    }

    /// Cancels a request. If its turn is already complete, it keeps the turn.
    fn cancel(&mut self, id: &RawValue, out: &mut Out) {
        let is_meant = |job: &Job| is_same_id(job.id().map(RawValue::get), Some(id.get()));
        let Some((&number, job)) = self.jobs.iter().find(|(_, job)| is_meant(job)) else { return };
        if let Some(attempt) = job.number() {
            self.exchanges.cancel(attempt);
            self.attempts.remove(&attempt);
        }
        let failure =
            TurnFailure { kind: Kind::Cancelled, message: "the request was cancelled".to_owned(), code: None };
        self.give_up(number, &failure, out);
    }

    /// Sends requests as far as allowed.
    fn advance(&mut self, out: &mut Out) {
        let now = Instant::now();
        if self.settings.deadline.is_some_and(|deadline| deadline <= now) {
            return self.end_late(out);
        }
        self.cancel_ended(now);
        self.end_open_streams(now, out);
        self.paused_until = self.paused_until.filter(|until| *until > now);
        while self.paused_until.is_none() && self.attempts.len() < self.settings.jobs {
            let ready = self.jobs.iter().find(|(_, job)| job.is_ready(now));
            let Some((&job, _)) = ready else { break };
            self.send(job, now, out);
        }
        // Finished requests that wait for earlier ones count as well.
        let waiting = self.jobs.len() + self.done.len();
        out.hold_near(0, waiting >= self.settings.jobs.saturating_mul(4).saturating_add(4));
        if let Some(tally) = &mut self.tally {
            tally.show(&self.report, self.jobs.len(), self.near_ended);
        }
        if self.near_ended && self.jobs.is_empty() {
            out.stop(self.report.finish());
        }
    }

    fn send(&mut self, number: u64, now: Instant, out: &mut Out) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let RequestSettings { endpoint, images, history, .. } = &self.settings;
        let Endpoint { provider, model, settings, .. } = endpoint;
        if *history > 0 && job.repairs == 0 && job.request.messages.len() == 1 {
            job.request.messages.splice(0..0, self.history.iter().cloned());
        }
        let loaded = super::images::load(&mut job.request, images);
        let encoded = loaded.and_then(|()| encode(*provider, &job.request, model, &self.abilities, settings));
        match encoded {
            Ok(Encoded { body, sent, reader }) => {
                job.sent = sent;
                job.length = body.len().saturating_sub(super::images::length(&mut job.request));
                if let Some(turn) = self.cache.as_ref().and_then(|cache| cached_turn(cache, &body, job, &self.report)) {
                    return self.end(number, turn, out);
                }
                job.send(self.next_attempt, reader, now);
                self.attempts.insert(self.next_attempt, number);
                self.exchanges.post(self.next_attempt, body.into_bytes());
                self.next_attempt += 1;
            }
            Err(message) => self.fail(number, &TurnFailure { kind: Kind::BadRequest, message, code: None }, out),
        }
    }

    fn take_arrivals(&mut self, out: &mut Out) {
        let pieces: Vec<_> = self.arrivals.take().collect();
        let mut tokens = Vec::new();
        for (attempt, piece) in pieces {
            let Some(&number) = self.attempts.get(&attempt) else {
                if matches!(piece, Arrival::End | Arrival::Failed(_)) {
                    self.ending.retain(|(ending, _)| *ending != attempt);
                }
                continue;
            };
            self.piece(number, attempt, piece, &mut tokens, out);
        }
    }

    /// Takes a piece of a job's open attempt.
    fn piece(&mut self, number: u64, attempt: u64, piece: Arrival, tokens: &mut Vec<Token>, out: &mut Out) {
        let Some(job) = self.jobs.get_mut(&number) else { return };
        let RequestSettings { endpoint, patience, .. } = &self.settings;
        let progress = job.take(piece, endpoint, &self.abilities, *patience, tokens);
        // A call as JSON is no text for people.
        if self.settings.streams && job.sent.form() != Some(CallForm::Schema) {
            job.has_streamed |= !tokens.is_empty();
            let id = job.id();
            tokens.iter().for_each(|token| self.settings.answer.token(id, token, out));
            if self.settings.answer == TurnForm::Typed && !tokens.is_empty() {
                self.report.leave_line_open();
            }
        }
        tokens.clear();
        if !matches!(progress, AttemptProgress::Going) {
            self.attempts.remove(&attempt);
        }
        match progress {
            AttemptProgress::Going => {}
            AttemptProgress::Turn(turn) => {
                self.await_end(attempt);
                if self.learn_from_turn(number, &turn, out) {
                    self.end(number, *turn, out);
                }
            }
            AttemptProgress::Refused(refused) => {
                self.exchanges.cancel(attempt);
                self.learn(number, &refused, out);
            }
            AttemptProgress::Failed(failure) => {
                self.exchanges.cancel(attempt);
                if !self.try_otherwise(number, &failure, out) {
                    self.fail(number, &failure, out);
                }
            }
            AttemptProgress::Again(pause, why) => {
                self.exchanges.cancel(attempt);
                self.pause(number, pause, &why, out);
            }
        }
    }

    /// Ends turns after which the server only keeps the stream open.
    fn end_open_streams(&mut self, now: Instant, out: &mut Out) {
        let is_over = |job: &Job| job.ends_at().is_some_and(|at| at <= now);
        let over = self.jobs.iter().filter(|(_, job)| is_over(job));
        let over: Vec<(u64, u64)> = over.filter_map(|(number, job)| Some((*number, job.number()?))).collect();
        for (number, attempt) in over {
            self.piece(number, attempt, Arrival::End, &mut Vec::new(), out);
        }
    }

    /// Gives the server a moment to end the answer of a complete turn, so that its connection can be used again. At
    /// most as many such connections are held as requests may be open.
    fn await_end(&mut self, attempt: u64) {
        if self.ending.len() >= self.settings.jobs
            && let Some((oldest, _)) = self.ending.pop_front()
        {
            self.exchanges.cancel(oldest);
        }
        self.ending.push_back((attempt, Instant::now() + END_GRACE));
    }

    fn cancel_ended(&mut self, now: Instant) {
        while let Some(&(attempt, until)) = self.ending.front()
            && until <= now
        {
            self.exchanges.cancel(attempt);
            self.ending.pop_front();
        }
    }

    fn pause(&mut self, number: u64, pause: Option<Duration>, why: &str, out: &mut Out) {
        let until = pause.and_then(|pause| Instant::now().checked_add(pause));
        self.paused_until = self.paused_until.max(until);
        let why = self.settings.endpoint.without_secrets(why);
        let Some(job) = self.jobs.get_mut(&number) else { return };
        if std::mem::take(&mut job.has_streamed) {
            self.settings.answer.restarted(job.id(), out);
        }
        self.report.note_limited(format_args!("{}: {why}", job.place));
    }
}

impl Stage for ModelStage {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        if self.prompt.as_ref().is_some_and(|prompt| !prompt.has_more) {
            self.ask_prompt(out);
        }
        if let Some(prompt) = self.prompt.as_mut().filter(|prompt| prompt.is_waiting(Instant::now())) {
            prompt.is_noted = true;
            self.report.note("waiting for the text on stdin; to send the prompt alone, add </dev/null");
        }
        match event {
            Event::Piece(Side::NEAR, piece) => match &mut self.prompt {
                Some(prompt) => prompt.extend(piece.raw()),
                None => self.line(&piece, out),
            },
            Event::Piece(Side::Answers, _) => self.take_arrivals(out),
            Event::Closed(Side::NEAR) => {
                self.near_ended = true;
                self.ask_prompt(out);
            }
            Event::Signal(_) => {
                self.fail_all(Kind::Cancelled, "llm-pipe was terminated", out);
                return Ok(());
            }
            _ => {}
        }
        self.advance(out);
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        let waiting = self.jobs.values().filter_map(Job::waits_until).min();
        // Nothing is sent before the pause is over.
        let has_room = self.attempts.len() < self.settings.jobs;
        let next =
            waiting.map(|until| self.paused_until.map_or(until, |paused| paused.max(until))).or(self.paused_until);
        let shown = self.tally.as_ref().and_then(Tally::next).filter(|_| !self.jobs.is_empty());
        let ending = self.ending.front().map(|(_, until)| *until);
        let noted = self.prompt.as_ref().and_then(Prompt::waits_until);
        let open = self.jobs.values().filter_map(Job::ends_at).min();
        [next.filter(|_| has_room), self.settings.deadline, shown, ending, open, noted].into_iter().flatten().min()
    }
}

/// The stored turn of a job whose request has this body.
fn cached_turn(cache: &Cache, body: &str, job: &mut Job, report: &Report) -> Option<ModelTurn> {
    if job.repairs > 0 {
        return None;
    }
    let entry = cache.entry(body);
    let kept = cache.read(&entry).unwrap_or_else(|why| {
        report.note_limited(format_args!("{}: --cache: {why}; asking the model instead", job.place));
        None
    });
    (job.entry, job.is_cached) = (Some(entry), kept.is_some());
    kept
}
