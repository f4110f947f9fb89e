//! jq filters over messages: the value of `--where`, `--redact` and similar options, the same in all commands.
//!
//! In a filter, `.` is the message (a line that is not JSON is a string); `$dir`, `$t` and `$seq` are those of its log
//! entry, or `null`. A filter is bounded in time, depth and memory, and has no access to the environment or the clock.

use crate::cmd::usage;
use pipewright_io::report::{Failure, Report};
use pipewright_jq::{Error, ErrorKind, Input, Limits};
use pipewright_log::Direction;
use pipewright_log::read::{Content, Message};
use std::borrow::Cow;
use std::cell::Cell;

/// A compiled filter, and the option that it was given with.
pub struct Filter {
    option: &'static str,
    filter: pipewright_jq::Filter,
    /// The messages on which it could not be run; the first has been reported.
    unjudged: Cell<u64>,
}

/// The result of a filter on a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilteredLine {
    /// A JSON value.
    Json,
    /// Text.
    Text,
    /// Nothing: the line is left out.
    Nothing,
    /// The filter fails on this line, as `.a` does on a text. The message has none of the line's values.
    Failed(String),
}

/// The variables besides the message.
const VARIABLES: [&str; 3] = ["dir", "t", "seq"];

impl Filter {
    /// Compiles the value of `option`.
    ///
    /// # Errors
    /// [`usage`] with the place of the syntax error.
    pub fn compile(option: &'static str, source: &str) -> Result<Filter, Failure> {
        match pipewright_jq::Filter::compile(source, &VARIABLES, Limits::default()) {
            Ok(filter) => Ok(Filter { option, filter, unjudged: Cell::new(0) }),
            Err(error) => Err(usage(format_args!("{option}: {error}"))),
        }
    }

    /// Compiles the filter, if the option was given.
    pub fn compile_some(option: &'static str, source: Option<&String>) -> Result<Option<Filter>, Failure> {
        source.map(|source| Filter::compile(option, source)).transpose()
    }

    /// Whether the filter is true of a recorded message. It is not if it fails, as `.a` does on a text. If it cannot be
    /// run at all, for instance because it takes too long, that is a fault, which is reported with `place` the first
    /// time; then it is not true.
    pub fn matches(&self, message: &Message<'_>, report: &Report, place: impl FnOnce() -> String) -> bool {
        let verdict = with_input(message, |input, variables| self.filter.matches(input, variables));
        self.verdict(verdict, report, place).unwrap_or(false)
    }

    /// Whether the filter is true of a line that passes; `None` if it cannot be run, with a fault as in
    /// [`Filter::matches`].
    pub fn matches_line(
        &self,
        body: &[u8],
        direction: Direction,
        report: &Report,
        place: impl FnOnce() -> String,
    ) -> Option<bool> {
        let verdict = with_line(body, |input| self.filter.matches(input, &around(direction)));
        self.verdict(verdict, report, place)
    }

    fn verdict(&self, matches: Result<bool, Error>, report: &Report, place: impl FnOnce() -> String) -> Option<bool> {
        match matches {
            Err(error) if error.kind() == ErrorKind::Failed => Some(false),
            Err(error) => {
                if self.unjudged.replace(self.unjudged.get() + 1) == 0 {
                    report.fault(place(), self.words(&error));
                }
                None
            }
            Ok(matches) => Some(matches),
        }
    }

    /// Reports on how many messages the filter could not be run, if it was more than the one that has been reported.
    pub fn sum_up(&self, report: &Report) {
        let count = self.unjudged.get();
        if count > 1 {
            report.fault(self.option, format_args!("it could not be run on {count} messages"));
        }
    }

    /// Appends the result for a line that passes and is JSON.
    ///
    /// # Errors
    /// The filter took too long, or its result is too large.
    pub fn change_json(&self, json: &[u8], direction: Direction, out: &mut Vec<u8>) -> Result<FilteredLine, String> {
        self.change_input(Input::Json(json), direction, out)
    }

    /// Appends the result for a line that passes and is not JSON; if the result is a string, its text.
    pub fn change_text(&self, text: &str, direction: Direction, out: &mut Vec<u8>) -> Result<FilteredLine, String> {
        let before = out.len();
        let change = self.change_input(Input::Text(text), direction, out)?;
        if change != FilteredLine::Json {
            return Ok(change);
        }
        let Ok(text) = serde_json::from_slice::<String>(&out[before..]) else { return Ok(FilteredLine::Json) };
        out.truncate(before);
        out.extend_from_slice(text.as_bytes());
        Ok(FilteredLine::Text)
    }

    fn change_input(&self, input: Input<'_>, direction: Direction, out: &mut Vec<u8>) -> Result<FilteredLine, String> {
        match self.filter.one(input, &around(direction), out) {
            Ok(true) => Ok(FilteredLine::Json),
            Ok(false) => Ok(FilteredLine::Nothing),
            Err(error) if error.kind() == ErrorKind::Failed => {
                Ok(FilteredLine::Failed(self.without_values(error.kind())))
            }
            Err(error) => Err(self.without_values(error.kind())),
        }
    }

