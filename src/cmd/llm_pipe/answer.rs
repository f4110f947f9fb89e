//! Prints turns.

use pipewright_io::stage::{Out, Side};
use pipewright_llm::Token;
use pipewright_record::json::{Object, one_line};
use pipewright_record::{AssistantMessage, Attempts, MessageKind, ModelTurn, Record, TurnFailure, Usage};
use serde_json::value::RawValue;

/// The form in which a turn is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnForm {
    /// A `model_turn` record.
    Record,
    /// Its text, unchanged.
    Text,
    /// Its text, while it is written.
    Typed,
    /// Its text on one line.
    Line,
}

impl TurnForm {
    /// A turn, without a final line feed.
    pub fn turn(self, turn: &ModelTurn, id: Option<&RawValue>, attempts: Attempts) -> String {
        match self {
            TurnForm::Record => turn.record(id, attempts),
            TurnForm::Text => turn.text.trim_end().to_owned(),
            // The text is printed already, except for the end of its last line.
            TurnForm::Typed => String::new(),
            TurnForm::Line => bare(turn.text.trim()),
        }
    }

    /// A failed turn; empty if the failure is reported on stderr only.
    pub fn failure(
        self,
        failure: &TurnFailure,
        id: Option<&RawValue>,
        usage: Usage,
        attempts: Attempts,
    ) -> Option<String> {
        match self {
            TurnForm::Record => Some(failure.record(id, usage, attempts)),
            TurnForm::Text | TurnForm::Typed => None,
            TurnForm::Line => Some(
                Object::default()
                    .text("error", &failure.message)
                    .text("kind", failure.kind.name())
                    .text_some("code", failure.code.as_deref())
                    .end(),
            ),
        }
    }

    /// A part of a turn that is still being written.
    pub fn token(self, id: Option<&RawValue>, token: &Token, out: &mut Out) {
        let (text, kind) = match token {
            Token::Text(text) => (text, MessageKind::Answer),
            Token::Reasoning(text) => (text, MessageKind::Thought),
        };
        match self {
            TurnForm::Record => out.add_line(Side::NEAR, &AssistantMessage::part(id, kind, text).json()),
            TurnForm::Typed if kind == MessageKind::Answer => out.to(Side::NEAR).extend_from_slice(text.as_bytes()),
            TurnForm::Typed | TurnForm::Text | TurnForm::Line => {}
        }
    }

    /// Tells the reader that the printed part of a turn is void, because the request is sent again.
    pub fn restarted(self, id: Option<&RawValue>, out: &mut Out) {
        if self == TurnForm::Record {
            let message = AssistantMessage { restarted: true, ..AssistantMessage::part(id, MessageKind::Progress, "") };
            out.add_line(Side::NEAR, &message.json());
        }
    }
}

/// JSON stays JSON; in other text, line breaks are escaped as in JSON.
fn bare(text: &str) -> String {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(json) => one_line(json.get()),
        Err(_) => text.replace('\n', "\\n").replace('\r', "\\r"),
    }
}
