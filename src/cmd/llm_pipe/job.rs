//! One request from its line to its turn: attempts, their cost, and the pauses between them.

use super::cache::Entry;
use super::endpoint::Endpoint;
use pipewright_http::Error;
use pipewright_http::events;
use pipewright_http::exchanges::Arrival;
use pipewright_llm::{Abilities, Failure, Refusal, Retry, SentBody, Token, TurnReader, refusal};
use pipewright_mcp::Schema;
use pipewright_record::{Attempts, Kind, ModelRequest, ModelTurn, TurnFailure, Usage};
use serde_json::value::RawValue;
use std::time::{Duration, Instant};

/// A request without a turn so far.
pub struct Job {
    pub request: ModelRequest,
    /// The schema that the turn's text has to match.
    pub schema: Option<Schema>,
    /// Its place in the input, for messages: `stdin:7`.
    pub place: String,
    state: JobState,
    /// When it was first sent.
    begun: Option<Instant>,
    /// How often it was sent.
    attempts: u32,
    /// How often it failed, except because the server was busy.
    failures: u32,
    /// Since when the server has been busy.
    busy_since: Option<Instant>,
    /// When the turn counts as complete although the stream is open.
    ends_at: Option<Instant>,
    /// The usage of earlier attempts.
    usage: Usage,
    /// How often a turn was sent back because its text did not match the schema.
    pub repairs: u32,
    /// Whether part of the turn has been printed.
    pub has_streamed: bool,
    /// The length of the sent request in bytes, without images.
    pub length: usize,
    /// What a refusal can be about in the sent body.
    pub sent: SentBody,
    /// Whether its limit of tokens is our default.
    pub has_default_limit: bool,
    /// Whether it was sent without the default limit because it did not fit the context window with it.
    pub is_unlimited: bool,
    /// Whether the server has no such address.
    pub is_misplaced: bool,
    /// The file in which its turn will be stored.
    pub entry: Option<Entry>,
    /// Whether its turn comes from the cache.
    pub is_cached: bool,
}

enum JobState {
    /// The request is sent as soon as possible.
    Ready,
    /// The request is sent again at this time.
    Waiting(Instant),
    /// The request was sent to the provider.
    Sent(Box<OpenAttempt>),
}

/// An open attempt.
struct OpenAttempt {
    number: u64,
    head: Option<(u16, Vec<(String, String)>)>,
    reader: Box<dyn TurnReader>,
    /// Whether the server has no such address.
    is_misplaced: bool,
}

/// The progress of an attempt.
pub enum AttemptProgress {
    /// The attempt is not finished.
    Going,
    /// The attempt gave a turn.
    Turn(Box<ModelTurn>),
    /// The server refuses a part of the request.
    Refused(Refusal),
    /// The attempt failed for good.
    Failed(TurnFailure),
    /// The attempt failed, and the request is to be sent again after a pause. A pause that the provider asked for is
    /// `Some`, and applies to every request.
    Again(Option<Duration>, String),
}

/// How often, and how long, a request is sent again.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// How often after a failure.
    pub retries: u32,
    /// How long while the server is busy.
    pub busy: Duration,
}

/// How long only the counts of a turn may still come after its end.
const ENDING: Duration = Duration::from_secs(2);

/// The shortest pause that a provider can ask for.
const SHORTEST_PAUSE: Duration = Duration::from_millis(200);

/// The longest pause that a provider can ask for after a failure.
const MAX_PAUSE: Duration = Duration::from_secs(3600);

impl Job {
    pub fn new(request: ModelRequest, place: String, schema: Option<Schema>) -> Job {
        Job {
            request,
            schema,
            place,
            state: JobState::Ready,
            begun: None,
            attempts: 0,
            failures: 0,
            busy_since: None,
            ends_at: None,
            usage: Usage::default(),
            repairs: 0,
            has_streamed: false,
            length: 0,
            sent: SentBody::default(),
            has_default_limit: false,
            is_unlimited: false,
            is_misplaced: false,
            entry: None,
            is_cached: false,
        }
    }

    pub fn id(&self) -> Option<&RawValue> {
        self.request.request_id.as_deref()
    }

    /// Whether it may be sent now.
    pub fn is_ready(&self, now: Instant) -> bool {
        match self.state {
            JobState::Ready => true,
            JobState::Waiting(until) => until <= now,
            JobState::Sent(_) => false,
        }
    }

    /// When it is sent again.
    pub fn waits_until(&self) -> Option<Instant> {
        match self.state {
            JobState::Waiting(until) => Some(until),
            _ => None,
        }
    }

