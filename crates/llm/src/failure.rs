//! Why there is no turn, and whether to send the request again.

use super::overflow::is_overflow;
use super::retry::{apply_headers, pause_in};
use pipewright_record::{Fields, Kind, TurnFailure, Unreadable};
use serde_json::value::RawValue;
use std::time::Duration;

/// Gives a header's value by its lower-case name.
pub type Headers<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Whether a failed request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// No: it would fail again, or cost again.
    Never,
    /// After a pause that we choose.
    Backoff,
    /// After the pause that the provider asks for.
    After(Duration),
}

/// Why an attempt gave no turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The failure that is reported if this was the last attempt.
    pub what: TurnFailure,
    /// Whether to try again.
    pub retry: Retry,
    /// Whether the server has too much to do, or is not ready yet: this passes, but may take minutes.
    pub is_busy: bool,
    /// Whether the server is not ready yet, which is no failure.
    pub is_loading: bool,
    /// The field of the request that the server names as the cause.
    pub param: Option<String>,
}

/// What servers say that are not ready, in lower case.
const LOADING: [&str; 6] =
    ["loading model", "model is loading", "still loading", "currently loading", "is starting", "warming up"];

/// What servers say that have too much to do, in lower case.
const OVERLOADED: [&str; 5] = ["overload", "at capacity", "too busy", "no available", "high demand"];

/// What servers say of a call that the model wrote wrongly, in lower case. They generate it anew for the same request.
const WRONG_CALL: [&str; 9] = [
    // Groq
    "tool_use_failed",
    "failed to call a function",
    "tool call validation failed",
    "did not call a tool",
    // Ollama, llama.cpp
    "parsing tool call",
    "parse tool call",
    // Hugging Face, vLLM
    "parse generated",
    "invalid tool call:",
    "unexpected tool call",
];

/// What servers say of too many requests, whatever the status, in lower case.
const THROTTLED: [&str; 2] = ["throttling", "wait before trying again"];

/// What servers say of a single request that is above the limit of a minute, so that no pause helps, in lower case.
const TOO_LARGE: &str = "request too large";

/// The pause before a request to a server that loads its model.
const LOADING_PAUSE: Duration = Duration::from_secs(2);

impl Failure {
    /// A failure without a code of the provider.
    pub fn new(kind: Kind, message: impl Into<String>, retry: Retry) -> Failure {
        let what = TurnFailure { kind, message: message.into(), code: None };
        Failure { what, retry, is_busy: false, is_loading: false, param: None }
    }

    /// Sets the provider's own code.
    #[must_use]
    pub fn with_code(mut self, code: Option<String>) -> Failure {
        self.what.code = code;
        self
    }

    /// The stream ended before the turn was complete.
    pub fn cut() -> Failure {
        Failure::new(Kind::Lost, "the answer ended before the turn was complete", Retry::Backoff)
    }

    /// The data does not follow the provider's protocol.
    pub fn protocol(why: impl std::fmt::Display) -> Failure {
        Failure::new(Kind::Protocol, format!("the answer cannot be read: {why}"), Retry::Backoff)
    }

    /// A failure by the HTTP status (200 to 599), the provider's own code and message, and the headers. A limit that no
    /// pause lifts has no status of its own: the providers recognise its codes.
    pub(super) fn of_status(status: u16, code: Option<String>, message: String, headers: &Headers<'_>) -> Failure {
        let lower = format!("{} {message}", code.as_deref().unwrap_or_default()).to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let is_wrong_call = status >= 400 && says(&WRONG_CALL);
        let kind = match status {
            ..=399 => Kind::Protocol,
            401 | 403 => Kind::Auth,
            402 => Kind::Quota,
            429 if lower.contains(TOO_LARGE) => Kind::Overflow,
            429 => Kind::RateLimited,
            413 => Kind::Overflow,
            _ if is_wrong_call => Kind::Protocol,
            _ if says(&THROTTLED) => Kind::RateLimited,
            _ if is_overflow(code.as_deref(), &message) => Kind::Overflow,
            408 | 409 | 425 | 499 | 500.. => Kind::Unavailable,
            _ => Kind::BadRequest,
        };
        let is_loading = kind == Kind::Unavailable && says(&LOADING);
        let is_busy = is_loading
            || kind == Kind::RateLimited
            || (kind == Kind::Unavailable && (status == 529 || says(&OVERLOADED)));
        let message = match status {
            ..=399 => no_stream(status, &message, headers),
            _ => message,
        };
        let retry = match kind {
            Kind::Auth | Kind::Quota | Kind::Overflow => Retry::Never,
            Kind::RateLimited | Kind::Unavailable => apply_headers(Retry::Backoff, headers),
            _ if is_wrong_call => apply_headers(Retry::Backoff, headers),
            _ => apply_headers(Retry::Never, headers),
        };
        let retry = match retry {
            Retry::Backoff if is_loading => Retry::After(LOADING_PAUSE),
            Retry::Backoff if is_busy => pause_in(&message).map_or(Retry::Backoff, Retry::After),
            retry => retry,
        };
        Failure { is_busy, is_loading, ..Failure::new(kind, message, retry).with_code(code) }
    }

