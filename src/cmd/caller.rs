//! What both gates write to the caller besides what they pass on: records about calls, and answers to calls that do not pass.

use super::events::Events;
use crate::io::report::{Failure, Report, Status};
use crate::io::stage::{Out, Side};
use crate::record::{Call, Form, Kind, Outcome};
use clap::ValueEnum;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Options of what the caller gets.
#[derive(Debug, clap::Args)]
pub struct CallerOptions {
    /// How a JSON-RPC call that does not pass is answered
    #[arg(long, value_enum, default_value_t = RefuseAs::Result)]
    pub refuse_as: RefuseAs,
    /// Write records about calls to a file (appended to), `stderr`, or `-` for stdout [default: stdout in a pipe, none with CMD]
    #[arg(long, value_name = "FILE|stderr|-")]
    events: Option<String>,
    /// Which of the gate's own records are written to stdout in a pipe
    #[arg(long, value_enum, default_value_t = Records::All)]
    records: Records,
}

/// Which of a gate's own records are written between the calls in a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Records {
    /// All records about calls
    All,
    /// Answers to calls that do not pass, and notices that a call waits for a person
    Errors,
}

impl CallerOptions {
    /// Opens the output for records about calls. Without `--events` that is stdout, if `by_default`, or nothing.
    ///
    /// # Errors
    /// [`Status::Usage`] if the file cannot be opened, or `--events` contradicts `--records`.
    pub fn open_events(&self, by_default: bool, report: &Arc<Report>) -> Result<Option<Events>, Failure> {
        let to = match (self.events.as_deref(), self.records) {
            (Some("-"), Records::Errors) => {
                let why = "--records errors keeps records off stdout, and --events - puts them there";
                return Err(Failure::new(Status::Usage, why));
            }
            (Some(to), _) => to,
            (None, Records::All) if by_default => "-",
            (None, _) => return Ok(None),
        };
        Events::open_beside(to, report).map(Some)
    }
}

/// The answer to a JSON-RPC call that does not pass. (A line that cannot be read is answered with a JSON-RPC error.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RefuseAs {
    /// A result with `isError`, whose text a model reads
    Result,
    /// A JSON-RPC error, which most clients raise as an exception
    Error,
}

/// Why a call does not pass.
#[derive(Debug, Clone, Copy)]
pub struct Refusal<'a> {
    kind: Kind,
    /// What happened, for people and models; without a full stop.
    message: &'a str,
    /// What a model may do next: sentences.
    advice: &'a str,
    /// JSON text: more details.
    data: Option<&'a RawValue>,
}

impl<'a> Refusal<'a> {
    pub fn new(kind: Kind, message: &'a str) -> Refusal<'a> {
        let advice = match kind {
            Kind::Denied => "Do not repeat the call. Choose another way, or go on without it.",
            Kind::NeedsApproval => {
                "Nobody can be asked here. Go on without it, or tell the user what you wanted to do."
            }
            Kind::Rejected => "Do not repeat the call unchanged. Choose another way, or ask the user.",
            Kind::Lost => "No more calls can be made.",
            _ => "",
        };
        Refusal { kind, message, advice, data: None }
    }

    /// The same with details, JSON text.
    #[must_use]
    pub fn with_data(self, data: Option<&'a RawValue>) -> Refusal<'a> {
        Refusal { data, ..self }
    }

    /// The same with other advice.
    #[must_use]
    pub fn advising(self, advice: &'a str) -> Refusal<'a> {
        Refusal { advice, ..self }
    }
}

impl RefuseAs {
    /// Answers a call that does not pass. A JSON-RPC notification gets no answer.
    pub fn refuse(self, call: &Call<'_>, refusal: &Refusal<'_>, out: &mut Out) {
        let &Refusal { kind, message, advice, data } = refusal;
        if !call.wants_answer() {
            return;
        }
        let answer = if self == RefuseAs::Result && call.form == Form::JsonRpc {
            let text = format!("{} was not carried out: {message}. {advice}", call.tool);
            call.failed_result(kind, text.trim_end(), data)
        } else {
            call.answer(Outcome::Error { kind, message, code: None, data })
        };
        out.add_line(Side::Near, &answer);
    }
}
