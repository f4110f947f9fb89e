//! Redaction of recorded lines, by filters and by keys.

use crate::cmd::filter::{Filter, FilteredLine};
use crate::cmd::options::TOO_DEEP;
use pipewright_io::report::Failure;
use pipewright_lines::{Line, deeper_than, is_json, replace_values};
use pipewright_log::Direction;
use pipewright_record::identifier::unspelled;

/// What `--redact-keys` writes in place of a value.
const REDACTED: &str = "\"[redacted]\"";

/// Why a text line is withheld: the redaction cannot find secrets in it.
const NOT_APPLIED: &str = "a text line, which the redaction does not apply to";

/// The options that decide what is recorded of a line.
#[derive(Debug, clap::Args)]
pub(super) struct RedactOptions {
    /// Record the output of this jq filter for each message, such as del(.params.password); no output records nothing. The input
    /// of a text line (one that is not JSON) is a string
    #[arg(long, value_name = "JQ")]
    redact: Option<String>,
    /// Record the output of this jq filter for each text line: a string, or nothing. Its input is a string; `.` keeps all text lines
    #[arg(long, value_name = "JQ")]
    redact_text: Option<String>,
    /// Replace the values of these keys anywhere in a message with "[redacted]". Any spelling matches: api_key also means apiKey and API-Key
    #[arg(long, value_name = "KEY,...", value_delimiter = ',', value_parser = key)]
    redact_keys: Vec<String>,
}

fn key(text: &str) -> Result<String, &'static str> {
    let key = text.trim();
    if key.is_empty() {
        Err("give names of keys, separated by commas, such as password,token")
    } else {
        Ok(unspelled(key))
    }
}

/// The compiled options.
pub(super) struct Redaction {
    json: Option<Filter>,
    text: Option<Filter>,
    keys: Vec<String>,
    max_depth: usize,
}

/// What is to be recorded of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RecordedContent {
    /// The unchanged line.
    Whole,
    /// A line, with its end.
    Line(Vec<u8>),
    /// A line, with its end, as text.
    Text(Vec<u8>),
    /// A JSON value.
    Json(Vec<u8>),
    /// Nothing.
    Nothing,
    /// Only the reason why it is not recorded.
    Withheld { why: String, is_fault: bool },
}

impl Redaction {
    /// `None` if nothing is to be redacted.
    ///
    /// # Errors
    /// [`Status::Usage`](pipewright_io::report::Status::Usage) if a filter cannot be compiled.
    pub(super) fn new(options: RedactOptions, max_depth: usize) -> Result<Option<Redaction>, Failure> {
        let RedactOptions { redact, redact_text, redact_keys: keys } = options;
        if redact.is_none() && redact_text.is_none() && keys.is_empty() {
            return Ok(None);
        }
        let json = Filter::compile_some("--redact", redact.as_ref())?;
        let text = Filter::compile_some("--redact-text", redact_text.as_ref())?;
        Ok(Some(Redaction { json, text, keys, max_depth }))
    }

    pub(super) fn keep(&self, line: &Line<'_>, direction: Direction) -> RecordedContent {
        if deeper_than(line.body(), self.max_depth) {
            return RecordedContent::Withheld { why: TOO_DEEP.to_owned(), is_fault: true };
        }
        // On stderr, a number or a quoted word is ordinary text.
        let may_be_json = direction != Direction::Err || matches!(line.body().trim_ascii_start(), [b'{' | b'[', ..]);
        match std::str::from_utf8(line.body()) {
            Ok(json) if may_be_json && is_json(line.body(), self.max_depth) => self.keep_json(json, line, direction),
            _ => self.keep_text(line, direction),
        }
    }

    fn keep_json(&self, json: &str, line: &Line<'_>, direction: Direction) -> RecordedContent {
        let Some(filter) = &self.json else {
            let mut out = line.before().to_vec();
            if !self.replace_keys(json, &mut out) {
                return RecordedContent::Whole;
            }
            out.extend_from_slice(line.after());
            return RecordedContent::Line(out);
        };
        let mut made = Vec::new();
        match filter.change_json(json.as_bytes(), direction, &mut made) {
            Ok(FilteredLine::Nothing) => RecordedContent::Nothing,
            Ok(FilteredLine::Json | FilteredLine::Text) => self.json_kept(&made),
            // Programs also print bare numbers and words for people.
            Ok(FilteredLine::Failed(_)) if !matches!(json.trim_ascii_start().as_bytes(), [b'{' | b'[', ..]) => {
                RecordedContent::Withheld { why: NOT_APPLIED.to_owned(), is_fault: false }
            }
            Ok(FilteredLine::Failed(why)) => RecordedContent::Withheld { why, is_fault: direction != Direction::Err },
            Err(why) => RecordedContent::Withheld { why, is_fault: true },
        }
    }

    /// The output of a filter, with the keys replaced.
    fn json_kept(&self, made: &[u8]) -> RecordedContent {
        let mut out = Vec::new();
        self.replace_keys(&String::from_utf8_lossy(made), &mut out);
        RecordedContent::Json(out)
    }

    fn replace_keys(&self, json: &str, out: &mut Vec<u8>) -> bool {
        if self.keys.is_empty() {
            out.extend_from_slice(json.as_bytes());
            return false;
        }
        replace_values(json, &|key| self.keys.contains(&unspelled(key)), REDACTED, out)
    }

    fn keep_text(&self, line: &Line<'_>, direction: Direction) -> RecordedContent {
        let text = String::from_utf8_lossy(line.body());
        let mut made = line.before().to_vec();
        let change = match self.text.as_ref().or(self.json.as_ref()) {
            Some(filter) => filter.change_text(&text, direction, &mut made),
            None => Ok(FilteredLine::Failed(String::new())),
        };
        match change {
            Ok(FilteredLine::Text) if made[line.before().len()..] == *text.as_bytes() => RecordedContent::Whole,
            // A replay of the log would give several lines.
            Ok(FilteredLine::Text) if made.contains(&b'\n') => {
                RecordedContent::Withheld { why: "the filter gives text with a line feed".to_owned(), is_fault: true }
            }
            Ok(FilteredLine::Text) => {
                made.extend_from_slice(line.after());
                RecordedContent::Text(made)
            }
            Ok(FilteredLine::Json) if self.text.is_some() => RecordedContent::Withheld {
                why: "--redact-text: the filter gives no string".to_owned(),
                is_fault: true,
            },
            Ok(FilteredLine::Json) => self.json_kept(&made[line.before().len()..]),
            Ok(FilteredLine::Nothing) => RecordedContent::Nothing,
            Ok(FilteredLine::Failed(_)) if line.is_blank() => RecordedContent::Whole,
            Ok(FilteredLine::Failed(_)) => RecordedContent::Withheld { why: NOT_APPLIED.to_owned(), is_fault: false },
            Err(why) => RecordedContent::Withheld { why, is_fault: true },
        }
    }
}
