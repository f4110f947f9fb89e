//! The lines of a recorded conversation: those of the selected sessions of the logs, each from one of two sides.

use crate::cmd::log_file::{Entry, LogFile, report_lost, report_problem};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_log::read::{Content, Found, Header};
use pipewright_log::{Direction, Part};
use pipewright_replay::turns::{Place, RecordedLine};
use std::collections::VecDeque;
use std::sync::Arc;

/// Reads the lines of two sides.
pub struct SideLines {
    pub logs: VecDeque<(usize, LogFile)>,
    pub names: Vec<String>,
    /// The session's start.
    pub session: Option<i64>,
    /// Whether the current position is within it.
    pub is_in: bool,
    /// Whether every session is read.
    pub reads_all: bool,
    /// The part that we play.
    pub part: Part,
    /// The part of the child, for a header that does not record it.
    pub child: Option<Part>,
    /// The direction of our lines.
    pub ours: Direction,
    /// Unfinished over-long lines of both sides.
    pub open: [Vec<u8>; 2],
    /// Where problems of the logs are reported, if they are.
    pub report: Option<Arc<Report>>,
}

/// What is read.
pub enum SideEvent {
    /// A complete line.
    Line { is_ours: bool, line: RecordedLine },
    /// Another session begins.
    Session,
    /// The recorded child ended, with this exit status.
    End(Option<u8>),
}

impl SideLines {
    /// Reads on, and passes what is read to `each`. Returns false at the end.
    ///
    /// # Errors
    /// [`Status::Fault`] if a log cannot be read.
    pub fn read(&mut self, each: &mut dyn FnMut(SideEvent)) -> Result<bool, Failure> {
        let Some((file, mut log)) = self.logs.pop_front() else { return Ok(false) };
        let name = log.name.clone();
        let more = log.read(&mut |entry| self.take(Place { file, line: entry.line }, entry.found, each));
        if more.map_err(|error| Failure::new(Status::Fault, format_args!("{name}: {error}")))? {
            self.logs.push_front((file, log));
        }
        Ok(true)
    }

    /// Reads all lines, and passes each to `take`, with whether it is ours.
    pub fn each(mut self, mut take: impl FnMut(bool, RecordedLine)) -> Result<(), Failure> {
        let mut each = |read| {
            if let SideEvent::Line { is_ours, line } = read {
                take(is_ours, line);
            }
        };
        while self.read(&mut each)? {}
        Ok(())
    }

    /// The place of a line, for people.
    pub fn place(&self, Place { file, line }: Place) -> String {
        format!("{}:{line}", self.names.get(file).map_or("log", String::as_str))
    }

    /// A session begins, or continues in the next file.
    fn begin(&mut self, header: &Header, each: &mut dyn FnMut(SideEvent)) {
        let continues = header.start == self.session;
        if !self.reads_all {
            self.is_in = continues;
            return;
        }
        if continues && self.is_in {
            return;
        }
        self.session = header.start;
        let child = header.child.or(self.child).filter(|_| !header.command.is_empty());
        self.is_in = child.is_some();
        self.ours = child.map_or(self.ours, |child| direction_of(self.part, child));
        each(SideEvent::Session);
        self.open = [Vec::new(), Vec::new()];
    }

    fn take(&mut self, place: Place, found: Found<'_>, each: &mut dyn FnMut(SideEvent)) {
        if let Found::Header(header) = found {
            return self.begin(&header, each);
        }
        let name = self.names.get(place.file).map_or("log", String::as_str);
        match (found, &self.report) {
            (Found::Problem(problem), Some(report)) => report_problem(&problem, name, place.line, report),
            _ if !self.is_in => {}
            (Found::Message(message), report) => {
                let is_ours = match message.direction {
                    Some(Direction::Err) | None => return,
                    Some(direction) => direction == self.ours,
                };
                if let Content::Withheld(why) = &message.content {
                    let place = format_args!("{name}:{}", place.line);
                    return report
                        .iter()
                        .for_each(|report| report.fault(place, format_args!("was not recorded: {why}")));
                }
                let open = &mut self.open[usize::from(is_ours)];
                message.write(open);
                if !message.more {
                    let line = RecordedLine { bytes: std::mem::take(open), t: message.t.unwrap_or(0), place };
                    each(SideEvent::Line { is_ours, line });
                }
            }
            (Found::Lost(count), Some(report)) => report_lost(count, name, place.line, report),
            (Found::End(end), _) => each(SideEvent::End(end.status)),
            (Found::Header(_) | Found::Problem(_) | Found::Lost(_), _) => {}
        }
    }
}

/// The direction of the lines of `part`, given the part of the child.
pub fn direction_of(part: Part, child: Part) -> Direction {
    if child == part { Direction::Out } else { Direction::In }
}

/// What a first pass finds in the logs.
pub struct LogOverview {
    /// The headers of the sessions, one each, by time.
    pub sessions: Vec<Header>,
    /// Whether there are messages in our own format.
    pub has_messages: bool,
    /// The first sequence number in each log.
    pub first_seqs: Vec<Option<u64>>,
}

/// Reads the logs once.
///
/// # Errors
/// [`Status::Fault`] if a log cannot be read.
pub fn overview(logs: &mut [LogFile]) -> Result<LogOverview, Failure> {
    let mut sessions: Vec<Header> = Vec::new();
    let mut first_seqs = Vec::new();
    let mut has_messages = false;
    for log in logs {
        let mut first_seq = None;
        let mut each = |entry: Entry<'_>| match entry.found {
            Found::Header(header) if sessions.iter().all(|known| known.start != header.start) => sessions.push(header),
            Found::Message(message) => {
                first_seq = first_seq.or(message.seq);
                has_messages |= message.direction.is_some();
            }
            _ => {}
        };
        while log.read(&mut each).map_err(|error| Failure::new(Status::Fault, format_args!("{}: {error}", log.name)))? {
        }
        first_seqs.push(first_seq);
    }
    sessions.sort_by_key(|header| header.start);
    Ok(LogOverview { sessions, has_messages, first_seqs })
}

/// Sorts rotated logs, which may be given in any order, by their first sequence numbers.
pub fn in_order(logs: Vec<LogFile>, first_seqs: &[Option<u64>]) -> VecDeque<(usize, LogFile)> {
    let mut logs: Vec<(usize, LogFile)> = logs.into_iter().enumerate().collect();
    logs.sort_by_key(|(place, _)| first_seqs.get(*place).copied().flatten());
    logs.into()
}
