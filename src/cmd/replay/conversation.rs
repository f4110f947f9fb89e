//! One recorded conversation, read turn by turn: the session that is played, and the lines of it that are not.

use super::lines::{SideEvent, SideLines, direction_of, in_order, overview};
use crate::cmd::log_file::{LogFile, LogOptions};
use crate::cmd::usage;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_log::Part;
use pipewright_log::read::Header;
use pipewright_record::ListTools;
use pipewright_replay::discovery::{Discovery, is_discovery};
use pipewright_replay::model::Conversations;
use pipewright_replay::refused::{LineKind, Refusals, is_notice};
use pipewright_replay::turns::{RecordedLine, Turn, Turns};
use pipewright_sys::file::Identity;
use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Selects a conversation in the logs.
pub struct ConversationOptions<'a> {
    pub files: &'a [OsString],
    pub options: &'a LogOptions,
    /// The part that we play.
    pub part: Part,
    /// The part that the recorded child played, if the log does not record it.
    pub child: Option<Part>,
    pub sessions: SessionSelection,
    /// Whether our refused or rejected calls are also played.
    pub includes_rejected: bool,
}

/// Selects sessions of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionSelection {
    Last,
    /// From 1.
    Number(u64),
    /// All sessions in sequence; each begins with turn 1.
    All,
}

/// A conversation, as far as it has been read.
pub struct Conversation {
    pub lines: SideLines,
    /// The number of its lines so far.
    count: u64,
    /// The lines about calls that were refused, which are not played, by their numbers.
    refused: HashMap<u64, LineKind>,
    /// Whether refused calls were left out.
    leaves_out: bool,
    turns: Turns,
    /// The other side's conversations with a model: a request is reduced to the messages that it adds.
    with_model: Conversations,
    ready: VecDeque<Turn>,
    /// The exit status of the recorded child, if it played the part of the other side.
    pub recorded_status: Option<u8>,
    child_is_them: bool,
    /// If we play the world: the same lines again, not read before the first request for the tools.
    for_tools: Option<SideLines>,
    tools: Discovery,
    report: Arc<Report>,
}

impl Conversation {
    /// Finds the conversation. Scans the logs once for that, and once more for refused calls.
    ///
    /// # Errors
    /// [`usage`] if there is none, or the parts of its sides are unknown; [`Status::Fault`] if a log cannot be read.
    pub fn open(wanted: &ConversationOptions<'_>, report: &Arc<Report>) -> Result<Conversation, Failure> {
        if wanted.files.iter().any(|file| file == "-") {
            return Err(usage("stdin (-): with --as, give a file; a side cannot be played from stdin"));
        }
        check_files(wanted.files)?;
        let names: Vec<String> = wanted.files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let found = overview(&mut LogFile::open_all(wanted.files, wanted.options)?)?;
        let sessions = &found.sessions;
        let number = match wanted.sessions {
            SessionSelection::Number(number) => number,
            SessionSelection::Last => sessions.len() as u64,
            // The last session with known parts stands for all.
            SessionSelection::All => {
                let has_parts = |header: &Header| !header.command.is_empty() && header.child.or(wanted.child).is_some();
                sessions.iter().rposition(has_parts).map_or(sessions.len(), |at| at + 1) as u64
            }
        };
        let is_last = wanted.sessions == SessionSelection::Last;
        // If the header is torn, the rest is still played if the parts are known.
        let lacks_header =
            sessions.is_empty() && found.has_messages && !matches!(wanted.sessions, SessionSelection::Number(_));
        let headless = Header { start: None, child: None, command: vec!["the recorded command".to_owned()] };
        let header = number.checked_sub(1).and_then(|at| sessions.get(at as usize));
        let Some(header) = header.or(lacks_header.then_some(&headless)) else {
            return Err(usage(match sessions.len() {
                0 => format!("{}: not a log of jsonl-record, so the sides are not known", names.join(", ")),
                count => format!("--session {number}: the log has only {count}"),
            }));
        };
        if sessions.len() > 1 && is_last {
            report.note(format_args!("the log has {number} sessions; playing the last (--session N for another)"));
        }
        if header.command.is_empty() {
            let names = names.join(", ");
            return Err(usage(format!("{names}: recorded in a pipe, so it has only one side (record with -- CMD)")));
        }
        let Some(child) = header.child.or(wanted.child) else {
            let (names, command) = (names.join(", "), header.command.join(" "));
            let why = if lacks_header { "its header cannot be read, so it" } else { "it" };
            return Err(usage(format!(
                "{names}: {why} does not record which part `{command}` played; give --child agent or --child world"
            )));
        };
        let lines = |report: Option<&Arc<Report>>| -> Result<SideLines, Failure> {
            Ok(SideLines {
                logs: in_order(LogFile::open_all(wanted.files, wanted.options)?, &found.first_seqs),
                names: names.clone(),
                session: header.start,
                is_in: lacks_header,
                reads_all: wanted.sessions == SessionSelection::All,
                part: wanted.part,
                child: wanted.child,
                ours: direction_of(wanted.part, child),
                open: [Vec::new(), Vec::new()],
                report: report.map(Arc::clone),
            })
        };
        let mut refusals = Refusals::default();
        if wanted.part == Part::Agent && !wanted.includes_rejected {
            let mut count = 0;
            lines(None)?.each(|is_ours, line| {
                count += 1;
                refusals.take_line(count, line.body(), is_ours);
            })?;
        }
        Ok(Conversation {
            lines: lines(Some(report))?,
            count: 0,
            refused: refusals.end(),
            leaves_out: false,
            turns: Turns::default(),
            with_model: Conversations::default(),
            ready: VecDeque::new(),
            recorded_status: None,
            child_is_them: child != wanted.part,
            for_tools: (wanted.part == Part::World).then(|| lines(None)).transpose()?,
            tools: Discovery::default(),
            report: Arc::clone(report),
        })
    }

