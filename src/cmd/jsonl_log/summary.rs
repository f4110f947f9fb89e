//! Counts, sizes and answer times.

use super::table::print;
use super::{Format, LogTask, MessageKinds};
use crate::cmd::distribution::Distribution;
use crate::cmd::log_file::{Entry, LogFile};
use pipewright_io::report::Report;
use pipewright_log::Direction;
use pipewright_log::read::{Found, Message};
use std::collections::BTreeMap;

/// The number of types that are counted separately; further types are counted together.
const TYPES: usize = 500;

/// Collects the statistics of a log.
pub(super) struct Summary {
    format: Format,
    kinds: MessageKinds,
    rows: BTreeMap<(Option<Direction>, String), Row>,
    turns: Row,
    turn: Turn,
}

/// The statistics of one message type, or of the turns.
struct Row {
    sizes: Distribution,
    /// For messages that answer the other side: the time since its last message, in microseconds.
    answers: Distribution,
}

impl Default for Row {
    fn default() -> Row {
        Row { sizes: Distribution::rough(), answers: Distribution::rough() }
    }
}

/// The current turn.
#[derive(Default)]
struct Turn {
    /// The direction and the time of the last message.
    last: Option<(Direction, i64)>,
    bytes: u64,
    /// How long the answer took, if there is one.
    answer: Option<u64>,
}

impl Summary {
    pub(super) fn new(format: Format) -> Summary {
        let (rows, turns, turn) = (BTreeMap::new(), Row::default(), Turn::default());
        Summary { format, kinds: MessageKinds::new(), rows, turns, turn }
    }

    fn count(&mut self, message: &Message<'_>) {
        let size = message.body().map_or(0, <[u8]>::len) as u64;
        let answer = self.follow(message, size);
        let mut key = (message.direction, self.kinds.of(message));
        if self.rows.len() >= TYPES && !self.rows.contains_key(&key) {
            key.1 = "(other)".to_owned();
        }
        let row = self.rows.entry(key).or_default();
        row.sizes.add(size);
        if let Some(answer) = answer {
            row.answers.add(answer);
        }
    }

    /// Follows the conversation; returns how long the message took if it answers another. A turn consists of messages
    /// of one side and the answers of the other side. The side that sent the first message begins each turn.
    fn follow(&mut self, message: &Message<'_>, size: u64) -> Option<u64> {
        let (direction, time) = (message.direction.filter(|direction| *direction != Direction::Err)?, message.time?);
        let answer = match self.turn.last {
            Some((before, at)) if before != direction => Some(time.saturating_sub(at).max(0) as u64),
            _ => None,
        };
        if answer.is_some() {
            if self.turn.answer.is_some() {
                self.end_turn();
            } else {
                self.turn.answer = answer;
            }
        }
        self.turn.bytes += size;
        self.turn.last = Some((direction, time));
        answer
    }

    fn end_turn(&mut self) {
        let Turn { bytes, answer, .. } = std::mem::take(&mut self.turn);
        if let Some(answer) = answer {
            self.turns.sizes.add(bytes);
            self.turns.answers.add(answer);
        }
    }
}

impl LogTask for Summary {
    fn take(&mut self, _log: &str, entry: &Entry<'_>, _report: &Report, _out: &mut Vec<u8>) {
        match &entry.found {
            Found::Message(message) => self.count(message),
            Found::Header(_) => self.end_turn(),
            _ => {}
        }
    }

    fn end_file(&mut self, _log: &LogFile, _out: &mut Vec<u8>) {
        self.end_turn();
    }

    fn end(&mut self, _report: &Report, out: &mut Vec<u8>) {
        let titles = [
            "dir",
            "type",
            "count",
            "bytes",
            "size_p50",
            "size_p99",
            "size_max",
            "answers",
            "answer_us_p50",
            "answer_us_p99",
            "answer_us_max",
        ];
        let cells = |direction: &str, kind: &str, row: &Row| {
            let (size, answer) = (row.sizes.percentiles(), row.answers.percentiles());
            let mut cells = vec![direction.to_owned(), kind.to_owned()];
            let numbers = [size.count, row.sizes.sum(), size.p50, size.p99, size.max, answer.count];
            cells.extend(numbers.iter().map(u64::to_string));
            let times = [answer.p50, answer.p99, answer.max];
            cells.extend(times.iter().map(|time| if answer.count > 0 { time.to_string() } else { String::new() }));
            cells
        };
        let mut rows: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|((direction, kind), row)| cells(direction.map_or("", Direction::name), kind, row))
            .collect();
        if self.turns.sizes.percentiles().count > 0 {
            rows.push(cells("", "(turn)", &self.turns));
        }
        print(self.format, &titles, &rows, out);
    }
}
