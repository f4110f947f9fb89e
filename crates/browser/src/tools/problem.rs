//! Why a call has no result.

use crate::{ActionError, InputRefusal};
use serde_json::{Value, json};

/// Why a call has no result. The names are those of pipewright(7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemKind {
    /// There is no tool with this name.
    UnknownTool,
    /// The arguments are not valid.
    InvalidArgs,
    /// Not allowed.
    Denied,
    /// The call names something that does not exist.
    NotFound,
    /// The call failed.
    ToolError,
    /// The call did not finish in time.
    Timeout,
    /// The caller cancelled it.
    Cancelled,
    /// The browser has ended.
    Lost,
    /// A fault of our own.
    Internal,
}

impl ProblemKind {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            ProblemKind::UnknownTool => "unknown_tool",
            ProblemKind::InvalidArgs => "invalid_args",
            ProblemKind::Denied => "denied",
            ProblemKind::NotFound => "not_found",
            ProblemKind::ToolError => "tool_error",
            ProblemKind::Timeout => "timeout",
            ProblemKind::Cancelled => "cancelled",
            ProblemKind::Lost => "lost",
            ProblemKind::Internal => "internal",
        }
    }
}

/// Why a call has no result, with details.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The kind of problem.
    pub kind: ProblemKind,
    /// A code, if programs need to distinguish several problems of a kind.
    pub code: Option<&'static str>,
    /// For people and models: what happened, and what to do.
    pub message: String,
    /// For programs.
    pub data: Option<Value>,
}

impl Problem {
    pub(super) fn new(kind: ProblemKind, message: impl Into<String>) -> Problem {
        Problem { kind, code: None, message: message.into(), data: None }
    }

    pub(super) fn with_code(self, code: &'static str) -> Problem {
        Problem { code: Some(code), ..self }
    }

    pub(super) fn with_data(self, data: Value) -> Problem {
        Problem { data: Some(data), ..self }
    }
}

impl From<ActionError> for Problem {
    fn from(fault: ActionError) -> Problem {
        let message = fault.to_string();
        match fault {
            ActionError::Late => Problem::new(ProblemKind::Timeout, "the page has not answered in time"),
            ActionError::Cancelled => Problem::new(ProblemKind::Cancelled, message),
            ActionError::Denied(_) => Problem::new(ProblemKind::Denied, message).with_code("address_not_allowed"),
            ActionError::Lost(_) => Problem::new(ProblemKind::Lost, message),
            ActionError::Crashed => Problem::new(ProblemKind::ToolError, message).with_code("page_crashed"),
            ActionError::Dialog(dialog) => {
                let message = format!("{message}: answer it with browser_dialog, or close the tab");
                let data = json!({"dialog": {"kind": dialog.kind, "message": dialog.message}});
                Problem::new(ProblemKind::ToolError, message).with_code("dialog_open").with_data(data)
            }
            ActionError::SilentFrame => Problem::new(ProblemKind::Timeout, message).with_code("silent_frame"),
            ActionError::NoPage => Problem::new(ProblemKind::NotFound, message).with_code("page_closed"),
            ActionError::Script(_) => Problem::new(ProblemKind::Internal, message),
            ActionError::Refused(_) | ActionError::Unreadable(_) | ActionError::Thrown(_) => {
                Problem::new(ProblemKind::ToolError, message)
            }
        }
    }
}

impl From<InputRefusal> for Problem {
    fn from(refusal: InputRefusal) -> Problem {
        let message = refusal.to_string();
        let tool_error = |code| Problem::new(ProblemKind::ToolError, &message).with_code(code);
        match refusal {
            InputRefusal::Stale => Problem::new(ProblemKind::NotFound, message).with_code("stale_index"),
            InputRefusal::Unseen => tool_error("not_visible"),
            InputRefusal::Disabled => tool_error("disabled"),
            InputRefusal::Covered(_) => tool_error("covered"),
            InputRefusal::Unfocused => tool_error("not_focused"),
            InputRefusal::DealChanged(_) => tool_error("deal_changed"),
            InputRefusal::Unfit(_) => tool_error("unfit"),
            InputRefusal::Fault(fault) => fault.into(),
        }
    }
}
