//! The reasons for the end of a connection, as text for people.

use pipewright_http::{Address, Error, StatusCode};

/// Why a connection has ended.
#[derive(Debug)]
pub(super) enum ConnectionError {
    /// The server cannot be reached, or the connection broke.
    Http(Error),
    /// The server has dropped the session, and so did not carry out the request with this id.
    SessionLost(Option<String>),
    /// The server answered with an HTTP error instead of MCP: the status, and the beginning of the body.
    Status(StatusCode, String),
    /// The answer has a content type that MCP does not use.
    NotMcp(String),
    /// The server took a request and gave no answer.
    NoAnswer(&'static str),
    /// The reader of our output is gone.
    NoReader,
}

impl From<Error> for ConnectionError {
    fn from(error: Error) -> ConnectionError {
        ConnectionError::Http(error)
    }
}

impl ConnectionError {
    /// The message for people; `None` if no reader is left.
    pub(super) fn text(&self, address: &Address) -> Option<String> {
        let what = match self {
            ConnectionError::Http(error) => error.to_string(),
            ConnectionError::SessionLost(_) => "the server has dropped the session (HTTP 404)".to_owned(),
            ConnectionError::Status(status, body) => {
                let hint = match *status {
                    StatusCode::UNAUTHORIZED => "; it requires authorization (--header 'Authorization: Bearer ...')",
                    StatusCode::FORBIDDEN => "; the credentials (--header) do not permit this",
                    status if status.is_redirection() => "; redirects to another origin are not followed",
                    _ => "",
                };
                let body = if body.is_empty() { String::new() } else { format!(": {body}") };
                format!("the server answered with HTTP {status}{hint}{body}")
            }
            ConnectionError::NotMcp(of) => format!("the server's answer has the content type {of}, which is not MCP"),
            ConnectionError::NoAnswer(how) => format!("the server {how}"),
            ConnectionError::NoReader => return None,
        };
        Some(address.without_secrets(&format!("{address}: {what}")))
    }
}

/// The beginning of a body, on one line.
pub(super) fn beginning(body: &[u8]) -> String {
    const MAX_SHOWN: usize = 200;
    let text = String::from_utf8_lossy(body);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|one| !one.is_control()).take(MAX_SHOWN).collect()
}