    /// When the open attempt counts as complete, if the server only keeps the stream open.
    pub fn ends_at(&self) -> Option<Instant> {
        self.ends_at.filter(|_| self.number().is_some())
    }

    /// The number of the open attempt.
    pub fn number(&self) -> Option<u64> {
        match &self.state {
            JobState::Sent(sent) => Some(sent.number),
            _ => None,
        }
    }

    /// The request was sent under this number.
    pub fn send(&mut self, number: u64, reader: Box<dyn TurnReader>, now: Instant) {
        self.begun.get_or_insert(now);
        self.attempts += 1;
        (self.ends_at, self.is_misplaced) = (None, false);
        self.state = JobState::Sent(Box::new(OpenAttempt { number, head: None, reader, is_misplaced: false }));
    }

    /// Makes it ready to be sent again: the conversation has become longer.
    pub fn reset(&mut self) {
        (self.attempts, self.failures) = (0, 0);
        self.state = JobState::Ready;
    }

    /// The usage so far.
    pub fn usage(&self) -> Usage {
        match &self.state {
            JobState::Sent(sent) => self.usage.plus(sent.reader.usage()),
            _ => self.usage,
        }
    }

    /// Adds the usage of a turn that was paid for but is not printed.
    pub fn add_usage(&mut self, usage: Usage) {
        self.usage = self.usage.plus(usage);
    }

    pub fn attempts(&self, now: Instant) -> Attempts {
        let latency = self.begun.map_or(Duration::ZERO, |begun| now - begun);
        Attempts {
            latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
            retries: self.attempts.saturating_sub(1) + self.repairs,
            is_cached: self.is_cached,
        }
    }

    /// Takes the next piece of the open attempt, and appends its tokens.
    pub fn take(
        &mut self,
        piece: Arrival,
        endpoint: &Endpoint,
        abilities: &Abilities,
        patience: Patience,
        tokens: &mut Vec<Token>,
    ) -> AttemptProgress {
        let JobState::Sent(sent) = &mut self.state else { return AttemptProgress::Going };
        match sent.take(piece, endpoint, tokens) {
            Ok(false) => {
                self.ends_at = sent.reader.is_ending().then(|| Instant::now() + ENDING);
                AttemptProgress::Going
            }
            Ok(true) => match std::mem::replace(&mut self.state, JobState::Ready) {
                JobState::Sent(sent) => {
                    let usage = sent.reader.usage();
                    match sent.reader.finish() {
                        Ok(turn) => AttemptProgress::Turn(Box::new(turn)),
                        Err(failure) => self.fail(failure, usage, abilities, patience),
                    }
                }
                _ => AttemptProgress::Going,
            },
            Err(failure) => {
                let usage = sent.reader.usage();
                self.is_misplaced = sent.is_misplaced;
                self.fail(failure, usage, abilities, patience)
            }
        }
    }

    fn fail(
        &mut self,
        mut failure: Failure,
        usage: Usage,
        abilities: &Abilities,
        patience: Patience,
    ) -> AttemptProgress {
        self.usage = self.usage.plus(usage);
        self.state = JobState::Ready;
        // What the server says of itself may pass: it is believed when it comes again.
        let may_pass = failure.what.kind == Kind::Unavailable && self.failures == 0 && patience.retries > 0;
        if let Some(refused) = refusal(&failure, &self.request, &self.sent, abilities).filter(|_| !may_pass) {
            return AttemptProgress::Refused(refused);
        }
        // Without retries, a server is only waited for while it loads its model: it has not failed.
        let is_busy = failure.is_loading || (failure.is_busy && patience.retries > 0);
        let busy_for = self.busy_since.map_or(Duration::ZERO, |since| since.elapsed());
        let is_enough = match is_busy {
            true => self.busy_since.get_or_insert_with(Instant::now).elapsed() >= patience.busy,
            false => {
                self.failures += 1;
                self.failures > patience.retries
            }
        };
        let pause = match failure.retry {
            _ if is_enough => None,
            Retry::Never => None,
            // Some servers ask for a pause of 0 as long as they refuse.
            Retry::After(pause) if pause < SHORTEST_PAUSE => Some(backoff(self.attempts)),
            Retry::Backoff => Some(backoff(self.attempts)),
            // The server may be free earlier than it says, so a pause longer than the user's limit is cut to it.
            Retry::After(pause) => {
                let most = if is_busy { patience.busy.saturating_sub(busy_for) } else { MAX_PAUSE };
                if pause > most {
                    let (pause, most) = (pause.as_secs(), most.as_secs());
                    failure.what.message +=
                        &format!("; the provider asks for a pause of {pause} s: waiting {most} s at most");
                }
                Some(pause.min(most))
            }
        };
        match pause.and_then(|pause| Instant::now().checked_add(pause)) {
            Some(until) => {
                self.state = JobState::Waiting(until);
                let asked = matches!(failure.retry, Retry::After(_)).then_some(pause).flatten();
                let seconds = pause.unwrap_or_default().as_secs_f64();
                AttemptProgress::Again(asked, format!("{}; sending it again in {seconds:.1} s", failure.what.message))
            }
            None => AttemptProgress::Failed(failure.what),
        }
    }
}

