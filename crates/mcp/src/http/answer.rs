//! Reads a server's answer: a JSON body, a stream of events that may break and be resumed, or an HTTP error.

use super::Notice;
use super::connection_error::{ConnectionError, beginning};
use super::headers::Message;
use super::session::{AnswerUse, PendingRequest, SESSION, Session};
use pipewright_http::{Error, Events, Method, Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The wait before a broken stream is resumed, if the server sets no time.
const RETRY: Duration = Duration::from_secs(1);
const MAX_RETRY: Duration = Duration::from_secs(30);
/// After this many attempts without new events, a stream is not resumed again.
const MAX_EMPTY_RESUMES: u32 = 5;
/// The most bytes of an error's body that are read.
const REFUSAL: usize = 64 << 10;
/// How long a stream may stay open after its answer, so that its connection can be used for the next request.
const LINGER: Duration = Duration::from_secs(1);

/// The position in a stream, from which it is resumed.
#[derive(Debug, Default)]
struct Position {
    last: Option<String>,
    retry: Option<u64>,
    /// The number of attempts since the last event.
    fruitless: u32,
}

impl Position {
    /// How long to wait; longer after each attempt without events.
    fn wait(&self) -> Duration {
        let first = self.retry.map_or(RETRY, Duration::from_millis);
        first.saturating_mul(1 << self.fruitless.min(5)).min(MAX_RETRY.max(first))
    }
}

/// How a stream ended.
enum End {
    Answered,
    /// The answer is longer than the limit; its beginning was passed on.
    Cut,
    Broken(Option<Error>),
}

impl Session {
    /// Sends a request, and reads its answer to the end.
    pub(super) async fn exchange(&self, request: Request, pending: &PendingRequest) -> Result<(), ConnectionError> {
        let response = request.send().await?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && pending.in_session {
            return Err(ConnectionError::SessionLost(pending.id.clone()));
        }
        if pending.purpose == AnswerUse::Initialize && status.is_success() {
            *self.id.borrow_mut() = response.header(SESSION).map(str::to_owned);
        }
        let Some(id) = &pending.id else {
            // A notification has no answer, and its refusal is not reported.
            return Ok(());
        };
        if !status.is_success() {
            return self.read_refusal(response, id).await;
        }
        match response.media_type().as_str() {
            "application/json" => self.read_body(response, pending, id).await,
            "text/event-stream" => self.read_events(response, pending, id).await,
            "" => Err(ConnectionError::NoAnswer("accepted a request but did not answer it")),
            other => Err(ConnectionError::NotMcp(other.to_owned())),
        }
    }

    async fn read_body(&self, response: Response, pending: &PendingRequest, id: &str) -> Result<(), ConnectionError> {
        let body = match response.body(self.longest).await {
            Err(Error::TooLong { beginning, .. }) => return self.write_cut(id, &beginning),
            body => body?,
        };
        let no_json = |_| ConnectionError::NotMcp("no JSON".to_owned());
        let whole: &RawValue = serde_json::from_slice(&body).map_err(no_json)?;
        // One version of the protocol allowed several messages in a body.
        let messages = if whole.get().starts_with('[') {
            serde_json::from_str(whole.get()).map_err(no_json)?
        } else {
            vec![whole]
        };
        let mut answered = false;
        for message in messages {
            answered |= self.pass_on(message.get(), Some(pending))?;
        }
        if answered { Ok(()) } else { Err(ConnectionError::NoAnswer("answered a different request")) }
    }

    async fn read_events(
        &self,
        mut response: Response,
        pending: &PendingRequest,
        id: &str,
    ) -> Result<(), ConnectionError> {
        let mut position = Position::default();
        loop {
            let mut events = response.events(self.longest);
            let why = match self.read_stream(&mut events, &mut position, Some((pending, id))).await? {
                End::Answered => {
                    let _ = timeout(LINGER, self.read_stream(&mut events, &mut position, None)).await;
                    return Ok(());
                }
                End::Cut => return Ok(()),
                End::Broken(why) => why.map_or(
                    ConnectionError::NoAnswer("ended its answer before it was complete"),
                    ConnectionError::Http,
                ),
            };
            response = self.resume(&mut position, why).await?;
        }
    }

    /// Resumes a stream that broke because of `why`, if the server has made that possible.
    async fn resume(&self, position: &mut Position, mut why: ConnectionError) -> Result<Response, ConnectionError> {
        while position.last.is_some() && position.fruitless < MAX_EMPTY_RESUMES {
            sleep(position.wait()).await;
            position.fruitless += 1;
            match self.get(position).send().await {
                Ok(response) if response.status().is_success() => return Ok(response),
                Ok(response) => return Err(ConnectionError::Status(response.status(), String::new())),
                Err(error) => why = error.into(),
            }
        }
        Err(why)
    }

    fn get(&self, position: &Position) -> Request {
        let request = self.in_session(Method::GET).header("accept", "text/event-stream");
        match &position.last {
            Some(last) => request.header("last-event-id", last),
            None => request,
        }
    }

    /// Keeps the stream open for messages that answer no request, if the server has one. A broken stream is not a
    /// failure: if the server is lost, requests fail.
    pub(super) async fn listen(&self) -> Result<(), ConnectionError> {
        let mut position = Position::default();
        loop {
            match self.get(&position).send().await {
                Ok(response) if response.status().is_success() && response.media_type() == "text/event-stream" => {
                    self.read_stream(&mut response.events(self.longest), &mut position, None).await?;
                }
                Ok(response) if response.status() == StatusCode::NOT_FOUND && self.id.borrow().is_some() => {
                    return Err(ConnectionError::SessionLost(None));
                }
                Ok(_) => return Ok(()),
                Err(_) => {}
            }
            sleep(position.wait()).await;
            position.fruitless += 1;
        }
    }

    async fn read_stream(
        &self,
        events: &mut Events,
        position: &mut Position,
        pending: Option<(&PendingRequest, &str)>,
    ) -> Result<End, ConnectionError> {
        loop {
            let event = match events.next().await {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(End::Broken(None)),
                Err(error) => return Ok(End::Broken(Some(error))),
            };
            position.fruitless = 0;
            position.last = event.id.or(position.last.take());
            position.retry = event.retry.or(position.retry);
            if event.data.is_empty() || !matches!(event.name.as_str(), "" | "message") {
                continue;
            }
            match (event.is_cut, pending) {
                (true, Some((_, id))) => return self.write_cut(id, &event.data).map(|()| End::Cut),
                (true, None) => {}
                (false, _) => {
                    if self.pass_on(&String::from_utf8_lossy(&event.data), pending.map(|(pending, _)| pending))? {
                        return Ok(End::Answered);
                    }
                }
            }
        }
    }

    /// Writes a message to `output`; gives whether it answers the request.
    fn pass_on(&self, text: &str, pending: Option<&PendingRequest>) -> Result<bool, ConnectionError> {
        let message = Message::read(text);
        let answer = message.as_ref().zip(pending).filter(|(message, pending)| {
            message.method.is_none() && message.id.map(RawValue::get) == pending.id.as_deref()
        });
        let Some((message, pending)) = answer else { return self.write(text.as_bytes()).map(|()| false) };
        let mut text = std::borrow::Cow::Borrowed(text);
        match (pending.purpose, message.result) {
            (AnswerUse::Initialize, Some(result)) => self.set_version(result),
            (AnswerUse::ListTools, Some(result)) if self.is_stateless() => {
                if let Some((kept, refused)) = self.tools.borrow_mut().read_tools(result) {
                    text = text.replacen(result.get(), &kept, 1).into();
                    refused.into_iter().for_each(|why| (self.notify)(Notice::Warning(why)));
                }
            }
            _ => {}
        }
        self.write(text.as_bytes()).map(|()| true)
    }

    /// Sets the protocol version that the server has chosen.
    fn set_version(&self, result: &RawValue) {
        #[derive(Deserialize)]
        struct Handshake {
            #[serde(rename = "protocolVersion")]
            version: String,
        }
        if let Ok(handshake) = serde_json::from_str::<Handshake>(result.get()) {
            *self.version.borrow_mut() = handshake.version;
        }
    }

    /// A refusal that is a JSON-RPC error is an answer, even if it names no request.
    async fn read_refusal(&self, response: Response, id: &str) -> Result<(), ConnectionError> {
        let (status, kind) = (response.status(), response.media_type());
        let body = match response.body(REFUSAL).await {
            Ok(body) | Err(Error::TooLong { beginning: body, .. }) => body,
            Err(_) => Vec::new(),
        };
        let about_us = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let message = std::str::from_utf8(&body).ok().and_then(Message::read);
        let error = message.and_then(|message| message.error).filter(|error| error.get().starts_with('{') && !about_us);
        match error {
            Some(error) => self.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}").as_bytes()),
            None if matches!(kind.as_str(), "text/plain" | "application/json") => {
                Err(ConnectionError::Status(status, beginning(&body)))
            }
            None => Err(ConnectionError::Status(status, String::new())),
        }
    }

    /// Passes on the beginning of an overlong message. Its reader refuses it, and finds the request's id in it.
    fn write_cut(&self, id: &str, message: &[u8]) -> Result<(), ConnectionError> {
        self.write(&[format!("{{\"id\":{id},\"result\":").as_bytes(), message].concat())
    }
}
