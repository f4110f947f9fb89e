//! A turn whose text does not match the schema goes back to the model.

use crate::record::{Message, ModelRequest, ModelTurn, OwnTurn, Part};
use pipewright_mcp::Schema;

/// How often a model is asked again for text that matches the schema.
pub const REPAIRS: u32 = 2;

/// Has the conversation go on: the turn, and what is wrong with it.
pub fn send_back(request: &mut ModelRequest, turn: &ModelTurn, why: &str) {
    request.messages.push(Message::Assistant(own(turn)));
    let why = format!("This does not match the JSON Schema: {why}. Answer again, with JSON that matches it.");
    request.messages.push(Message::User(vec![Part::Text(why)]));
}

/// A turn as it stands in the conversation.
pub fn own(turn: &ModelTurn) -> OwnTurn {
    OwnTurn {
        provider: turn.provider.to_owned(),
        model: turn.model.clone(),
        raw: Some(turn.raw.clone()),
        text: turn.text.clone(),
        calls: turn.calls.clone(),
    }
}

/// Takes JSON out of the fence that models like to put around it, and checks it.
///
/// # Errors
/// It does not match: what is wrong.
pub fn matches_schema(turn: &mut ModelTurn, schema: &Schema) -> Result<(), String> {
    let text = turn.text.trim();
    let inner =
        text.strip_prefix("```json").or_else(|| text.strip_prefix("```")).and_then(|text| text.strip_suffix("```"));
    let text = inner.unwrap_or(text).trim().to_owned();
    schema.check(&text)?;
    turn.text = text;
    Ok(())
}
