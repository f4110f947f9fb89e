//! One request from its line to its turn: attempts, their cost, and the pauses between them.

use super::cache::Entry;
use super::endpoint::Endpoint;
use pipewright_http::Error;
use pipewright_http::exchanges::Arrival;
use pipewright_llm::{Failure, Retry, Token, TurnReader, text_calls, without_schema};
use pipewright_mcp::Schema;
use pipewright_record::{Attempts, Kind, ModelRequest, ModelTurn, TurnFailure, Usage};
use serde_json::value::RawValue;
use std::borrow::Cow;
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
    /// The usage of earlier attempts.
    usage: Usage,
    /// How often a turn was sent back because its text did not match the schema.
    pub repairs: u32,
    /// Whether part of the turn has been printed.
    pub has_streamed: bool,
    /// The length of the sent request in bytes, without images.
    pub length: usize,
    /// Whether it was sent with its tools described in the text.
    pub has_tools_as_text: bool,
    /// Whether it was sent with its schema in the system text.
    pub has_schema_as_text: bool,
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
}

/// The progress of an attempt.
pub enum AttemptProgress {
    /// The attempt is not finished.
    Going,
    /// The attempt gave a turn.
    Turn(Box<ModelTurn>),
    /// The attempt failed for good.
    Failed(TurnFailure),
    /// The attempt failed, and the request is to be sent again after a pause. A pause that the provider asked for is
    /// `Some`, and applies to every request.
    Again(Option<Duration>, String),
}

/// If the provider asks for a longer pause, the request fails.
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
            usage: Usage::default(),
            repairs: 0,
            has_streamed: false,
            length: 0,
            has_tools_as_text: false,
            has_schema_as_text: false,
            entry: None,
            is_cached: false,
        }
    }

    pub fn id(&self) -> Option<&RawValue> {
        self.request.request_id.as_deref()
    }

    /// The request as it is sent to a server that may not accept tools or a schema.
    pub fn request_as_taken(&self) -> Cow<'_, ModelRequest> {
        let mut request = Cow::Borrowed(&self.request);
        if self.has_tools_as_text {
            request = Cow::Owned(text_calls::without_tools(&request));
        }
        if self.has_schema_as_text {
            request = Cow::Owned(without_schema(&request));
        }
        request
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
        self.state = JobState::Sent(Box::new(OpenAttempt { number, head: None, reader }));
    }

    /// Makes it ready to be sent again: the conversation has become longer.
    pub fn reset(&mut self) {
        self.attempts = 0;
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
        retries: u32,
        tokens: &mut Vec<Token>,
    ) -> AttemptProgress {
        let JobState::Sent(sent) = &mut self.state else { return AttemptProgress::Going };
        match sent.take(piece, endpoint, tokens) {
            Ok(false) => AttemptProgress::Going,
            Ok(true) => match std::mem::replace(&mut self.state, JobState::Ready) {
                JobState::Sent(sent) => {
                    let usage = sent.reader.usage();
                    match sent.reader.finish() {
                        Ok(turn) => AttemptProgress::Turn(Box::new(turn)),
                        Err(failure) => self.fail(failure, usage, retries),
                    }
                }
                _ => AttemptProgress::Going,
            },
            Err(failure) => {
                let usage = sent.reader.usage();
                self.fail(failure, usage, retries)
            }
        }
    }

    fn fail(&mut self, mut failure: Failure, usage: Usage, retries: u32) -> AttemptProgress {
        self.usage = self.usage.plus(usage);
        self.state = JobState::Ready;
        let pause = match failure.retry {
            _ if self.attempts > retries => None,
            Retry::Never => None,
            Retry::Backoff => Some(backoff(self.attempts)),
            Retry::After(pause) if pause <= MAX_PAUSE => Some(pause),
            Retry::After(pause) => {
                failure.what.message +=
                    &format!("; not sent again: the provider asks for a pause of {} s", pause.as_secs());
                None
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
                let header = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
                return Err(endpoint.provider.failure(status, &header, &body));
            }
            Arrival::Failed(error) => return Err(no_answer(&error, &endpoint.place)),
        }
        Ok(false)
    }
}

/// Why there is no answer, or only the start of one.
fn no_answer(error: &Error, place: &str) -> Failure {
    let (kind, retry) = match error {
        Error::Client(_) => (Kind::BadRequest, Retry::Never),
        Error::Connect(_) => (Kind::Unavailable, Retry::Backoff),
        Error::Broken(_) => (Kind::Lost, Retry::Backoff),
        Error::FirstByte(_) | Error::Idle(_) => (Kind::Timeout, Retry::Backoff),
        // Another attempt would take as long.
        Error::Total(_) => (Kind::Timeout, Retry::Never),
        Error::TooLong { .. } => (Kind::TooLarge, Retry::Never),
    };
    let advice = if kind == Kind::Unavailable { ": check that the server is running there" } else { "" };
    Failure::new(kind, format!("{place}: {error}{advice}"), retry)
}

/// Half a second, doubled with every attempt up to eight seconds, and reduced at random by up to a quarter so that
/// clients do not all return at once.
fn backoff(attempts: u32) -> Duration {
    let most = Duration::from_millis(500 << attempts.saturating_sub(1).min(4));
    let chance = std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), attempts);
    let less = u32::try_from(chance % 1024).unwrap_or_default();
    most - most / 4 * less / 1024
}
