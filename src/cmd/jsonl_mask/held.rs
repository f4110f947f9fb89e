//! Messages of a recording that contain a line in pieces. A value may begin in one and end in the next, so they are masked
//! together, and the lines between them wait.

use crate::io::lines::{Change, Line, change};
use crate::journal::Direction;
use crate::journal::read::{TextMessage, text_message};
use crate::mask::Masker;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memchr::memmem;
use std::collections::VecDeque;

/// The lines since the first piece of a line that is not complete, in order.
#[derive(Debug, Default)]
pub(super) struct Held {
    lines: VecDeque<HeldLine>,
    /// The bytes in them.
    length: usize,
    /// The directions whose line was too long; what remains of it is withheld, too.
    too_long: Vec<Direction>,
}

#[derive(Debug)]
struct HeldLine {
    number: u64,
    state: State,
}

#[derive(Debug)]
enum State {
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
    after: Vec<u8>,
    content: TextMessage,
}

impl Held {
    /// Takes a line if it is a message whose content has to be masked apart from its record: a piece, or bytes.
    pub(super) fn take(&mut self, line: &Line<'_>) -> bool {
        let has = |mark: &str| memmem::find(line.body(), mark.as_bytes()).is_some();
        if self.lines.is_empty() && self.too_long.is_empty() && !has("\"more\"") && !has("\"b64\"") {
            return false;
        }
        let Ok(body) = std::str::from_utf8(line.body()) else { return false };
        let continues = |direction: Direction| self.pieces(direction).next().is_some();
        let Some(content) = text_message(line.body()) else { return false };
        let is_too_long = self.too_long.contains(&content.direction);
        if !content.more && content.field != "b64" && !continues(content.direction) && !is_too_long {
            return false;
        }
        self.length += line.raw().len();
        let state = if is_too_long {
            self.too_long.retain(|direction| content.more || *direction != content.direction);
            State::Withheld
        } else {
            let (before, body, after) = (line.before().to_vec(), body.to_owned(), line.after().to_vec());
            State::Piece(Box::new(Piece { before, body, after, content }))
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
        self.lines.push_back(HeldLine { number, state: State::Masked(out) });
    }

    fn pieces(&self, direction: Direction) -> impl Iterator<Item = &Piece> {
        let pieces = self
            .lines
            .iter()
            .filter_map(|line| if let State::Piece(piece) = &line.state { Some(&**piece) } else { None });
        pieces.filter(move |piece| piece.content.direction == direction)
    }

    /// Withholds the pieces that wait, and the rest of their lines.
    pub(super) fn withhold(&mut self) {
        for line in &mut self.lines {
            if let State::Piece(piece) = &line.state {
                let direction = piece.content.direction;
                self.too_long.retain(|other| *other != direction);
                if piece.content.more {
                    self.too_long.push(direction);
                }
                line.state = State::Withheld;
            }
        }
    }

    /// Masks the pieces of lines that are complete, or of all lines.
    pub(super) fn mask(&mut self, masker: &mut Masker, is_all: bool) {
        for direction in [Direction::In, Direction::Out, Direction::Err] {
            let is_complete = self.pieces(direction).last().is_some_and(|piece| !piece.content.more);
            if !is_complete && !is_all {
                continue;
            }
            let mut line = Vec::new();
            let mut ends = Vec::new();
            for piece in self.pieces(direction) {
                line.extend_from_slice(&piece.content.bytes);
                ends.push(line.len());
            }
            let mut masked = masker.pieces(&line, &ends).into_iter();
            for held in &mut self.lines {
                if let State::Piece(piece) = &held.state
                    && piece.content.direction == direction
                {
                    held.state = State::Masked(piece.with(&masked.next().unwrap_or_default()));
                }
            }
        }
    }

    /// The lines that need not wait any more, with their numbers; without content those that are withheld.
    pub(super) fn ready(&mut self) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut ready = Vec::new();
        while self.lines.front().is_some_and(|line| !matches!(line.state, State::Piece(_))) {
            let Some(line) = self.lines.pop_front() else { break };
            let out = if let State::Masked(out) = line.state { Some(out) } else { None };
            ready.push((line.number, out));
        }
        if self.lines.is_empty() {
            self.length = 0;
        }
        ready
    }
}

impl Piece {
    /// The line with other content.
    fn with(&self, content: &[u8]) -> Vec<u8> {
        let value = match self.content.field {
            "b64" => STANDARD.encode(content),
            _ => String::from_utf8_lossy(content).into_owned(),
        };
        let mut out = self.before.clone();
        // Converting a text to JSON cannot fail, and the record was read as an object that has this field once.
        let value = serde_json::to_string(&value).unwrap_or_default();
        if content == self.content.bytes
            || change(&self.body, &[(self.content.field, Change::Set(value.as_bytes()))], &mut out).is_err()
        {
            out.truncate(self.before.len());
            out.extend_from_slice(self.body.as_bytes());
        }
        out.extend_from_slice(&self.after);
        out
    }
}
