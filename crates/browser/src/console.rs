//! The messages on a page's console, and its failed requests.
//!
//! The browser itself keeps the last 1,000 messages of each document, and sends them when the `Runtime` and `Log` domains are
//! enabled. So they are enabled only during this call: at other times, a page that logs constantly sends nothing, and none of its
//! logged objects is kept for us.

use crate::pages::Pages;
use crate::requests::FailedRequest;
use crate::wire::Event;
use crate::{Browser, Fault};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Instant;

/// How many messages are returned: the last ones.
const KEPT: usize = 200;

/// The longest text of a message, in characters.
const LONGEST: usize = 1000;

/// The messages and failed requests since the last call.
#[derive(Debug, Clone, PartialEq)]
pub struct Console {
    /// The last 200 messages, oldest first. Those of a document that has gone are not included.
    pub messages: Vec<ConsoleMessage>,
    /// The last 200 failed requests, oldest first.
    pub requests: Vec<FailedRequest>,
    /// At least this many messages and requests were left out. The browser itself keeps only 1,000 messages per document.
    pub dropped: u64,
}

/// A message of the console.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsoleMessage {
    /// `error`, `warning`, `info`, `log` or `debug`; an exception that nothing caught is an `error`.
    pub level: String,
    /// At most 1,000 characters. An error includes its stack; for any other object, only its type, such as `Array(2)`.
    pub text: String,
    /// The address of the script and the line, counted from 1: `https://example.org/app.js:12`. Empty if unknown.
    pub place: String,
    /// Milliseconds since 1970.
    time: f64,
}

/// Events received during the call.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    messages: VecDeque<ConsoleMessage>,
    dropped: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Called {
    #[serde(rename = "type")]
    kind: String,
    args: Vec<Argument>,
    timestamp: f64,
    stack_trace: Option<Stack>,
}

#[derive(Deserialize)]
struct Argument {
    value: Option<Value>,
    description: Option<String>,
    subtype: Option<String>,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stack {
    call_frames: Vec<Place>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    url: Option<String>,
    line_number: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thrown {
    timestamp: f64,
    exception_details: Details,
}

#[derive(Deserialize)]
struct Details {
    text: String,
    exception: Option<Argument>,
    #[serde(flatten)]
    place: Place,
}

#[derive(Deserialize)]
struct Added {
    entry: Entry,
}

#[derive(Deserialize)]
struct Entry {
    source: String,
    level: String,
    text: String,
    timestamp: f64,
    #[serde(flatten)]
    place: Place,
}

impl Argument {
    fn text(self) -> String {
        match self {
            Argument { value: Some(Value::String(text)), .. } => text,
            Argument { value: Some(value), .. } if !value.is_object() => value.to_string(),
            Argument { subtype: Some(subtype), .. } if subtype == "null" => subtype,
            Argument { description, kind, .. } => description.unwrap_or(kind),
        }
    }
}

impl Place {
    fn text(self) -> String {
        match (self.url.filter(|url| !url.is_empty()), self.line_number) {
            (Some(url), Some(line)) => format!("{}:{}", cut(&url), line + 1),
            (url, _) => url.map(|url| cut(&url)).unwrap_or_default(),
        }
    }
}

impl Replayed {
    /// Takes an event of the `Runtime` or `Log` domain, and ignores any other.
    pub(crate) fn take(&mut self, event: &Event) -> Option<()> {
        let message = match event.method.as_str() {
            "Runtime.consoleAPICalled" => called(read(&event.params)?)?,
            "Runtime.exceptionThrown" => {
                let Thrown { timestamp, exception_details: Details { text, exception, place } } = read(&event.params)?;
                let exception = exception.map(Argument::text).unwrap_or_default();
                let text = if exception.starts_with(&text) { exception } else { format!("{text} {exception}") };
                ConsoleMessage { level: "error".to_owned(), text: cut(&text), place: place.text(), time: timestamp }
            }
            "Log.entryAdded" => {
                let Added { entry: Entry { source, level, text, timestamp, place } } = read(&event.params)?;
                // Failed requests are reported separately.
                if source == "network" {
                    return None;
                }
                let level = if level == "verbose" { "debug".to_owned() } else { level };
                ConsoleMessage { level, text: cut(&text), place: place.text(), time: timestamp }
            }
            _ => return None,
        };
        if self.messages.len() > KEPT * 10 {
            self.messages.pop_front();
            self.dropped += 1;
        }
        self.messages.push_back(message);
        Some(())
    }
}

fn called(Called { kind, args, timestamp, stack_trace }: Called) -> Option<ConsoleMessage> {
    let level = match kind.as_str() {
        "error" | "assert" => "error",
        "warning" => "warning",
        "info" => "info",
        "debug" => "debug",
        "clear" | "endGroup" => return None,
        _ => "log",
    };
    let text: Vec<String> = args.into_iter().map(Argument::text).collect();
    let place = stack_trace.and_then(|stack| stack.call_frames.into_iter().next());
    let place = place.map(Place::text).unwrap_or_default();
    Some(ConsoleMessage { level: level.to_owned(), text: cut(&text.join(" ")), place, time: timestamp })
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn read<T: DeserializeOwned>(params: &RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}

impl Browser {
    /// The messages of the active page and its frames, and the failed requests, since the last call.
    ///
    /// # Errors
    /// The page does not answer in time, or at all.
    pub fn take_console(&mut self, until: Instant) -> Result<Console, Fault> {
        let session = self.page()?.session.clone();
        self.replayed = Replayed::default();
        for session in Pages::sessions_below(self.pages(), &session) {
            match self.replay(&session, until) {
                // A frame may disappear while the others are read.
                Ok(()) | Err(Fault::Refused(_) | Fault::NoPage) => {}
                Err(fault) => return Err(fault),
            }
        }
        let Replayed { mut messages, mut dropped } = std::mem::take(&mut self.replayed);
        messages.make_contiguous().sort_by(|one, other| one.time.total_cmp(&other.time));
        let many = messages.len().saturating_sub(KEPT);
        messages.drain(..many);
        let (requests, left_out) = self.page_mut()?.requests.take_failed();
        dropped += many as u64 + left_out;
        Ok(Console { messages: messages.into(), requests, dropped })
    }

    /// Makes the browser send and then discard what it has kept for a session.
    fn replay(&mut self, session: &str, until: Instant) -> Result<(), Fault> {
        let mut asked = Ok(IgnoredAny);
        for method in ["Runtime.enable", "Log.enable"] {
            asked = asked.and_then(|_| self.call(Some(session), method, &json!({}), until));
        }
        // Also if the page has not answered, so it does not keep sending messages.
        for method in ["Runtime.discardConsoleEntries", "Log.clear", "Runtime.disable", "Log.disable"] {
            let done: Result<IgnoredAny, Fault> = self.call(Some(session), method, &json!({}), until);
            asked = asked.and(done);
        }
        asked.map(drop)
    }
}
