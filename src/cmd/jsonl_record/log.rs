//! The log file: numbered lines, written in one write before the data that they record is passed on.

use super::resume::{first_seq, open_file};
use crate::cmd::usage;
use jiff::Timestamp;
use pipewright_io::append::{Appender, Incident};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::rotation::Rotation;
use pipewright_lines::Piece;
use pipewright_log::write::{self, Header, Stamp};
use pipewright_log::{Direction, Part};
use pipewright_sys::file;
use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// When written data is synced to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyncPolicy {
    /// Before the recorded data is passed on.
    Each,
    /// Within this time.
    Within(Duration),
    /// Left to the operating system.
    Never,
}

/// How a log is written.
#[derive(Debug)]
pub(super) struct LogSettings {
    pub(super) path: PathBuf,
    pub(super) child: Option<Part>,
    pub(super) command: Vec<String>,
    pub(super) sync: SyncPolicy,
    pub(super) rotation: Option<Rotation>,
    pub(super) must_record: bool,
    pub(super) max_depth: usize,
}

/// An open log.
#[derive(Debug)]
pub(super) struct Log {
    settings: LogSettings,
    report: Arc<Report>,
    file: Appender,
    /// When the session began, as an ISO 8601 text.
    start: String,
    started: Instant,
    /// The number of the next line, and the number after the last line that was written.
    seq: u64,
    written_seq: u64,
    /// Lines that are not written yet, and the number of messages among them.
    batch: Vec<u8>,
    messages: u64,
    /// When the batch began, in microseconds since the start.
    batch_t: Option<u64>,
    /// Whether the file still needs its header.
    needs_header: bool,
    /// Whether this file has no message yet.
    is_fresh: bool,
    /// The length of this file at which to try again to rotate it, after a failure.
    rotate_at: u64,
    loss: LostMessages,
    /// When the written data has to be on disk.
    sync_by: Option<Instant>,
    ended: bool,
    /// When to look again what other processes have done to the file, since the start.
    look_at: Duration,
    /// What another process had done to the file when the batch began.
    incident: Option<Incident>,
    /// Whether another file has the log's path, which has been reported and cannot be used.
    is_replaced: bool,
    /// A message could not be recorded with --must-record: nothing of this read may be passed on.
    stopped: bool,
}

/// Messages that could not be written.
#[derive(Debug, Default)]
struct LostMessages {
    /// Lost since the last successful write, and not recorded as lost yet.
    unrecorded: u64,
    total: u64,
    is_reported: bool,
}

impl Log {
    /// Opens a new log, or continues an existing one.
    ///
    /// # Errors
    /// [`usage`] if it cannot be opened, is not a log, or another process writes to it.
    pub(super) fn open(settings: LogSettings, report: Arc<Report>) -> Result<Log, Failure> {
        let path = settings.path.display();
        let failed = |error: &dyn Display| usage(format_args!("{path}: {error}"));
        let file = open_file(&settings.path, &report).map_err(|why| failed(&why))?;
        if settings.rotation.is_some() && !file.is_regular() {
            return Err(failed(&"only a regular file can be rotated (--rotate)"));
        }
        if file.same_file(std::io::stdin()) || file.same_file(std::io::stdout()) {
            return Err(failed(&"it is our own stdin or stdout; give another file"));
        }
        let seq = first_seq(&file).map_err(|why| failed(&why))?;
        let mut log = Log {
            settings,
            report,
            file,
            start: format!("{:.6}", Timestamp::now()),
            started: Instant::now(),
            seq,
            written_seq: seq,
            batch: Vec::new(),
            messages: 0,
            batch_t: None,
            needs_header: true,
            is_fresh: true,
            rotate_at: 0,
            loss: LostMessages::default(),
            sync_by: None,
            ended: false,
            look_at: Duration::ZERO,
            incident: None,
            is_replaced: false,
            stopped: false,
        };
        log.begin_batch();
        log.commit().map_err(|failure| Failure { status: Status::Usage, ..failure })?;
        Ok(log)
    }

    /// Takes a message unchanged. It is written with the next [`Log::commit`].
    pub(super) fn push(&mut self, direction: Direction, piece: &Piece<'_>) -> Result<(), Failure> {
        let max_depth = self.settings.max_depth;
        let length = piece.raw().len();
        self.push_message(direction, length, |stamp, batch| write::message(stamp, piece, max_depth, batch))
    }

    /// Takes a message that is to be written as `json`.
    pub(super) fn push_changed(&mut self, direction: Direction, json: &[u8]) -> Result<(), Failure> {
        self.push_message(direction, json.len(), |stamp, batch| write::changed(stamp, json, batch))
    }