    /// Turns the failure into a limit that no pause lifts: money, or a daily quota.
    #[must_use]
    pub(super) fn into_quota(mut self) -> Failure {
        (self.what.kind, self.retry, self.is_busy) = (Kind::Quota, Retry::Never, false);
        self
    }
}

/// Why a successful answer or a redirect (status 200 to 399) is not a turn. The part of `location` after a `?` may be
/// secret.
fn no_stream(status: u16, message: &str, headers: &Headers<'_>) -> String {
    if status < 300 {
        let media_type = headers("content-type").unwrap_or_else(|| "a body without a content type".to_owned());
        return format!(
            "the server answered {media_type} instead of a stream of events; check that the base URL is the API's \
             address ({message})"
        );
    }
    let target = headers("location").map(|to| match to.split_once(['?', '#']) {
        None => format!(" to {to}"),
        Some((path, _)) => match path.split_once("://") {
            Some((scheme, rest)) => format!(" to {scheme}://{}", rest.split('/').next().unwrap_or_default()),
            None => " to another path of the same server".to_owned(),
        },
    });
    format!(
        "the server redirects{} (HTTP status {status}), and redirects are not followed; check that the base URL is the \
         API's address",
        target.unwrap_or_default()
    )
}

impl From<Unreadable> for Failure {
    fn from(why: Unreadable) -> Failure {
        Failure::protocol(why)
    }
}

/// An error as reported by a server: `{"error":{...}}`, the same in an array, `{"error":"..."}`, or an object without
/// `error`.
#[derive(Debug)]
pub(super) struct ReportedError<'a> {
    /// The fields of the error; empty if the body has another form.
    pub fields: Fields<'a>,
    /// Its message; otherwise the status and the beginning of the body.
    pub message: String,
    /// Whether the body says that it is an error.
    pub is_error: bool,
}

impl<'a> ReportedError<'a> {
    pub(super) fn read(status: u16, body: &'a [u8]) -> ReportedError<'a> {
        let text = std::str::from_utf8(body).unwrap_or_default().trim();
        let first = serde_json::from_str::<Vec<&RawValue>>(text).ok().and_then(|list| list.first().copied());
        let whole = Fields::read(first.map_or(text, RawValue::get)).unwrap_or_default();
        let error = whole.present("error");
        let is_error = error.is_some() || whole.text("object").as_deref() == Some("error");
        let fields = error.and_then(|error| Fields::read(error.get()).ok());
        let message = whole.text("error").or_else(|| detail(&whole));
        let fields = fields.unwrap_or(whole);
        let said = |text: &String| !text.trim().is_empty();
        let own = ["message", "status_msg"].into_iter().find_map(|key| fields.text(key));
        let message = own.or_else(|| detail(&fields)).or(message).filter(said);
        let message = message.map(|message| match cause(&fields) {
            Some(cause) => format!("{message}: {cause}"),
            None => message,
        });
        let message = message.unwrap_or_else(|| {
            let begin: String = String::from_utf8_lossy(body).trim().chars().take(MAX_SHOWN).collect();
            if begin.is_empty() { format!("HTTP status {status}") } else { format!("HTTP status {status}: {begin}") }
        });
        ReportedError { fields, message, is_error }
    }

    /// A code, which some servers send as a number.
    pub(super) fn code(&self, key: &str) -> Option<String> {
        let number = || self.fields.get(key)?.get().parse::<i64>().ok().map(|number| number.to_string());
        self.fields.text(key).or_else(number)
    }
}

/// The error of the provider behind OpenRouter, in the form of that provider.
fn cause(fields: &Fields<'_>) -> Option<String> {
    let raw = fields.object("metadata")?.text("raw").filter(|raw| !raw.trim().is_empty())?;
    let is_object = raw.trim_start().starts_with(['{', '[']);
    Some(if is_object {
        ReportedError::read(0, raw.as_bytes()).message
    } else {
        raw.chars().take(MAX_DETAIL).collect()
    })
}

/// The `detail` of servers in Python: a text, or a list of errors with their places.
fn detail(fields: &Fields<'_>) -> Option<String> {
    let detail = fields.present("detail")?;
    Some(serde_json::from_str(detail.get()).unwrap_or_else(|_| detail.get().chars().take(MAX_DETAIL).collect()))
}

/// The most characters that are shown of a list of errors.
const MAX_DETAIL: usize = 1000;

/// The most characters that are shown of a body in an unknown form, such as a proxy's page.
const MAX_SHOWN: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_decides_and_then_the_message() {
        let failure = |status, code: &str, message: &str| {
            let failure = Failure::of_status(status, Some(code.to_owned()), message.to_owned(), &|_| None);
            (failure.what.kind, failure.retry)
        };
        assert_eq!(failure(401, "", ""), (Kind::Auth, Retry::Never));
        assert_eq!(failure(403, "", ""), (Kind::Auth, Retry::Never));
        assert_eq!(failure(402, "", ""), (Kind::Quota, Retry::Never));
        assert_eq!(failure(429, "", ""), (Kind::RateLimited, Retry::Backoff));
        assert_eq!(failure(413, "request_too_large", ""), (Kind::Overflow, Retry::Never));
        assert_eq!(failure(400, "context_length_exceeded", ""), (Kind::Overflow, Retry::Never));
        assert_eq!(failure(500, "", "prompt is too long"), (Kind::Overflow, Retry::Never));
        let again = |kind| (kind, Retry::Backoff);
        assert_eq!(failure(400, "tool_use_failed", "Failed to call a function."), again(Kind::Protocol));
        assert_eq!(failure(500, "", "error parsing tool call: raw='{', err=unexpected end"), again(Kind::Protocol));
        assert_eq!(failure(400, "ThrottlingException", "Too many tokens."), again(Kind::RateLimited));
        let large = "Request too large: Limit 30000, Requested 40000. The input or output tokens must be reduced";
        assert_eq!(failure(429, "rate_limit_exceeded", large), (Kind::Overflow, Retry::Never));
        for status in [408, 409, 425, 499, 500, 503, 529] {
            assert_eq!(failure(status, "", ""), (Kind::Unavailable, Retry::Backoff), "{status}");
        }
        assert_eq!(failure(404, "", "no such model"), (Kind::BadRequest, Retry::Never));
        assert_eq!(failure(302, "", ""), (Kind::Protocol, Retry::Never));
    }

