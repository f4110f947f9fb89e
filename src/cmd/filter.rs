//! jq filters over messages: what `--where`, `--redact` and their like take, the same in all commands.
//!
//! A filter sees the message as `.` (a line that is no JSON is a string), and `$dir`, `$t` and `$seq` of the log around it,
//! `null` where there is none. It is bounded in time, depth and memory, and sees neither environment nor clock.

use crate::io::report::{Failure, Status};
use crate::journal::Direction;
use crate::journal::read::{Content, Message};
use pipewright_jq::{Error, ErrorKind, Input, Limits};
use std::borrow::Cow;

/// A compiled filter, and the option that it came from.
pub struct Filter {
    option: &'static str,
    filter: pipewright_jq::Filter,
}

/// What stands around a message.
const VARIABLES: [&str; 3] = ["dir", "t", "seq"];

impl Filter {
    /// Compiles what `option` was given.
    ///
    /// # Errors
    /// [`Status::Usage`] with the place where it can't be understood.
    pub fn compile(option: &'static str, source: &str) -> Result<Filter, Failure> {
        match pipewright_jq::Filter::compile(source, &VARIABLES, Limits::default()) {
            Ok(filter) => Ok(Filter { option, filter }),
            Err(error) => Err(Failure::new(Status::Usage, format_args!("{option}: {error}"))),
        }
    }

    /// The same where there is something to compile.
    ///
    /// # Errors
    /// As [`Filter::compile`].
    pub fn compile_some(option: &'static str, source: Option<&String>) -> Result<Option<Filter>, Failure> {
        source.map(|source| Filter::compile(option, source)).transpose()
    }

    /// Whether it is true of a recorded message. It isn't of one that it fails on, such as `.a` on a text.
    ///
    /// # Errors
    /// Why it couldn't be tried (it took too long, for one), in words.
    pub fn matches(&self, message: &Message<'_>) -> Result<bool, String> {
        self.verdict(with_input(message, |input, variables| self.filter.matches(input, variables)))
    }

    fn verdict(&self, matches: Result<bool, Error>) -> Result<bool, String> {
        match matches {
            Err(error) if error.kind() == ErrorKind::Failed => Ok(false),
            Err(error) => Err(self.words(&error)),
            Ok(matches) => Ok(matches),
        }
    }

    /// Whether it is true of a line that passes.
    ///
    /// # Errors
    /// As [`Filter::matches`].
    pub fn matches_line(&self, body: &[u8], direction: Direction) -> Result<bool, String> {
        self.verdict(with_line(body, |input| self.filter.matches(input, &around(direction))))
    }

    /// What it makes of a line that passes, as JSON; false where that is nothing.
    ///
    /// # Errors
    /// As [`Filter::matches`].
    pub fn change_line(&self, body: &[u8], direction: Direction, out: &mut Vec<u8>) -> Result<bool, String> {
        with_line(body, |input| self.filter.one(input, &around(direction), out)).map_err(|error| self.words(&error))
    }

    /// What it makes of a line of which no more is known, as JSON; false where that is nothing.
    ///
    /// # Errors
    /// As [`Filter::matches`].
    pub fn change(&self, body: &[u8], out: &mut Vec<u8>) -> Result<bool, String> {
        let nothing = [Input::Null, Input::Null, Input::Null];
        with_line(body, |input| self.filter.one(input, &nothing, out)).map_err(|error| self.words(&error))
    }

    /// What it makes of a recorded message, as a cell of a table.
    ///
    /// # Errors
    /// As [`Filter::matches`].
    pub fn cell(&self, message: &Message<'_>, out: &mut Vec<u8>) -> Result<bool, String> {
        with_input(message, |input, variables| self.filter.cell(input, variables, out))
            .map_err(|error| self.words(&error))
    }

    fn words(&self, error: &Error) -> String {
        format!("{}: {error}", self.option)
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

/// A line that is no JSON is a string.
fn with_line<T>(body: &[u8], mut act: impl FnMut(Input<'_>) -> Result<T, Error>) -> Result<T, Error> {
    match act(Input::Json(body)) {
        Err(error) if error.kind() == ErrorKind::Unreadable => {
            let text: Cow<'_, str> = String::from_utf8_lossy(body);
            act(Input::Text(&text))
        }
        acted => acted,
    }
}
