//! What ends a connection, in words for people.

use pipewright_http::{Address, Error, StatusCode};

/// Why a connection has ended.
#[derive(Debug)]
pub(super) enum Trouble {
    /// There is no way to the server, or it broke.
    Http(Error),
    /// It has forgotten our session.
    SessionLost,
    /// It answers as HTTP does, not as MCP: the status, and the beginning of what it says.
    Status(StatusCode, String),
    /// Its answer is of a type that none is.
    NotMcp(String),
    /// It took a request and gave no answer.
    NoAnswer(&'static str),
    /// Who listens to us has gone.
    NoReader,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Http(error)
    }
}

impl Trouble {
    /// The message for people; none where nobody is left to read it.
    pub(super) fn text(&self, address: &Address) -> Option<String> {
        let what = match self {
            Trouble::Http(error) => error.to_string(),
            Trouble::SessionLost => "the server has lost our session (HTTP 404)".to_owned(),
            Trouble::Status(status, body) => {
                let hint = match *status {
                    StatusCode::UNAUTHORIZED => "; it wants to know who we are (--header 'Authorization: Bearer ...')",
                    StatusCode::FORBIDDEN => "; who we are (--header) may not do this",
                    status if status.is_redirection() => "; it sends us to another position, and we don't go",
                    _ => "",
                };
                let body = if body.is_empty() { String::new() } else { format!(": {body}") };
                format!("the server answers with HTTP {status}{hint}{body}")
            }
            Trouble::NotMcp(of) => format!("the server's answer is {of}, and no MCP"),
            Trouble::NoAnswer(how) => format!("the server {how}"),
            Trouble::NoReader => return None,
        };
        Some(address.without_secrets(&format!("{address}: {what}")))
    }
}

/// The beginning of what a server says, in one line.
pub(super) fn beginning(body: &[u8]) -> String {
    const MOST: usize = 200;
    let text = String::from_utf8_lossy(body);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|one| !one.is_control()).take(MOST).collect()
}