    fn without_values(&self, kind: ErrorKind) -> String {
        format!("{}: {}", self.option, without_values(kind))
    }

    /// Appends the result for a line without direction, time and number, as JSON; false if there is no result.
    pub fn change(&self, body: &[u8], out: &mut Vec<u8>) -> Result<bool, String> {
        let nothing = [Input::Null, Input::Null, Input::Null];
        with_line(body, |input| self.filter.one(input, &nothing, out)).map_err(|error| self.words(&error))
    }

    /// Appends the result for a recorded message, as a cell of a table.
    pub fn cell(&self, message: &Message<'_>, out: &mut Vec<u8>) -> Result<bool, String> {
        with_input(message, |input, variables| self.filter.cell(input, variables, out))
            .map_err(|error| self.words(&error))
    }

    fn words(&self, error: &Error) -> String {
        format!("{}: {error}", self.option)
    }
}

/// The error for logs and audits: jq's own messages quote values, which may be secret.
fn without_values(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Unreadable => "the message isn't JSON in UTF-8",
        ErrorKind::BadPattern => "the filter uses a pattern that cannot be compiled",
        ErrorKind::OutOfFuel => "the filter took too many steps",
        ErrorKind::TooDeep => "the message, or what the filter makes of it, is nested too deeply",
        ErrorKind::TooLarge => "what the filter makes of the message is too large",
        _ => "the filter failed; its message is not shown, since it may quote a secret",
    }
}

/// Whether a filter is true, or why it could not be run.
pub type FilterResult = Result<bool, String>;

/// Several conditions on the same text, run together, so that it is parsed once. They have no variables.
pub struct Conditions {
    filters: Vec<pipewright_jq::Filter>,
    /// All of them in one filter, which gives a number for each: 0 for false, 1 for true, 2 for an error.
    together: Option<pipewright_jq::Filter>,
}

impl Conditions {
    /// Compiles filters, each with a name for its error messages.
    ///
    /// # Errors
    /// The name of the first with a syntax error, and the place.
    pub fn compile(sources: &[(String, &str)]) -> Result<Conditions, String> {
        let compile = |source: &str| pipewright_jq::Filter::compile_condition(source, Limits::default());
        let mut filters = Vec::new();
        for (name, source) in sources {
            filters.push(compile(source).map_err(|error| format!("{name}: {error}"))?);
        }
        // A comment may end a filter, so each ends with its line.
        let one = |source: &str| format!("([try (first({source}\n) | if . then 1 else 0 end) catch 2] | .[0] // 0)");
        let all: Vec<String> = sources.iter().map(|(_, source)| one(source)).collect();
        // A filter that compiles alone and not in the array: then each is tried alone.
        let together = if all.len() > 1 { compile(&format!("[{}]", all.join(","))).ok() } else { None };
        Ok(Conditions { filters, together })
    }

    /// Runs each of them.
    pub fn hold(&self, json: &[u8]) -> Vec<FilterResult> {
        let mut out = Vec::new();
        if let Some(together) = &self.together
            && together.one(Input::Json(json), &[], &mut out) == Ok(true)
            && let Ok(results) = serde_json::from_slice::<Vec<u8>>(&out)
            && results.len() == self.filters.len()
            && !results.contains(&2)
        {
            return results.into_iter().map(|one| Ok(one == 1)).collect();
        }
        // One of them fails, or takes too long: the others must not fail with it.
        let alone = |filter: &pipewright_jq::Filter| {
            filter.matches(Input::Json(json), &[]).map_err(|error| without_values(error.kind()).to_owned())
        };
        self.filters.iter().map(alone).collect()
    }
}

fn around<'a>(direction: Direction) -> [Input<'a>; 3] {
    [Input::Text(direction.name()), Input::Null, Input::Null]
}

fn with_input<T>(
    message: &Message<'_>,
    act: impl FnOnce(Input<'_>, &[Input<'_>]) -> Result<T, Error>,
) -> Result<T, Error> {
    let number =
        |number: Option<u64>| number.and_then(|number| i64::try_from(number).ok()).map_or(Input::Null, Input::Number);
    let direction = message.direction.map_or(Input::Null, |direction| Input::Text(direction.name()));
    let variables = [direction, number(message.t), number(message.seq)];
    let lossy;
    let input = match &message.content {
        Content::Json(json) => Input::Json(json.as_bytes()),
        Content::Text(text) => Input::Text(text),
        Content::Bytes(bytes) => {
            lossy = String::from_utf8_lossy(bytes);
            Input::Text(&lossy)
        }
        Content::Withheld(_) => Input::Null,
    };
    act(input, &variables)
}

/// Runs `act` on a line; one that is not JSON is a string.
fn with_line<T>(body: &[u8], mut act: impl FnMut(Input<'_>) -> Result<T, Error>) -> Result<T, Error> {
    match act(Input::Json(body)) {
        Err(error) if error.kind() == ErrorKind::Unreadable => {
            let text: Cow<'_, str> = String::from_utf8_lossy(body);
            act(Input::Text(&text))
        }
        acted => acted,
    }
}
