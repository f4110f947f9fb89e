//! Reads logs line by line: our own format, and plain NDJSON (a game's, another tool's, sts-proxy's records).
//!
//! Whatever is wrong with a line is told and hurts that line alone; of a line on which two records were fused, or one was
//! torn by the next, what is whole is read.

use super::{Direction, FORMAT, Part, VERSION, time};
use crate::io::lines::{Line, Paths, text};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// One thing that was found on a line, with the bytes of the record that says it; a problem has none.
pub type Each<'e, 'a> = &'e mut dyn FnMut(&'a [u8], Found<'a>);

/// One thing that was found on a line.
#[derive(Debug)]
pub enum Found<'a> {
    /// A session begins, or goes on in this file.
    Header(Header),
    /// A line of a stream.
    Message(Message<'a>),
    /// So many messages could not be written.
    Lost(u64),
    /// The session ended.
    End(End<'a>),
    /// Something is wrong here.
    Problem(Problem),
}

/// What a header said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// When the session began, in microseconds since 1970.
    pub start: Option<i64>,
    /// Which part the wrapped command played, where that was told.
    pub child: Option<Part>,
    /// The wrapped command; empty in a pipe.
    pub command: Vec<String>,
}

/// A line of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Message<'a> {
    /// When it passed, in microseconds since 1970; where the session's start isn't known, since then.
    pub time: Option<i64>,
    /// Microseconds since the session's start; of our own format alone.
    pub t: Option<u64>,
    /// Its number; of our own format alone.
    pub seq: Option<u64>,
    /// Which way it went; of our own format alone.
    pub direction: Option<Direction>,
    /// What it says.
    pub content: Content<'a>,
    /// How the line ended.
    pub ending: &'static str,
    /// The line goes on in the next message of the same direction.
    pub more: bool,
}

/// What a message says.
#[derive(Debug, Clone, PartialEq)]
pub enum Content<'a> {
    /// JSON, the bytes as they came.
    Json(&'a str),
    /// Text that is no JSON.
    Text(Cow<'a, str>),
    /// No UTF-8.
    Bytes(Cow<'a, [u8]>),
    /// It was not written, and why.
    Withheld(Cow<'a, str>),
}

impl Message<'_> {
    /// Appends the line as it passed, byte for byte. False where it was withheld.
    pub fn write(&self, out: &mut Vec<u8>) -> bool {
        let Some(body) = self.body() else { return false };
        out.extend_from_slice(body);
        if !self.more {
            out.extend_from_slice(self.ending.as_bytes());
        }
        true
    }

    /// What it says, without the line's end; `None` where it was withheld.
    pub fn body(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Json(json) => Some(json.as_bytes()),
            Content::Text(text) => Some(text.as_bytes()),
            Content::Bytes(bytes) => Some(bytes),
            Content::Withheld(_) => None,
        }
    }
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End<'a> {
    /// In words.
    pub how: Cow<'a, str>,
    /// The child's exit status, as a shell counts.
    pub status: Option<u8>,
}

/// What can be wrong with a log.
#[derive(Debug)]
pub enum Problem {
    /// A line that is no JSON.
    NotJson(String),
    /// There is not one line.
    Empty,
    /// The last line: whoever wrote it was stopped in the middle.
    Torn,
    /// Several records stand on one line. They were read.
    Fused,
    /// A record was torn by the next, which was read.
    TornByNext,
    /// Behind a whole record, which was read, stands a torn one.
    TornBehind,
    /// JSON, but nothing that this format knows.
    NotARecord,
    /// The bytes are no UTF-8; read all the same.
    NotUtf8,
    /// Written by a newer version; read as far as it can be.
    NewerVersion(u64),
    /// Numbers are left out: these messages are gone.
    Missing(u64),
    /// A number comes again, or lower than the one before.
    OutOfOrder {
        /// The number before.
        before: u64,
        /// The number here.
        here: u64,
    },
    /// The clock went back, by so many microseconds.
    Backwards(u64),
    /// The line is longer than the limit.
    TooLong(usize),
    /// The line nests deeper than the limit.
    TooDeep(usize),
}

impl fmt::Display for Problem {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NotJson(error) => write!(to, "not JSON, left out: {error}"),
            Problem::Empty => to.write_str("there is nothing in it"),
            Problem::Torn => to.write_str("the last line is torn, left out"),
            Problem::Fused => to.write_str("several records on one line; each was read"),
            Problem::TornByNext => to.write_str("a record is torn by the next, which was read"),
            Problem::TornBehind => to.write_str("what stands behind a record is torn, left out; the record was read"),
            Problem::NotARecord => to.write_str("no record of this log, left out"),
            Problem::NotUtf8 => to.write_str("holds bytes that are no UTF-8; read all the same"),
            Problem::NewerVersion(version) => write!(
                to,
                "written by a newer pipewright (log version {version}, known is {VERSION}); update it, or trust what can be read"
            ),
            Problem::Missing(1) => to.write_str("one record is missing before this one"),
            Problem::Missing(count) => write!(to, "{count} records are missing before this one"),
            Problem::OutOfOrder { before, here } => write!(to, "seq {here} stands after {before}"),
            Problem::Backwards(by) => {
                write!(to, "the clock went back by {}.{:06} s", by / 1_000_000, by % 1_000_000)
            }
            Problem::TooLong(most) => write!(to, "longer than {most} bytes (--max-line), left out"),
            Problem::TooDeep(most) => write!(to, "nested deeper than {most} levels (--max-depth), left out"),
        }
    }
}

