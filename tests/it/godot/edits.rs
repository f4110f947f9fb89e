//! The commands that change a game in ways that a player cannot, game_command and performance.

use super::{Game, bridge, small_game, types};
use serde_json::{Value, json};

const GAME: &str = r#"extends Control
signal changed(what: String)
@export var place := Vector2(1, 2):
	set(value):
		if value.x < 0:
			nothing.fail()
		place = value
		changed.emit("place")
@export var level: int = 1:
	set(value):
		level = clampi(value, 1, 9)
var anything = 5
var nothing = null
var more := false
func _ready():
	Performance.add_custom_monitor("game/enemies", func(): return 42)
func _exit_tree():
	# One that is there at the end crashes the engine.
	Performance.remove_custom_monitor("game/enemies")
func add(a: int, b := 2):
	return a + b
func twice(point: Vector2):
	return point * 2
func later():
	await get_tree().create_timer(0.2).timeout
	return "done"
func never():
	await changed
func fails():
	nothing.fail()
	return 3
func agent_commands():
	var own := {"learn": {}, "broken": {}}
	if more:
		own["jump"] = {"args": {"height": "int"}}
	return own
func agent_command(command: String, args: Dictionary):
	match command:
		"learn": more = true
		"broken": nothing.fail()
		"jump": return {"jumped": args["height"]}
	return {}
"#;