    /// The recorded world's answer to a request for its tools, without a line feed. The first request reads the logs to
    /// their end.
    ///
    /// # Errors
    /// [`Status::Fault`] if a log cannot be read.
    pub fn tool_list(&mut self, request: &ListTools<'_>) -> Result<String, Failure> {
        if let Some(unread) = self.for_tools.take() {
            unread.each(|is_ours, line| self.tools.take_line(line.body(), is_ours))?;
        }
        Ok(self.tools.answer("replay", request))
    }

    /// The next turn; `None` at the end.
    ///
    /// # Errors
    /// [`Status::Fault`] if a log cannot be read.
    pub fn next(&mut self) -> Result<Option<Turn>, Failure> {
        loop {
            if let Some(turn) = self.ready.pop_front() {
                return Ok(Some(turn));
            }
            let mut read = Vec::new();
            if !self.lines.read(&mut |found| read.push(found))? {
                return Ok(self.turns.end());
            }
            for found in read {
                match found {
                    SideEvent::Line { is_ours, line } => self.take_line(is_ours, line),
                    SideEvent::Session => self.ready.extend(std::mem::take(&mut self.turns).end()),
                    // A gate that refused a call exited with 1 for that reason alone.
                    SideEvent::End(status) if self.child_is_them => {
                        self.recorded_status =
                            status.filter(|status| !self.leaves_out || *status != Status::Fault.code());
                    }
                    SideEvent::End(_) => {}
                }
            }
        }
    }

    /// Reduces a line of the other side that is a model request to what it adds to its conversation. If every session
    /// is read, complete requests are looked up, so they stay unchanged.
    fn shortened(&mut self, line: RecordedLine) -> RecordedLine {
        if self.lines.part == Part::Agent || self.lines.reads_all {
            return line;
        }
        match self.with_model.add(line.body()) {
            Some(delta) => RecordedLine { bytes: (delta.line + "\n").into_bytes(), ..line },
            None => line,
        }
    }

    fn take_line(&mut self, is_ours: bool, line: RecordedLine) {
        self.count += 1;
        let is_left_out = match self.lines.part {
            // Live requests for the tools are answered at any time, so the recorded ones are left out.
            Part::World => is_discovery(line.body(), is_ours),
            // A notice that a person is being asked may not come this time.
            Part::Agent => !is_ours && is_notice(line.body()),
        };
        if is_left_out {
            return;
        }
        let refused = self.refused.remove(&self.count);
        self.leaves_out |= refused.is_some();
        match refused {
            None => {
                let line = if is_ours { line } else { self.shortened(line) };
                self.ready.extend(self.turns.push(is_ours, line));
            }
            Some(LineKind::Unreadable) => self.report.note_limited(format_args!(
                "{}: not played: an ambiguous call, which gates refuse (--include-rejected plays it)",
                self.lines.place(line.place)
            )),
            Some(LineKind::Call) => self.report.note_limited(format_args!(
                "{}: not played: a gate or a person did not allow this call when it was recorded (--include-rejected \
                 plays it)",
                self.lines.place(line.place)
            )),
            Some(LineKind::About) => {}
        }
    }
}

/// Checks that the logs are different regular files: they are read twice.
fn check_files(files: &[OsString]) -> Result<(), Failure> {
    let mut seen = Vec::new();
    for file in files {
        let failed = |why: &dyn Display| usage(format_args!("{}: {why}", file.to_string_lossy()));
        let about = std::fs::metadata(file).map_err(|error| failed(&error))?;
        if about.is_dir() {
            return Err(failed(&io::Error::from(io::ErrorKind::IsADirectory)));
        }
        if !about.is_file() {
            return Err(failed(
                &"is not a regular file; save the log to a file, because playing a side reads it twice",
            ));
        }
        let identity = Identity::at(Path::new(file)).map_err(|error| failed(&error))?;
        if seen.contains(&identity) {
            return Err(failed(&"is named twice"));
        }
        seen.push(identity);
    }
    Ok(())
}
