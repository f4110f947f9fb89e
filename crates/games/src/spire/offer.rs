//! The field `valid_actions`: the legal actions, as a player or program gets them.

use super::action::Action;
use super::label::label;
use super::message::Message;
use super::targets::Targets;
use pipewright_lines::{self as lines, FieldPosition, Line};
use serde::Deserialize;
use std::io::Write;

/// The field's name.
pub const FIELD: &str = "valid_actions";

/// Appends `[{"action_id":0,"cmd":"play 1","label":"play Strike (1)"},...]`.
pub fn write_actions(message: &Message<'_>, actions: &[Action], out: &mut Vec<u8>) {
    let targets = Targets::of(message.combat_state());
    // Writing to memory cannot fail.
    out.push(b'[');
    for (index, &action) in actions.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let _ = write!(out, r#"{{"action_id":{},"cmd":"{}","label":"#, action.id(), action.command(&targets));
        let _ = serde_json::to_writer(&mut *out, &label(message, action));
        out.push(b'}');
    }
    out.push(b']');
}

/// The actions that an earlier stage offered in this message; `None` if it has no such field, or one of another form.
pub fn offered(message: &Message<'_>) -> Option<Vec<Action>> {
    #[derive(Deserialize)]
    struct OfferedAction {
        action_id: u8,
    }
    let offered: Vec<OfferedAction> = serde_json::from_str(message.valid_actions?.get()).ok()?;
    offered.into_iter().map(|offered| Action::from_id(offered.action_id)).collect()
}

/// Appends `{"action_ids":[0,170]}` and a line feed.
pub fn write_bare(actions: &[Action], out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"action_ids":["#);
    for (index, action) in actions.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(out, "{comma}{}", action.id());
    }
    out.extend_from_slice(b"]}\n");
}

/// Appends the line that `message` was read from (as `text`) with the field set, replacing an earlier one.
pub fn set(line: &Line<'_>, text: &str, message: &Message<'_>, actions_json: &[u8], out: &mut Vec<u8>) {
    let place = match message.valid_actions {
        Some(value) => FieldPosition::Present(lines::range_in(text, value.get())),
        None => FieldPosition::Absent,
    };
    lines::set_at(line, &place, FIELD, actions_json, out);
}
