//! Reads logs line by line: our own format, and plain NDJSON (from a game, another tool, or sts-proxy).
//!
//! A problem of a line is reported and affects only that line. If a line holds two fused records, or one that was torn by the
//! next, its complete records are read.

pub use super::problem::Problem;
pub use super::shape::{Numbered, TextMessage, numbered, text_message};

use super::pieces::{HEADER, length_of_complete_objects, start_after_torn};
use super::shape::{Record, Understood, What, plain_message};
use super::{Direction, Part, VERSION, time};
use pipewright_lines::{Line, Paths, text, why_not_json};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Takes each item found on a line, with the bytes of its record. A problem has no bytes.
pub type Each<'e, 'a> = &'e mut dyn FnMut(&'a [u8], Found<'a>);

/// An item found on a line.
#[derive(Debug)]
pub enum Found<'a> {
    /// A session begins, or continues in this file.
    Header(Header),
    /// A line of a stream.
    Message(Message<'a>),
    /// This many messages could not be written.
    Lost(u64),
    /// The session ended.
    End(End<'a>),
    /// A problem of this line.
    Problem(Problem),
}

/// The contents of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// When the session began, in microseconds since 1970.
    pub start: Option<i64>,
    /// The role of the wrapped command, if it was recorded.
    pub child: Option<Part>,
    /// The wrapped command; empty in a pipe.
    pub command: Vec<String>,
}

/// A line of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Message<'a> {
    /// When it passed, in microseconds since 1970, or since the session's start if that is unknown.
    pub time: Option<i64>,
    /// Whether the session's start, and so the date, is known.
    pub is_dated: bool,
    /// Microseconds since the session's start; only in our own format.
    pub t: Option<u64>,
    /// Its number; only in our own format.
    pub seq: Option<u64>,
    /// Its direction; only in our own format.
    pub direction: Option<Direction>,
    /// Its content.
    pub content: Content<'a>,
    /// How the line ended.
    pub ending: &'static str,
    /// The line continues in the next message of the same direction.
    pub more: bool,
}

