//! An answer: its head, and its body in one of three forms.

use crate::client::{Deadline, by};
use crate::error::Error;
use crate::events::{Event, Reader};
use reqwest::StatusCode;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// An answer whose body has not been read.
#[derive(Debug)]
pub struct Response {
    inner: reqwest::Response,
    idle: Option<Duration>,
    end: Deadline,
}

impl Response {
    pub(crate) fn new(inner: reqwest::Response, idle: Option<Duration>, end: Deadline) -> Response {
        Response { inner, idle, end }
    }

    /// The status. A redirect to another origin is not followed, so this may be a redirect.
    pub fn status(&self) -> StatusCode {
        self.inner.status()
    }

    /// The first header of this name, if its value is visible ASCII.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.inner.headers().get(name)?.to_str().ok()
    }

    /// All headers with lower-case names, except those whose values are not visible ASCII.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        let headers = self.inner.headers().iter();
        headers.filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))).collect()
    }

    /// The content type without its parameters, in lower case; empty without one.
    pub fn media_type(&self) -> String {
        let value = self.header("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The complete body.
    ///
    /// # Errors
    /// [`Error::TooLong`] if it is longer than `limit` bytes; [`Error::Idle`], [`Error::Total`] or [`Error::Broken`] if
    /// it does not end.
    pub async fn body(mut self, limit: usize) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece().await? {
            body.extend_from_slice(piece.as_ref());
            if body.len() > limit {
                return Err(Error::TooLong { limit, beginning: body });
            }
        }
        Ok(body)
    }

    /// The body as server-sent events, each with at most `limit` bytes of data (see [`Event::is_cut`]).
    pub fn events(self, limit: usize) -> Events {
        Events { response: self, reader: Reader::new(limit), ready: VecDeque::new() }
    }

    /// The next piece of the body; `None` at its end.
    async fn piece(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, Error> {
        let idle = self.idle.and_then(|idle| Some((Instant::now().checked_add(idle)?, Error::Idle(idle))));
        Ok(by([idle, self.end.clone()], self.inner.chunk()).await??)
    }
}

/// The events of a body, as they come.
#[derive(Debug)]
pub struct Events {
    response: Response,
    reader: Reader,
    ready: VecDeque<Event>,
}

impl Events {
    /// The next event; `None` after the last one. Dropping the future loses no event.
    ///
    /// # Errors
    /// [`Error::Idle`], [`Error::Total`] or [`Error::Broken`].
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            let Some(piece) = self.response.piece().await? else { return Ok(self.reader.end()) };
            self.ready.extend(self.reader.take(piece.as_ref()));
        }
    }
}