impl OpenAttempt {
    /// Whether the turn is complete.
    fn take(&mut self, piece: Arrival, endpoint: &Endpoint, tokens: &mut Vec<Token>) -> Result<bool, Failure> {
        match piece {
            Arrival::Head(status, headers) => self.head = Some((status, headers)),
            Arrival::Event(event) if event.is_cut => {
                return Err(Failure::new(Kind::TooLarge, "an event of the answer is too large", Retry::Never));
            }
            Arrival::Event(event) => {
                self.reader.take(&event.name, &event.data, tokens)?;
                return Ok(self.reader.is_complete());
            }
            Arrival::End => return Ok(true),
            Arrival::Body(body) => {
                let (status, headers) = self.head.take().unwrap_or_default();
                if (200..300).contains(&status) && self.take_whole(&body, endpoint, tokens)? {
                    return Ok(true);
                }
                let header = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
                let mut failure = endpoint.provider.failure(status, &header, &body);
                let is_page = status < 300 && failure.what.kind == Kind::Protocol;
                // LM Studio reports an unknown path with status 200.
                let is_unknown = failure.what.message.starts_with("Unexpected endpoint or method");
                self.is_misplaced = matches!(status, 404 | 405) || is_page || is_unknown;
                if is_unknown {
                    failure.retry = Retry::Never;
                }
                if self.is_misplaced {
                    failure.what.message += &format!(" (asked: {})", endpoint.asked());
                }
                return Err(failure);
            }
            Arrival::Failed(error) => return Err(no_answer(&error, &endpoint.place)),
        }
        Ok(false)
    }
}

impl OpenAttempt {
    /// Takes an answer that is not declared as a stream of events: one, or a complete turn. `false` for anything else.
    fn take_whole(&mut self, body: &[u8], endpoint: &Endpoint, tokens: &mut Vec<Token>) -> Result<bool, Failure> {
        let text = String::from_utf8_lossy(body);
        let text = text.trim_start_matches('\u{feff}').trim();
        if ["data:", "event:", ":"].iter().any(|begin| text.starts_with(begin)) {
            let mut reader = events::Reader::new(body.len());
            for event in reader.take(&[body, b"\n\n"].concat()) {
                self.reader.take(&event.name, &event.data, tokens)?;
            }
            return Ok(true);
        }
        let Some(events) = endpoint.provider.events_of(text) else { return Ok(false) };
        for event in events {
            self.reader.take("", event.as_bytes(), tokens)?;
        }
        Ok(true)
    }
}

/// Why there is no answer, or only the start of one.
fn no_answer(error: &Error, place: &str) -> Failure {
    let (kind, retry) = match error {
        Error::Client(_) => (Kind::BadRequest, Retry::Never),
        Error::Connect(_) => (Kind::Unavailable, Retry::Backoff),
        Error::Broken(_) => (Kind::Lost, Retry::Backoff),
        Error::FirstByte(_) | Error::Idle(_) => (Kind::Timeout, Retry::Backoff),
        Error::Encoded(_) => (Kind::Protocol, Retry::Never),
        // Another attempt would take as long.
        Error::Total(_) => (Kind::Timeout, Retry::Never),
        Error::TooLong { .. } => (Kind::TooLarge, Retry::Never),
    };
    let text = error.to_string();
    let (advice, retry) = match kind {
        Kind::Unavailable if text.contains("certificate") => {
            (": for an authority of your own, name the file with its certificate in SSL_CERT_FILE", Retry::Never)
        }
        Kind::Unavailable => (": check that the server is running there", retry),
        _ => ("", retry),
    };
    Failure::new(kind, format!("{place}: {text}{advice}"), retry)
}

/// Half a second, doubled with every attempt up to eight seconds, and reduced at random by up to a quarter so that
/// clients do not all return at once.
fn backoff(attempts: u32) -> Duration {
    let most = Duration::from_millis(500 << attempts.saturating_sub(1).min(4));
    let chance = std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), attempts);
    let less = u32::try_from(chance % 1024).unwrap_or_default();
    most - most / 4 * less / 1024
}
