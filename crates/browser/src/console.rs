//! The messages on a page's console, and its failed requests.
//!
//! The browser itself keeps the last 1,000 messages of each document, and sends them when the `Runtime` and `Log`
//! domains are enabled. So they are enabled only during this call: at other times, a page that logs constantly sends
//! nothing, and none of its logged objects is kept for us.

use crate::pages::Pages;
use crate::requests::NetworkRequest;
use crate::wire::Event;
use crate::{ActionError, Browser};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Instant;

/// How many messages are returned: the last ones.
const MAX_MESSAGES: usize = 200;

/// The longest text of a message, in characters.
const MAX_TEXT: usize = 1000;

/// The messages and failed requests since the last call.
#[derive(Debug, Clone, PartialEq)]
pub struct Console {
    /// The last 200 messages, oldest first. Those of a document that has gone are not included.
    pub messages: Vec<ConsoleMessage>,
    /// The failed ones of the last 500 requests, oldest first.
    pub requests: Vec<NetworkRequest>,
    /// At least this many messages and requests were left out. The browser itself keeps only 1,000 messages per
    /// document.
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
pub(crate) struct CollectedEvents {
    messages: VecDeque<ConsoleMessage>,
    dropped: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConsoleApiCalled {
    #[serde(rename = "type")]
    kind: String,
    args: Vec<RemoteObject>,
    timestamp: f64,
    stack_trace: Option<StackTrace>,
}

#[derive(Deserialize)]
struct RemoteObject {
    value: Option<Value>,
    description: Option<String>,
    subtype: Option<String>,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StackTrace {
    call_frames: Vec<CallFrame>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame {
    url: Option<String>,
    line_number: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExceptionThrown {
    timestamp: f64,
    exception_details: ExceptionDetails,
}

#[derive(Deserialize)]
struct ExceptionDetails {
    text: String,
    exception: Option<RemoteObject>,
    #[serde(flatten)]
    place: CallFrame,
}

#[derive(Deserialize)]
struct EntryAdded {
    entry: LogEntry,
}

#[derive(Deserialize)]
struct LogEntry {
    source: String,
    level: String,
    text: String,
    timestamp: f64,
    #[serde(flatten)]
    place: CallFrame,
}

impl RemoteObject {
    fn text(self) -> String {
        match self {
            RemoteObject { value: Some(Value::String(text)), .. } => text,
            RemoteObject { value: Some(value), .. } if !value.is_object() => value.to_string(),
            RemoteObject { subtype: Some(subtype), .. } if subtype == "null" => subtype,
            RemoteObject { description, kind, .. } => description.unwrap_or(kind),
        }
    }
}

impl CallFrame {
    fn text(self) -> String {
        match (self.url.filter(|url| !url.is_empty()), self.line_number) {
            (Some(url), Some(line)) => format!("{}:{}", cut(&url), line + 1),
            (url, _) => url.map(|url| cut(&url)).unwrap_or_default(),
        }
    }
}

impl CollectedEvents {
    /// Takes an event of the `Runtime` or `Log` domain, and ignores any other.
    pub(crate) fn take(&mut self, event: &Event) -> Option<()> {
        let message = match event.method.as_str() {
            "Runtime.consoleAPICalled" => called(read(&event.params)?)?,
            "Runtime.exceptionThrown" => {
                let ExceptionThrown { timestamp, exception_details: ExceptionDetails { text, exception, place } } =
                    read(&event.params)?;
                let exception = exception.map(RemoteObject::text).unwrap_or_default();
                let text = if exception.starts_with(&text) { exception } else { format!("{text} {exception}") };
                ConsoleMessage { level: "error".to_owned(), text: cut(&text), place: place.text(), time: timestamp }
            }
            "Log.entryAdded" => {
                let EntryAdded { entry: LogEntry { source, level, text, timestamp, place } } = read(&event.params)?;
                // Failed requests are reported separately.
                if source == "network" {
                    return None;
                }
                let level = if level == "verbose" { "debug".to_owned() } else { level };
                ConsoleMessage { level, text: cut(&text), place: place.text(), time: timestamp }
            }
            _ => return None,
        };
        if self.messages.len() > MAX_MESSAGES * 10 {
            self.messages.pop_front();
            self.dropped += 1;
        }
        self.messages.push_back(message);
        Some(())
    }
}

fn called(ConsoleApiCalled { kind, args, timestamp, stack_trace }: ConsoleApiCalled) -> Option<ConsoleMessage> {
    let level = match kind.as_str() {
        "error" | "assert" => "error",
        "warning" => "warning",
        "info" => "info",
        "debug" => "debug",
        "clear" | "endGroup" => return None,
        _ => "log",
    };
    let text: Vec<String> = args.into_iter().map(RemoteObject::text).collect();
    let place = stack_trace.and_then(|stack| stack.call_frames.into_iter().next());
    let place = place.map(CallFrame::text).unwrap_or_default();
    Some(ConsoleMessage { level: level.to_owned(), text: cut(&text.join(" ")), place, time: timestamp })
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_TEXT) {
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
    pub fn take_console(&mut self, until: Instant) -> Result<Console, ActionError> {
        let session = self.page()?.session.clone();
        self.replayed = CollectedEvents::default();
        for session in Pages::sessions_below(self.pages(), &session) {
            match self.replay(&session, until) {
                // A frame may disappear while the others are read.
                Ok(()) | Err(ActionError::Refused(_) | ActionError::NoPage | ActionError::SilentFrame) => {}
                Err(fault) => return Err(fault),
            }
        }
        let CollectedEvents { mut messages, mut dropped } = std::mem::take(&mut self.replayed);
        messages.make_contiguous().sort_by(|one, other| one.time.total_cmp(&other.time));
        let many = messages.len().saturating_sub(MAX_MESSAGES);
        messages.drain(..many);
        let (requests, left_out) = self.page_mut()?.requests.take_failed();
        dropped += many as u64 + left_out;
        Ok(Console { messages: messages.into(), requests, dropped })
    }

    /// Makes the browser send and then discard what it has kept for a session.
    fn replay(&mut self, session: &str, until: Instant) -> Result<(), ActionError> {
        let mut asked = Ok(IgnoredAny);
        for method in ["Runtime.enable", "Log.enable"] {
            asked = asked.and_then(|_| self.call(Some(session), method, &json!({}), until));
        }
        // Also if the page has not answered, so it does not keep sending messages.
        for method in ["Runtime.discardConsoleEntries", "Log.clear", "Runtime.disable", "Log.disable"] {
            let done: Result<IgnoredAny, ActionError> = self.call(Some(session), method, &json!({}), until);
            asked = asked.and(done);
        }
        asked.map(drop)
    }
}
