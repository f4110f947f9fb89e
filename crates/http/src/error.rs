//! Why a request failed, as text for people, without the URL and headers.

use std::fmt;
use std::time::Duration;

/// Why a request has no complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The client or the request is invalid, for example because a header's value contains a line feed.
    Client(String),
    /// No connection could be made, so nothing was sent.
    Connect(String),
    /// The connection was lost, or its data is not HTTP.
    Broken(String),
    /// [`crate::Limits::first_byte`] passed.
    FirstByte(Duration),
    /// [`crate::Limits::idle`] passed.
    Idle(Duration),
    /// [`crate::Limits::total`] passed.
    Total(Duration),
    /// The body is longer than `limit` bytes. `beginning` is the part that was read: at least one byte more than the limit.
    TooLong {
        /// The limit that was set.
        limit: usize,
        /// The body's beginning.
        beginning: Vec<u8>,
    },
}

impl From<reqwest::Error> for Error {
    fn from(error: reqwest::Error) -> Error {
        let why = innermost(&error);
        match error {
            _ if error.is_builder() => Error::Client(why),
            _ if error.is_connect() => Error::Connect(why),
            _ => Error::Broken(why),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Client(why) => write!(f, "the request cannot be made: {why}"),
            Error::Connect(why) => write!(f, "the server cannot be reached: {why}"),
            Error::Broken(why) => write!(f, "the connection to the server broke: {why}"),
            Error::FirstByte(limit) => write!(f, "the server did not answer within {limit:?}"),
            Error::Idle(limit) => write!(f, "the server sent nothing for {limit:?}"),
            Error::Total(limit) => write!(f, "the answer was not complete after {limit:?}"),
            Error::TooLong { limit, .. } => write!(f, "the answer is longer than {limit} bytes"),
        }
    }
}

impl std::error::Error for Error {}

/// The message of the first cause. The errors around it only repeat that there was an error, and reqwest's own contains the complete URL.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    let text = causes.map(ToString::to_string).filter(|text| !text.is_empty()).last();
    text.unwrap_or_else(|| "unknown reason".to_owned())
}
