//! Log files, read line by line. Problems are reported with file and line.

use crate::cmd::options::{TOO_DEEP, TOO_LONG};
use crate::cmd::usage;
use pipewright_io::report::{Failure, Report};
use pipewright_lines::{Limits, Path, Paths, Piece, Splitter, deeper_than};
use pipewright_log::read::{Found, Problem, Reader, numbered};
use pipewright_sys::descriptor::{Descriptor, stdin};
use pipewright_sys::file::Identity;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// The options for reading logs, shared by all commands that read them.
#[derive(Debug, Clone, clap::Args)]
pub struct LogOptions {
    /// Longest line that is read, in bytes (K, M, G for powers of 1024)
    #[arg(long, value_name = "SIZE", default_value = "6M", value_parser = super::options::size, help_heading = "Limits", global = true)]
    pub max_line: usize,
    /// Deepest nesting of arrays and objects that is read
    #[arg(long, value_name = "LEVELS", default_value_t = Limits::default().max_depth, help_heading = "Limits", global = true)]
    pub max_depth: usize,
    /// Where lines of plain NDJSON have their time, as a path such as .event.at. A time is ISO 8601 text, or the seconds, milliseconds, microseconds or nanoseconds since 1970
    #[arg(long, value_name = "PATH", default_value = ".ts", value_parser = path, global = true)]
    pub time: Path,
}

/// Parses a path; a leading dot may be omitted.
pub fn path(text: &str) -> Result<Path, String> {
    let with_dot = if text.starts_with('.') { text.to_owned() } else { format!(".{text}") };
    Path::parse(&with_dot).ok_or_else(|| "a path, such as .ts or .event.at".to_owned())
}

/// A record or a problem in a log.
pub struct Entry<'a> {
    /// Its line, from 1; 0 for a problem with the complete file.
    pub line: u64,
    /// The bytes of the record; empty for a problem.
    pub raw: &'a [u8],
    /// What it is.
    pub found: Found<'a>,
}

impl<'a> Entry<'a> {
    fn problem(line: u64, problem: Problem) -> Entry<'a> {
        Entry { line, raw: b"", found: Found::Problem(problem) }
    }
}

/// An open log.
pub struct LogFile {
    /// The name as given; `stdin` for `-`.
    pub name: String,
    path: Option<PathBuf>,
    from: Descriptor,
    identity: Identity,
    is_file: bool,
    splitter: Splitter,
    reader: Reader,
    max_line: usize,
    max_depth: usize,
    /// How many bytes were read.
    pub bytes_read: u64,
    /// How many of them are from the current file, which may have replaced the first one.
    position: u64,
    /// The size of the file in bytes, if known.
    pub length: Option<u64>,
    lines: u64,
}

impl LogFile {
    /// Opens a file, or stdin for `-`.
    ///
    /// # Errors
    /// [`usage`] if it cannot be opened.
    pub fn open(file: &OsStr, options: &LogOptions) -> Result<LogFile, Failure> {
        let name = if file == "-" { "stdin".to_owned() } else { file.to_string_lossy().into_owned() };
        let failed = |error: io::Error| usage(format_args!("{name}: {error}"));
        let from = if file == "-" { stdin().map_err(failed)? } else { open(file).map_err(failed)? };
        let about = from.about().map_err(failed)?;
        if about.is_folder && file != "-" {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        Ok(LogFile {
            path: (file != "-").then(|| PathBuf::from(file)),
            identity: Identity::of(&from).map_err(failed)?,
            is_file: about.length.is_some(),
            from,
            splitter: Splitter::new(Limits { max_line: options.max_line, max_depth: options.max_depth }),
            reader: Reader::new(Paths::new(std::slice::from_ref(&options.time))),
            max_line: options.max_line,
            max_depth: options.max_depth,
            bytes_read: 0,
            position: 0,
            length: about.length,
            lines: 0,
            name: name.clone(),
        })
    }

    /// Whether it may grow after its end has been reached. A pipe cannot: its end means that its writers are gone.
    pub fn may_grow(&self) -> bool {
        self.is_file
    }

    /// Stops reading the times of plain NDJSON, which is faster.
    pub fn leave_out_times(&mut self) {
        self.reader = Reader::new(Paths::default());
    }

    /// See [`Reader::is_ours`].
    pub fn is_ours(&self) -> bool {
        self.reader.is_ours()
    }

    /// Opens all of them.
    ///
    /// # Errors
    /// As [`LogFile::open`]; also if stdin is named twice, or is a terminal.
    pub fn open_all(files: &[OsString], options: &LogOptions) -> Result<Vec<LogFile>, Failure> {
        check_stdin_once(files)?;
        files.iter().map(|file| LogFile::open(file, options)).collect()
    }

    /// Opens the files that can be opened, and reports the others as faults.
    ///
    /// # Errors
    /// As [`LogFile::open_all`], if none can be opened.
    pub fn open_some(files: &[OsString], options: &LogOptions, report: &Report) -> Result<Vec<LogFile>, Failure> {
        check_stdin_once(files)?;
        let (mut logs, mut failures) = (Vec::new(), Vec::new());
        for file in files {
            match LogFile::open(file, options) {
                Ok(log) => logs.push(log),
                Err(failure) => failures.push(failure),
            }
        }
        // The caller reports the last one.
        let last = if logs.is_empty() { failures.pop() } else { None };
        for failure in failures {
            report.say(failure);
            report.fail();
        }
        last.map_or(Ok(logs), Err)
    }

    /// Treats this file as the continuation of `before` in the same log.
    pub fn follows(&mut self, before: LogFile) {
        self.reader = before.reader.next_file();
    }

    /// The number of the first record of a log. `None` if it is not a log, or not a file, since finding out would
    /// consume input.
    pub fn first_seq(file: &OsStr, options: &LogOptions) -> Option<u64> {
        if !std::path::Path::new(file).is_file() {
            return None;
        }
        let mut log = LogFile::open(file, options).ok()?;
        let mut first = None;
        loop {
            let more = log.read(&mut |Entry { raw, .. }| {
                if first.is_none() && !raw.is_empty() {
                    first = Some(numbered(raw).map(|line| line.seq));
                }
            });
            match first {
                Some(seq) => return seq,
                None if !more.ok()? => return None,
                None => {}
            }
        }
    }

    /// Reads once, and passes each entry to `each`. Returns false at the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&mut self, each: &mut dyn FnMut(Entry<'_>)) -> io::Result<bool> {
        let read = self.splitter.fill(&mut self.from)?;
        self.bytes_read += read as u64;
        self.pass_entries(each);
        if read == 0 && self.lines == 0 {
            each(Entry::problem(0, Problem::Empty));
        }
        Ok(read > 0)
    }