    /// Takes a message that is to be written as text: a line with its end.
    pub(super) fn push_text(&mut self, direction: Direction, raw: &[u8]) -> Result<(), Failure> {
        self.push_message(direction, raw.len(), |stamp, batch| write::text(stamp, raw, batch))
    }

    /// Takes a message whose content is not to be written.
    pub(super) fn push_withheld(&mut self, direction: Direction, why: &str) -> Result<(), Failure> {
        self.push_message(direction, why.len(), |stamp, batch| write::withheld(stamp, why, batch))
    }

    fn push_message(
        &mut self,
        direction: Direction,
        length: usize,
        write: impl FnOnce(Stamp, &mut Vec<u8>),
    ) -> Result<(), Failure> {
        if self.is_full(length) {
            self.write()?;
            // Lost messages do not count: no file is rotated away because of them.
            if self.is_full(length) {
                self.rotate();
            }
        }
        self.begin_batch();
        let stamp = Stamp { t: self.t(), seq: self.next_seq(), direction };
        write(stamp, &mut self.batch);
        self.messages += 1;
        Ok(())
    }

    /// Whether a message of `length` bytes belongs in the next file.
    fn is_full(&self, length: usize) -> bool {
        let held = self.file.len() + self.batch.len() as u64;
        let holds_any = !self.is_fresh || self.messages > 0;
        let is_due = |rotation: &Rotation| held >= self.rotate_at && rotation.is_due(held, length);
        holds_any && self.settings.rotation.as_ref().is_some_and(is_due)
    }

    /// Takes the end of the session, once.
    pub(super) fn push_end(&mut self, how: &str, status: Option<u8>) {
        if !std::mem::replace(&mut self.ended, true) {
            self.begin_batch();
            let (t, seq) = (self.t(), self.next_seq());
            write::end(t, seq, how, status, &mut self.batch);
        }
    }

    /// Begins a batch with what the file still lacks: its header, and the count of lost messages.
    fn begin_batch(&mut self) {
        if !self.batch.is_empty() {
            return;
        }
        let now = self.started.elapsed();
        if now >= self.look_at || self.ended {
            self.look_at = now + LOOK_AGAIN;
            self.check_file();
        }
        if self.needs_header {
            let seq = self.next_seq();
            let LogSettings { child, command, .. } = &self.settings;
            Header::new(seq, &self.start, *child, command).write(&mut self.batch);
        }
        if self.loss.unrecorded > 0 {
            // The lost messages keep their numbers, which leaves a gap.
            self.seq += self.loss.unrecorded;
            let (t, seq) = (self.t(), self.next_seq());
            write::lost(t, seq, self.loss.unrecorded, &mut self.batch);
        }
    }

    fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq - 1
    }

    /// Microseconds since the start; the same for all messages of one read.
    fn t(&mut self) -> u64 {
        let started = self.started;
        *self.batch_t.get_or_insert_with(|| started.elapsed().as_micros() as u64)
    }

    /// Writes the batch: when this returns, its messages are in the kernel, or counted as lost.
    ///
    /// # Errors
    /// [`Status::Fault`] if a message cannot be recorded with --must-record.
    pub(super) fn commit(&mut self) -> Result<(), Failure> {
        self.write()?;
        if self.stopped {
            // Already reported, by the rotation in the middle of this read.
            return Err(Failure::new(Status::Fault, self.settings.path.display()));
        }
        self.batch_t = None;
        // (With `each`, it is synced already.)
        if self.ended && self.sync_by.is_some() { self.sync() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Failure> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let incident = self.incident.take();
        let written = self.file.append_after(incident, &self.batch);
        self.batch.clear();
        let messages = std::mem::take(&mut self.messages);
        if let Err(error) = written {
            return self.count_lost(messages, &error);
        }
        if incident == Some(Incident::Removed) {
            let path = self.settings.path.display();
            self.report.note(format_args!("{path}: was removed by another process; it was written again"));
        }
        self.written_seq = self.seq;
        self.needs_header = false;
        self.is_fresh &= messages == 0;
        self.loss.unrecorded = 0;
        match self.settings.sync {
            SyncPolicy::Each => self.sync()?,
            SyncPolicy::Within(time) => {
                self.sync_by.get_or_insert_with(|| Instant::now() + time);
            }
            SyncPolicy::Never => {}
        }
        Ok(())
    }

    fn count_lost(&mut self, messages: u64, error: &io::Error) -> Result<(), Failure> {
        self.seq = self.written_seq;
        self.look_at = Duration::ZERO;
        let path = self.settings.path.display();
        if self.settings.must_record {
            self.stopped = true;
            let message = format_args!("{path}: {error}; stopped because everything must be recorded (--must-record)");
            return Err(Failure::new(Status::Fault, message));
        }
        if !std::mem::replace(&mut self.loss.is_reported, true) {
            self.report.fault(path, format_args!("{error}; the stream continues, and lost messages are counted"));
        }
        self.loss.unrecorded += messages;
        self.loss.total += messages;
        Ok(())
    }

    /// Syncs to disk, and waits for that.
    fn sync(&mut self) -> Result<(), Failure> {
        self.sync_by = None;
        let Err(error) = self.file.sync() else { return Ok(()) };
        let path = self.settings.path.display();
        if self.settings.must_record {
            return Err(Failure::new(Status::Fault, format_args!("{path}: {NOT_ON_DISK}: {error}")));
        }
        self.report.fault(path, format_args!("{NOT_ON_DISK}: {error}"));
        Ok(())
    }

    /// When [`Log::sync_aside`] is due.
    pub(super) fn sync_by(&self) -> Option<Instant> {
        self.sync_by
    }

    /// Syncs to disk in the background.
    pub(super) fn sync_aside(&mut self) {
        self.sync_by = None;
        let (report, path) = (Arc::clone(&self.report), self.settings.path.clone());
        self.file.sync_aside(move |error| report.fault(path.display(), format_args!("{NOT_ON_DISK}: {error}")));
    }

    /// Reports what another process did to the file, and makes the log a log again. (A removed file is written again
    /// with the batch, if that is possible.)
    fn check_file(&mut self) {
        let path = self.settings.path.display();
        self.incident = self.file.incident().unwrap_or(None);
        match self.incident {
            Some(Incident::Replaced | Incident::Truncated) if self.settings.must_record => {
                let why = "was truncated or replaced by another process; stopped because everything must be recorded";
                self.report.fault(path, format_args!("{why} (--must-record)"));
                self.stopped = true;
            }
            Some(Incident::Replaced) if self.is_replaced => {}
            Some(Incident::Replaced) => {
                self.report
                    .fault(path, "was replaced by another process; recording continues in the new file if possible");
                self.is_replaced = !self.open_again();
            }
            Some(Incident::Truncated) => {
                self.report.fault(path, "was truncated by another process, which removed messages");
                self.needs_header = true;
            }
            Some(Incident::Removed) | None => {}
        }
    }

    /// Continues in the file that is now at the log's path, if it is a different one, and begins it with its header at
    /// once: a later run that continues the log finds its number there.
    pub(super) fn reopen(&mut self) {
        if self.open_again() {
            self.begin_batch();
        }
    }

    /// Whether another file is at the log's path, and recording continues in it.
    fn open_again(&mut self) -> bool {
        if self.file.path_names_it() || !self.file.is_regular() {
            return false;
        }
        let path = self.settings.path.display();
        if file::is_special(&self.settings.path) {
            // Opening a named pipe would block until it has a reader.
            self.report.fault(path, "is not a regular file any more; recording continues in the old file");
            return false;
        }
        match open_file(&self.settings.path, &self.report) {
            Ok(file) => {
                self.go_on_in(file);
                true
            }
            Err(why) => {
                self.report.fault(path, format_args!("cannot be reopened: {why}; recording continues in the old file"));
                false
            }
        }
    }

    fn go_on_in(&mut self, file: Appender) {
        if self.settings.sync != SyncPolicy::Never {
            self.sync_aside();
        }
        self.file.release();
        self.file = file;
        (self.incident, self.is_replaced) = (None, false);
        self.needs_header = true;
        self.is_fresh = true;
        self.rotate_at = 0;
    }

    /// Ends this file and begins the next. If that fails, this file grows by as much again before the next try: on Windows, a file
    /// cannot be renamed while a program has it open that forbids that.
    fn rotate(&mut self) {
        let is_there = matches!(self.file.incident(), Ok(None)) && self.file.path_names_it();
        if let Some(rotation) = self.settings.rotation.as_ref().filter(|_| is_there) {
            match rotation.rotate(&self.settings.path) {
                Ok(file) => self.go_on_in(file),
                Err(error) => {
                    let path = self.settings.path.display();
                    self.report.fault(path, format_args!("cannot be rotated: {error}; it keeps growing until it can"));
                    self.rotate_at = self.file.len() + rotation.size as u64;
                }
            }
        }
    }

    /// Reports how many messages were lost.
    pub(super) fn finish(&mut self) {
        let path = self.settings.path.display();
        if matches!(self.file.incident(), Ok(Some(Incident::Removed | Incident::Replaced))) {
            self.report.fault(&path, "was removed by another process, with all that was recorded in it");
        }
        if self.loss.total > 0 {
            self.report.fault(path, format_args!("{} messages were not recorded", self.loss.total));
        }
    }
}

/// How long not to look after the file again: looking takes a tenth of a message's round trip. What is written to a
/// removed file meanwhile is copied with the rest of it.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

const NOT_ON_DISK: &str = "not forced to the disk";
