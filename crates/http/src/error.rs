//! Why a request failed, as text for people, without the URL and headers.

use std::time::Duration;

/// Why a request has no complete answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The client or the request is invalid, for example because a header's value contains a line feed.
    #[error("the request cannot be made: {0}")]
    Client(String),
    /// No connection could be made, so nothing was sent.
    #[error("the server cannot be reached: {0}")]
    Connect(String),
    /// The connection was lost, or its data is not HTTP.
    #[error("the connection to the server broke: {0}")]
    Broken(String),
    /// The answer is compressed, although the request asked for an answer that is not: the name of the encoding.
    #[error(
        "the answer is compressed ({0}), although that was not asked for: switch compression off in the server or its proxy"
    )]
    Encoded(String),
    /// [`crate::Limits::first_byte`] passed.
    #[error("the server did not answer within {0:?}")]
    FirstByte(Duration),
    /// [`crate::Limits::idle`] passed.
    #[error("the server sent nothing for {0:?}")]
    Idle(Duration),
    /// [`crate::Limits::total`] passed.
    #[error("the answer was not complete after {0:?}")]
    Total(Duration),
    /// The body is longer than `limit` bytes. `beginning` is the part that was read: at least one byte more than the
    /// limit.
    #[error("the answer is longer than {limit} bytes")]
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

/// The message of the first cause. The errors around it only repeat that there was an error, and reqwest's own contains
/// the complete URL.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    let text = causes.map(ToString::to_string).filter(|text| !text.is_empty()).last();
    text.unwrap_or_else(|| "unknown reason".to_owned())
}
