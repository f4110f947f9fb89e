//! One recorded conversation, read turn by turn: selects the session of the logs and the sender of each line.

use crate::cmd::log_file::{Entry, LogFile, LogOptions, report_lost, report_problem};
use crate::io::report::{Failure, Report, Status};
use crate::journal::read::{Content, Found, Header};
use crate::journal::{Direction, Part};
use crate::record::ListTools;
use crate::replay::discovery::{Discovery, is_discovery};
use crate::replay::model::Conversations;
use crate::replay::refused::{Line, Refusals, is_notice};
use crate::replay::turns::{RecordedLine, Turn, Turns};
use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::fmt::Display;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// Selects a conversation in the logs.
pub struct Wanted<'a> {
    pub files: &'a [OsString],
    pub options: &'a LogOptions,
    /// The part that we play.
    pub part: Part,
    /// The part that the recorded child played, if the log does not record it.
    pub child: Option<Part>,
    pub sessions: Sessions,
    /// Whether our refused or rejected calls are also played.
    pub includes_rejected: bool,
}

/// Selects sessions of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sessions {
    Last,
    /// From 1.
    Number(u64),
    /// All sessions in sequence; each begins with turn 1.
    All,
}

/// A conversation, as far as it has been read.
pub struct Conversation {
    logs: VecDeque<(usize, LogFile)>,
    names: Vec<String>,
    /// The session's start.
    session: Option<i64>,
    /// Whether the current position is within it.
    is_in: bool,
    /// Whether every session is read.
    reads_all: bool,
    /// The part that we play.
    part: Part,
    /// The part of the child, for a header that does not record it.
    child: Option<Part>,
    /// The direction of our lines.
    ours: Direction,
    /// Unfinished over-long lines of both sides.
    open: [Vec<u8>; 2],
    /// The number of complete lines of both sides.
    lines: u64,
    pass: Pass,
    /// Whether refused calls were left out.
    leaves_out: bool,
    turns: Turns,
    /// The other side's conversations with a model: a request is reduced to the messages that it adds.
    with_model: Conversations,
    ready: VecDeque<Turn>,
    /// The exit status of the recorded child, if it played the part of the other side.
    pub recorded_status: Option<u8>,
    child_is_them: bool,
    /// If we play the world: the same conversation again, not read before the first request for the tools.
    for_tools: Option<Box<Conversation>>,
    tools: Discovery,
    report: Arc<Report>,
}

/// The purpose of reading the logs.
enum Pass {
    /// To find the world's tools; problems of the logs are not reported.
    Tools,
    /// To find the calls that were refused; problems of the logs are not reported.
    Look(Refusals),
    /// To be played, except these lines.
    Play(HashMap<u64, Line>),
}

impl Conversation {
    /// Finds the conversation. Scans the logs once for that, and once more for refused calls.
    ///
    /// # Errors
    /// [`Status::Usage`] if there is none, or the parts of its sides are unknown; [`Status::Fault`] if a log cannot be read.
    pub fn open(wanted: &Wanted<'_>, report: &Arc<Report>) -> Result<Conversation, Failure> {
        let usage = |message: String| Failure::new(Status::Usage, message);
        if wanted.files.iter().any(|file| file == "-") {
            return Err(usage("stdin (-): with --as, give a file; a side cannot be played from stdin".to_owned()));
        }
        check_files(wanted.files)?;
        let names: Vec<String> = wanted.files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
        let found = survey(&mut LogFile::open_all(wanted.files, wanted.options)?)?;
        let sessions = &found.sessions;
        let number = match wanted.sessions {
            Sessions::Number(number) => number,
            Sessions::Last => sessions.len() as u64,
            // The last session with known parts stands for all.
            Sessions::All => {
                let has_parts = |header: &Header| !header.command.is_empty() && header.child.or(wanted.child).is_some();
                sessions.iter().rposition(has_parts).map_or(sessions.len(), |at| at + 1) as u64
            }
        };
        let is_last = wanted.sessions == Sessions::Last;
        // If the header is torn, the rest is still played if the parts are known.
        let lacks_header = sessions.is_empty() && found.has_messages && !matches!(wanted.sessions, Sessions::Number(_));
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
        let read_for = |pass| -> Result<Conversation, Failure> {
            Ok(Conversation {
                logs: in_order(LogFile::open_all(wanted.files, wanted.options)?, &found.first_seqs),
                names: names.clone(),
                session: header.start,
                is_in: lacks_header,
                reads_all: wanted.sessions == Sessions::All,
                part: wanted.part,
                child: wanted.child,
                ours: direction_of(wanted.part, child),
                open: [Vec::new(), Vec::new()],
                lines: 0,
                pass,
                leaves_out: false,
                turns: Turns::default(),
                with_model: Conversations::default(),
                ready: VecDeque::new(),
                recorded_status: None,
                child_is_them: child != wanted.part,
                for_tools: None,
                tools: Discovery::default(),
                report: Arc::clone(report),
            })
        };
        if wanted.part == Part::World {
            let for_tools = Some(Box::new(read_for(Pass::Tools)?));
            return Ok(Conversation { for_tools, ..read_for(Pass::Play(HashMap::new()))? });
        }
        if wanted.includes_rejected {
            return read_for(Pass::Play(HashMap::new()));
        }
        let refused = read_for(Pass::Look(Refusals::default()))?.refused()?;
        read_for(Pass::Play(refused))
    }

