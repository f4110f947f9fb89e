//! Errors, each described in one line.

use std::fmt::Display;

/// The kind of error of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The input is not exactly one JSON value in UTF-8.
    Unreadable,
    /// The filter failed on this input: one of jq's own errors, or more than one output.
    Failed,
    /// The filter failed on a pattern that is not valid, too large, or uses what is not supported.
    BadPattern,
    /// The filter took more steps than allowed.
    OutOfFuel,
    /// The input, a value or a recursion is nested too deeply.
    TooDeep,
    /// The input or the output is too large.
    TooLarge,
}

/// A run without a result. Its text is one line: what happened, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Display) -> Error {
        Error { kind, message: one_line(&message.to_string()) }
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// A filter that cannot be used. Its text is one line: what is wrong, where in the filter, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CompileError {
    message: String,
}

impl CompileError {
    pub(crate) fn new(message: impl Display) -> CompileError {
        CompileError { message: one_line(&message.to_string()) }
    }
}

/// The longest message: a filter can build its errors from foreign text.
const MAX_MESSAGE: usize = 400;

fn one_line(message: &str) -> String {
    let mut line: String =
        message.chars().take(MAX_MESSAGE).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if message.chars().nth(MAX_MESSAGE).is_some() {
        line.push('…');
    }
    line
}
