//! A text that comes in pieces of JSON strings.

use serde::de::{Deserialize, Deserializer, Visitor};
use std::fmt;

/// A text, and the first half of a surrogate pair at its end.
#[derive(Debug, Default)]
pub(crate) struct GrowingText {
    text: String,
    /// The raw content of a JSON string, between its quotes.
    held: String,
}

impl GrowingText {
    /// Appends the raw content of a JSON string, and gives the text that was added. Servers that split text by
    /// UTF-16 units (JavaScript's) put the halves of a surrogate pair into two strings: the first half is kept until
    /// the second arrives.
    pub(crate) fn push(&mut self, escaped: &str) -> String {
        self.held.push_str(escaped);
        if ends_in_high_surrogate(&self.held) {
            return String::new();
        }
        let more = unescaped(&std::mem::take(&mut self.held));
        self.text.push_str(&more);
        more
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The complete text.
    pub(crate) fn end(mut self) -> String {
        self.text.push_str(&unescaped(&self.held));
        self.text
    }
}

/// Whether the last escape is the first half of a pair (RFC 8259 section 7), or looks like one after an escaped
/// backslash.
fn ends_in_high_surrogate(escaped: &str) -> bool {
    let begin = escaped.len().checked_sub(6).and_then(|at| escaped.get(at..));
    let unit = begin.and_then(|last| u16::from_str_radix(last.strip_prefix("\\u")?, 16).ok());
    matches!(unit, Some(0xd800..=0xdbff))
}

/// Decodes the raw content of a JSON string; an unpaired surrogate becomes U+FFFD.
pub(crate) fn unescaped(escaped: &str) -> String {
    let text = serde_json::from_str::<Lossy>(&format!("\"{escaped}\""));
    text.map(|Lossy(text)| text).unwrap_or_default()
}

struct Lossy(String);

impl<'de> Deserialize<'de> for Lossy {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Lossy, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = String;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a string")
            }
            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
                Ok(String::from_utf8_lossy(bytes).into_owned())
            }
        }
        // Decoding it as a string would fail at an unpaired surrogate.
        from.deserialize_bytes(Bytes).map(Lossy)
    }
}
