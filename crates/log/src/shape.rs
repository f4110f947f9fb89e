//! A line of our format as written, and its meaning.

use super::read::{Content, End, Header};
use super::{Direction, FORMAT, Part};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pipewright_lines::is_json;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The number and version of a line of our format, for continuing the log; `None` for any other line.
pub fn numbered(body: &[u8]) -> Option<Numbered> {
    let record: Record<'_> = serde_json::from_slice(body).ok()?;
    let Understood { seq, what, .. } = record.understand()?;
    let version = if let What::Header { version, .. } = what { Some(version) } else { None };
    Some(Numbered { seq, version })
}

/// A line of our format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered {
    /// Its number.
    pub seq: u64,
    /// The format's version, in a header.
    pub version: Option<u64>,
}

/// A message of our format that is text, or bytes that are not UTF-8; `None` for any other line.
pub fn text_message(body: &[u8]) -> Option<TextMessage> {
    let record: Record<'_> = serde_json::from_slice(body).ok()?;
    let What::Message { direction, content, more, .. } = record.understand()?.what else { return None };
    let (field, bytes) = match content {
        Content::Text(text) => ("text", text.into_owned().into_bytes()),
        Content::Bytes(bytes) => ("b64", bytes.into_owned()),
        Content::Json(_) | Content::Withheld(_) => return None,
    };
    Some(TextMessage { direction, field, bytes, more })
}

/// A message that is text or bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextMessage {
    /// Its direction.
    pub direction: Direction,
    /// The field of its content: `text` or `b64`.
    pub field: &'static str,
    /// Its content.
    pub bytes: Vec<u8>,
    /// The line continues in the next message of this direction.
    pub more: bool,
}

/// A line of our format as written; [`Record::understand`] gives its meaning.
#[derive(Deserialize)]
pub(super) struct Record<'a> {
    #[serde(borrow, default)]
    format: Option<Cow<'a, str>>,
    #[serde(default)]
    version: Option<u64>,
    #[serde(borrow, default)]
    start: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    child: Option<Cow<'a, str>>,
    #[serde(default)]
    command: Option<Vec<String>>,
    #[serde(default)]
    t: Option<u64>,
    #[serde(default)]
    seq: Option<u64>,
    #[serde(borrow, default)]
    dir: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    msg: Option<&'a RawValue>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    b64: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    withheld: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    eol: Option<Cow<'a, str>>,
    #[serde(default)]
    more: bool,
    #[serde(default)]
    lost: Option<u64>,
    #[serde(borrow, default)]
    end: Option<Cow<'a, str>>,
    #[serde(default)]
    status: Option<u8>,
}

/// A `null` is a message too.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// The meaning of a line.
pub(super) struct Understood<'a> {
    pub(super) seq: u64,
    pub(super) t: u64,
    pub(super) what: What<'a>,
}

pub(super) enum What<'a> {
    Header { header: Header, version: u64 },
    Message { direction: Direction, content: Content<'a>, ending: &'static str, more: bool },
    Lost(u64),
    End(End<'a>),
}

impl<'a> Record<'a> {
    pub(super) fn understand(self) -> Option<Understood<'a>> {
        let seq = self.seq?;
        if self.format.as_deref() == Some(FORMAT) {
            let start = self.start.and_then(|start| start.parse::<jiff::Timestamp>().ok());
            let child = match self.child.as_deref() {
                Some("agent") => Some(Part::Agent),
                Some("world") => Some(Part::World),
                _ => None,
            };
            let command = self.command.unwrap_or_default();
            let header = Header { start: start.map(jiff::Timestamp::as_microsecond), child, command };
            return Some(Understood { seq, t: 0, what: What::Header { header, version: self.version? } });
        }
        let t = self.t?;
        let what = if let Some(dir) = self.dir {
            let content = match (self.msg, self.text, self.b64, self.withheld) {
                (Some(json), None, None, None) => Content::Json(json.get()),
                (None, Some(text), None, None) => Content::Text(text),
                (None, None, Some(b64), None) => Content::Bytes(STANDARD.decode(b64.as_bytes()).ok()?.into()),
                (None, None, None, Some(why)) => Content::Withheld(why),
                _ => return None,
            };
            let ending = match self.eol.as_deref() {
                None => "\n",
                Some("") => "",
                Some("\r\n") => "\r\n",
                Some(_) => return None,
            };
            What::Message { direction: Direction::of(&dir)?, content, ending, more: self.more }
        } else if let Some(count) = self.lost {
            What::Lost(count)
        } else {
            What::End(End { how: self.end?, status: self.status })
        };
        Some(Understood { seq, t, what })
    }
}

/// A message in its usual form: JSON, ended by a line feed. Gives the same result as [`Record`], but faster.
pub(super) fn plain_message(json: &str) -> Option<Understood<'_>> {
    let (t, rest) = number(json.strip_prefix("{\"t\":")?)?;
    let (seq, rest) = number(rest.strip_prefix(",\"seq\":")?)?;
    let (dir, rest) = rest.strip_prefix(",\"dir\":\"")?.split_once('"')?;
    let msg = rest.strip_prefix(",\"msg\":")?.strip_suffix('}')?;
    // Not if another field follows.
    if !is_json(msg.as_bytes(), usize::MAX) {
        return None;
    }
    let content = Content::Json(msg.trim_ascii());
    let what = What::Message { direction: Direction::of(dir)?, content, ending: "\n", more: false };
    Some(Understood { seq, t, what })
}

/// A number as we write it, and the rest of the text.
fn number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    let is_plain = number == "0" || !number.starts_with('0');
    Some((number.parse().ok().filter(|_| is_plain)?, rest))
}
