//! Why the turn of a prompt has ended.

use crate::json::Object;

/// Why a prompt's turn has ended, as ACP has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The agent is idle, or waits for the person.
    EndTurn,
    /// A limit of tokens.
    MaxTokens,
    /// Another limit of the agent's.
    MaxTurnRequests,
    /// The person has cancelled it.
    Cancelled,
}

impl StopReason {
    /// The result of `session/prompt`, JSON text.
    pub fn result(self) -> String {
        let name = match self {
            StopReason::EndTurn => "end_turn",
            StopReason::MaxTokens => "max_tokens",
            StopReason::MaxTurnRequests => "max_turn_requests",
            StopReason::Cancelled => "cancelled",
        };
        Object::default().text("stopReason", name).end()
    }
}
