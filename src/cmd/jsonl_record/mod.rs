//! `jsonl-record`: keeps everything that passes in a log, and changes nothing of it.

mod log;
mod redact;
mod resume;

use super::filter::Filter;
use super::options::{LimitOptions, duration, size};
use super::{Command, needs_input};
use crate::cmd::options::TOO_LONG;
use crate::io::between::{Ends, Way, between};
use crate::io::child::{describe, exit_code};
use crate::io::lines::{Limits, Line, Piece};
use crate::io::report::{Failure, Report, Status};
use crate::io::rotation::Rotation;
use crate::io::signal::Signals;
use crate::io::stage::{Event, Out, Side, Stage};
use crate::journal::{Direction, Part};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use log::{Log, Settings, Sync};
use redact::{Kept, RedactOptions, Redaction};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Record a stream, or both sides of a conversation, in a log
///
/// In a pipe, everything on stdin goes to stdout byte for byte and into FILE. With `-- CMD ARGS`, CMD is started, and what goes
/// to it, what it says and what it says on stderr is passed on and recorded; neither side can tell. The log is NDJSON that stays greppable,
/// one line a message: {"t":MICROSECONDS,"seq":N,"dir":"in|out|err","msg":THE RAW JSON}. A line is in the log before
/// it is passed on. An existing log is continued. `replay` plays it, `jsonl-log` checks and counts it.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// The log; `-` is no name for it, stdout carries the stream
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which part CMD plays; `replay` needs to know it to play a side
    #[arg(long, value_name = "PART", requires = "command")]
    child: Option<Part>,
    /// When the log is forced to the disk, for power loss: `each` time before anything is passed on, within a duration such as 500ms, `never`
    #[arg(long, value_name = "WHEN", default_value = "1s", value_parser = sync)]
    sync: Sync,
    /// Begin a new file where this one would become longer (K, M, G for powers of 1024); the full one becomes FILE.1
    #[arg(long, value_name = "SIZE", value_parser = size)]
    rotate: Option<usize>,
    /// How many rotated files are kept
    #[arg(long, value_name = "N", default_value_t = 9, requires = "rotate", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    keep: usize,
    /// Stop where something can't be recorded, before it is passed on; else the stream goes on and the loss is counted
    #[arg(long)]
    must_record: bool,
    /// Write only messages that this jq filter is true of; everything is passed on. It sees the message as `.`, and $dir
    #[arg(long = "where", value_name = "JQ")]
    filter: Option<String>,
    #[command(flatten)]
    redact: RedactOptions,
    #[command(flatten)]
    limits: LimitOptions,
    /// What to wrap; without it, stdin is recorded
    #[arg(last = true, value_name = "CMD ARGS")]
    command: Vec<OsString>,
}

const NAME: &str = "jsonl-record";
const AFTER_HELP: &str = "\
Examples:
  A bot's whole conversation, as the mod's command:
    jsonl-record --child agent run.jsonl -- sts-proxy -- ./my-bot
  An MCP server's, for any client that starts this instead of it:
    jsonl-record --child world mcp.jsonl -- npx @playwright/mcp
  One direction, in the middle of a pipe, in files of 100 MB:
    calls | jsonl-record --rotate 100M --keep 20 calls.jsonl | mcp-pipe -- SERVER
  Without passwords, and without the key that the server prints on stderr:
    jsonl-record --redact-keys password,token --redact-text 'sub(\"key=\\\\S+\"; \"key=***\")' mcp.jsonl -- SERVER

SIGHUP opens FILE anew, for logrotate. An over-long line is recorded in parts, or, where something is redacted, withheld.

A line that can't be redacted is withheld: it passes, and the log has the reason in place of its content. Where a filter fails on
a JSON line, that is an error. It is none for a text line that --redact or --redact-text fails on, and for every text line where
--redact-keys stands alone. Keys are replaced last. With a redacting option, only the name of CMD is written.

