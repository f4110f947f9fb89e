//! What both gates write to the caller besides what they pass on: records about calls, and answers to calls that do not
//! pass.

use super::events::Events;
use super::refusal::Refusal;
use crate::cmd::usage;
use clap::ValueEnum;
use pipewright_io::report::{Failure, Report};
use pipewright_io::stage::{Out, Side};
use pipewright_record::{Call, Form, Kind};
use std::sync::Arc;

/// Options of what the caller gets.
#[derive(Debug, clap::Args)]
pub struct CallerOptions {
    /// How a JSON-RPC call that does not pass is answered
    #[arg(long, value_enum, default_value_t = RefusalForm::Result)]
    pub refuse_as: RefusalForm,
    /// Write records about calls to a file (appended to), `stderr`, or `-` for stdout [default: stdout in a pipe, none with CMD]
    #[arg(long, value_name = "FILE|stderr|-")]
    events: Option<String>,
    /// Which of the gate's own records are written to stdout in a pipe
    #[arg(long, value_enum, default_value_t = PipeRecords::All)]
    records: PipeRecords,
}

/// Which of a gate's own records are written between the calls in a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PipeRecords {
    /// All records about calls
    All,
    /// Answers to calls that do not pass, and notices that a call waits for a person
    Errors,
}

impl CallerOptions {
    /// Opens the output for records about calls. Without `--events` that is stdout, if `by_default`, or nothing.
    ///
    /// # Errors
    /// [`usage`] if the file cannot be opened, or `--events` contradicts `--records`.
    pub fn open_events(&self, by_default: bool, report: &Arc<Report>) -> Result<Option<Events>, Failure> {
        let to = match (self.events.as_deref(), self.records) {
            (Some("-"), PipeRecords::Errors) => {
                let why = "--records errors keeps records off stdout, and --events - puts them there";
                return Err(usage(why));
            }
            (Some(to), _) => to,
            (None, PipeRecords::All) if by_default => "-",
            (None, _) => return Ok(None),
        };
        Events::open_beside(to, report).map(Some)
    }
}

/// The answer to a JSON-RPC call that does not pass. (A line that cannot be read is answered with a JSON-RPC error.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RefusalForm {
    /// A result with `isError`, whose text a model reads
    Result,
    /// A JSON-RPC error, which most clients raise as an exception
    Error,
}

/// What a model may do after a refusal of this kind: sentences.
fn advice(kind: Kind) -> &'static str {
    match kind {
        Kind::Denied => "Do not repeat the call. Choose another way, or go on without it.",
        Kind::NeedsApproval => "Nobody can be asked here. Go on without it, or tell the user what you wanted to do.",
        Kind::Rejected => "Do not repeat the call unchanged. Choose another way, or ask the user.",
        Kind::Lost => "No more calls can be made.",
        _ => "",
    }
}

impl RefusalForm {
    /// Answers a call that does not pass. A JSON-RPC notification gets no answer.
    pub fn refuse(self, call: &Call<'_>, refusal: &Refusal, out: &mut Out) {
        self.refuse_advising(call, refusal, advice(refusal.kind), out);
    }

    /// As [`RefusalForm::refuse`], with other `advice` for the model than that for the kind.
    pub fn refuse_advising(self, call: &Call<'_>, refusal: &Refusal, advice: &str, out: &mut Out) {
        if !call.wants_answer() {
            return;
        }
        let Refusal { kind, message, data, .. } = refusal;
        let answer = if self == RefusalForm::Result && call.form == Form::JsonRpc {
            let text = format!("{} was not carried out: {message}. {advice}", call.tool);
            call.failed_result(*kind, text.trim_end(), data.as_deref())
        } else {
            call.answer(refusal.outcome())
        };
        out.add_line(Side::NEAR, &answer);
    }
}
