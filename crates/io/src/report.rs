//! The exit status, and the messages on stderr: `name: stdin:42: message`.

use super::printable::printable;
use pipewright_sys::signal::Signal;
use pipewright_sys::terminal;
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The exit statuses, which are the same in every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// 0: success.
    Success,
    /// 1: ran to its end, but something was refused, failed or differed.
    Fault,
    /// 2: usage or configuration; nothing was started.
    Usage,
    /// 3: the other side could not be started.
    NotStarted,
    /// 4: the other side was lost permanently.
    Lost,
    /// 124: a deadline for the whole run passed.
    Deadline,
    /// The exit code of a wrapper's child (128+N for signal N).
    Child(u8),
    /// Ended by this signal: the process drains, then dies of it (130 for INT, 143 for TERM).
    Signal(Signal),
}

impl Status {
    /// The number of the status.
    pub fn code(self) -> u8 {
        match self {
            Status::Success => 0,
            Status::Fault => 1,
            Status::Usage => 2,
            Status::NotStarted => 3,
            Status::Lost => 4,
            Status::Deadline => 124,
            Status::Child(code) => code,
            Status::Signal(signal) => signal.exit_code(),
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status.code())
    }
}

/// An error that ends the run, with the status it ends with.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub status: Status,
    /// The message for stderr.
    pub message: String,
}

impl Failure {
    /// A failure with a `message`: what happened, where, and what to do next.
    pub fn new(status: Status, message: impl Display) -> Failure {
        Failure { status, message: message.to_string() }
    }

    /// [`Status::NotStarted`], because of an error of the system.
    pub fn not_started(error: io::Error) -> Failure {
        Failure::new(Status::NotStarted, error)
    }
}

impl Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.message)
    }
}

/// Writes messages to stderr in the command's name, and counts the faults.
///
/// The first [`Report::MAX_SHOWN`] faults are shown and the rest counted, so that a broken gigabyte of input does not
/// print a gigabyte of messages. Notes that may repeat often are limited in the same way.
pub struct Report {
    command: &'static str,
    quiet: bool,
    faults: AtomicU64,
    notes: AtomicU64,
    failed: AtomicBool,
    finished: AtomicBool,
    /// Whether the terminal shows a line of [`Report::progress`].
    shows_progress: AtomicBool,
    /// Whether the cursor is behind text that another writer has written to the terminal.
    is_line_open: AtomicBool,
    /// Takes the lines in place of stderr.
    diverted: OnceLock<MessageHook>,
}

type MessageHook = Box<dyn Fn(&str) + Send + Sync>;

impl fmt::Debug for Report {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Report of {}", self.command)
    }
}

/// Moves the cursor to the beginning of the line and clears the line.
const CLEAR_LINE: &str = "\r\x1b[K";

impl Report {
    /// How many faults, and how many notes that may repeat often, are shown.
    pub const MAX_SHOWN: u64 = 20;

    /// A report in the name of `command`. If `quiet`, notes are left out.
    pub fn new(command: &'static str, quiet: bool) -> Report {
        Report {
            command,
            quiet,
            faults: AtomicU64::new(0),
            notes: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            finished: AtomicBool::new(false),
            shows_progress: AtomicBool::new(false),
            is_line_open: AtomicBool::new(false),
            diverted: OnceLock::new(),
        }
    }

    /// The name of the command.
    pub fn command(&self) -> &'static str {
        self.command
    }

    /// Passes each line, printable and without a line feed, to `print` instead of stderr: a full-screen program shows
    /// them where they fit.
    pub fn divert(&self, print: impl Fn(&str) + Send + Sync + 'static) {
        // Only the first call counts.
        let _ = self.diverted.set(Box::new(print));
    }

    /// Reports that something was refused, lost or failed although the run continues; the exit status will be 1.
    /// `place` is where it happened: `stdin:42`, `agent:7`, a file.
    pub fn fault(&self, place: impl Display, message: impl Display) {
        self.fault_with(place, message, &[]);
    }

    /// As [`Report::fault`], with more lines about the fault.
    pub fn fault_with(&self, place: impl Display, message: impl Display, details: &[String]) {
        if self.faults.fetch_add(1, Ordering::Relaxed) < Report::MAX_SHOWN {
            self.say(format_args!("{place}: {message}"));
            for detail in details {
                self.say(format_args!("  {detail}"));
            }
        }
    }

    /// Records a fault that is reported in another way; the exit status will be 1.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Reports useful information that is not a fault.
    pub fn note(&self, message: impl Display) {
        if !self.quiet {
            self.say(message);
        }
    }

    /// As [`Report::note`], for a note that may repeat often: the first are shown, the rest counted.
    pub fn note_limited(&self, message: impl Display) {
        if self.notes.fetch_add(1, Ordering::Relaxed) < Report::MAX_SHOWN {
            self.note(message);
        }
    }

    /// Writes one line to stderr. Control characters in the message cannot control the terminal. A closed stderr is not
    /// a reason to fail.
    pub fn say(&self, message: impl Display) {
        let line = format!("{}: {message}", self.command);
        let line = printable(&line);
        if let Some(print) = self.diverted.get() {
            return print(&line);
        }
        let is_line_open = self.is_line_open.swap(false, Ordering::Relaxed);
        let prefix = if self.shows_progress.swap(false, Ordering::Relaxed) {
            CLEAR_LINE
        } else if is_line_open {
            "\n"
        } else {
            ""
        };
        let _ = std::io::stderr().write_all(format!("{prefix}{line}\n").as_bytes());
    }

    /// Notes that text without a line end is written to the terminal: the next message begins a line of its own.
    pub fn leave_line_open(&self) {
        self.is_line_open.store(true, Ordering::Relaxed);
    }

    /// Shows progress on stderr, which must be a terminal. The line stays until the next message.
    pub fn progress(&self, message: impl Display) {
        let width = terminal::width(std::io::stderr());
        let line: String = format!("{}: {message}", self.command).chars().take(width.saturating_sub(1)).collect();
        self.shows_progress.store(true, Ordering::Relaxed);
        let _ = std::io::stderr().write_all(format!("{CLEAR_LINE}{line}").as_bytes());
    }

    /// The number of faults.
    pub fn faults(&self) -> u64 {
        self.faults.load(Ordering::Relaxed)
    }

    /// Whether the run would now end with [`Status::Fault`].
    pub fn has_failed(&self) -> bool {
        self.faults() > 0 || self.failed.load(Ordering::Relaxed)
    }

    /// Reports, once, the number of faults and notes that were not shown; returns the status of a completed run.
    pub fn finish(&self) -> Status {
        let faults = self.faults();
        let [more_faults, more_notes] =
            [faults, self.notes.load(Ordering::Relaxed)].map(|all| all.saturating_sub(Report::MAX_SHOWN));
        if more_faults + more_notes > 0 && !self.finished.swap(true, Ordering::Relaxed) {
            if more_faults > 0 {
                self.say(format_args!("and {more_faults} more"));
            }
            if more_notes > 0 {
                self.note(format_args!("and {more_notes} more notes"));
            }
        }
        if self.has_failed() { Status::Fault } else { Status::Success }
    }
}

/// At most this many characters of a text; what is cut ends with `...`.
pub fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
