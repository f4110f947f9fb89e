//! `jsonl-mask`: replaces personal data and secrets with placeholders.

mod held;

use super::options::{LimitOptions, TOO_DEEP, TOO_LONG};
use super::{Command, needs_input, usage};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use held::HeldLines;
use pipewright_io::between::{Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Limits, Line, Piece, deeper_than};
use pipewright_mask::{Masker, Rules};
use pipewright_record::{ErrorRecord, Record};
use pipewright_sys::signal::Signals;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Replace personal data and secrets in lines with placeholders
///
/// Reads lines of JSON or text and writes them with card numbers, IBANs, e-mail addresses, phone numbers, keys, tokens, private keys, credentials
/// in URLs, and the values of fields such as "password" and "cookie" replaced with placeholders: <EMAIL_1>. Within a run, a value always gets the
/// same placeholder. All other bytes are unchanged. Masking cannot be undone.
#[derive(Debug, Parser)]
#[command(name = NAME, version, after_long_help = AFTER_HELP)]
pub struct Arguments {
    /// Also mask what the rules in this TOML file describe
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitOptions,
}

const NAME: &str = "jsonl-mask";
const AFTER_HELP: &str = "\
Examples:
  Make a copy of a log that can be shared:
    jsonl-mask < run.jsonl > shared.jsonl
  Record a session without its secrets:
    calls | mcp-pipe -- SERVER | jsonl-mask | jsonl-record results.jsonl
  Also mask customer numbers, with rules.toml: [[rule]], name = \"CUSTOMER\", regex = 'C-\\d{6}', fields = \
  [\"customer_id\"]:
    jsonl-mask --rules rules.toml < run.jsonl

Strings are decoded before they are searched, also JSON within a string; object keys are searched, too. JSON numbers \
are unchanged. Text that looks like a placeholder gets an underscore: <_EMAIL_1>. A line over --max-line or \
--max-depth is withheld: an error record takes its place. Pictures, other data in base64 and lines that are not text \
cannot be searched: they are unchanged, and counted on stderr. After 229,376 different values, all further values get \
the number 0.

Names and postal addresses are not found. docs/masking.md lists what is found and what is not.

Exit status:
  0 success; 1 a line was withheld or could not be searched; 2 wrong usage, or the rules could not be read. See \
  pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(usage)?;
    needs_input("the lines to mask")?;
    let rules = arguments.rules.as_deref().map(read_rules).transpose()?.unwrap_or_default();
    let report = Arc::new(Report::new(NAME, false));
    let limits = Limits::from(arguments.limits);
    let masker = Masker::new(rules, limits.max_depth);
    let stage = Filter {
        masker,
        limits,
        report: Arc::clone(&report),
        is_full: false,
        held: HeldLines::default(),
        unread: None,
    };
    between(Box::new(stage), Sides { limits, ..Sides::default() }, signals, &report)
}

fn read_rules(path: &Path) -> Result<Rules, Failure> {
    let failed = |why: String| usage(format_args!("{}:{why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(format!(" the rules cannot be read: {error}")))?;
    Rules::read(&text).map_err(|why| failed(why.to_string()))
}

struct Filter {
    masker: Masker,
    limits: Limits,
    report: Arc<Report>,
    /// Whether the full table has been reported.
    is_full: bool,
    held: HeldLines,
    /// The first line with something that could not be searched.
    unread: Option<u64>,
}

impl Stage for Filter {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(side, Piece::Line(line)) => self.mask(&line, side, out),
            Event::Piece(side, Piece::Part { bytes, number, last: true }) => {
                let line = Line::new(bytes, number);
                self.withhold(TOO_LONG, &line, side, out);
            }
            Event::Closed(side @ Side::NEAR) => self.release(side, out),
            Event::Signal(_) | Event::Broken(Side::NEAR, _) => self.release(Side::NEAR, out),
            _ => {}
        }
        Ok(())
    }
}

impl Filter {
    fn mask(&mut self, line: &Line<'_>, side: Side, out: &mut Out) {
        if deeper_than(line.body(), self.limits.max_depth) {
            return self.withhold(TOO_DEEP, line, side, out);
        }
        if self.held.take(line, &mut self.masker) {
            self.held.mask(&mut self.masker, false);
        } else if self.held.is_empty() {
            let onward = out.opposite(side);
            onward.extend_from_slice(line.before());
            onward.extend_from_slice(&self.masker.line(line.body()));
            onward.extend_from_slice(line.after());
        } else {
            self.held.push(line.number(), [line.before(), &self.masker.line(line.body()), line.after()].concat());
        }
        if self.held.length() > self.limits.max_line {
            self.held.withhold();
        }
        self.write_ready(side, out);
        if self.masker.unread() > 0 {
            self.unread.get_or_insert(line.number());
        }
        if self.masker.is_full() && !std::mem::replace(&mut self.is_full, true) {
            let most = Masker::MAX_DISTINCT;
            self.report.note(format_args!(
                "stdin:{}: more than {most} different values; all further values get the number 0",
                line.number()
            ));
        }
    }

    /// Writes the lines that need not wait any more for the rest of a line.
    fn write_ready(&mut self, side: Side, out: &mut Out) {
        for (number, line) in self.held.ready() {
            let line = line.unwrap_or_else(|| self.record_of_withheld(TOO_LONG, number, b"\n"));
            out.opposite(side).extend_from_slice(&line);
        }
    }

    /// Masks and writes what waits for the rest of a line, which does not come, and reports what could not be searched.
    fn release(&mut self, side: Side, out: &mut Out) {
        self.held.mask(&mut self.masker, true);
        self.write_ready(side, out);
        if let Some(number) = self.unread.take() {
            let count = self.masker.unread();
            self.report.fault(
                format_args!("stdin:{number}"),
                format_args!(
                    "from here on, texts that could not be searched: {count} (pictures, other data, lines \
                              that are not text); they are unchanged"
                ),
            );
        }
    }

    /// Writes a record in place of a line, which may contain anything.
    fn withhold(&mut self, why: &str, line: &Line<'_>, side: Side, out: &mut Out) {
        let record = self.record_of_withheld(why, line.number(), line.after());
        if self.held.is_empty() {
            out.opposite(side).extend_from_slice(&record);
        } else {
            self.held.push(line.number(), record);
        }
    }

    fn record_of_withheld(&self, why: &str, number: u64, after: &[u8]) -> Vec<u8> {
        self.report.fault(format_args!("stdin:{number}"), format_args!("{why}; withheld"));
        let content = format!("line {number} is withheld, since it cannot be masked: {why}");
        [ErrorRecord::new(content).json().as_bytes(), after].concat()
    }
}
