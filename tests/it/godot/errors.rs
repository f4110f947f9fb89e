//! Errors of the engine and of scripts, as events.

use super::{Game, types};
use serde_json::{Value, json};
use std::time::Duration;

/// While switched on, it causes an error in each frame and counts the errors.
const FLOOD: &str = r#"extends Control
signal rang(n: int)
var fails := false
var failed := 0
var nothing = null
func _process(_delta):
	if fails:
		failed += 1
		push_error("again")
func agent_commands():
	return {"flood": {"args": {"on": "bool"}}, "ring": {}, "fail": {}, "later": {}}
func agent_command(command: String, args: Dictionary):
	match command:
		"flood": fails = args["on"]
		"ring": rang.emit(1)
		"fail": nothing.fail()
		"later":
			for i in 5:
				get_tree().create_timer(0.2 * i).timeout.connect(func(): rang.emit(i))
	return {}
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_error_in_each_frame_is_counted_and_does_not_displace_other_events() {
    let (mut game, _folder) = Game::play(FLOOD);
    let mut events = Vec::new();
    let mut take = |answer: &mut Value| events.append(answer["events"].as_array_mut().unwrap());
    take(&mut game.ask("later", json!({})));
    take(&mut game.ask("flood", json!({"on": true})));
    std::thread::sleep(Duration::from_secs(5));
    let mut ring = game.ask("ring", json!({}));
    assert_eq!(types(&ring).iter().filter(|kind| **kind == "rang").count(), 1, "{ring}");
    assert_eq!(types(&ring).len(), 2, "and the error that came during the command: {ring}");
    take(&mut ring);
    take(&mut game.ask("flood", json!({"on": false})));
    // The last errors are reported within a second.
    std::thread::sleep(Duration::from_millis(2000));
    take(&mut game.data("get_events", json!({})));
    events.sort_by_key(|event| event["seq"].as_u64());
    let failed =
        game.data("get_property", json!({"path": "/root/Main", "property": "failed"}))["value"].as_u64().unwrap();
    let errors: Vec<&Value> = events.iter().filter(|event| event["type"] == "engine_error").collect();
    assert!(failed > 500 && errors.iter().all(|event| event["error"] == "again"), "{failed}: {errors:?}");
    let counted: u64 = errors.iter().map(|event| event["repeated"].as_u64().unwrap_or(1)).sum();
    assert_eq!(counted, failed, "{errors:?}");
    assert!(errors.len() < 20, "{errors:?}");
    let rang: Vec<&Value> = events.iter().filter(|event| event["type"] == "rang").map(|event| &event["n"]).collect();
    assert_eq!(rang, [0, 1, 2, 3, 4, 1]);
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn each_failed_command_reports_its_error_even_if_it_is_repeated() {
    let (mut game, _folder) = Game::play(FLOOD);
    for _ in 0..20 {
        let (code, answer) = game.refusal("fail", json!({}));
        assert_eq!((code.as_str(), types(&answer)), ("GAME_ERROR", vec!["engine_error"]), "{answer}");
        assert_eq!(answer["events"][0].get("repeated"), None, "{answer}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn stack_traces_leave_out_the_addons_own_frames() {
    let (mut game, _folder) = Game::play(FLOOD);
    let (_, answer) = game.refusal("fail", json!({}));
    let event = &answer["events"][0];
    assert_eq!(event["stack"], json!([format!("res://main.gd:{} in agent_command", event["line"])]), "{answer}");
}

/// A script's own _get may need what its _ready makes.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn no_property_of_a_script_is_read_before_it_is_ready() {
    let (mut game, _folder) = Game::play(
        "extends Control\nvar asked := []\nvar early := []\nvar agent_mode := false\nvar seen := false\nfunc _get(property):\n\tasked.append(property)\n\treturn null\nfunc _ready():\n\tearly = asked.duplicate()\n\tseen = agent_mode\n",
    );
    let value = |game: &mut Game, name: &str| {
        game.data("get_property", json!({"path": "/root/Main", "property": name}))["value"].clone()
    };
    assert_eq!((value(&mut game, "early"), value(&mut game, "seen")), (json!([]), json!(true)));
    game.end();
}