    /// The lines about calls that were refused or rejected.
    fn refused(mut self) -> Result<HashMap<u64, Line>, Failure> {
        while self.next()?.is_some() {}
        match self.pass {
            Pass::Look(refusals) => Ok(refusals.end()),
            Pass::Play(lines) => Ok(lines),
            Pass::Tools => Ok(HashMap::new()),
        }
    }

    /// The recorded world's answer to a request for its tools, without a line feed. The first request reads the logs to their end.
    ///
    /// # Errors
    /// [`Status::Fault`] if a log cannot be read.
    pub fn tool_list(&mut self, request: &ListTools<'_>) -> Result<String, Failure> {
        if let Some(mut unread) = self.for_tools.take() {
            while unread.next()?.is_some() {}
            self.tools = unread.tools;
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
            let Some((place, mut log)) = self.logs.pop_front() else {
                return Ok(self.turns.end());
            };
            let name = log.name.clone();
            let more = log.read(&mut |entry| self.take((place, entry.line), entry.found));
            if more.map_err(|error| Failure::new(Status::Fault, format_args!("{name}: {error}")))? {
                self.logs.push_front((place, log));
            }
        }
    }

    /// The place of a line, for people.
    pub fn place(&self, (file, line): (usize, u64)) -> String {
        format!("{}:{line}", self.names.get(file).map_or("log", String::as_str))
    }

    /// A session begins, or continues in the next file.
    fn begin(&mut self, header: &Header) {
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
        self.ready.extend(std::mem::take(&mut self.turns).end());
        self.open = [Vec::new(), Vec::new()];
    }

    /// Reduces a line of the other side that is a model request to what it adds to its conversation. If every session is read,
    /// complete requests are looked up, so they stay unchanged.
    fn shortened(&mut self, line: RecordedLine) -> RecordedLine {
        if self.part == Part::Agent || self.reads_all {
            return line;
        }
        match self.with_model.add(line.body()) {
            Some(delta) => RecordedLine { bytes: (delta.line + "\n").into_bytes(), ..line },
            None => line,
        }
    }

