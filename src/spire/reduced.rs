//! What of a state is recorded by default: seed 004, section 4.3.
//!
//! In combat hand, player, monsters and turn; elsewhere the screen's type, the choices and an event's options.
//! Where a combat asks to choose (a discard, a discovery), both. Values keep their bytes.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Deserialize, Serialize)]
struct Message<'a> {
    #[serde(borrow)]
    game_state: GameState<'a>,
}

#[derive(Deserialize, Serialize)]
struct GameState<'a> {
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    screen_type: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    choice_list: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "ScreenState::is_empty", default)]
    screen_state: ScreenState<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    combat_state: Option<CombatState<'a>>,
}

#[derive(Deserialize, Serialize, Default)]
struct ScreenState<'a> {
    #[serde(borrow)]
    options: Option<&'a RawValue>,
}

impl ScreenState<'_> {
    fn is_empty(&self) -> bool {
        self.options.is_none()
    }
}

#[derive(Deserialize, Serialize)]
struct CombatState<'a> {
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    hand: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    player: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    monsters: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    turn: Option<&'a RawValue>,
}

/// The reduced state of a message that has one, as JSON text.
///
/// # Errors
/// Text that isn't a message with a `game_state`.
pub fn reduced(message: &str) -> Result<String, serde_json::Error> {
    let message: Message = serde_json::from_str(message)?;
    serde_json::to_string(&message.game_state)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::reduced;

    #[test]
    fn an_event_keeps_its_options_and_a_fight_its_fighters() {
        let event = r#"{"game_state":{"deck":[1],"screen_type":"EVENT","screen_state":{"body_text":"long","options":[{"label":"Leave"}]},"choice_list":["leave"],"seed":1}}"#;
        assert_eq!(
            reduced(event).unwrap(),
            r#"{"screen_type":"EVENT","choice_list":["leave"],"screen_state":{"options":[{"label":"Leave"}]}}"#
        );
        let fight = r#"{"game_state":{"screen_type":"NONE","screen_state":{},"combat_state":{"draw_pile":[1],"hand":[{"cost":1.10}],"player":{},"monsters":[],"turn":3,"limbo":[]},"map":[]}}"#;
        assert_eq!(
            reduced(fight).unwrap(),
            r#"{"screen_type":"NONE","combat_state":{"hand":[{"cost":1.10}],"player":{},"monsters":[],"turn":3}}"#
        );
        assert!(reduced(r#"{"in_game":false}"#).is_err());
    }
}