Exit status:
  0 all well; 1 something was not recorded; 2 usage, or FILE can't be written; 3 CMD can't be started; with CMD its own where \
  that isn't 0. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn sync(text: &str) -> Result<Sync, String> {
    match text {
        "each" => Ok(Sync::Each),
        "never" => Ok(Sync::Never),
        _ => match duration(text) {
            Ok(Duration::ZERO) => Ok(Sync::Each),
            Ok(time) => Ok(Sync::Within(time)),
            Err(error) => Err(format!("each, never, or a duration; {error}")),
        },
    }
}

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(|error| Failure::new(Status::Usage, error))?;
    if arguments.command.is_empty() {
        needs_input("what is to be recorded")?;
    }
    if arguments.file.as_os_str() == "-" {
        return Err(Failure::new(
            Status::Usage,
            "FILE: stdout carries the stream; name a file (./- for one that is called so)",
        ));
    }
    let report = Arc::new(Report::new(NAME, false));
    let limits = Limits::from(arguments.limits);
    let redaction = Redaction::new(arguments.redact, limits.max_depth)?;
    // CMD's arguments may be as secret as what is redacted, and no filter sees them.
    let told = if redaction.is_some() { 1 } else { arguments.command.len() };
    let settings = Settings {
        path: arguments.file,
        child: arguments.child,
        command: arguments.command.iter().take(told).map(|word| word.to_string_lossy().into_owned()).collect(),
        sync: arguments.sync,
        rotation: arguments.rotate.map(|size| Rotation { size, keep: arguments.keep }),
        must_record: arguments.must_record,
        max_depth: limits.max_depth,
    };
    let wraps = !arguments.command.is_empty();
    let filter = Filter::compile_some("--where", arguments.filter.as_ref())?;
    let log = Log::open(settings, Arc::clone(&report))?;
    let ends = Ends {
        far: Way::child(arguments.command),
        hears_errors: wraps,
        reopens: true,
        prompt: filter.is_none() && redaction.is_none(),
        limits,
        ..Ends::default()
    };
    let recorder = Recorder { log, filter, redaction, withheld_texts: 0, report: Arc::clone(&report) };
    between(Box::new(recorder), ends, signals, &report)
}

/// Writes down what passes.
struct Recorder {
    log: Log,
    filter: Option<Filter>,
    redaction: Option<Redaction>,
    /// Text lines that no filter applied to.
    withheld_texts: u64,
    report: Arc<Report>,
}

impl Recorder {
    fn record(&mut self, side: Side, piece: &Piece<'_>) -> Result<(), Failure> {
        let direction = match side {
            Side::Near | Side::Person | Side::Answers => Direction::In,
            Side::Far => Direction::Out,
            Side::FarError => Direction::Err,
        };
        let Piece::Line(line) = piece else {
            return self.record_part(direction, piece);
        };
        let place = || place(direction, line.number());
        if let Some(filter) = &self.filter {
            match filter.matches_line(line.body(), direction) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) => self.report.fault(place(), format_args!("{error}; recorded")),
            }
        }
        let Some(redaction) = &self.redaction else {
            return self.log.push(direction, piece);
        };
        match redaction.keep(line, direction) {
            Kept::Whole => self.log.push(direction, piece),
            Kept::Line(raw) => self.log.push(direction, &Piece::Line(Line::new(&raw, line.number()))),
            Kept::Text(raw) => self.log.push_text(direction, &raw),
            Kept::Json(json) => self.log.push_changed(direction, &json),
            Kept::Nothing => Ok(()),
            Kept::Withheld { why, is_fault } => {
                if is_fault {
                    self.report.fault(place(), format_args!("{why}; passed on, and not recorded"));
                } else {
                    self.withheld_texts += 1;
                }
                self.log.push_withheld(direction, &why)
            }
        }
    }

    /// An over-long line can't be looked into: it is recorded, but for what may have to be redacted.
    fn record_part(&mut self, direction: Direction, piece: &Piece<'_>) -> Result<(), Failure> {
        if self.redaction.is_none() {
            return self.log.push(direction, piece);
        }
        let Piece::Part { last: true, number, .. } = piece else { return Ok(()) };
        let why = format!("{TOO_LONG}, so nothing can be redacted in it");
        self.report.fault(place(direction, *number), format_args!("{why}; passed on, and not recorded"));
        self.log.push_withheld(direction, &why)
    }

    fn end(&mut self, how: &str, status: Option<u8>) {
        self.log.push_end(how, status);
        self.log.finish();
        let count = std::mem::take(&mut self.withheld_texts);
        if count > 0 {
            let advice = "--redact-text says what to write of them";
            self.report.note(format_args!("text lines that were kept out of the log: {count} ({advice})"));
        }
    }
}

/// Where a line stands, for people: on our stdin, or in what the child said.
fn place(direction: Direction, number: u64) -> String {
    let stream = if direction == Direction::In { "stdin" } else { direction.name() };
    format!("{stream}:{number}")
}

impl Stage for Recorder {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(side, piece) => {
                self.record(side, &piece)?;
                out.onward(side).extend_from_slice(piece.raw());
            }
            // Half-close: what the child still has to say is relayed and recorded to its end.
            Event::Closed(Side::Near) if out.is_pipe() => self.end("stdin ended", None),
            Event::Closed(Side::Near) => out.close_far(),
            Event::Exited(status) => {
                let code = exit_code(status);
                self.end(&describe(status), Some(code));
                out.stop(Status::Child(code));
            }
            Event::Broken(Side::Near, error) => self.end(&format!("stdout: {error}"), None),
            Event::Signal(signal) => self.end(&signal.to_string(), None),
            Event::Due => self.log.sync_aside(),
            Event::Reopen => self.log.reopen(),
            // As with a pipe: the next write to our stdin fails.
            Event::Broken(Side::Far, _) => out.close_near(),
            Event::Joined | Event::Started | Event::Closed(_) | Event::Broken(..) => {}
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.log.commit()
    }

    fn deadline(&self) -> Option<Instant> {
        self.log.sync_by()
    }
}
