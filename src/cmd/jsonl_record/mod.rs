//! `jsonl-record`: records all traffic in a log and passes it on unchanged.

mod log;
mod redact;
mod resume;

use super::filter::Filter;
use super::options::{LimitOptions, duration, part, size};
use super::{Command, needs_input, usage};
use crate::cmd::options::TOO_LONG;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use log::{Log, LogSettings, SyncPolicy};
use pipewright_io::between::{FarEndpoint, Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::rotation::Rotation;
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Limits, Line, Piece};
use pipewright_log::{Direction, Part};
use pipewright_sys::process::{describe, exit_code};
use pipewright_sys::signal::{Signal, Signals};
use redact::{RecordedContent, RedactOptions, Redaction};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Record a stream, or both sides of a conversation, in a log
///
/// In a pipe, copies stdin to stdout byte for byte and records it in FILE. With `-- CMD ARGS`, starts CMD and transparently passes
/// on and records its stdin, stdout and stderr. The log is NDJSON that can be searched with grep,
/// one line per message: {"t":MICROSECONDS,"seq":N,"dir":"in|out|err","msg":THE RAW JSON}. A line is in the log before
/// it is passed on. An existing log is continued. `replay` plays a log, `jsonl-log` checks and summarizes it.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// The log; `-` is not allowed here: stdout carries the stream
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The part that CMD plays in the conversation; `replay --as` needs it
    #[arg(long, value_name = "PART", requires = "command", value_parser = part())]
    child: Option<Part>,
    /// When to sync the log to disk, against power loss: `each` time before data is passed on, within a duration such as 500ms, or `never`
    #[arg(long, value_name = "WHEN", default_value = "1s", value_parser = sync)]
    sync: SyncPolicy,
    /// Start a new file when FILE would exceed this size (K, M, G for powers of 1024); the full file becomes FILE.1
    #[arg(long, value_name = "SIZE", value_parser = size)]
    rotate: Option<usize>,
    /// The number of rotated files to keep
    #[arg(long, value_name = "N", default_value_t = 9, requires = "rotate", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    keep: usize,
    /// Stop if something cannot be recorded, before it is passed on; by default the stream continues and lost messages are counted
    #[arg(long)]
    must_record: bool,
    /// Record only messages for which this jq filter is true; everything is passed on. Its input is the message, with $dir
    #[arg(long = "where", value_name = "JQ")]
    filter: Option<String>,
    /// The command to wrap; without it, stdin is recorded
    #[arg(last = true, value_name = "CMD ARGS")]
    command: Vec<OsString>,
    #[command(flatten)]
    redact: RedactOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

const NAME: &str = "jsonl-record";
const AFTER_HELP: &str = "\
Examples:
  Record a bot's complete conversation, as the mod's command:
    jsonl-record --child agent run.jsonl -- sts-proxy -- ./my-bot
  Record an MCP server, for any client that starts this instead of the server:
    jsonl-record --child world mcp.jsonl -- npx @playwright/mcp
  Record one direction in the middle of a pipe, in files of 100 MB:
    calls | jsonl-record --rotate 100M --keep 20 calls.jsonl | mcp-pipe -- SERVER
  Keep passwords, and the key that the server prints on stderr, out of the log:
    jsonl-record --redact-keys password,token --redact-text 'sub(\"key=\\\\S+\"; \"key=***\")' mcp.jsonl -- SERVER

SIGHUP reopens FILE, for logrotate. An over-long line is recorded in parts; with a redacting option it is withheld.

A line that cannot be redacted is withheld: it is passed on, and the log has the reason in place of its content. A \
filter that fails on a JSON line is an error. A text line that --redact or --redact-text fails on is withheld without \
an error, and so is every text line if --redact-keys is given alone. --redact-keys is applied after the filters. With \
a redacting option, the log has the name of CMD without its arguments.

Exit status:
  0 success; 1 a message was not recorded; 2 wrong usage, or FILE could not be written; 3 CMD could not be started; \
  with CMD, its own status if that is not 0. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn sync(text: &str) -> Result<SyncPolicy, String> {
    match text {
        "each" => Ok(SyncPolicy::Each),
        "never" => Ok(SyncPolicy::Never),
        _ => match duration(text) {
            Ok(Duration::ZERO) => Ok(SyncPolicy::Each),
            Ok(time) => Ok(SyncPolicy::Within(time)),
            Err(error) => Err(format!("each, never, or a duration; {error}")),
        },
    }
}

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    if arguments.command.is_empty() {
        needs_input("the stream to record")?;
    }
    if arguments.file.as_os_str() == "-" {
        return Err(usage(
            "FILE: `-` is not allowed here: stdout carries the stream; name a file (./- for a file of that name)",
        ));
    }
    let report = Arc::new(Report::new(NAME, false));
    let limits = Limits::from(arguments.limits);
    let redaction = Redaction::new(arguments.redact, limits.max_depth)?;
    // CMD's arguments may be as secret as the redacted values, and no filter is applied to them.
    let recorded_words = if redaction.is_some() { 1 } else { arguments.command.len() };
    let settings = LogSettings {
        path: arguments.file,
        child: arguments.child,
        command: arguments
            .command
            .iter()
            .take(recorded_words)
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        sync: arguments.sync,
        rotation: arguments.rotate.map(|size| Rotation { size, keep: arguments.keep }),
        must_record: arguments.must_record,
        max_depth: limits.max_depth,
    };
    let wraps = !arguments.command.is_empty();
    let filter = Filter::compile_some("--where", arguments.filter.as_ref())?;
    let log = Log::open(settings, Arc::clone(&report))?;
    let sides = Sides {
        far: FarEndpoint::child(arguments.command),
        receives_errors: wraps,
        reopens: true,
        drains: true,
        prompt: filter.is_none() && redaction.is_none(),
        limits,
        ..Sides::default()
    };
    let recorder = Recorder { log, filter, redaction, withheld_texts: 0, signal: None, report: Arc::clone(&report) };
    between(Box::new(recorder), sides, signals, &report)
}

