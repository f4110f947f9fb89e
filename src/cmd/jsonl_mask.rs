//! `jsonl-mask`: replaces personal data and secrets with placeholders.

use super::options::{LimitOptions, TOO_DEEP, TOO_LONG};
use super::{Command, needs_input};
use crate::io::between::{Ends, between};
use crate::io::lines::{Limits, Line, Piece, deeper_than};
use crate::io::report::{Failure, Report, Status};
use crate::io::signal::Signals;
use crate::io::stage::{Event, Out, Side, Stage};
use crate::json::Object;
use crate::mask::{Masker, Rules};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
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
  Also mask customer numbers, with rules.toml: [[rule]], name = \"CUSTOMER\", regex = 'C-\\d{6}', fields = [\"customer_id\"]:
    jsonl-mask --rules rules.toml < run.jsonl

Strings are decoded before they are searched, also JSON within a string; object keys are searched, too. JSON numbers are unchanged. Text that \
looks like a placeholder gets an underscore: <_EMAIL_1>. A line over --max-line or --max-depth is withheld: an error record takes its place. \
After 262,144 different values, all further values get the number 0.

Names and postal addresses are not found. docs/masking.md lists what is found and what is not.

Exit status:
  0 success; 1 a line was withheld; 2 wrong usage, or the rules could not be read. See pipewright(7).";

/// The command.
pub const COMMAND: Command = Command { name: NAME, clap: Arguments::command, run };

fn run(matches: &ArgMatches, signals: &Signals) -> Result<Status, Failure> {
    let arguments = Arguments::from_arg_matches(matches).map_err(|error| Failure::new(Status::Usage, error))?;
    needs_input("the lines to mask")?;
    let rules = arguments.rules.as_deref().map(read_rules).transpose()?.unwrap_or_default();
    let report = Arc::new(Report::new(NAME, false));
    let limits = Limits::from(arguments.limits);
    let masker = Masker::new(rules, limits.max_depth);
    let stage = Filter { masker, limits, report: Arc::clone(&report), is_full: false };
    between(Box::new(stage), Ends { limits, ..Ends::default() }, signals, &report)
}

fn read_rules(path: &Path) -> Result<Rules, Failure> {
    let failed = |why: String| Failure::new(Status::Usage, format_args!("{}:{why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(format!(" the rules cannot be read: {error}")))?;
    Rules::read(&text).map_err(failed)
}

struct Filter {
    masker: Masker,
    limits: Limits,
    report: Arc<Report>,
    /// Whether the full table has been reported.
    is_full: bool,
}

impl Stage for Filter {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        match event {
            Event::Piece(side, Piece::Line(line)) => self.mask(&line, side, out),
            Event::Piece(side, Piece::Part { bytes, number, last: true }) => {
                let line = Line::new(bytes, number);
                self.withhold(TOO_LONG, &line, side, out);
            }
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
        let onward = out.onward(side);
        onward.extend_from_slice(line.before());
        onward.extend_from_slice(&self.masker.line(line.body()));
        onward.extend_from_slice(line.after());
        if self.masker.is_full() && !std::mem::replace(&mut self.is_full, true) {
            let most = Masker::MOST;
            self.report.note(format_args!(
                "stdin:{}: more than {most} different values; all further values get the number 0",
                line.number()
            ));
        }
    }

    /// Writes a record in place of a line, which may contain anything.
    fn withhold(&self, why: &str, line: &Line<'_>, side: Side, out: &mut Out) {
        let number = line.number();
        self.report.fault(format_args!("stdin:{number}"), format_args!("{why}; withheld"));
        let content = format!("line {number} is withheld, since it cannot be masked: {why}");
        let record = Object::default().text("type", "error").put("context", "{}").text("content", &content).end();
        let onward = out.onward(side);
        onward.extend_from_slice(record.as_bytes());
        onward.extend_from_slice(line.after());
    }
}