    /// Reads a file that may still grow: at its end, waits for the rest of a line without a line feed. A file that was
    /// replaced is first read to its end; a truncated file is read again from its beginning.
    pub fn follow(&mut self, each: &mut dyn FnMut(Entry<'_>)) -> io::Result<bool> {
        if self.read_more(each)? {
            return Ok(true);
        }
        let Some(path) = self.path.clone() else { return Ok(false) };
        let (Ok(about), Ok(identity)) = (path.metadata(), Identity::at(&path)) else { return Ok(false) };
        if identity == self.identity && about.len() >= self.position {
            return Ok(false);
        }
        // The file may have been written to once more before it was replaced.
        if identity != self.identity && self.read_more(each)? {
            return Ok(true);
        }
        let Ok(from) = open(path.as_os_str()) else { return Ok(false) };
        self.pass_entries(each);
        // The file may have been replaced once more since.
        self.identity = Identity::of(&from)?;
        self.from = from;
        (self.position, self.lines) = (0, 0);
        self.splitter = Splitter::new(Limits { max_line: self.max_line, max_depth: self.max_depth });
        Ok(true)
    }

    fn read_more(&mut self, each: &mut dyn FnMut(Entry<'_>)) -> io::Result<bool> {
        let read = self.splitter.fill(&mut self.from)?;
        self.bytes_read += read as u64;
        self.position += read as u64;
        if read > 0 {
            self.pass_entries(each);
        }
        Ok(read > 0)
    }

    fn pass_entries(&mut self, each: &mut dyn FnMut(Entry<'_>)) {
        while let Some(piece) = self.splitter.next() {
            match piece {
                Piece::Line(line) if deeper_than(line.body(), self.max_depth) => {
                    self.lines = line.number();
                    each(Entry::problem(line.number(), Problem::OverLimit(TOO_DEEP)));
                }
                Piece::Line(line) => {
                    self.lines = line.number();
                    let number = line.number();
                    self.reader.read(&line, &mut |raw, found| each(Entry { line: number, raw, found }));
                }
                Piece::Part { number, last, .. } => {
                    self.lines = number;
                    if last {
                        each(Entry::problem(number, Problem::OverLimit(TOO_LONG)));
                    }
                }
            }
        }
    }
}

fn check_stdin_once(files: &[OsString]) -> Result<(), Failure> {
    match files.iter().filter(|file| *file == "-").count() {
        0 => Ok(()),
        1 => super::needs_input("a log"),
        _ => Err(usage("stdin (-) can be read only once")),
    }
}

fn open(file: &OsStr) -> io::Result<Descriptor> {
    Ok(Descriptor::new(File::open(file)?))
}

/// Reports a problem in a log as a fault.
pub fn report_problem(problem: &Problem, name: &str, line: u64, report: &Report) {
    if line == 0 { report.fault(name, problem) } else { report.fault(format_args!("{name}:{line}"), problem) }
}

/// Reports as a fault that the recorder could not write `count` messages before this line.
pub fn report_lost(count: u64, name: &str, line: u64, report: &Report) {
    report.fault(format_args!("{name}:{line}"), format_args!("{count} messages were not recorded here"));
}
