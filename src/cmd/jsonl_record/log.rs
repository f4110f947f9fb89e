//! The file that is recorded to: numbered lines, written in one go before what they record is passed on.

use super::resume::{first_seq, open_file};
use crate::io::append::Appender;
use crate::io::lines::Piece;
use crate::io::report::{Failure, Report, Status};
use crate::io::rotation::Rotation;
use crate::journal::write::{self, Header, Stamp};
use crate::journal::{Direction, Part};
use jiff::Timestamp;
use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// When what was written is forced to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    /// Before it is passed on.
    Each,
    /// Within this time.
    Within(Duration),
    /// When the system likes.
    Never,
}

/// How a log is written.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) path: PathBuf,
    pub(super) child: Option<Part>,
    pub(super) command: Vec<String>,
    pub(super) sync: Sync,
    pub(super) rotation: Option<Rotation>,
    pub(super) must_record: bool,
    pub(super) max_depth: usize,
}

/// An open log.
#[derive(Debug)]
pub(super) struct Log {
    settings: Settings,
    report: Arc<Report>,
    file: Appender,
    /// The session's.
    start: String,
    started: Instant,
    /// What the next line is numbered; and the next after all that were written.
    seq: u64,
    written_seq: u64,
    /// Lines that are yet to be written, and how many messages are among them.
    batch: Vec<u8>,
    messages: u64,
    /// When the batch began, in microseconds since the start.
    batch_t: Option<u64>,
    /// The file still needs its header.
    needs_header: bool,
    /// There is no message in this file yet.
    is_fresh: bool,
    loss: Loss,
    /// When what was written has to be on the disk.
    sync_by: Option<Instant>,
    ended: bool,
    /// What must be recorded couldn't be: nothing of this read may be passed on.
    stopped: bool,
}

/// Messages that could not be written.
#[derive(Debug, Default)]
struct Loss {
    /// Since the last that could.
    untold: u64,
    total: u64,
    is_reported: bool,
}

impl Log {
    /// Opens the log, or goes on with it.
    ///
    /// # Errors
    /// [`Status::Usage`] where it can't be opened, is written by somebody else, or is something else than a log.
    pub(super) fn open(settings: Settings, report: Arc<Report>) -> Result<Log, Failure> {
        let path = settings.path.display();
        let failed = |error: &dyn Display| Failure::new(Status::Usage, format_args!("{path}: {error}"));
        let file = open_file(&settings.path, &report).map_err(|why| failed(&why))?;
        if settings.rotation.is_some() && !file.is_regular() {
            return Err(failed(&"only a file can be rotated"));
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
            loss: Loss::default(),
            sync_by: None,
            ended: false,
            stopped: false,
        };
        log.begin_batch();
        log.commit().map_err(|failure| Failure { status: Status::Usage, ..failure })?;
        Ok(log)
    }

    /// Takes a message as it came. It is written with the next [`Log::commit`].
    ///
    /// # Errors
    /// As [`Log::commit`].
    pub(super) fn push(&mut self, direction: Direction, piece: &Piece<'_>) -> Result<(), Failure> {
        let max_depth = self.settings.max_depth;
        let length = piece.raw().len();
        self.push_message(direction, length, |stamp, batch| write::message(stamp, piece, max_depth, batch))
    }

    /// Takes a message that is to be written as `json`.
    ///
    /// # Errors
    /// As [`Log::commit`].
    pub(super) fn push_changed(&mut self, direction: Direction, json: &[u8]) -> Result<(), Failure> {
        self.push_message(direction, json.len(), |stamp, batch| write::changed(stamp, json, batch))
    }

    /// Takes a message that is to be written as text: a line with its end.
    ///
    /// # Errors
    /// As [`Log::commit`].
    pub(super) fn push_text(&mut self, direction: Direction, raw: &[u8]) -> Result<(), Failure> {
        self.push_message(direction, raw.len(), |stamp, batch| write::text(stamp, raw, batch))
    }

    /// Takes a message whose content is not to be written.
    ///
    /// # Errors
    /// As [`Log::commit`].
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
            // What couldn't be written fills no file: those that hold something aren't rotated away for it.
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

    /// Whether a message of `length` bytes belongs into the next file.
    fn is_full(&self, length: usize) -> bool {
        let held = self.file.len() + self.batch.len() as u64;
        let holds_any = !self.is_fresh || self.messages > 0;
        holds_any && self.settings.rotation.as_ref().is_some_and(|rotation| rotation.is_due(held, length))
    }

    /// Takes how the session ended, once.
    pub(super) fn push_end(&mut self, how: &str, status: Option<u8>) {
        if !std::mem::replace(&mut self.ended, true) {
            self.begin_batch();
            let (t, seq) = (self.t(), self.next_seq());
            write::end(t, seq, how, status, &mut self.batch);
        }
    }

