//! Writes the lines of a log.

use super::{Direction, FORMAT, Part, VERSION};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pipewright_lines::{Piece, is_json};
use serde::Serialize;

/// The contents of a header.
#[derive(Debug, Serialize)]
pub struct Header<'a> {
    format: &'static str,
    version: u64,
    seq: u64,
    start: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    child: Option<&'static str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    command: &'a [String],
}

impl<'a> Header<'a> {
    /// `start` is when the session began, in ISO 8601 with microseconds; `command` is the wrapped command, empty in a pipe.
    pub fn new(seq: u64, start: &'a str, child: Option<Part>, command: &'a [String]) -> Header<'a> {
        Header { format: FORMAT, version: VERSION, seq, start, child: child.map(Part::name), command }
    }

    /// Appends the header's line.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_json(self, out);
        out.push(b'\n');
    }
}

/// The position of a message in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Microseconds since the session's start.
    pub t: u64,
    /// Its number.
    pub seq: u64,
    /// Its direction.
    pub direction: Direction,
}

/// Appends a message: a line, or a part of an over-long one, with its bytes unchanged. JSON that nests deeper than `max_depth` is
/// written as text, so that every reader can read the log.
pub fn message(stamp: Stamp, piece: &Piece<'_>, max_depth: usize, out: &mut Vec<u8>) {
    let raw = piece.raw();
    let more = matches!(piece, Piece::Part { last: false, .. });
    let (body, ending) = if more { (raw, &b"\n"[..]) } else { split_ending(raw) };
    begin(stamp, out);
    if matches!(piece, Piece::Line(_)) && comes_back_as_json(body, max_depth) {
        out.extend_from_slice(b",\"msg\":");
        out.extend_from_slice(body);
    } else {
        write_text(body, out);
    }
    write_ending(ending, out);
    if more {
        out.extend_from_slice(b",\"more\":true");
    }
    out.extend_from_slice(b"}\n");
}

/// Appends a line as text, even if it is JSON. `raw` includes the line's end and has no other line feed.
pub fn text(stamp: Stamp, raw: &[u8], out: &mut Vec<u8>) {
    let (body, ending) = split_ending(raw);
    begin(stamp, out);
    write_text(body, out);
    write_ending(ending, out);
    out.extend_from_slice(b"}\n");
}

/// Appends a message with changed content: `json` is one JSON value.
pub fn changed(stamp: Stamp, json: &[u8], out: &mut Vec<u8>) {
    begin(stamp, out);
    out.extend_from_slice(b",\"msg\":");
    out.extend_from_slice(json);
    out.extend_from_slice(b"}\n");
}

/// Appends a message without its content.
pub fn withheld(stamp: Stamp, why: &str, out: &mut Vec<u8>) {
    begin(stamp, out);
    out.extend_from_slice(b",\"withheld\":");
    write_json(why, out);
    out.extend_from_slice(b"}\n");
}

/// Appends a note that `count` messages before this line could not be written.
pub fn lost(t: u64, seq: u64, count: u64, out: &mut Vec<u8>) {
    begin_line(t, seq, out);
    out.extend_from_slice(b",\"lost\":");
    write_number(count, out);
    out.extend_from_slice(b"}\n");
}

/// Appends how the session ended; `status` is the exit status of a child.
pub fn end(t: u64, seq: u64, how: &str, status: Option<u8>, out: &mut Vec<u8>) {
    begin_line(t, seq, out);
    out.extend_from_slice(b",\"end\":");
    write_json(how, out);
    if let Some(status) = status {
        out.extend_from_slice(b",\"status\":");
        write_number(u64::from(status), out);
    }
    out.extend_from_slice(b"}\n");
}

fn begin(stamp: Stamp, out: &mut Vec<u8>) {
    begin_line(stamp.t, stamp.seq, out);
    out.extend_from_slice(match stamp.direction {
        Direction::In => b",\"dir\":\"in\"".as_slice(),
        Direction::Out => b",\"dir\":\"out\"",
        Direction::Err => b",\"dir\":\"err\"",
    });
}

fn begin_line(t: u64, seq: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"t\":");
    write_number(t, out);
    out.extend_from_slice(b",\"seq\":");
    write_number(seq, out);
}

fn write_ending(ending: &[u8], out: &mut Vec<u8>) {
    match ending {
        b"\n" => {}
        b"" => out.extend_from_slice(b",\"eol\":\"\""),
        _ => out.extend_from_slice(b",\"eol\":\"\\r\\n\""),
    }
}

fn split_ending(raw: &[u8]) -> (&[u8], &[u8]) {
    let body = raw.strip_suffix(b"\r\n").or_else(|| raw.strip_suffix(b"\n")).unwrap_or(raw);
    raw.split_at(body.len())
}

/// Whether `body` is JSON that a reader of the log gets back byte for byte. (A carriage return within would end a line
/// for some readers; white space around a value is not part of it.)
fn comes_back_as_json(body: &[u8], max_depth: usize) -> bool {
    let is_space = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    !is_space(body.first())
        && !is_space(body.last())
        && memchr::memchr(b'\r', body).is_none()
        && is_json(body, max_depth)
}

/// As a string if possible and shorter, else in base64: a log line is never much longer than its content.
fn write_text(body: &[u8], out: &mut Vec<u8>) {
    let base64_length = body.len().div_ceil(3) * 4;
    let before = out.len();
    // Reserved at once, so that a long line is not copied as it grows.
    out.reserve(body.len() + 128);
    if let Ok(text) = std::str::from_utf8(body) {
        out.extend_from_slice(b",\"text\":");
        let start = out.len();
        write_json(text, out);
        if out.len() - start <= base64_length + 64 {
            return;
        }
        out.truncate(before);
    }
    out.extend_from_slice(b",\"b64\":\"");
    let start = out.len();
    out.resize(start + base64_length, 0);
    // The encoding takes exactly this room, so it fits.
    let written = STANDARD.encode_slice(body, &mut out[start..]).unwrap_or_default();
    out.truncate(start + written);
    out.push(b'"');
}

fn write_json<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    // This fails only if the writer or a map key fails, and neither can here.
    let _ = serde_json::to_writer(out, value);
}

fn write_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}
