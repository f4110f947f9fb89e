//! The Chrome DevTools Protocol over a pipe: JSON messages that each end with a NUL byte
//! (<https://chromedevtools.github.io/devtools-protocol/>; the framing is that of `--remote-debugging-pipe`).

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A message from the browser.
#[derive(Debug)]
pub enum Message {
    /// The answer to a command.
    Response {
        /// The number of the command.
        id: u64,
        /// The result, JSON text, or why it failed.
        outcome: Result<Box<RawValue>, CommandError>,
    },
    /// An event.
    Event(Event),
}

/// An event of the browser.
#[derive(Debug)]
pub struct Event {
    /// Its session; none if it is about the browser itself.
    pub session: Option<String>,
    /// `Domain.name`.
    pub method: String,
    /// JSON text.
    pub params: Box<RawValue>,
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CommandError {
    /// JSON-RPC's code: -32602 for wrong parameters, -32000 if the command cannot be carried out.
    pub code: i64,
    /// For people.
    pub message: String,
}

/// A message that does not follow the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidMessage(pub String);

#[derive(Deserialize)]
struct Wire {
    id: Option<u64>,
    result: Option<Box<RawValue>>,
    error: Option<CommandError>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    #[serde(rename = "sessionId")]
    session: Option<String>,
}

/// Empty parameters or result.
fn nothing() -> Box<RawValue> {
    RawValue::NULL.to_owned()
}

impl Message {
    /// Reads a message without its NUL byte.
    ///
    /// # Errors
    /// The message is neither an answer nor an event.
    pub fn read(bytes: &[u8]) -> Result<Message, InvalidMessage> {
        let wire: Wire = serde_json::from_slice(bytes).map_err(|error| InvalidMessage(error.to_string()))?;
        match wire {
            Wire { id: Some(id), error: Some(refused), .. } => Ok(Message::Response { id, outcome: Err(refused) }),
            Wire { id: Some(id), result, .. } => {
                Ok(Message::Response { id, outcome: Ok(result.unwrap_or_else(nothing)) })
            }
            Wire { method: Some(method), params, session, .. } => {
                Ok(Message::Event(Event { session, method, params: params.unwrap_or_else(nothing) }))
            }
            _ => Err(InvalidMessage("it is neither an answer nor an event".to_owned())),
        }
    }
}

/// A command with its NUL byte.
///
/// # Errors
/// The parameters cannot be written as JSON.
pub fn command(id: u64, session: Option<&str>, method: &str, params: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Command<'a, P> {
        id: u64,
        method: &'a str,
        params: &'a P,
        #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
        session: Option<&'a str>,
    }
    let mut bytes = serde_json::to_vec(&Command { id, method, params, session })?;
    bytes.push(0);
    Ok(bytes)
}

/// Splits the bytes from the pipe into messages.
#[derive(Debug)]
pub struct Splitter {
    begun: Vec<u8>,
    longest: usize,
    /// The message is too long: the rest of it is skipped.
    is_over: bool,
}

/// How much of an over-long message is kept: enough for the command's number, which comes first.
const KEPT_PREFIX: usize = 64;

impl Splitter {
    /// `longest` is the longest message accepted, in bytes.
    pub fn new(longest: usize) -> Splitter {
        Splitter { begun: Vec::new(), longest: longest.max(KEPT_PREFIX), is_over: false }
    }

    /// Takes bytes and passes on each complete message. An answer that is too long is replaced by a refusal; an event
    /// that is too long is dropped.
    pub fn take(&mut self, mut bytes: &[u8], message: &mut impl FnMut(&[u8])) {
        while let Some(end) = bytes.iter().position(|byte| *byte == 0) {
            self.add(&bytes[..end]);
            bytes = &bytes[end + 1..];
            if std::mem::take(&mut self.is_over) {
                if let Some(id) = id(&self.begun) {
                    let refusal = format!(r#"{{"id":{id},"error":{{"code":-32000,"message":"{TOO_LONG}"}}}}"#);
                    message(refusal.as_bytes());
                }
            } else {
                message(&self.begun);
            }
            self.begun.clear();
            // Memory used by one long message is not kept.
            self.begun.shrink_to(1 << 16);
        }
        self.add(bytes);
    }

    fn add(&mut self, bytes: &[u8]) {
        if !self.is_over {
            self.begun.extend_from_slice(bytes);
        }
        if self.begun.len() > self.longest {
            self.is_over = true;
            self.begun.truncate(KEPT_PREFIX);
        }
    }
}

const TOO_LONG: &str = "the browser's answer is too long";

/// The number in `{"id":7,`, the beginning of an answer.
fn id(beginning: &[u8]) -> Option<u64> {
    let digits = beginning.strip_prefix(b"{\"id\":")?;
    let end = digits.iter().position(|byte| !byte.is_ascii_digit())?;
    std::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(longest: usize, pieces: &[&[u8]]) -> Vec<String> {
        let (mut splitter, mut messages) = (Splitter::new(longest), Vec::new());
        for piece in pieces {
            splitter.take(piece, &mut |message| messages.push(String::from_utf8_lossy(message).into_owned()));
        }
        messages
    }

    #[test]
    fn answers_and_events_are_read() {
        let Message::Response { id: 7, outcome: Ok(result) } =
            Message::read(br#"{"id":7,"result":{"n":1.10}}"#).unwrap()
        else {
            panic!("an answer")
        };
        assert_eq!(result.get(), r#"{"n":1.10}"#);
        let refused = Message::read(br#"{"id":7,"error":{"code":-32602,"message":"m"},"sessionId":"S"}"#).unwrap();
        assert!(matches!(refused, Message::Response { outcome: Err(CommandError { code: -32602, .. }), .. }));
        let event = Message::read(br#"{"method":"Page.loadEventFired","params":{"t":1},"sessionId":"S"}"#).unwrap();
        assert!(matches!(event, Message::Event(Event { session: Some(session), .. }) if session == "S"));
        for none in ["", "{}", "[]", r#"{"id":-1}"#, r#"{"method":7}"#, "{\"id\":1,\"result\":{}} x"] {
            assert!(Message::read(none.as_bytes()).is_err(), "{none}");
        }
    }

    #[test]
    fn a_command_is_one_message() {
        let bytes = command(7, Some("S"), "Page.navigate", &serde_json::json!({"url": "a\0b"})).unwrap();
        let text = split(1000, &[&bytes]);
        assert_eq!(text, [r#"{"id":7,"method":"Page.navigate","params":{"url":"a\u0000b"},"sessionId":"S"}"#]);
    }

    #[test]
    fn an_answer_that_is_too_long_is_a_refusal_and_an_event_is_left_out() {
        let long = "x".repeat(500);
        let answer = format!("{{\"id\":12,\"result\":\"{long}\"}}\0");
        let event = format!("{{\"method\":\"{long}\"}}\0");
        let messages = split(100, &[answer.as_bytes(), event.as_bytes(), b"{\"id\":13}\0"]);
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert!(messages[0].starts_with("{\"id\":12,\"error\":") && messages[0].contains("too long"), "{messages:?}");
        assert_eq!(messages[1], "{\"id\":13}");
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same_messages(
            messages in prop::collection::vec("[^\0]{0,80}", 0..6),
            cuts in prop::collection::vec(0..500_usize, 0..8),
            longest in 0..100_usize,
        ) {
            let bytes: Vec<u8> = messages.iter().flat_map(|message| [message.as_bytes(), b"\0"].concat()).collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(split(longest, &pieces), split(longest, &[&bytes]));
        }

        #[test]
        fn no_message_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Message::read(&bytes);
        }
    }
}
