//! `expect`: assertions that wait.

use super::{Game, bridge, small_game};
use crate::process::{pipe, text};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const SCORE: &str = r#"extends Control
signal scored(points: int)
signal left
var points := 0
func _ready():
	for name in ["Go", "Other"]:
		var button := Button.new()
		button.name = name
		button.text = name
		button.position = Vector2(100 if name == "Go" else 300, 100)
		button.size = Vector2(100, 50)
		add_child(button)
	$Go.pressed.connect(func(): scored.emit(3))
	var label := Label.new()
	label.name = "Score"
	label.text = "Score: 0"
	add_child(label)
func agent_commands():
	return {"later": {}, "fail": {"args": {"times": "int"}}, "warn": {}, "leave": {}}
func agent_command(command: String, args: Dictionary):
	match command:
		"later": _later()
		"warn": push_warning("careful")
		"fail":
			for i in args["times"]:
				push_error("wrong")
		"leave":
			left.emit()
			queue_free()
	return {}
func _later():
	await get_tree().create_timer(0.3).timeout
	points = 7
	$Score.text = "Score: 7"
	$Other.disabled = true
	scored.emit(7)
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn expect_waits_until_the_condition_holds() {
    for (arguments, data) in [
        (
            json!({"selector": "Button", "state": "disabled"}),
            json!({"selector": "Button", "state": "disabled", "matches": ["/root/Main/Other"]}),
        ),
        (
            json!({"selector": "Button", "state": "enabled", "count": 1}),
            json!({"selector": "Button", "state": "enabled", "matches": ["/root/Main/Go"]}),
        ),
        (
            json!({"selector": "Button:enabled#Other", "state": "gone"}),
            json!({"selector": "Button:enabled#Other", "state": "gone", "matches": []}),
        ),
        (
            json!({"path": "/root/Main", "property": "points", "equals": 7}),
            json!({"path": "/root/Main", "property": "points", "value": 7}),
        ),
        (json!({"path": "#Score", "text": "Score: 7"}), json!({"path": "/root/Main/Score", "text": "Score: 7"})),
        (json!({"path": "#Score", "text": "/^Score: [1-9]/"}), json!({"path": "/root/Main/Score", "text": "Score: 7"})),
        (json!({"signal": "scored"}), json!({"signal": "scored", "path": "/root/Main", "args": [7]})),
    ] {
        let (mut game, _folder) = Game::play(SCORE);
        game.data("later", json!({}));
        assert_eq!(game.data("expect", arguments), data);
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_failed_expectation_reports_the_expected_and_the_actual_state() {
    let (mut game, _folder) = Game::play(SCORE);
    for (arguments, error, found) in [
        (
            json!({"path": "#Score", "text": "3"}),
            "expected text \"3\" of #Score within 0.2 s; it is \"Score: 0\"",
            json!("Score: 0"),
        ),
        (
            json!({"path": "#Score", "text": "/^[0-9]/"}),
            "expected text /^[0-9]/ of #Score within 0.2 s; it is \"Score: 0\"",
            json!("Score: 0"),
        ),
        (
            json!({"path": "/root/Main", "property": "points", "equals": 1}),
            "expected property points of /root/Main to be 1 within 0.2 s; it is 0",
            json!(0),
        ),
        (
            json!({"path": "#None", "property": "points", "equals": 1}),
            "expected property points of #None to be 1 within 0.2 s; no node matches #None",
            Value::Null,
        ),
        (json!({"selector": "#None"}), "expected a node that matches #None within 0.2 s; no node matches", json!([])),
        (
            json!({"selector": "#Go", "state": "disabled"}),
            "expected a node that matches #Go and is disabled within 0.2 s; 1 node matches, 0 of them disabled: /root/Main/Go",
            json!(["/root/Main/Go"]),
        ),
        (
            json!({"selector": "Button", "count": 3}),
            "expected 3 nodes that match Button within 0.2 s; 2 nodes match: /root/Main/Go, /root/Main/Other",
            json!(["/root/Main/Go", "/root/Main/Other"]),
        ),
        (
            json!({"selector": "#Go", "state": "gone"}),
            "expected no node that matches #Go within 0.2 s; 1 node matches: /root/Main/Go",
            json!(["/root/Main/Go"]),
        ),
        (
            json!({"signal": "scored"}),
            "expected the signal scored of /root/Main within 0.2 s; it did not come",
            Value::Null,
        ),
    ] {
        let mut arguments = arguments;
        arguments["timeout"] = json!(0.2);
        let started = Instant::now();
        let (code, answer) = game.refusal("expect", arguments);
        assert_eq!((code.as_str(), answer["error"].as_str().unwrap()), ("EXPECTATION_FAILED", error));
        assert_eq!(answer["details"]["found"], found);
        // The game's clock counts whole milliseconds.
        assert!(started.elapsed() >= Duration::from_millis(199));
    }
    for wrong in [
        json!({}),
        json!({"path": "#Score"}),
        json!({"text": "3"}),
        json!({"path": "#Score", "property": "text"}),
        json!({"path": "#Score", "text": "3", "selector": "#Score"}),
        json!({"path": "#Score", "text": "/(/"}),
        json!({"selector": "Button", "state": "lost"}),
        json!({"selector": "Button", "state": "gone", "count": 1}),
        json!({"selector": "Button", "count": -1}),
        json!({"selector": "("}),
        json!({"signal": "unknown"}),
        json!({"no_errors": false}),
    ] {
        assert_eq!(game.refusal("expect", wrong.clone()).0, "INVALID_ARGS", "{wrong}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_earlier_signal_satisfies_one_expectation() {
    let (mut game, _folder) = Game::play(SCORE);
    let expected = |game: &mut Game, arguments: Value| game.ask("expect", arguments)["ok"] == true;
    game.data("press_button", json!({"path": "#Go"}));
    game.data("press_button", json!({"path": "#Go"}));
    let data = game.data("expect", json!({"signal": "scored"}));
    assert_eq!(data, json!({"signal": "scored", "path": "/root/Main", "args": [3]}));
    assert!(!expected(&mut game, json!({"signal": "scored", "timeout": 0.2})), "it has been taken");
    assert!(expected(&mut game, json!({"signal": "pressed", "path": "#Go"})));
    assert!(!expected(&mut game, json!({"signal": "pressed", "path": "#Other", "timeout": 0.2})), "of another node");
    // A signal that came during the wait also counts.
    game.data("later", json!({}));
    assert!(expected(&mut game, json!({"signal": "scored"})));
    assert!(!expected(&mut game, json!({"signal": "scored", "timeout": 0.2})));
    game.data("leave", json!({}));
    assert!(expected(&mut game, json!({"signal": "left", "path": "/root/Main"})), "of a node that was freed since");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn expect_counts_errors_since_the_last_check() {
    let (mut game, _folder) = Game::play(SCORE);
    game.data("warn", json!({}));
    game.data("expect", json!({"no_errors": true}));
    game.data("fail", json!({"times": 7}));
    let (code, answer) = game.refusal("expect", json!({"no_errors": true}));
    let error = answer["error"].as_str().unwrap();
    assert!(code == "EXPECTATION_FAILED" && error.contains("there were 7, first: wrong (res://main.gd:"), "{answer}");
    let errors = answer["details"]["errors"].as_array().unwrap();
    assert!(answer["details"]["count"] == 7 && errors.len() == 5 && errors[0]["error"] == "wrong", "{answer}");
    game.data("expect", json!({"no_errors": true}));
}

/// A shell script that pipes commands in is a test: its exit status shows whether all expectations held.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_bridge_exits_1_after_a_failed_expectation() {
    let folder = small_game(SCORE);
    let press = json!({"cmd": "press_button", "args": {"path": "#Go"}});
    for (points, status) in [("0", 0), ("3", 1)] {
        let expect =
            json!({"cmd": "expect", "args": {"path": "#Score", "text": format!("Score: {points}"), "timeout": 0.2}});
        let output = pipe(&mut bridge(folder.path()), format!("{press}\n{expect}\n").as_bytes());
        assert_eq!(output.status.code(), Some(status), "{}", text(&output.stdout));
    }
}
