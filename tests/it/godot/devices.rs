//! A player's devices, in games that poll `Input`, listen to events, or map them to actions.

use super::{Game, bridge, small_game, types};
use serde_json::{Value, json};

/// Polls the devices in each drawn frame and each tick, and emits a signal for each event.
const POLLS: &str = r#"extends Control
signal wheel(up: bool)
signal doubled
signal moved(relative: Vector2)
signal fingers(index: int, down: bool, at: Vector2)
signal dragged(index: int, by: Vector2)
signal pad(button: int, down: bool)
var drawn := 0
var ticks := 0
var fires := 0
var fired := 0
var place := Vector2.ZERO
var ctrl := 0
var stick := 0.0
var x := 0
var jumps := 0
func _ready():
	mouse_filter = MOUSE_FILTER_IGNORE
	for action in ["fire", "right", "jump"]:
		InputMap.add_action(action)
	var button := InputEventMouseButton.new()
	button.button_index = MOUSE_BUTTON_LEFT
	InputMap.action_add_event("fire", button)
	var key := InputEventKey.new()
	key.physical_keycode = KEY_D
	InputMap.action_add_event("right", key)
func _process(_delta):
	if Input.is_mouse_button_pressed(MOUSE_BUTTON_LEFT):
		drawn += 1
		place = get_global_mouse_position()
	if Input.is_action_just_pressed("fire"):
		fires += 1
	if Input.is_key_pressed(KEY_CTRL):
		ctrl += 1
	stick = Input.get_joy_axis(0, JOY_AXIS_LEFT_X)
func _physics_process(_delta):
	if Input.is_mouse_button_pressed(MOUSE_BUTTON_LEFT):
		ticks += 1
	if Input.is_action_pressed("fire"):
		fired += 1
	if Input.is_action_pressed("right"):
		x += 1
	if Input.is_action_just_pressed("jump"):
		jumps += 1
func _input(event):
	if event is InputEventMouseButton and event.pressed and event.button_index in [MOUSE_BUTTON_WHEEL_UP, MOUSE_BUTTON_WHEEL_DOWN]:
		wheel.emit(event.button_index == MOUSE_BUTTON_WHEEL_UP)
	elif event is InputEventMouseButton and event.double_click:
		doubled.emit()
	elif event is InputEventMouseMotion and event.relative != Vector2.ZERO:
		moved.emit(event.relative)
	elif event is InputEventScreenTouch:
		fingers.emit(event.index, event.pressed, event.position)
	elif event is InputEventScreenDrag:
		dragged.emit(event.index, event.relative)
	elif event is InputEventJoypadButton:
		pad.emit(event.button_index, event.pressed)
"#;

fn number(game: &mut Game, name: &str) -> f64 {
    game.data("get_property", json!({"path": "/root/Main", "property": name}))["value"].as_f64().unwrap()
}