/// Which lines a file holds, known from its first one that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Ours,
    Plain,
}

/// Reads the lines of one file, in order.
#[derive(Debug)]
pub struct Reader {
    time_field: Paths,
    format: Option<Format>,
    start: i64,
    last_seq: Option<u64>,
    last_time: Option<i64>,
}

impl Reader {
    /// `time_field` names the one place where plain NDJSON has its time.
    pub fn new(time_field: Paths) -> Reader {
        Reader { time_field, format: None, start: 0, last_seq: None, last_time: None }
    }

    /// Whether the file is in our own format, once that is known.
    pub fn is_ours(&self) -> Option<bool> {
        self.format.map(|format| format == Format::Ours)
    }

    /// Reads one line, and gives what is on it, in order. A blank line is nothing.
    pub fn read<'a>(&mut self, line: &Line<'a>, each: Each<'_, 'a>) {
        let body = line.body().trim_ascii();
        if body.is_empty() {
            return;
        }
        let Ok(json) = std::str::from_utf8(body) else {
            return self.read_no_utf8(body, each);
        };
        if self.format != Some(Format::Plain) && self.read_ours(json, each) {
            return;
        }
        let error = match self.read_plain(json, each) {
            Ok(()) => return,
            Err(error) => error,
        };
        if !self.read_pieces(json, each) {
            let torn = line.after().is_empty();
            each(b"", Found::Problem(if torn { Problem::Torn } else { Problem::NotJson(error.to_string()) }));
        }
    }

    /// Plain NDJSON that its writer made in another charset.
    fn read_no_utf8<'a>(&mut self, body: &'a [u8], each: Each<'_, 'a>) {
        let lossy = text(body);
        let mut found = [None];
        if self.format == Some(Format::Ours) || self.time_field.find(&lossy, &mut found).is_err() {
            return each(b"", Found::Problem(Problem::NotJson("no UTF-8".to_owned())));
        }
        let time = found[0].and_then(time::read);
        self.format = Some(Format::Plain);
        each(b"", Found::Problem(Problem::NotUtf8));
        self.give_plain(body, time, Content::Bytes(Cow::Borrowed(body)), each);
    }

    /// Says whether the line was understood as one of our format.
    fn read_ours<'a>(&mut self, json: &'a str, each: Each<'_, 'a>) -> bool {
        let record = if json.starts_with('{') { serde_json::from_str::<Record<'a>>(json).ok() } else { None };
        match record.and_then(Record::understand) {
            Some(understood) => {
                self.format = Some(Format::Ours);
                self.give(json.as_bytes(), understood, each);
                true
            }
            None => false,
        }
    }

    fn read_plain<'a>(&mut self, json: &'a str, each: Each<'_, 'a>) -> Result<(), serde_json::Error> {
        let mut found = [None];
        self.time_field.find(json, &mut found)?;
        if self.format == Some(Format::Ours) {
            each(b"", Found::Problem(Problem::NotARecord));
            return Ok(());
        }
        self.format = Some(Format::Plain);
        self.give_plain(json.as_bytes(), found[0].and_then(time::read), Content::Json(json), each);
        Ok(())
    }

    fn give_plain<'a>(&mut self, raw: &'a [u8], time: Option<i64>, content: Content<'a>, each: Each<'_, 'a>) {
        give_problem(self.see_time(time), each);
        let (t, seq, direction) = (None, None, None);
        each(raw, Found::Message(Message { time, t, seq, direction, content, ending: "\n", more: false }));
    }

    fn give<'a>(&mut self, raw: &'a [u8], understood: Understood<'a>, each: Each<'_, 'a>) {
        let Understood { seq, t, what } = understood;
        if let What::Header { version, .. } = what
            && version > VERSION
        {
            each(b"", Found::Problem(Problem::NewerVersion(version)));
        }
        let lost = if let What::Lost(count) = what { count } else { 0 };
        give_problem(self.see_seq(seq, lost), each);
        match what {
            What::Header { header, .. } => {
                self.start = header.start.unwrap_or(0);
                self.last_time = None;
                each(raw, Found::Header(header));
            }
            What::Message { direction, content, ending, more } => {
                let time = i64::try_from(t).ok().and_then(|t| self.start.checked_add(t));
                give_problem(self.see_time(time), each);
                let direction = Some(direction);
                let (t, seq) = (Some(t), Some(seq));
                each(raw, Found::Message(Message { time, t, seq, direction, content, ending, more }));
            }
            What::Lost(count) => each(raw, Found::Lost(count)),
            What::End(end) => each(raw, Found::End(end)),
        }
    }

    fn see_seq(&mut self, here: u64, lost: u64) -> Option<Problem> {
        let before = self.last_seq.replace(here)?;
        if here <= before {
            return Some(Problem::OutOfOrder { before, here });
        }
        let missing = (here - before - 1).saturating_sub(lost);
        (missing > 0).then_some(Problem::Missing(missing))
    }

    fn see_time(&mut self, time: Option<i64>) -> Option<Problem> {
        let before = self.last_time;
        self.last_time = time.or(before);
        let (time, before) = (time?, before?);
        (time < before).then(|| Problem::Backwards(before.abs_diff(time)))
    }

    /// Reads a line that is not one JSON value: several one after another, torn ones among them. Says whether there was a
    /// whole one.
    fn read_pieces<'a>(&mut self, json: &'a str, each: Each<'_, 'a>) -> bool {
        let whole = length_of_whole_objects(json);
        let (records, rest) = json.split_at(whole);
        let behind = if rest.trim_ascii().is_empty() { None } else { Some(start_behind_torn(json, whole)) };
        each(
            b"",
            Found::Problem(match behind {
                None => Problem::Fused,
                Some(Some(_)) => Problem::TornByNext,
                Some(None) if whole > 0 => Problem::TornBehind,
                Some(None) => return false,
            }),
        );
        let behind = behind.flatten().map_or("", |start| &json[start..]);
        for part in [records, behind] {
            for value in serde_json::Deserializer::from_str(part).into_iter::<&'a RawValue>().flatten() {
                let value = value.get();
                let is_ours = self.format != Some(Format::Plain) && self.read_ours(value, each);
                if !is_ours && value.starts_with('{') {
                    // It is JSON: it was read as such.
                    let _ = self.read_plain(value, each);
                }
            }
        }
        true
    }
}