fn edited() -> (Game, tempfile::TempDir) {
    let folder = small_game(GAME);
    std::fs::write(folder.path().join("two.tscn"), "[gd_scene format=3]\n\n[node name=\"Two\" type=\"Node2D\"]\n")
        .unwrap();
    (Game::start(bridge(folder.path()).arg("--allow-edit")), folder)
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn editing_is_refused_unless_allowed() {
    let (mut game, _folder) = Game::play(GAME);
    let hello = game.data("hello", json!({}));
    for name in ["set_property", "call", "change_scene", "evaluate"] {
        assert!(!hello["commands"].as_array().unwrap().contains(&json!(name)), "{hello}");
        let (code, answer) = game.refusal(name, json!({}));
        assert!(code == "NOT_ALLOWED" && answer["hint"].as_str().unwrap().contains("--allow-edit"), "{answer}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_property_is_set_and_read_back() {
    let (mut game, _folder) = edited();
    let set = |property: &str, value: Value| json!({"path": "#Main", "property": property, "value": value});
    for (property, value, now) in [
        ("place", json!([3, 4]), json!({"value": {"$type": "Vector2", "value": [3.0, 4.0]}, "type": "Vector2"})),
        ("place:x", json!(7), json!({"value": 7.0, "type": "float"})),
        ("level", json!(4), json!({"value": 4, "type": "int"})),
        ("level", json!(400), json!({"value": 9, "type": "int"})),
        ("anything", json!("text"), json!({"value": "text", "type": "String"})),
        ("anything", json!(null), json!({"value": null, "type": "Nil"})),
        (
            "modulate",
            json!([1, 0, 0, 1]),
            json!({"value": {"$type": "Color", "value": [1.0, 0.0, 0.0, 1.0]}, "type": "Color"}),
        ),
        ("visible", json!(false), json!({"value": false, "type": "bool"})),
    ] {
        assert_eq!(game.data("set_property", set(property, value)), now, "{property}");
    }
    assert_eq!(types(&game.ask("set_property", set("place", json!([5, 6])))), ["changed"]);
    for (property, value, code) in [
        ("place", json!("text"), "INVALID_ARGS"),
        ("place", json!([1, 2, 3]), "INVALID_ARGS"),
        ("place", json!(null), "INVALID_ARGS"),
        ("place", json!([-1, 0]), "GAME_ERROR"),
        ("level", json!(10), "GAME_ERROR"),
        ("unknown", json!(1), "PROPERTY_NOT_FOUND"),
        ("place:w", json!(1), "PROPERTY_NOT_FOUND"),
    ] {
        assert_eq!(game.refusal("set_property", set(property, value)).0, code, "{property}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_method_is_called_and_its_result_awaited() {
    let (mut game, _folder) = edited();
    let call = |method: &str, arguments: Value| json!({"path": "#Main", "method": method, "args": arguments});
    for (method, arguments, value) in [
        ("add", json!([3]), json!(5)),
        ("add", json!([3, 4]), json!(7)),
        ("twice", json!([[1, 2]]), json!({"$type": "Vector2", "value": [2.0, 4.0]})),
        ("later", json!([]), json!("done")),
        ("get_child_count", json!([]), json!(0)),
        ("hide", json!([]), json!(null)),
    ] {
        assert_eq!(game.data("call", call(method, arguments))["value"], value, "{method}");
    }
    for (method, arguments, code) in [
        ("add", json!([]), "INVALID_ARGS"),
        ("add", json!([1, 2, 3]), "INVALID_ARGS"),
        ("add", json!(["x"]), "INVALID_ARGS"),
        ("nothing", json!([]), "INVALID_ARGS"),
        ("fails", json!([]), "GAME_ERROR"),
    ] {
        assert_eq!(game.refusal("call", call(method, arguments)).0, code, "{method}");
    }
    let (code, _) = game.refusal("call", json!({"path": "#Main", "method": "never", "timeout": 0.2}));
    assert_eq!(code, "TIMEOUT");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_expression_is_evaluated_on_a_node() {
    let (mut game, _folder) = edited();
    for (expression, value) in
        [("add(1) + level", json!(4)), ("later()", json!("done")), ("\"%s!\" % name", json!("Main!"))]
    {
        assert_eq!(game.data("evaluate", json!({"expression": expression}))["value"], value, "{expression}");
    }
    let on_root = game.data("evaluate", json!({"expression": "name", "path": "/root"}));
    assert_eq!(on_root, json!({"value": "root", "type": "StringName"}));
    for (expression, code, why) in [
        ("1 +", "INVALID_ARGS", "Expected expression"),
        ("unknown + 1", "GAME_ERROR", "unknown"),
        ("fails()", "GAME_ERROR", "fail"),
    ] {
        let (found, answer) = game.refusal("evaluate", json!({"expression": expression}));
        assert!(found == code && answer["error"].as_str().unwrap().contains(why), "{answer}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_scene_is_changed_before_the_answer() {
    let (mut game, _folder) = edited();
    let two = json!({"name": "Two", "type": "Node2D", "path": "/root/Two", "file": "res://two.tscn"});
    assert_eq!(game.data("change_scene", json!({"file": "res://two.tscn"}))["scene"], two);
    assert_eq!(game.data("find", json!({"selector": "#Main"}))["count"], 0);
    assert_eq!(game.data("change_scene", json!({"file": "res://two.tscn"}))["scene"], two, "also to the same");
    for file in ["res://none.tscn", "two.tscn", "/etc/passwd"] {
        assert_eq!(game.refusal("change_scene", json!({"file": file})).0, "INVALID_ARGS", "{file}");
    }
    assert_eq!(game.refusal("change_scene", json!({"file": "res://main.gd"})).0, "GAME_ERROR");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_command_of_the_game_is_called_by_name_even_if_declared_later() {
    let (mut game, _folder) = Game::play(GAME);
    let jump = json!({"name": "jump", "args": {"height": 3}});
    let (code, answer) = game.refusal("game_command", jump.clone());
    assert_eq!((code.as_str(), &answer["details"]["commands"]), ("UNKNOWN_COMMAND", &json!(["learn", "broken"])));
    assert_eq!(game.data("game_command", json!({"name": "learn"})), json!({}));
    assert_eq!(game.data("game_command", jump), json!({"jumped": 3}));
    assert_eq!(game.data("jump", json!({"height": 4})), json!({"jumped": 4}));
    assert_eq!(game.refusal("game_command", json!({"name": "jump"})).0, "INVALID_ARGS");
    assert_eq!(game.refusal("game_command", json!({"name": "get_tree"})).0, "UNKNOWN_COMMAND", "it is the addon's");
    let (code, answer) = game.refusal("game_command", json!({"name": "broken"}));
    assert_eq!((code.as_str(), types(&answer)), ("GAME_ERROR", vec!["engine_error"]));
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn performance_is_measured() {
    let (mut game, _folder) = Game::play(GAME);
    let figures = game.data("performance", json!({}));
    assert_eq!(figures["custom"], json!({"game/enemies": 42}));
    assert!(figures["nodes"].as_u64().unwrap() >= 3, "the root, Main and the bridge: {figures}");
    for name in ["objects", "resources", "memory_static_bytes"] {
        assert!(figures[name].as_u64().unwrap() > 0, "{name} of {figures}");
    }
    for name in ["fps", "frame_ms", "physics_ms", "draw_calls", "orphan_nodes", "memory_video_bytes"] {
        assert!(figures[name].is_number(), "{name} of {figures}");
    }
    game.end();
}