/// The content of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Content<'a> {
    /// JSON, the original bytes.
    Json(&'a str),
    /// Text that is not JSON.
    Text(Cow<'a, str>),
    /// Not UTF-8.
    Bytes(Cow<'a, [u8]>),
    /// It was not written; the reason.
    Withheld(Cow<'a, str>),
}

impl Message<'_> {
    /// When it passed, in microseconds since 1970, if that is known.
    pub fn date(&self) -> Option<i64> {
        self.time.filter(|_| self.is_dated)
    }

    /// Appends the original line, byte for byte. Returns false if it was withheld.
    pub fn write(&self, out: &mut Vec<u8>) -> bool {
        let Some(body) = self.body() else { return false };
        out.extend_from_slice(body);
        if !self.more {
            out.extend_from_slice(self.ending.as_bytes());
        }
        true
    }

    /// Its content without the line's end; `None` if it was withheld.
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

/// The kind of lines in a file, known from the first one that can be read.
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
    /// The start of the session, if its header was read and has one.
    start: Option<i64>,
    /// Whether a record has been read.
    in_session: bool,
    last_seq: Option<u64>,
    last_time: Option<i64>,
    /// The last number in the previous file of the same log.
    before: Option<u64>,
}

impl Reader {
    /// `time_field` is the field that holds the time in plain NDJSON; without a path, lines have no time.
    pub fn new(time_field: Paths) -> Reader {
        let (format, start, last_seq, last_time, before) = (None, None, None, None, None);
        Reader { time_field, format, start, in_session: false, last_seq, last_time, before }
    }

    /// Continues with the next file of the same log: its numbers continue, unless it begins with 0 as a separate log does.
    pub fn next_file(self) -> Reader {
        Reader { before: self.last_seq.or(self.before), ..Reader::new(self.time_field) }
    }

    /// Whether the file is in our own format. False until its first record has been read.
    pub fn is_ours(&self) -> bool {
        self.format == Some(Format::Ours)
    }

    /// Reads one line, and passes on its items in order. A blank line has none.
    pub fn read<'a>(&mut self, line: &Line<'a>, each: Each<'_, 'a>) {
        let body = line.body().trim_ascii();
        if body.is_empty() {
            return;
        }
        let Ok(json) = std::str::from_utf8(body) else {
            return self.read_other_charset(body, each);
        };
        if self.format == Some(Format::Plain) && json.starts_with(HEADER) {
            each(b"", Found::Problem(Problem::LateHeader));
            self.format = None;
        }
        if self.format != Some(Format::Plain) && self.read_ours(json, each) {
            return;
        }
        let error = match self.read_plain(json, each) {
            Ok(()) => return,
            Err(error) => error,
        };
        if !self.read_pieces(json, each) {
            let torn = line.after().is_empty();
            each(b"", Found::Problem(if torn { Problem::Torn } else { Problem::NotJson(why_not_json(&error)) }));
        }
    }

    /// Plain NDJSON in another charset.
    fn read_other_charset<'a>(&mut self, body: &'a [u8], each: Each<'_, 'a>) {
        let lossy = text(body);
        let mut found = [None];
        if self.format == Some(Format::Ours) || self.time_field.find(&lossy, &mut found).is_err() {
            return each(b"", Found::Problem(Problem::NotJson("not UTF-8".to_owned())));
        }
        let time = found[0].and_then(time::read);
        self.format = Some(Format::Plain);
        each(b"", Found::Problem(Problem::NotUtf8));
        self.give_plain(body, time, Content::Bytes(Cow::Borrowed(body)), each);
    }

    /// Returns whether the line was read as one of our format.
    fn read_ours<'a>(&mut self, json: &'a str, each: Each<'_, 'a>) -> bool {
        let understood = plain_message(json).or_else(|| {
            let record = if json.starts_with('{') { serde_json::from_str::<Record<'a>>(json).ok() } else { None };
            record.and_then(Record::understand)
        });
        match understood {
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
        each(
            raw,
            Found::Message(Message { time, is_dated: true, t, seq, direction, content, ending: "\n", more: false }),
        );
    }

    fn give<'a>(&mut self, raw: &'a [u8], understood: Understood<'a>, each: Each<'_, 'a>) {
        let Understood { seq, t, what } = understood;
        if let What::Header { version, .. } = what
            && version > VERSION
        {
            each(b"", Found::Problem(Problem::NewerVersion(version)));
        }
        if !std::mem::replace(&mut self.in_session, true) && !matches!(what, What::Header { .. }) {
            each(b"", Found::Problem(Problem::NoHeader));
        }
        let lost = if let What::Lost(count) = what { count } else { 0 };
        give_problem(self.see_seq(seq, lost), each);
        match what {
            What::Header { header, .. } => {
                if header.start.is_none() {
                    each(b"", Found::Problem(Problem::NoStart));
                }
                self.start = header.start;
                self.last_time = None;
                each(raw, Found::Header(header));
            }
            What::Message { direction, content, ending, more } => {
                let time = i64::try_from(t).ok().and_then(|t| self.start.unwrap_or(0).checked_add(t));
                give_problem(self.see_time(time), each);
                let direction = Some(direction);
                let (t, seq) = (Some(t), Some(seq));
                each(
                    raw,
                    Found::Message(Message {
                        time,
                        is_dated: self.start.is_some(),
                        t,
                        seq,
                        direction,
                        content,
                        ending,
                        more,
                    }),
                );
            }
            What::Lost(count) => each(raw, Found::Lost(count)),
            What::End(end) => each(raw, Found::End(end)),
        }
    }

    fn see_seq(&mut self, here: u64, lost: u64) -> Option<Problem> {
        let before = self.last_seq.replace(here).or(self.before.filter(|_| here > 0))?;
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

    /// Reads a line that is not one JSON value: several in a row, some of them torn. Returns whether there was a complete one.
    fn read_pieces<'a>(&mut self, json: &'a str, each: Each<'_, 'a>) -> bool {
        let whole = length_of_complete_objects(json);
        let (records, rest) = json.split_at(whole);
        let behind = if rest.trim_ascii().is_empty() { None } else { Some(start_after_torn(json, whole)) };
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

fn give_problem<'a>(problem: Option<Problem>, each: Each<'_, 'a>) {
    if let Some(problem) = problem {
        each(b"", Found::Problem(problem));
    }
}