/// So many places are tried at which a whole record may begin behind a torn one, and so much is looked at for that.
const TRIES: usize = 100;
const LOOKED_AT: usize = 16 << 20;

fn give_problem<'a>(problem: Option<Problem>, each: Each<'_, 'a>) {
    if let Some(problem) = problem {
        each(b"", Found::Problem(problem));
    }
}

/// How far there are whole objects, one behind the other.
fn length_of_whole_objects(json: &str) -> usize {
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<serde::de::IgnoredAny>();
    let mut length = 0;
    while json[length..].trim_ascii_start().starts_with('{') && values.next().is_some_and(|value| value.is_ok()) {
        length = values.byte_offset();
    }
    length
}

/// Where, after `from`, the whole records begin that stand behind a torn one.
fn start_behind_torn(json: &str, from: usize) -> Option<usize> {
    // Records of one file mostly begin with the same key, and so does the one behind a torn one; or it is a header.
    let key = json.find(':').filter(|_| json.starts_with("{\"")).map_or("{\"", |colon| &json[..=colon]);
    let key = &key[key.rfind("{\"").unwrap_or(0)..];
    let starts = memchr::memmem::find_iter(&json.as_bytes()[from..], b"{\"").map(|start| from + start);
    let likely = |start: &usize| json[*start..].starts_with(key) || json[*start..].starts_with(HEADER);
    let mut left = LOOKED_AT;
    for start in starts.filter(likely).take(TRIES) {
        match first_error(&json[start..]) {
            None => return Some(start),
            Some(at) => left = left.checked_sub(at)?,
        }
    }
    None
}

/// How every header begins.
const HEADER: &str = r#"{"format":"pipewright-log""#;

/// Where the text is no more whole JSON values, one behind the other.
fn first_error(json: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<serde::de::IgnoredAny>();
    values.find_map(Result::err).map(|error| error.column())
}

/// What a line of our format says for who wants to go on with the log; `None` for any other line.
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
    /// The format's version, where it is a header.
    pub version: Option<u64>,
}

/// A line of our format as it stands there; what it means, [`Record::understand`] finds out.
#[derive(Deserialize)]
struct Record<'a> {
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

struct Understood<'a> {
    seq: u64,
    t: u64,
    what: What<'a>,
}

enum What<'a> {
    Header { header: Header, version: u64 },
    Message { direction: Direction, content: Content<'a>, ending: &'static str, more: bool },
    Lost(u64),
    End(End<'a>),
}

impl<'a> Record<'a> {
    fn understand(self) -> Option<Understood<'a>> {
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
