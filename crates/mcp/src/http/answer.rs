//! How a server answers: with a body of JSON, with a stream of events that may break and is taken up again, or as HTTP refuses.

use super::Told;
use super::headers::Message;
use super::session::{Asked, Purpose, SESSION, Session};
use super::trouble::{Trouble, beginning};
use pipewright_http::{Error, Events, Method, Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Before a stream that broke is taken up again, where the server names no time.
const RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// A stream that gives nothing new so often is not taken up any more.
const FRUITLESS: u32 = 5;
/// What a server says with a refusal is read so far.
const REFUSAL: usize = 64 << 10;
/// A stream that has given its answer may end by itself, so that its connection serves for the next request.
const LINGER: Duration = Duration::from_secs(1);

/// Where a stream is, for who takes it up again.
#[derive(Debug, Default)]
struct Place {
    last: Option<String>,
    retry: Option<u64>,
    /// Since when it gave nothing new: how often it was taken up.
    fruitless: u32,
}

impl Place {
    /// How long to wait; longer each time in which nothing came.
    fn wait(&self) -> Duration {
        let first = self.retry.map_or(RETRY, Duration::from_millis);
        first.saturating_mul(1 << self.fruitless.min(5)).min(LONGEST_RETRY.max(first))
    }
}

/// How a stream came to its end.
enum End {
    Answered,
    /// The answer is longer than was agreed; its beginning was handed on.
    Cut,
    Broken(Option<Error>),
}

impl Session {
    /// Makes a request, and hears the answer to its end.
    pub(super) async fn exchange(&self, request: Request, asked: &Asked) -> Result<(), Trouble> {
        let response = request.send().await?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && asked.in_session {
            return Err(Trouble::SessionLost);
        }
        if asked.purpose == Purpose::Initialize && status.is_success() {
            *self.id.borrow_mut() = response.header(SESSION).map(str::to_owned);
        }
        let Some(id) = &asked.id else {
            // What is only told is not answered, and where it isn't liked, nobody waits for that.
            return Ok(());
        };
        if !status.is_success() {
            return self.hear_refusal(response, id).await;
        }
        match response.media_type().as_str() {
            "application/json" => self.hear_body(response, asked, id).await,
            "text/event-stream" => self.hear_events(response, asked, id).await,
            "" => Err(Trouble::NoAnswer("takes a request and doesn't answer it")),
            other => Err(Trouble::NotMcp(other.to_owned())),
        }
    }

    async fn hear_body(&self, response: Response, asked: &Asked, id: &str) -> Result<(), Trouble> {
        let body = match response.body(self.longest).await {
            Err(Error::TooLong { beginning, .. }) => return self.write_cut(id, &beginning),
            body => body?,
        };
        let no_json = |_| Trouble::NotMcp("no JSON".to_owned());
        let whole: &RawValue = serde_json::from_slice(&body).map_err(no_json)?;
        // A version of the protocol allowed several messages at once.
        let messages = if whole.get().starts_with('[') {
            serde_json::from_str(whole.get()).map_err(no_json)?
        } else {
            vec![whole]
        };
        let mut answered = false;
        for message in messages {
            answered |= self.hear(message.get(), Some(asked))?;
        }
        if answered { Ok(()) } else { Err(Trouble::NoAnswer("answers something else than was asked")) }
    }

    async fn hear_events(&self, mut response: Response, asked: &Asked, id: &str) -> Result<(), Trouble> {
        let mut place = Place::default();
        loop {
            let mut events = response.events(self.longest);
            let why = match self.hear_stream(&mut events, &mut place, Some((asked, id))).await? {
                End::Answered => {
                    let _ = timeout(LINGER, self.hear_stream(&mut events, &mut place, None)).await;
                    return Ok(());
                }
                End::Cut => return Ok(()),
                End::Broken(why) => why.map_or(Trouble::NoAnswer("ends its answer before it is whole"), Trouble::Http),
            };
            response = self.resume(&mut place, why).await?;
        }
    }

    /// Takes up a stream that broke because of `why`, where the server has said how.
    async fn resume(&self, place: &mut Place, mut why: Trouble) -> Result<Response, Trouble> {
        while place.last.is_some() && place.fruitless < FRUITLESS {
            sleep(place.wait()).await;
            place.fruitless += 1;
            match self.get(place).send().await {
                Ok(response) if response.status().is_success() => return Ok(response),
                Ok(response) => return Err(Trouble::Status(response.status(), String::new())),
                Err(error) => why = error.into(),
            }
        }
        Err(why)
    }

    fn get(&self, place: &Place) -> Request {
        let request = self.in_session(Method::GET).header("accept", "text/event-stream");
        match &place.last {
            Some(last) => request.header("last-event-id", last),
            None => request,
        }
    }

    /// What a server says that wasn't asked has a stream of its own, where it says such things at all. That this breaks is
    /// no loss: requests tell.
    pub(super) async fn listen(&self) -> Result<(), Trouble> {
        let mut place = Place::default();
        loop {
            match self.get(&place).send().await {
                Ok(response) if response.status().is_success() && response.media_type() == "text/event-stream" => {
                    self.hear_stream(&mut response.events(self.longest), &mut place, None).await?;
                }
                Ok(response) if response.status() == StatusCode::NOT_FOUND && self.id.borrow().is_some() => {
                    return Err(Trouble::SessionLost);
                }
                Ok(_) => return Ok(()),
                Err(_) => {}
            }
            sleep(place.wait()).await;
            place.fruitless += 1;
        }
    }

    async fn hear_stream(
        &self,
        events: &mut Events,
        place: &mut Place,
        asked: Option<(&Asked, &str)>,
    ) -> Result<End, Trouble> {
        loop {
            let event = match events.next().await {
                Ok(Some(event)) => event,
                Ok(None) => return Ok(End::Broken(None)),
                Err(error) => return Ok(End::Broken(Some(error))),
            };
            place.fruitless = 0;
            place.last = event.id.or(place.last.take());
            place.retry = event.retry.or(place.retry);
            if event.data.is_empty() || !matches!(event.name.as_str(), "" | "message") {
                continue;
            }
            match (event.is_cut, asked) {
                (true, Some((_, id))) => return self.write_cut(id, &event.data).map(|()| End::Cut),
                (true, None) => {}
                (false, _) => {
                    if self.hear(&String::from_utf8_lossy(&event.data), asked.map(|(asked, _)| asked))? {
                        return Ok(End::Answered);
                    }
                }
            }
        }
    }

    /// Hands a message on; says whether it is the answer to what was asked.
    fn hear(&self, text: &str, asked: Option<&Asked>) -> Result<bool, Trouble> {
        let message = Message::read(text);
        let answer = message.as_ref().zip(asked).filter(|(message, asked)| {
            message.method.is_none() && message.id.map(RawValue::get) == asked.id.as_deref()
        });
        let Some((message, asked)) = answer else { return self.write(text.as_bytes()).map(|()| false) };
        let mut text = std::borrow::Cow::Borrowed(text);
        match (asked.purpose, message.result) {
            (Purpose::Initialize, Some(result)) => self.agree(result),
            (Purpose::ListTools, Some(result)) if self.is_stateless() => {
                if let Some((kept, refused)) = self.tools.borrow_mut().learn(result) {
                    text = text.replacen(result.get(), &kept, 1).into();
                    refused.into_iter().for_each(|why| (self.tell)(Told::Note(why)));
                }
            }
            _ => {}
        }
        self.write(text.as_bytes()).map(|()| true)
    }

    /// The version that the server has chosen is named from now on.
    fn agree(&self, result: &RawValue) {
        #[derive(Deserialize)]
        struct Greeting {
            #[serde(rename = "protocolVersion")]
            version: String,
        }
        if let Ok(greeting) = serde_json::from_str::<Greeting>(result.get()) {
            *self.version.borrow_mut() = greeting.version;
        }
    }

    /// A refusal that is an error of JSON-RPC is an answer, even where it names no request.
    async fn hear_refusal(&self, response: Response, id: &str) -> Result<(), Trouble> {
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
                Err(Trouble::Status(status, beginning(&body)))
            }
            None => Err(Trouble::Status(status, String::new())),
        }
    }

    /// What is too long to be kept is for its reader to refuse, who is to know which request that ends.
    fn write_cut(&self, id: &str, message: &[u8]) -> Result<(), Trouble> {
        self.write(&[format!("{{\"id\":{id},\"result\":").as_bytes(), message].concat())
    }
}
