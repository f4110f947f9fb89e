//! Sends a turn back to the model if its text does not match the schema.

use pipewright_mcp::Schema;
use pipewright_record::{Message, ModelRequest, ModelTurn, OwnTurn, Part};

/// How often a model is asked again for text that matches the schema.
pub const MAX_REPAIRS: u32 = 2;

/// Extends the conversation by the turn and its error.
pub fn send_back(request: &mut ModelRequest, turn: &ModelTurn, why: &str) {
    request.messages.push(Message::Assistant(own(turn)));
    let why = format!("This does not match the JSON Schema: {why}. Answer again, with JSON that matches it.");
    request.messages.push(Message::User(vec![Part::Text(why)]));
}

/// A turn as part of the conversation.
pub fn own(turn: &ModelTurn) -> OwnTurn {
    OwnTurn {
        provider: turn.provider.to_owned(),
        model: turn.model.clone(),
        raw: Some(turn.raw.clone()),
        text: turn.text.clone(),
        calls: turn.calls.clone(),
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
