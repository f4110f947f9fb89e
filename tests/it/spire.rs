//! The Spire fixtures: real messages, and hand-made ones for states that no real message shows.

use serde_json::{Value, json};

/// A fixture: its origin, and the message as the mod writes it.
pub struct Message {
    pub name: String,
    pub line: String,
}

impl Message {
    pub fn value(&self) -> Value {
        serde_json::from_str(&self.line).unwrap()
    }
}

fn read(rows: &str) -> Vec<Message> {
    let rows = rows.lines().map(|row| serde_json::from_str::<Value>(row).unwrap());
    rows.enumerate()
        .map(|(index, row)| Message {
            name: format!("{index} {}", row["path"].as_str().or(row["note"].as_str()).unwrap()),
            line: row["message"].to_string(),
        })
        .collect()
}

pub fn real() -> Vec<Message> {
    let mut messages = read(include_str!("../fixtures/spire/real_combat.jsonl"));
    messages.extend(read(include_str!("../fixtures/spire/real_screens.jsonl")));
    messages
}

pub fn made() -> Vec<Message> {
    read(include_str!("../fixtures/spire/made.jsonl"))
}

pub fn all() -> Vec<Message> {
    let mut messages = real();
    messages.extend(made());
    messages
}

/// The message with this note.
pub fn the(note: &str) -> String {
    let mut found = made().into_iter().filter(|message| message.name.contains(note));
    let message = found.next().unwrap_or_else(|| panic!("no message for {note}"));
    assert!(found.next().is_none(), "{note} names two messages");
    message.line
}

/// A rest site on this floor of the run with this seed: one choice, `choose 0`.
pub fn rest_site(seed: i64, floor: u32) -> String {
    screen("REST", r#"{"rest_options":["rest"]}"#, r#""choice_list":["rest"],"#, &["choose"], seed, floor)
}

pub fn neow(seed: i64) -> String {
    let options = r#"{"event_id":"Neow Event","event_name":"Neow","body_text":"","options":[{"text":"[Talk]","label":"Talk","disabled":false,"choice_index":0}]}"#;
    screen("EVENT", options, r#""choice_list":["talk"],"#, &["choose"], seed, 0)
}

pub fn game_over(seed: i64, floor: u32) -> String {
    screen("GAME_OVER", r#"{"score":12,"victory":false}"#, "", &["proceed"], seed, floor)
}

/// A fight with these monsters, of which `x` are gone and `o` live, a Strike (which has a target) and a Defend in hand, and these
/// potions.
pub fn fight(monsters: &str, potions: &[Value]) -> Value {
    let monster = |kind| json!({"name":"Slime","id":"Slime","current_hp":if kind == 'x' { 0 } else { 9 },"max_hp":30,"block":0,"intent":"ATTACK","move_adjusted_damage":5,"move_hits":1,"half_dead":false,"is_gone":kind == 'x',"powers":[]});
    let card = |name: &str, has_target: bool| json!({"name":name,"uuid":name,"cost":1,"type":"SKILL","is_playable":true,"has_target":has_target});
    json!({
        "available_commands": ["play", "end", "potion", "key", "click", "wait", "state"], "ready_for_command": true, "in_game": true,
        "game_state": {
            "screen_name": "NONE", "is_screen_up": false, "screen_type": "NONE", "screen_state": {}, "seed": 5, "class": "DEFECT",
            "ascension_level": 0, "floor": 16, "act": 1, "current_hp": 50, "max_hp": 70, "gold": 99, "relics": [], "deck": [],
            "map": [], "potions": potions,
            "combat_state": {
                "monsters": monsters.chars().map(monster).collect::<Vec<_>>(), "hand": [card("Strike", true), card("Defend", false)],
                "player": {"current_hp":50,"max_hp":70,"block":0,"energy":3,"powers":[],"orbs":[]}, "turn": 7,
            },
        },
    })
}

/// A potion that can be used, as the mod writes it.
pub fn potion(id: &str, requires_target: bool) -> Value {
    json!({"id":id,"name":id,"can_use":true,"can_discard":true,"requires_target":requires_target})
}

/// What the game shows a new player in a fight: the mod names no screen and offers only what always works.
pub fn tutorial() -> Value {
    let mut shown = fight("o", &[]);
    shown["available_commands"] = json!(["key", "click", "wait", "state"]);
    shown["game_state"]["screen_name"] = json!("FTUE");
    shown["game_state"]["is_screen_up"] = json!(true);
    shown
}

fn screen(kind: &str, state: &str, choices: &str, commands: &[&str], seed: i64, floor: u32) -> String {
    format!(
        r#"{{"available_commands":{},"ready_for_command":true,"in_game":true,"game_state":{{{choices}"screen_type":"{kind}","screen_state":{state},"seed":{seed},"class":"THE_SILENT","ascension_level":20,"floor":{floor},"act":1,"act_boss":"Hexaghost","current_hp":50,"max_hp":70,"gold":99,"relics":[],"deck":[],"map":[],"potions":[]}}}}"#,
        serde_json::to_string(&[commands, &["key", "click", "wait", "state"]].concat()).unwrap(),
    )
}

pub fn menu() -> String {
    the("the menu: no state")
}

/// A step of the recorded game.
pub enum Step {
    /// The mod's message.
    Mod(String),
    /// The command that the mod was given.
    Command(String),
}

/// The recorded game, from the mod's first message on: a log of `jsonl-record --child agent`.
pub fn demo_session() -> Vec<Step> {
    let lines = include_str!("../fixtures/spire/demo_session.jsonl").lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let step = |line: Value| match (line["dir"].as_str()?, line["text"].as_str()) {
        ("in", None) => Some(Step::Mod(line["msg"].to_string())),
        ("out", Some("ready")) => None,
        ("out", Some(command)) => Some(Step::Command(command.to_owned())),
        _ => panic!("{line}"),
    };
    lines.filter_map(step).collect()
}

pub const ERROR: &str = r#"{"error":"Invalid command: choose. Possible commands: [state]","ready_for_command":true}"#;