    /// Begins with what the file lacks: its header, and what couldn't be written before.
    fn begin_batch(&mut self) {
        if !self.batch.is_empty() {
            return;
        }
        if self.needs_header {
            let seq = self.next_seq();
            let Settings { child, command, .. } = &self.settings;
            Header::new(seq, &self.start, *child, command).write(&mut self.batch);
        }
        if self.loss.untold > 0 {
            // Their numbers are left out.
            self.seq += self.loss.untold;
            let (t, seq) = (self.t(), self.next_seq());
            write::lost(t, seq, self.loss.untold, &mut self.batch);
        }
    }

    fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq - 1
    }

    /// Microseconds since the start; the same for all that came with one read.
    fn t(&mut self) -> u64 {
        let started = self.started;
        *self.batch_t.get_or_insert_with(|| started.elapsed().as_micros() as u64)
    }

    /// Writes what was taken: when this returns, it is in the kernel, or counted as lost.
    ///
    /// # Errors
    /// [`Status::Fault`] where it must be recorded and can't be.
    pub(super) fn commit(&mut self) -> Result<(), Failure> {
        self.write()?;
        if self.stopped {
            // Told already, by the rotation that was in the middle of this read.
            return Err(Failure::new(Status::Fault, self.settings.path.display()));
        }
        self.batch_t = None;
        // (With `each`, it has been forced already.)
        if self.ended && matches!(self.settings.sync, Sync::Within(_)) { self.sync() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), Failure> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let written = self.file.append(&self.batch);
        self.batch.clear();
        let messages = std::mem::take(&mut self.messages);
        if let Err(error) = written {
            return self.lose(messages, &error);
        }
        self.written_seq = self.seq;
        self.needs_header = false;
        self.is_fresh &= messages == 0;
        self.loss.untold = 0;
        match self.settings.sync {
            Sync::Each => self.sync()?,
            Sync::Within(time) => {
                self.sync_by.get_or_insert_with(|| Instant::now() + time);
            }
            Sync::Never => {}
        }
        Ok(())
    }

    fn lose(&mut self, messages: u64, error: &io::Error) -> Result<(), Failure> {
        self.seq = self.written_seq;
        let path = self.settings.path.display();
        if self.settings.must_record {
            self.stopped = true;
            let message = format_args!("{path}: {error}; stopped, because everything must be recorded (--must-record)");
            return Err(Failure::new(Status::Fault, message));
        }
        if !std::mem::replace(&mut self.loss.is_reported, true) {
            self.report.fault(path, format_args!("{error}; the stream goes on, what isn't recorded is counted"));
        }
        self.loss.untold += messages;
        self.loss.total += messages;
        Ok(())
    }

    /// Waits until everything is on the disk.
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

    /// Forces what was written to the disk, and waits for nothing.
    pub(super) fn sync_aside(&mut self) {
        self.sync_by = None;
        let (report, path) = (Arc::clone(&self.report), self.settings.path.clone());
        self.file.sync_aside(move |error| report.fault(path.display(), format_args!("{NOT_ON_DISK}: {error}")));
    }

    /// Goes on in the file that is at the log's path now, where that is another one than before.
    pub(super) fn reopen(&mut self) {
        if self.file.path_names_it() || !self.file.is_regular() {
            return;
        }
        if self.settings.path.metadata().is_ok_and(|about| !about.is_file()) {
            // To open a pipe would wait for its reader.
            let path = self.settings.path.display();
            return self.report.fault(path, "is no file any more; recording goes on in the old one");
        }
        match open_file(&self.settings.path, &self.report) {
            Ok(file) => {
                self.go_on_in(file);
                // At once: whoever continues the log finds its number there.
                self.begin_batch();
            }
            Err(why) => {
                let path = self.settings.path.display();
                self.report
                    .fault(path, format_args!("cannot be opened anew: {why}; recording goes on in the old file"));
            }
        }
    }

    fn go_on_in(&mut self, file: Appender) {
        if self.settings.sync != Sync::Never {
            self.sync_aside();
        }
        self.file = file;
        self.needs_header = true;
        self.is_fresh = true;
    }

    /// Ends this file and begins the next; where that fails, the file grows on.
    fn rotate(&mut self) {
        if let Some(rotation) = &self.settings.rotation {
            match rotation.rotate(&self.settings.path) {
                Ok(file) => self.go_on_in(file),
                Err(error) => {
                    let path = self.settings.path.display();
                    self.report.fault(path, format_args!("cannot be rotated: {error}; it grows on"));
                    self.settings.rotation = None;
                }
            }
        }
    }

    /// Tells how much was lost.
    pub(super) fn finish(&self) {
        if self.loss.total > 0 {
            let path = self.settings.path.display();
            self.report.fault(path, format_args!("{} messages were not recorded", self.loss.total));
        }
    }
}

const NOT_ON_DISK: &str = "not forced to the disk";
