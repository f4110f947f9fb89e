//! The part of a state that is recorded by default.
//!
//! In combat: hand, player, monsters and turn. Elsewhere: the screen's type, the choices and an event's options. If a
//! combat asks for a choice (a discard, a discovery): both. Values keep their bytes. Hit points, gold, floor and act
//! always have the same place.

use super::message::{self, Text};
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct GameState<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    screen_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    choice_list: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    screen_state: Option<ScreenState<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    combat_state: Option<CombatState<'a>>,
    hp: i64,
    max_hp: i64,
    gold: i64,
    floor: i64,
    act: i64,
}

#[derive(Serialize)]
struct ScreenState<'a> {
    options: &'a RawValue,
}

#[derive(Serialize)]
struct CombatState<'a> {
    hand: Option<&'a RawValue>,
    player: Option<&'a RawValue>,
    monsters: Option<&'a RawValue>,
    turn: i64,
}

/// The reduced state, as JSON.
///
/// # Errors
/// None in practice: everything in it was JSON before.
pub fn reduced(state: &message::GameState<'_>) -> Result<Box<RawValue>, serde_json::Error> {
    let Text(screen_type) = &state.screen_type;
    let (hp, max_hp) = state.hit_points();
    let reduced = GameState {
        screen_type,
        choice_list: state.choice_list.raw(),
        screen_state: state.screen_state.options.raw().map(|options| ScreenState { options }),
        combat_state: state.combat_state.as_ref().map(|combat| CombatState {
            hand: combat.hand.raw(),
            player: combat.player.raw(),
            monsters: combat.monsters.raw(),
            turn: combat.turn,
        }),
        hp,
        max_hp,
        gold: state.gold,
        floor: state.floor,
        act: state.act,
    };
    serde_json::value::to_raw_value(&reduced)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::message::Message;

    fn reduced(state: &str) -> String {
        let text =
            format!(r#"{{"available_commands":[],"ready_for_command":true,"in_game":true,"game_state":{state}}}"#);
        let message = Message::read(&text).unwrap().unwrap();
        super::reduced(&message.game_state.unwrap()).unwrap().get().to_owned()
    }

    #[test]
    fn an_event_keeps_its_options_and_a_fight_its_player_and_monsters() {
        let event = r#"{"deck":[1],"screen_type":"EVENT","screen_state":{"body_text":"long","options":[{"label":"Leave"}]},"choice_list":[ "leave"],"seed":1,"current_hp":63,"max_hp":70,"gold":99,"floor":2,"act":1}"#;
        assert_eq!(
            reduced(event),
            r#"{"screen_type":"EVENT","choice_list":[ "leave"],"screen_state":{"options":[{"label":"Leave"}]},"hp":63,"max_hp":70,"gold":99,"floor":2,"act":1}"#
        );
        let fight = r#"{"screen_type":"NONE","screen_state":{},"combat_state":{"draw_pile":[1],"hand":[{"new":1.10}],"player":{"current_hp":7,"max_hp":72},"monsters":[],"turn":3,"limbo":[]},"map":[],"current_hp":63,"max_hp":70}"#;
        assert_eq!(
            reduced(fight),
            r#"{"screen_type":"NONE","combat_state":{"hand":[{"new":1.10}],"player":{"current_hp":7,"max_hp":72},"monsters":[],"turn":3},"hp":7,"max_hp":72,"gold":0,"floor":0,"act":0}"#
        );
    }
}
