//! Sends a turn back to the model if its text does not match the schema.

use pipewright_mcp::Schema;
use pipewright_record::{Message, ModelRequest, ModelTurn, OwnTurn, Part};

/// How often a model is asked again for text that matches the schema.
pub const MAX_REPAIRS: u32 = 2;

/// How many tools a model may ask about before it calls one.
pub const MAX_DESCRIPTIONS: u32 = 4;

/// Extends the conversation by the turn and the answer to it.
pub fn send_back(request: &mut ModelRequest, turn: &ModelTurn, answer: String) {
    if let Some(choices) = &mut request.choices {
        choices.prompt.push_str(&format!("\n{}\n{answer}", turn.text));
    }
    request.messages.push(Message::Assistant(own(turn)));
    request.messages.push(Message::User(vec![Part::Text(answer)]));
}

/// A turn as part of the conversation.
pub fn own(turn: &ModelTurn) -> OwnTurn {
    OwnTurn {
        provider: turn.provider.to_owned(),
        model: turn.model.clone(),
        raw: Some(turn.raw.clone()),
        text: turn.text.clone(),
        calls: turn.calls.clone(),
        form: turn.form,
    }
}

/// Removes the code fence that models often put around JSON, and checks the text.
///
/// # Errors
/// Why it does not match.
pub fn matches_schema(turn: &mut ModelTurn, schema: &Schema) -> Result<(), String> {
    let text = turn.text.trim();
    let inner =
        text.strip_prefix("```json").or_else(|| text.strip_prefix("```")).and_then(|text| text.strip_suffix("```"));
    let text = inner.unwrap_or(text).trim().to_owned();
    schema.check(&text)?;
    turn.text = text;
    Ok(())
}
