//! Why there is no turn, and whether it is worth asking again.

use crate::record::{Kind, TurnFailure};
use std::time::Duration;

/// A header's value by its lower-case name.
pub type Headers<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// Whether a request that failed may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// It would fail again, or cost again.
    Never,
    /// After a pause of our own.
    Backoff,
    /// After the pause that the provider asks for.
    After(Duration),
}

/// Why an attempt gave no turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What the caller is given where it is the last attempt.
    pub what: TurnFailure,
    /// Whether another attempt is worth it.
    pub retry: Retry,
}

impl Failure {
    /// A failure without a code of the provider's.
    pub fn new(kind: Kind, message: impl Into<String>, retry: Retry) -> Failure {
        Failure { what: TurnFailure { kind, message: message.into(), code: None }, retry }
    }

    /// The same with the provider's own code.
    #[must_use]
    pub fn with_code(mut self, code: Option<String>) -> Failure {
        self.what.code = code;
        self
    }

    /// The stream ended before the turn was complete.
    pub fn cut() -> Failure {
        Failure::new(Kind::Lost, "the answer ended before the turn was complete", Retry::Backoff)
    }

    /// What came is not what the provider's protocol says.
    pub fn protocol(why: impl std::fmt::Display) -> Failure {
        Failure::new(Kind::Protocol, format!("the answer can't be read: {why}"), Retry::Backoff)
    }
}