/// Records what is passed on.
struct Recorder {
    log: Log,
    filter: Option<Filter>,
    redaction: Option<Redaction>,
    /// Text lines that no filter applied to.
    withheld_texts: u64,
    /// The signal that ends the run, once the child has ended.
    signal: Option<Signal>,
    report: Arc<Report>,
}

impl Recorder {
    fn record(&mut self, side: Side, piece: &Piece<'_>) -> Result<(), Failure> {
        let direction = match side {
            Side::Near(_) | Side::Person | Side::Answers => Direction::In,
            Side::Far(_) => Direction::Out,
            Side::FarError(_) => Direction::Err,
        };
        let Piece::Line(line) = piece else {
            return self.record_part(direction, piece);
        };
        let place = || place(direction, line.number());
        if let Some(filter) = &self.filter {
            // A line that cannot be judged is recorded.
            if filter.matches_line(line.body(), direction, &self.report, place) == Some(false) {
                return Ok(());
            }
        }
        let Some(redaction) = &self.redaction else {
            return self.log.push(direction, piece);
        };
        match redaction.keep(line, direction) {
            RecordedContent::Whole => self.log.push(direction, piece),
            RecordedContent::Line(raw) => self.log.push(direction, &Piece::Line(Line::new(&raw, line.number()))),
            RecordedContent::Text(raw) => self.log.push_text(direction, &raw),
            RecordedContent::Json(json) => self.log.push_changed(direction, &json),
            RecordedContent::Nothing => Ok(()),
            RecordedContent::Withheld { why, is_fault } => {
                if is_fault {
                    self.report.fault(place(), format_args!("{why}; passed on, and not recorded"));
                } else {
                    self.withheld_texts += 1;
                }
                self.log.push_withheld(direction, &why)
            }
        }
    }

    /// An over-long line cannot be parsed: it is recorded in parts, unless something has to be redacted.
    fn record_part(&mut self, direction: Direction, piece: &Piece<'_>) -> Result<(), Failure> {
        if self.redaction.is_none() {
            return self.log.push(direction, piece);
        }
        let Piece::Part { last: true, number, .. } = piece else { return Ok(()) };
        let why = format!("{TOO_LONG}, so it cannot be redacted");
        self.report.fault(place(direction, *number), format_args!("{why}; passed on, and not recorded"));
        self.log.push_withheld(direction, &why)
    }

    fn finish(&mut self, how: &str, status: Option<u8>) -> Result<(), Failure> {
        self.log.push_end(how, status);
        self.log.commit()?;
        self.log.finish();
        if let Some(filter) = &self.filter {
            filter.sum_up(&self.report);
        }
        let count = std::mem::take(&mut self.withheld_texts);
        if count > 0 {
            let advice = "--redact-text defines what to record of them";
            self.report.note(format_args!("text lines withheld from the log: {count} ({advice})"));
        }
        Ok(())
    }
}

/// The place of a line, for people: on our stdin, or on a stream of the child.
fn place(direction: Direction, number: u64) -> String {
    let stream = if direction == Direction::In { "stdin" } else { direction.name() };
    format!("{stream}:{number}")
}

impl Stage for Recorder {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(side, piece) => {
                self.record(side, &piece)?;
                out.opposite(side).extend_from_slice(piece.raw());
            }
            // Half-close: the child's remaining output is relayed and recorded to its end.
            Event::Closed(Side::NEAR) if out.is_pipe() => self.finish("stdin ended", None)?,
            Event::Closed(Side::NEAR) => out.close_far(0),
            Event::Exited(_, status) => {
                let code = exit_code(status);
                let how = self.signal.take().map_or_else(|| describe(status), |signal| signal.to_string());
                self.finish(&how, Some(code))?;
                out.stop(Status::Child(code));
            }
            Event::Broken(Side::NEAR, error) => self.finish(&format!("stdout: {error}"), None)?,
            Event::Signal(signal) if out.is_pipe() => self.finish(&signal.to_string(), None)?,
            Event::Signal(signal) => self.signal = Some(signal),
            Event::Due => self.log.sync_aside(),
            Event::Reopen => self.log.reopen(),
            // As with a pipe: the next write to our stdin must fail.
            Event::Broken(Side::FAR, _) => out.close_near(0),
            Event::Joined(_) | Event::Started(_) | Event::Closed(_) | Event::Broken(..) => {}
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.log.commit()
    }

    fn end(&mut self, _out: &Out) {
        // The child did not end in time.
        if let Some(signal) = self.signal.take()
            && let Err(failure) = self.finish(&signal.to_string(), None)
        {
            self.report.say(failure);
            self.report.fail();
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.log.sync_by()
    }
}
