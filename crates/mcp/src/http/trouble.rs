//! What ends a connection, in words for people.

use super::address::Address;
use reqwest::StatusCode;
use std::error::Error;

/// Why a connection has ended.
#[derive(Debug)]
pub(super) enum Trouble {
    /// There is no way to the server, or it broke.
    Broken(reqwest::Error),
    /// It has forgotten our session.
    SessionLost,
    /// It answers as HTTP does, not as MCP: the status, and the beginning of what it says.
    Status(StatusCode, String),
    /// Its answer is of a type that none is.
    NotMcp(String),
    /// It took a request and gave no answer.
    NoAnswer(&'static str),
    /// Who listens to us has gone.
    Unheard,
}

impl From<reqwest::Error> for Trouble {
    fn from(error: reqwest::Error) -> Trouble {
        Trouble::Broken(error)
    }
}

impl Trouble {
    /// What is said about it; nothing where nobody is left to hear it.
    pub(super) fn text(&self, address: &Address) -> Option<String> {
        let what = match self {
            Trouble::Broken(error) if error.is_connect() => {
                format!("the server can't be reached: {}", innermost(error))
            }
            Trouble::Broken(error) => format!("the connection to the server broke: {}", innermost(error)),
            Trouble::SessionLost => "the server has lost our session (HTTP 404)".to_owned(),
            Trouble::Status(status, said) => {
                let hint = match *status {
                    StatusCode::UNAUTHORIZED => "; it wants to know who we are (--header 'Authorization: Bearer ...')",
                    StatusCode::FORBIDDEN => "; who we are (--header) may not do this",
                    status if status.is_redirection() => "; it sends us to another place, and we don't go",
                    _ => "",
                };
                let said = if said.is_empty() { String::new() } else { format!(": {said}") };
                format!("the server answers with HTTP {status}{hint}{said}")
            }
            Trouble::NotMcp(of) => format!("the server's answer is {of}, and no MCP"),
            Trouble::NoAnswer(how) => format!("the server {how}"),
            Trouble::Unheard => return None,
        };
        Some(address.without_secrets(&format!("{address}: {what}")))
    }
}

/// What it comes from in the end: the rest says only that there was an error. (And its own text has the whole URL.)
pub(super) fn innermost(error: &reqwest::Error) -> String {
    let mut cause: Option<&dyn Error> = error.source();
    let mut text = None;
    while let Some(error) = cause {
        text = Some(error.to_string()).filter(|text| !text.is_empty()).or(text);
        cause = error.source();
    }
    text.unwrap_or_else(|| if error.is_timeout() { "it takes too long" } else { "there is no saying why" }.to_owned())
}

/// The beginning of what a server says, in one line.
pub(super) fn beginning(body: &[u8]) -> String {
    const MOST: usize = 200;
    let text = String::from_utf8_lossy(body);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().filter(|one| !one.is_control()).take(MOST).collect()
}
