//! Messages of a recording that contain a line in pieces. A value may begin in one and end in the next, so they are
//! masked together, and the lines between them wait.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use pipewright_lines::{Change, Line, change};
use pipewright_log::Direction;
use pipewright_log::read::{TextMessage, text_message};
use pipewright_mask::Masker;
use pipewright_record::json::quoted;
use std::collections::VecDeque;

/// The lines since the first piece of a line that is not complete, in order.
#[derive(Debug, Default)]
pub(super) struct HeldLines {
    lines: VecDeque<HeldLine>,
    /// How many lines were written before the first of them.
    written: usize,
    /// The bytes in them.
    length: usize,
    /// For each direction, the places of the pieces among all lines, and whether the last one completes its line.
    pieces: [(Vec<usize>, bool); 3],
    /// The directions whose line was too long; what remains of it is withheld, too.
    too_long: Vec<Direction>,
}

#[derive(Debug)]
struct HeldLine {
    number: u64,
    state: LineState,
}

#[derive(Debug)]
enum LineState {
    Masked(Vec<u8>),
    Piece(Box<Piece>),
    Withheld,
}

/// A piece that is not masked yet.
#[derive(Debug)]
struct Piece {
    /// The record, with what is around it on its line.
    before: Vec<u8>,
    body: String,
    /// The record without its content, if anything else in it was masked.
    masked: Option<String>,
    after: Vec<u8>,
    content: TextMessage,
}

fn index(direction: Direction) -> usize {
    match direction {
        Direction::In => 0,
        Direction::Out => 1,
        Direction::Err => 2,
    }
}

impl HeldLines {
    /// Takes a line if it is a message whose content has to be masked apart from its record: a piece, or bytes.
    pub(super) fn take(&mut self, line: &Line<'_>, masker: &mut Masker) -> bool {
        let has = |mark: &str| memmem::find(line.body(), mark.as_bytes()).is_some();
        if self.lines.is_empty() && self.too_long.is_empty() && !has("\"more\"") && !has("\"b64\"") {
            return false;
        }
        let Ok(body) = std::str::from_utf8(line.body()) else { return false };
        let Some(content) = text_message(line.body()) else { return false };
        let (places, is_complete) = &mut self.pieces[index(content.direction)];
        let is_too_long = self.too_long.contains(&content.direction);
        if !content.more && content.field != "b64" && places.is_empty() && !is_too_long {
            return false;
        }
        self.length += line.raw().len();
        let state = if is_too_long {
            self.too_long.retain(|direction| content.more || *direction != content.direction);
            LineState::Withheld
        } else {
            places.push(self.written + self.lines.len());
            *is_complete = !content.more;
            let (before, after) = (line.before().to_vec(), line.after().to_vec());
            let masked = masked_around(body, content.field, masker);
            LineState::Piece(Box::new(Piece { before, body: body.to_owned(), masked, after, content }))
        };
        self.lines.push_back(HeldLine { number: line.number(), state });
        true
    }

    /// Whether lines wait.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The bytes that wait.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Takes a line that is masked already, to be written after the ones that wait.
    pub(super) fn push(&mut self, number: u64, out: Vec<u8>) {
        self.length += out.len();
        self.lines.push_back(HeldLine { number, state: LineState::Masked(out) });
    }

    /// Withholds the pieces that wait, and the rest of their lines.
    pub(super) fn withhold(&mut self) {
        for direction in [Direction::In, Direction::Out, Direction::Err] {
            let (places, is_complete) = std::mem::take(&mut self.pieces[index(direction)]);
            if !places.is_empty() && !is_complete {
                self.too_long.push(direction);
            }
        }
        for line in self.lines.iter_mut().filter(|line| matches!(line.state, LineState::Piece(_))) {
            line.state = LineState::Withheld;
        }
    }

    /// Masks the pieces of lines that are complete, or of all lines.
    pub(super) fn mask(&mut self, masker: &mut Masker, is_all: bool) {
        for direction in [Direction::In, Direction::Out, Direction::Err] {
            let (places, is_complete) = &mut self.pieces[index(direction)];
            if !*is_complete && !is_all {
                continue;
            }
            let places = std::mem::take(places);
            let mut line = Vec::new();
            let mut ends = Vec::with_capacity(places.len());
            for place in &places {
                if let LineState::Piece(piece) = &self.lines[place - self.written].state {
                    line.extend_from_slice(&piece.content.bytes);
                }
                ends.push(line.len());
            }
            for (place, masked) in places.iter().zip(masker.pieces(&line, &ends)) {
                let held = &mut self.lines[place - self.written];
                if let LineState::Piece(piece) = &held.state {
                    held.state = LineState::Masked(piece.with(&masked));
                }
            }
        }
    }

    /// The lines that need not wait any more, with their numbers; without content those that are withheld.
    pub(super) fn ready(&mut self) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut ready = Vec::new();
        while self.lines.front().is_some_and(|line| !matches!(line.state, LineState::Piece(_))) {
            let Some(line) = self.lines.pop_front() else { break };
            self.written += 1;
            let out = if let LineState::Masked(out) = line.state { Some(out) } else { None };
            ready.push((line.number, out));
        }
        if self.lines.is_empty() {
            self.length = 0;
        }
        ready
    }
}

/// The record with an empty content, if anything else in it is masked.
fn masked_around(body: &str, field: &str, masker: &mut Masker) -> Option<String> {
    let mut rest = Vec::new();
    change(body, &[(field, Change::Set(b"\"\""))], &mut rest).ok()?;
    let masked = masker.line(&rest);
    (*masked != *rest).then(|| String::from_utf8_lossy(&masked).into_owned())
}

impl Piece {
    /// The line with other content.
    fn with(&self, content: &[u8]) -> Vec<u8> {
        let value = match self.content.field {
            "b64" => STANDARD.encode(content),
            _ => String::from_utf8_lossy(content).into_owned(),
        };
        let mut out = self.before.clone();
        // The record was read as an object that has this field once.
        let value = quoted(&value);
        let is_changed = content != self.content.bytes || self.masked.is_some();
        let body = self.masked.as_deref().unwrap_or(&self.body);
        if !is_changed || change(body, &[(self.content.field, Change::Set(value.as_bytes()))], &mut out).is_err() {
            out.truncate(self.before.len());
            out.extend_from_slice(body.as_bytes());
        }
        out.extend_from_slice(&self.after);
        out
    }
}
