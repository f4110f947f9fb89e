//! `jsonl-log`: checks, recovers, tabulates and summarizes logs.

pub mod check;
mod csv;
mod summary;
mod table;

use super::filter::Filter;
use super::log_file::{Entry, LogFile, LogOptions, report_lost, report_problem};
use super::{Command, usage};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use pipewright_io::output::{Output, OutputClosed};
use pipewright_io::progress::Progress;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_log::Direction;
use pipewright_log::read::{Found, Message};
use pipewright_sys::signal::Signals;
use std::ffi::OsString;

/// Check, recover, tabulate and summarize logs
///
/// Reads logs of jsonl-record, and plain NDJSON (other lines of JSON). A line that cannot be read is reported on stderr with its number; the rest is
/// still processed. With `-`, or without FILE, stdin is read.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    #[command(subcommand)]
    task: Task,
    #[command(flatten)]
    log: LogOptions,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Count records, sessions, gaps, torn lines and lost messages, as one JSON object
    Check {
        /// The files of one log, rotated files in any order; `-` is stdin and is read first
        #[arg(value_name = "FILE", default_value = "-")]
        files: Vec<OsString>,
    },
    /// Write every readable record, byte for byte
    Recover {
        /// Logs, rotated files in any order; `-` is stdin
        #[arg(value_name = "FILE", default_value = "-")]
        files: Vec<OsString>,
    },
    /// Write one CSV row per message, with the given columns
    Csv {
        /// Columns, separated by commas: paths in the message (.params.total), $time, $t, $seq, $dir, $file, $line, or jq filters; NAME=FIELD names a column
        #[arg(value_name = "FIELDS")]
        fields: String,
        /// Logs, rotated files in any order; `-` is stdin
        #[arg(value_name = "FILE", default_value = "-")]
        files: Vec<OsString>,
        /// Write only messages for which this jq filter is true; its input is the message, with $dir, $t and $seq
        #[arg(long = "where", value_name = "JQ")]
        filter: Option<String>,
    },
    /// Print counts, sizes and answer times, by direction and type, and by turn
    Summary {
        /// Logs, rotated files in any order; `-` is stdin
        #[arg(value_name = "FILE", default_value = "-")]
        files: Vec<OsString>,
        /// The output format
        #[arg(long, value_name = "FORMAT", default_value = "table")]
        format: Format,
    },
}

/// The format of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people.
    Table,
    /// For spreadsheets.
    Csv,
    /// For programs: one JSON object per row.
    Json,
}

const NAME: &str = "jsonl-log";
const AFTER_HELP: &str = "\
Examples:
  Check whether anything is missing:
    jsonl-log check run.jsonl
  Check a rotated log, also between its files:
    jsonl-log check run.jsonl*
  Recover a clean log after a machine crash:
    jsonl-log recover run.jsonl > recovered.jsonl
  Write hit points over time, for a spreadsheet:
    jsonl-log csv '$time,.game_state.floor,hp=.game_state.current_hp' --where .in_game run.jsonl > hp.csv
  Find the slow answers:
    jsonl-log summary run.jsonl

Exit status:
  0 success; 1 a log is damaged or incomplete; 2 wrong usage, or a log could not be opened. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    let report = Report::new(NAME, false);
    let options = &arguments.log;
    match &arguments.task {
        Task::Check { files } => {
            let mut files = files.clone();
            // A shell glob lists rotated files newest first. Inputs without a known number go first, such as
            // `zcat run.jsonl.2.gz |`.
            files.sort_by_cached_key(|file| LogFile::first_seq(file, options));
            work(&files, options, signals, &report, &mut check::Check::default())
        }
        Task::Recover { files } => work(&in_order(files, options), options, signals, &report, &mut Recover),
        Task::Csv { fields, files, filter } => {
            let filter = Filter::compile_some("--where", filter.as_ref())?;
            work(&in_order(files, options), options, signals, &report, &mut csv::Csv::new(fields, filter)?)
        }
        Task::Summary { files, format } => {
            work(&in_order(files, options), options, signals, &report, &mut summary::Summary::new(*format))
        }
    }
}

