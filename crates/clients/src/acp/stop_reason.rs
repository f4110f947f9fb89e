//! Why a prompt's turn has ended.

use pipewright_record::json::Object;

/// ACP's reason for the end of a prompt's turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The agent is idle or waits for the person.
    EndTurn,
    /// A token limit was reached.
    MaxTokens,
    /// Another limit of the agent was reached.
    MaxTurnRequests,
    /// The person cancelled it.
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