    fn take(&mut self, place: (usize, u64), found: Found<'_>) {
        let name = self.names.get(place.0).map_or("log", String::as_str);
        let reports = matches!(self.pass, Pass::Play(_));
        match found {
            Found::Header(header) => self.begin(&header),
            Found::Problem(problem) if reports => report_problem(&problem, name, place.1, &self.report),
            _ if !self.is_in => {}
            Found::Message(message) => {
                let is_ours = match message.direction {
                    Some(Direction::Err) | None => return,
                    Some(direction) => direction == self.ours,
                };
                match &message.content {
                    Content::Withheld(why) if reports => {
                        let place = format_args!("{name}:{}", place.1);
                        return self.report.fault(place, format_args!("was not recorded: {why}"));
                    }
                    Content::Withheld(_) => return,
                    _ => {}
                }
                let open = &mut self.open[usize::from(is_ours)];
                message.write(open);
                if !message.more {
                    let line = RecordedLine { bytes: std::mem::take(open), t: message.t.unwrap_or(0), place };
                    self.take_line(is_ours, line);
                }
            }
            Found::Lost(count) if reports => report_lost(count, name, place.1, &self.report),
            // A gate that refused a call exited with 1 for that reason alone.
            Found::End(end) if self.child_is_them => {
                self.recorded_status = end.status.filter(|status| !self.leaves_out || *status != Status::Fault.code());
            }
            Found::Problem(_) | Found::Lost(_) | Found::End(_) => {}
        }
    }

    fn take_line(&mut self, is_ours: bool, line: RecordedLine) {
        self.lines += 1;
        let refused = match &mut self.pass {
            Pass::Look(refusals) => return refusals.see(self.lines, line.body(), is_ours),
            Pass::Tools => return self.tools.see(line.body(), is_ours),
            // Live requests for the tools are answered at any time, so the recorded ones are left out.
            Pass::Play(_) if self.part == Part::World && is_discovery(line.body(), is_ours) => return,
            // A notice that a person is being asked may not come this time.
            Pass::Play(_) if self.part == Part::Agent && !is_ours && is_notice(line.body()) => return,
            Pass::Play(refused) => refused.remove(&self.lines),
        };
        self.leaves_out |= refused.is_some();
        match refused {
            None => {
                let line = if is_ours { line } else { self.shortened(line) };
                self.ready.extend(self.turns.push(is_ours, line));
            }
            Some(Line::Unreadable) => self.report.note_again(format_args!(
                "{}: not played: an ambiguous call, which gates refuse (--include-rejected plays it)",
                self.place(line.place)
            )),
            Some(Line::Call) => self.report.note_again(format_args!(
                "{}: not played: a gate or a person did not allow this call when it was recorded (--include-rejected plays it)",
                self.place(line.place)
            )),
            Some(Line::About) => {}
        }
    }
}

/// The direction of the lines of `part`, given the part of the child.
fn direction_of(part: Part, child: Part) -> Direction {
    if child == part { Direction::Out } else { Direction::In }
}

/// Checks that the logs are different regular files: they are read twice.
fn check_files(files: &[OsString]) -> Result<(), Failure> {
    let mut seen = Vec::new();
    for file in files {
        let failed = |why: &dyn Display| Failure::new(Status::Usage, format_args!("{}: {why}", file.to_string_lossy()));
        let about = std::fs::metadata(file).map_err(|error| failed(&error))?;
        if about.is_dir() {
            return Err(failed(&io::Error::from(io::ErrorKind::IsADirectory)));
        }
        if !about.is_file() {
            return Err(failed(
                &"is not a regular file; save the log to a file, because playing a side reads it twice",
            ));
        }
        let identity = (about.dev(), about.ino());
        if seen.contains(&identity) {
            return Err(failed(&"is named twice"));
        }
        seen.push(identity);
    }
    Ok(())
}

/// What a first pass finds in the logs.
struct Overview {
    /// The headers of the sessions, one each, by time.
    sessions: Vec<Header>,
    /// Whether there are messages in our own format.
    has_messages: bool,
    /// The first sequence number in each log.
    first_seqs: Vec<Option<u64>>,
}

fn survey(logs: &mut [LogFile]) -> Result<Overview, Failure> {
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
    Ok(Overview { sessions, has_messages, first_seqs })
}

/// Sorts rotated logs, which may be given in any order, by their first sequence numbers.
fn in_order(logs: Vec<LogFile>, first_seqs: &[Option<u64>]) -> VecDeque<(usize, LogFile)> {
    let mut logs: Vec<(usize, LogFile)> = logs.into_iter().enumerate().collect();
    logs.sort_by_key(|(place, _)| first_seqs.get(*place).copied().flatten());
    logs.into()
}