fn events<'a>(answer: &'a Value, kind: &str) -> Vec<&'a Value> {
    assert_eq!(answer["ok"], true, "{answer}");
    answer["events"].as_array().unwrap().iter().filter(|event| event["type"] == kind).collect()
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_game_that_polls_receives_a_click() {
    let (mut game, _folder) = Game::play(POLLS);
    let answer = game.ask("click", json!({"position": [120, 80]}));
    assert_eq!(answer["ok"], true, "{answer}");
    assert!(number(&mut game, "drawn") >= 1.0);
    assert_eq!(number(&mut game, "fires"), 1.0, "the action that is bound to the button");
    let place = game.data("get_property", json!({"path": "/root/Main", "property": "place"}));
    assert_eq!(place["value"]["value"], json!([120.0, 80.0]));
    assert_eq!(events(&game.ask("click", json!({"position": [120, 80], "count": 2})), "doubled").len(), 1);
    let answer = game.ask("click", json!({"position": [120, 80], "modifiers": "Ctrl"}));
    assert_eq!(answer["ok"], true, "{answer}");
    let ctrl = number(&mut game, "ctrl");
    assert!(ctrl >= 1.0);
    game.data("wait_for", json!({"frames": 3}));
    assert_eq!(number(&mut game, "ctrl"), ctrl, "released");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn pressed_inputs_stay_pressed_across_commands_until_released() {
    let (mut game, _folder) = Game::play(POLLS);
    game.data("mouse_down", json!({"position": [50, 50]}));
    game.data("wait_for", json!({"frames": 10}));
    game.data("mouse_up", json!({}));
    game.data("wait_for", json!({"frames": 2}));
    let ticks = number(&mut game, "ticks");
    assert!((9.0..=14.0).contains(&ticks), "{ticks}");
    assert_eq!(number(&mut game, "fired"), ticks);
    game.data("key_down", json!({"key": "D"}));
    game.data("wait_for", json!({"frames": 10}));
    assert_eq!(game.data("release_all", json!({}))["released"].as_array().unwrap().len(), 1);
    game.data("wait_for", json!({"frames": 2}));
    let x = number(&mut game, "x");
    assert!((9.0..=13.0).contains(&x), "{x}");
    game.data("wait_for", json!({"frames": 5}));
    assert_eq!((number(&mut game, "x"), number(&mut game, "ticks")), (x, ticks));
    for (command, arguments) in
        [("key_up", json!({"key": "D"})), ("action_up", json!({"action": "jump"})), ("touch_up", json!({}))]
    {
        assert_eq!(game.refusal(command, arguments).0, "INVALID_ARGS", "{command}: it is not pressed");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn inputs_held_while_the_game_is_paused_count_in_the_next_steps() {
    let (mut game, _folder) = Game::play(POLLS);
    game.data("pause", json!({}));
    game.data("press_action", json!({"action": "right", "frames": 20}));
    game.data("press_action", json!({"action": "jump"}));
    assert_eq!(number(&mut game, "x"), 0.0);
    game.data("step", json!({"frames": 5}));
    assert_eq!((number(&mut game, "x"), number(&mut game, "jumps")), (5.0, 1.0));
    game.data("step", json!({"frames": 30}));
    assert_eq!((number(&mut game, "x"), number(&mut game, "jumps")), (20.0, 1.0), "let go after twenty frames");
    game.data("action_down", json!({"action": "right"}));
    game.data("step", json!({"frames": 7}));
    game.data("action_up", json!({"action": "right"}));
    game.data("step", json!({"frames": 7}));
    assert_eq!(number(&mut game, "x"), 27.0);
    game.data("key_down", json!({"key": "D"}));
    game.data("resume", json!({}));
    game.data("wait_for", json!({"frames": 3}));
    assert!(number(&mut game, "x") >= 29.0);
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_step_ends_at_its_condition_and_observes_in_between() {
    let (mut game, _folder) = Game::play(POLLS);
    game.data("pause", json!({}));
    game.data("action_down", json!({"action": "right"}));
    let until = json!({"path": "#Main", "property": "x", "equals": 12});
    let observe = json!({"cmd": "get_property", "args": {"path": "#Main", "property": "x"}});
    let stepped = game.data("step", json!({"until": until, "observe": observe, "every": 5}));
    assert_eq!((&stepped["frames"], &stepped["met"]["value"]), (&json!(12), &json!(12)));
    let seen: Vec<&Value> =
        stepped["observations"].as_array().unwrap().iter().map(|observed| &observed["data"]["value"]).collect();
    assert_eq!(seen, [&json!(5), &json!(10)]);
    let stepped = game.data("step", json!({"frames": 3, "until": {"path": "#Main", "property": "x", "equals": -1}}));
    assert_eq!((&stepped["frames"], &stepped["met"]), (&json!(3), &Value::Null));
    assert_eq!(number(&mut game, "x"), 15.0);
    for bad in [
        json!({"until": {"property": "x"}}),
        json!({"until": {}}),
        json!({"observe": {"cmd": "press_key", "args": {"key": "A"}}}),
        json!({"observe": {}}),
    ] {
        assert_eq!(game.refusal("step", bad.clone()).0, "INVALID_ARGS", "{bad}");
    }
    assert_eq!(number(&mut game, "x"), 15.0, "no frame has passed");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_wheel_the_pointer_fingers_and_joypads_are_also_devices() {
    let (mut game, _folder) = Game::play(POLLS);
    let answer = game.ask("scroll", json!({"position": [10, 10], "direction": "up", "notches": 3}));
    assert_eq!(events(&answer, "wheel").len(), 3);
    assert!(events(&answer, "wheel").iter().all(|event| event["up"] == true));
    game.data("mouse_move", json!({"position": [100, 100]}));
    let answer = game.ask("mouse_move", json!({"relative": [30, -10]}));
    assert_eq!(events(&answer, "moved")[0]["relative"]["value"], json!([30.0, -10.0]));

    let answer = game.ask("touch_down", json!({"position": [20, 30]}));
    assert_eq!(events(&answer, "fingers")[0]["at"]["value"], json!([20.0, 30.0]));
    let answer = game.ask("touch_down", json!({"position": [200, 30], "finger": 1}));
    assert_eq!(events(&answer, "fingers")[0]["index"], 1);
    let answer = game.ask("touch_move", json!({"position": [220, 35], "finger": 1}));
    assert_eq!(events(&answer, "dragged")[0]["by"]["value"], json!([20.0, 5.0]));
    for finger in [0, 1] {
        let answer = game.ask("touch_up", json!({"finger": finger}));
        assert!(events(&answer, "fingers").iter().all(|event| event["down"] == false), "{answer}");
    }

    let answer = game.ask("joypad_button", json!({"button": "a", "frames": 2}));
    let pad: Vec<bool> = events(&answer, "pad").iter().map(|event| event["down"] == true).collect();
    assert_eq!(pad, [true, false]);
    game.data("joypad_axis", json!({"axis": "left_x", "value": -0.5}));
    game.data("wait_for", json!({"frames": 2}));
    assert_eq!(number(&mut game, "stick"), -0.5);
    game.data("release_all", json!({}));
    game.data("wait_for", json!({"frames": 2}));
    assert_eq!(number(&mut game, "stick"), 0.0);
    assert_eq!(game.refusal("joypad_axis", json!({"axis": "left", "value": 1})).0, "INVALID_ARGS");
}

/// An option button whose popup opens under the pointer, and controls for drag and drop.
const GIVES: &str = r#"extends Control
signal taken(what: String)
signal chosen(index: int)
class Giver extends Panel:
	func _get_drag_data(_at):
		return name
class Taker extends Panel:
	func _can_drop_data(_at, data):
		return data == "Giver"
	func _drop_data(_at, data):
		get_parent().taken.emit(data)
func _ready():
	_put(Giver.new(), "Giver", Vector2(50, 50))
	_put(Giver.new(), "Other", Vector2(50, 250))
	_put(Taker.new(), "Taker", Vector2(400, 50))
	var choice := OptionButton.new()
	choice.name = "Choice"
	choice.position = Vector2(500, 300)
	for item in ["one", "two", "three"]:
		choice.add_item(item)
	choice.item_selected.connect(func(index): chosen.emit(index))
	add_child(choice)
func _put(panel: Panel, title: String, at: Vector2):
	panel.name = title
	panel.position = at
	panel.size = Vector2(100, 100)
	add_child(panel)
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn data_is_dragged_from_one_control_and_dropped_on_another() {
    let (mut game, _folder) = Game::play(GIVES);
    let answer = game.ask("drag", json!({"from": "#Giver", "to": "#Taker"}));
    assert_eq!(events(&answer, "taken")[0]["what"], "Giver");
    assert_eq!(answer["data"]["dropped"], true);
    let answer = game.ask("drag", json!({"from": "#Other", "to": "#Taker"}));
    assert_eq!((types(&answer).is_empty(), &answer["data"]["dropped"]), (true, &json!(false)), "{answer}");
    let answer = game.ask("drag", json!({"from": [60, 60], "to": {"path": "#Taker"}, "frames": 3}));
    assert_eq!(events(&answer, "taken").len(), 1);
    assert_eq!(game.refusal("drag", json!({"from": "#Giver", "to": [900, 0]})).0, "NOT_ACTIONABLE");
    assert_eq!(game.refusal("drag", json!({"from": "#Nothing", "to": "#Taker"})).0, "NODE_NOT_FOUND");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_popup_that_a_press_opens_under_the_pointer_takes_no_item() {
    let (mut game, _folder) = Game::play(GIVES);
    let answer = game.ask("press_button", json!({"path": "#Choice"}));
    assert!(events(&answer, "chosen").is_empty(), "{answer}");
    game.data("wait_for", json!({"frames": 30}));
    game.data("press_key", json!({"key": "Down"}));
    game.data("press_key", json!({"key": "Down"}));
    let answer = game.ask("press_key", json!({"key": "Enter"}));
    assert_eq!(events(&answer, "chosen").len(), 1, "the popup is still open: {answer}");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn places_in_the_world_and_cells_of_a_map_can_be_clicked() {
    let folder = small_game(
        r#"extends Node2D
signal cell(at: Vector2i)
signal box
func _ready():
	position = Vector2(100, 50)
	scale = Vector2(2, 2)
	var map := TileMapLayer.new()
	map.name = "Map"
	map.tile_set = TileSet.new()
	map.tile_set.tile_size = Vector2i(16, 16)
	add_child(map)
	var camera := Camera3D.new()
	camera.position = Vector3(0, 0, 5)
	add_child(camera)
	var body := StaticBody3D.new()
	body.name = "Box"
	body.position = Vector3(1, 0.5, 0)
	var shape := CollisionShape3D.new()
	shape.shape = BoxShape3D.new()
	body.add_child(shape)
	body.input_event.connect(func(_c, event, _p, _n, _s):
		if event is InputEventMouseButton and event.pressed:
			box.emit())
	add_child(body)
func _unhandled_input(event):
	if event is InputEventMouseButton and event.pressed:
		cell.emit($Map.local_to_map($Map.to_local(get_global_mouse_position())))
"#,
    );
    let scene = std::fs::read_to_string(folder.path().join("main.tscn")).unwrap();
    let scene = scene.replace("type=\"Control\"]\noffset_right = 800.0\noffset_bottom = 600.0\n", "type=\"Node2D\"]\n");
    std::fs::write(folder.path().join("main.tscn"), scene).unwrap();
    let mut game = Game::start(&mut bridge(folder.path()));
    let answer = game.ask("click", json!({"path": "#Map", "cell": [3, 7]}));
    assert_eq!(events(&answer, "cell")[0]["at"]["value"], json!([3, 7]));
    assert_eq!(events(&game.ask("click", json!({"path": "#Box"})), "box").len(), 1);
    assert_eq!(events(&game.ask("click", json!({"world": [1, 0.5, 0]})), "box").len(), 1);
    let answer = game.ask("click", json!({"world": [110, 60]}));
    assert_eq!(events(&answer, "cell")[0]["at"]["value"], json!([0, 0]));
    for (bad, code) in [
        (json!({"world": [0, 0, 50]}), "NOT_ACTIONABLE"),
        (json!({"path": "#Map", "cell": [900, 0]}), "NOT_ACTIONABLE"),
        (json!({"path": "#Box", "cell": [0, 0]}), "INVALID_ARGS"),
        (json!({"cell": [0, 0]}), "INVALID_ARGS"),
        (json!({"world": "there"}), "INVALID_ARGS"),
    ] {
        assert_eq!(game.refusal("click", bad.clone()).0, code, "{bad}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_pending_release_is_done_once_and_only_for_its_own_press() {
    let (mut game, _folder) = Game::play(POLLS);
    game.data("pause", json!({}));
    game.data("press_action", json!({"action": "right", "frames": 20}));
    game.data("step", json!({"frames": 10}));
    game.data("press_action", json!({"action": "right", "frames": 20}));
    game.data("step", json!({"frames": 40}));
    assert_eq!(number(&mut game, "x"), 30.0, "the second press counts from its own beginning");
    game.data("press_action", json!({"action": "right", "frames": 3}));
    game.data("step", json!({}));
    game.data("action_up", json!({"action": "right"}));
    game.data("action_down", json!({"action": "right"}));
    game.data("step", json!({"frames": 10}));
    assert_eq!(number(&mut game, "x"), 41.0, "an older release is no longer due");
    game.data("release_all", json!({}));
    game.data("press_action", json!({"action": "right", "frames": 5}));
    game.data("resume", json!({}));
    game.data("wait_for", json!({"frames": 30}));
    assert_eq!(game.data("release_all", json!({}))["released"], json!([]), "also in a game that runs again");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_gesture_that_times_out_during_a_wait_releases_its_inputs() {
    let (mut game, _folder) = Game::play(POLLS);
    let drag = json!({"cmd": "drag", "args": {"from": [10, 10], "to": [300, 300], "frames": 300}});
    let waits = json!({"selector": "#Nothing", "then": drag, "timeout": 0.5});
    assert_eq!(game.refusal("wait_for", waits).0, "TIMEOUT");
    game.data("wait_for", json!({"frames": 5}));
    let drawn = number(&mut game, "drawn");
    game.data("wait_for", json!({"frames": 5}));
    assert_eq!(number(&mut game, "drawn"), drawn, "the button is up");
    let hold = json!({"cmd": "press_key", "args": {"key": "D", "frames": 100_000}});
    let waits = json!({"selector": "#Nothing", "then": hold, "timeout": 0.5});
    assert_eq!(game.refusal("wait_for", waits).0, "TIMEOUT");
    game.data("wait_for", json!({"frames": 2}));
    assert_eq!(game.data("release_all", json!({}))["released"], json!([]));
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn just_pressed_is_true_in_each_tick_of_a_step() {
    // At 240 ticks per second, an iteration of the engine's loop often has two ticks.
    let folder =
        small_game(&POLLS.replace("func _ready():", "func _ready():\n\tEngine.physics_ticks_per_second = 240"));
    let mut game = Game::start(&mut bridge(folder.path()));
    game.data("pause", json!({}));
    for _ in 0..60 {
        game.data("press_action", json!({"action": "jump"}));
        game.data("step", json!({"frames": 3}));
    }
    assert_eq!(number(&mut game, "jumps"), 60.0);
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn values_that_are_not_numbers_are_refused() {
    let (mut game, _folder) = Game::play(POLLS);
    let nan = json!({"$type": "float", "value": "nan"});
    for (command, arguments) in [
        ("click", json!({"position": [nan, 5]})),
        ("joypad_axis", json!({"axis": "left_x", "value": nan})),
        ("step", json!({"until": {"selector": 5}})),
        ("step", json!({"until": {"idle": null}})),
        ("step", json!({"until": {"frames": 3, "then": {"cmd": "pause"}}})),
        ("drag", json!({"from": {"path": 5}, "to": [1, 1]})),
    ] {
        let answer = game.ask(command, arguments.clone());
        assert_eq!(answer["code"], "INVALID_ARGS", "{arguments}: {answer}");
        assert!(!types(&answer).contains(&"engine_error"), "{answer}");
    }
    let observe = json!({"observe": {"cmd": "get_node", "args": {"path": "#Nothing"}}});
    assert_eq!(game.refusal("step", observe).0, "NODE_NOT_FOUND");
}
