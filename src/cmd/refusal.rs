//! Why a call gets no result: the reason that gates and worlds answer it with.

use pipewright_record::{Kind, Outcome};
use serde_json::value::RawValue;

/// Why a call gets no result.
#[derive(Debug, Clone)]
pub struct Refusal {
    pub kind: Kind,
    /// The world's own code, if it has one.
    pub code: Option<&'static str>,
    /// What happened, for people and models; without a full stop.
    pub message: String,
    /// Further details, as JSON text.
    pub data: Option<Box<RawValue>>,
}

impl Refusal {
    pub fn new(kind: Kind, message: impl Into<String>) -> Refusal {
        Refusal { kind, code: None, message: message.into(), data: None }
    }

    /// The outcome of the call.
    pub fn outcome(&self) -> Outcome<'_> {
        Outcome::Error { kind: self.kind, message: &self.message, code: self.code, data: self.data.as_deref() }
    }
}