/// The files in the given order, but those of one rotated log by their first numbers, in the place of the first of
/// them.
fn in_order(files: &[OsString], options: &LogOptions) -> Vec<OsString> {
    let log = |file: &OsString| {
        let name = file.to_string_lossy().into_owned();
        match name.rsplit_once('.') {
            Some((log, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
                log.to_owned()
            }
            _ => name,
        }
    };
    let logs: Vec<String> = files.iter().map(log).collect();
    let place = |file: &OsString| logs.iter().position(|other| *other == log(file));
    let mut files = files.to_vec();
    files.sort_by_cached_key(|file| (place(file), LogFile::first_seq(file, options)));
    files
}

/// A task that processes the entries of logs. Everything it appends to `out` goes to stdout.
trait LogTask {
    /// Whether it uses the times of messages.
    fn needs_times(&self) -> bool {
        true
    }
    /// Whether each file continues the one before it.
    fn is_one_log(&self) -> bool {
        false
    }
    fn begin(&mut self, _out: &mut Vec<u8>) {}
    fn take(&mut self, log: &str, entry: &Entry<'_>, report: &Report, out: &mut Vec<u8>);
    /// All entries of one read have been taken; everything is written before the next read.
    fn end_read(&mut self, _out: &mut Vec<u8>) {}
    /// The end of a file has been reached.
    fn end_file(&mut self, _log: &LogFile, _out: &mut Vec<u8>) {}
    fn end(&mut self, _report: &Report, _out: &mut Vec<u8>) {}
}

fn work(
    files: &[OsString],
    options: &LogOptions,
    signals: &Signals,
    report: &Report,
    work: &mut dyn LogTask,
) -> Result<Status, Failure> {
    let mut logs = LogFile::open_some(files, options, report)?;
    if !work.needs_times() {
        logs.iter_mut().for_each(LogFile::leave_out_times);
    }
    let output = Output::open(signals)?;
    match work_through(logs, &output, report, work) {
        Ok(()) => Ok(report.finish()),
        Err(closed) => closed.end(report),
    }
}

fn work_through(
    logs: Vec<LogFile>,
    output: &Output,
    report: &Report,
    work: &mut dyn LogTask,
) -> Result<(), OutputClosed> {
    let mut progress = Progress::begin();
    let mut closed = output.write(|out| work.begin(out));
    let mut before = None;
    for mut log in logs {
        if work.is_one_log()
            && let Some(before) = before.take()
        {
            log.follows(before);
        }
        let name = log.name.clone();
        let mut more = true;
        while more && closed.is_ok() {
            output.flush()?;
            let read = log.read(&mut |entry| {
                if closed.is_err() {
                    return;
                }
                if matches!(entry.found, Found::Problem(_) | Found::Lost(_)) {
                    progress.clear();
                }
                match &entry.found {
                    Found::Problem(problem) => report_problem(problem, &name, entry.line, report),
                    Found::Lost(count) => report_lost(*count, &name, entry.line, report),
                    _ => {}
                }
                closed = output.write(|out| work.take(&name, &entry, report, out));
            });
            // The file ends here; the others are still read.
            more = read.unwrap_or_else(|error| {
                report.fault(&name, error);
                false
            });
            closed = closed.and_then(|()| output.write(|out| work.end_read(out)));
            progress.show(&name, log.bytes_read, log.length);
        }
        closed = closed.and_then(|()| output.write(|out| work.end_file(&log, out)));
        before = Some(log);
    }
    progress.clear();
    closed.and_then(|()| output.write(|out| work.end(report, out))).and_then(|()| output.flush())
}

/// Writes every readable record.
struct Recover;

impl LogTask for Recover {
    fn take(&mut self, _log: &str, entry: &Entry<'_>, _report: &Report, out: &mut Vec<u8>) {
        if !entry.raw.is_empty() {
            out.extend_from_slice(entry.raw);
            out.push(b'\n');
        }
    }
}

/// Determines the kind of a message: its `type`, `method`, `cmd` or `tool`, otherwise the first word of a text.
struct MessageKinds(pipewright_lines::Paths);

impl MessageKinds {
    fn new() -> MessageKinds {
        let paths = [".type", ".method", ".cmd", ".tool", ".error", ".result"];
        let paths: Vec<_> = paths.iter().filter_map(|path| pipewright_lines::Path::parse(path)).collect();
        MessageKinds(pipewright_lines::Paths::new(&paths))
    }

    fn of(&self, message: &Message<'_>) -> String {
        use pipewright_log::read::Content;
        match &message.content {
            Content::Json(json) => {
                let mut found = [None; 6];
                // The reader has already accepted it as JSON.
                self.0.find_in_json(json, &mut found);
                let named = found[..4].iter().flatten().find(|value| value.starts_with('"'));
                match (named, found[4], found[5]) {
                    (Some(name), ..) => first_word(&pipewright_lines::plain_text(name)).unwrap_or("json").to_owned(),
                    (None, Some(_), _) => "error".to_owned(),
                    (None, None, Some(_)) => "result".to_owned(),
                    (None, None, None) => "json".to_owned(),
                }
            }
            // Text on stderr is for people: its first word is not a type.
            Content::Text(text) if message.direction != Some(Direction::Err) => {
                first_word(text).unwrap_or("text").to_owned()
            }
            Content::Text(_) => "text".to_owned(),
            Content::Bytes(_) => "bytes".to_owned(),
            Content::Withheld(_) => "withheld".to_owned(),
        }
    }
}

/// Words of more than 40 bytes are not names.
fn first_word(text: &str) -> Option<&str> {
    text.split_whitespace().next().filter(|word| word.len() <= 40)
}
