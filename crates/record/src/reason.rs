//! The error of what fails in one way for its caller, who only passes it on to a person.

use std::fmt;

/// Why something cannot be read, used or done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Reason(String);

impl Reason {
    /// The reason as a person reads it.
    pub fn new(why: impl fmt::Display) -> Reason {
        Reason(why.to_string())
    }
}

impl From<String> for Reason {
    fn from(why: String) -> Reason {
        Reason(why)
    }
}

impl From<&str> for Reason {
    fn from(why: &str) -> Reason {
        Reason(why.to_owned())
    }
}

impl From<Reason> for String {
    fn from(Reason(why): Reason) -> String {
        why
    }
}

/// A reason is read as a text.
impl std::ops::Deref for Reason {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}
