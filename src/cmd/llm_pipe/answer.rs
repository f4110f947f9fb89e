//! Prints turns.

use crate::io::stage::{Out, Side};
use crate::json::{Object, one_line};
use crate::llm::Token;
use crate::record::{Attempts, ModelTurn, TurnFailure, Usage};
use serde_json::value::RawValue;

/// The form in which a turn is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// A `model_turn` record.
    Record,
    /// Its text, unchanged.
    Text,
    /// Its text on one line.
    Line,
}

impl Answer {
    /// A turn, without a final line feed.
    pub fn turn(self, turn: &ModelTurn, id: Option<&RawValue>, attempts: Attempts) -> String {
        match self {
            Answer::Record => turn.record(id, attempts),
            Answer::Text => turn.text.trim_end().to_owned(),
            Answer::Line => bare(turn.text.trim()),
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
            Answer::Record => Some(failure.record(id, usage, attempts)),
            Answer::Text => None,
            Answer::Line => Some(
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
            Token::Text(text) => (text, "answer"),
            Token::Reasoning(text) => (text, "thought"),
        };
        match self {
            Answer::Record => out.add_line(Side::Near, &message(id, text).text("kind", kind).end()),
            Answer::Text | Answer::Line => {}
        }
    }

    /// Tells the reader that the printed part of a turn is void, because the request is sent again.
    pub fn restarted(self, id: Option<&RawValue>, out: &mut Out) {
        if self == Answer::Record {
            out.add_line(Side::Near, &message(id, "").text("kind", "progress").put("restarted", true).end());
        }
    }
}

fn message(id: Option<&RawValue>, token: &str) -> Object {
    let object = Object::default().text("type", "assistant_message").put_some("request_id", id);
    object.text("token", token).put("is_final", false)
}

/// JSON stays JSON; in other text, line breaks are escaped as in JSON.
fn bare(text: &str) -> String {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(json) => one_line(json.get()),
        Err(_) => text.replace('\n', "\\n").replace('\r', "\\r"),
    }
}