    #[test]
    fn an_answer_that_is_not_a_stream_is_described() {
        let message = |status, header: &'static str, value: &'static str| {
            let headers = |name: &str| (name == header).then(|| value.to_owned());
            let failure = Failure::of_status(status, None, "HTTP status 200: <html>".to_owned(), &headers);
            assert_eq!((failure.what.kind, failure.retry), (Kind::Protocol, Retry::Never));
            failure.what.message
        };
        let page = message(200, "content-type", "text/html");
        assert!(
            page.starts_with("the server answered text/html instead of a stream of events; check that the base URL"),
            "{page}"
        );
        assert!(page.ends_with("(HTTP status 200: <html>)"), "{page}");
        for (location, shown) in [
            ("https://example.org/v2", " to https://example.org/v2 "),
            ("https://example.org/login?token=s3cret", " to https://example.org (HTTP status 302)"),
            ("https://example.org?s3cret", " to https://example.org (HTTP status 302)"),
            ("/login?s3cret", " to another path of the same server (HTTP status 302)"),
            ("/v1/", " to /v1/ (HTTP status 302), and redirects are not followed"),
        ] {
            let message = message(302, "location", location);
            assert!(message.contains(shown) && !message.contains("s3cret"), "{message}");
        }
        assert!(message(304, "x", "").starts_with("the server redirects (HTTP"));
    }

    #[test]
    fn the_message_of_a_failure_is_found_in_every_form() {
        let read = |body: &'static str| ReportedError::read(503, body.as_bytes());
        assert_eq!(read(r#"{"error":{"message":"a","code":7}}"#).message, "a");
        assert_eq!(read(r#"{"error":{"message":"a","code":7}}"#).code("code").as_deref(), Some("7"));
        assert_eq!(read(r#"[{"error":{"message":"b","status":"X"}}]"#).code("status").as_deref(), Some("X"));
        assert_eq!(read(r#"{"error":"c"}"#).message, "c");
        assert_eq!(read(r#"{"message":"d","object":"error"}"#).message, "d");
        assert_eq!(read(r#"{"error":{"message":""}}"#).message, r#"HTTP status 503: {"error":{"message":""}}"#);
        let behind = |raw: &str| format!(r#"{{"error":{{"message":"e","metadata":{{"raw":{raw:?}}}}}}}"#);
        for (raw, message) in [(r#"{"error":{"message":"too long"}}"#, "e: too long"), ("busy", "e: busy"), ("", "e")] {
            assert_eq!(ReportedError::read(400, behind(raw).as_bytes()).message, message);
        }
        assert_eq!(read("<html>gone").message, "HTTP status 503: <html>gone");
        assert_eq!(read("").message, "HTTP status 503");
        assert_eq!(ReportedError::read(500, b"\xff").message, "HTTP status 500: \u{fffd}");
    }
}
