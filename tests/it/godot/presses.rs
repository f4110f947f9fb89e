//! A player's hand: presses buttons, clicks, types text, holds keys and actions; and the reasons why it cannot.

use super::{Game, bridge, small_game, types};
use serde_json::{Value, json};

fn events_of<'a>(answer: &'a Value, node: &str) -> Vec<&'a str> {
    let events = answer["events"].as_array().unwrap().iter();
    events.filter(|event| event["node"] == node).map(|event| event["type"].as_str().unwrap()).collect()
}

/// Sends a command that must be refused as not actionable; returns the reason and the answer.
fn refused(game: &mut Game, command: &str, arguments: Value) -> (String, Value) {
    let (code, mut answer) = game.refusal(command, arguments);
    assert_eq!(code, "NOT_ACTIONABLE", "{answer}");
    (answer["details"]["reason"].as_str().unwrap().to_owned(), answer["details"].take())
}

const PRESS: [&str; 3] = ["button_down", "pressed", "button_up"];

/// Buttons in various places.
const BUTTONS: &str = r#"extends Control
signal counted(count: int)
var count := 0
func _ready():
	_button(self, "Far", Vector2(700, 560))
	_button(self, "Stop", Vector2(0, 0)).disabled = true
	_button(self, "Away", Vector2(5000, 5000))
	_button(self, "Half", Vector2(760, 300))
	_button(self, "Hidden", Vector2(0, 50)).hide()
	var inside := Control.new()
	inside.name = "Inside"
	inside.hide()
	add_child(inside)
	_button(inside, "Deep", Vector2(0, 60))
	_button(self, "Under", Vector2(300, 0))
	var cover := ColorRect.new()
	cover.name = "Cover"
	cover.position = Vector2(290, 0)
	cover.size = Vector2(200, 50)
	add_child(cover)
	_button(self, "Partly", Vector2(300, 60))
	var veil := ColorRect.new()
	veil.name = "Veil"
	veil.position = Vector2(330, 60)
	veil.size = Vector2(40, 40)
	add_child(veil)
	_button(self, "Beneath", Vector2(300, 120))
	var glass := ColorRect.new()
	glass.name = "Glass"
	glass.position = Vector2(290, 110)
	glass.size = Vector2(200, 50)
	glass.mouse_filter = MOUSE_FILTER_IGNORE
	add_child(glass)
	_button(self, "Ignoring", Vector2(300, 170)).mouse_filter = MOUSE_FILTER_IGNORE
	var layer := CanvasLayer.new()
	layer.name = "Layer"
	layer.layer = 5
	layer.hide()
	add_child(layer)
	_button(layer, "Above", Vector2(500, 500))
	var scroll := ScrollContainer.new()
	scroll.name = "Scroll"
	scroll.position = Vector2(10, 200)
	scroll.size = Vector2(150, 100)
	add_child(scroll)
	var rows := VBoxContainer.new()
	rows.name = "Rows"
	scroll.add_child(rows)
	for i in 60:
		_button(rows, "Row%d" % i, Vector2.ZERO)
	var scaled := Node2D.new()
	scaled.name = "Scaled"
	scaled.scale = Vector2(0.5, 2)
	scaled.rotation = 0.3
	scaled.position = Vector2(450, 220)
	add_child(scaled)
	_button(scaled, "Turned", Vector2(20, 20))
	var clip := Control.new()
	clip.name = "Clip"
	clip.clip_contents = true
	clip.position = Vector2(200, 400)
	clip.size = Vector2(50, 50)
	add_child(clip)
	_button(clip, "Clipped", Vector2(60, 0))
	_button(self, "Flat", Vector2(0, 560)).size = Vector2.ZERO
func _button(parent: Node, title: String, at: Vector2) -> Button:
	var button := Button.new()
	button.name = title
	button.text = title
	button.position = at
	button.custom_minimum_size = Vector2(90, 30)
	button.pressed.connect(func(): count += 1; counted.emit(count))
	parent.add_child(button)
	return button
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_press_is_a_gesture_at_any_position_of_the_button() {
    let (mut game, _folder) = Game::play(BUTTONS);
    for (at, name) in
        ["Far", "Half", "Partly", "Beneath", "Turned", "Row59", "Row0", "Row30", "Row59"].into_iter().enumerate()
    {
        let answer = game.ask("press_button", json!({"path": format!("#{name}")}));
        let path = answer["data"]["path"].as_str().unwrap_or_else(|| panic!("{name}: {answer}"));
        assert!(path.ends_with(name) && events_of(&answer, path) == PRESS, "{answer}");
        // The game's reaction is reported in the same answer.
        let counted = answer["events"].as_array().unwrap().iter().find(|event| event["type"] == "counted");
        assert_eq!(counted.unwrap()["count"], at + 1, "{answer}");
    }
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn buttons_that_a_player_cannot_press_are_refused_with_the_reason() {
    let (mut game, _folder) = Game::play(BUTTONS);
    for (name, reason) in [
        ("Stop", "disabled"),
        ("Away", "offscreen"),
        ("Clipped", "offscreen"),
        ("Hidden", "hidden"),
        ("Deep", "hidden"),
        ("Above", "hidden"),
        ("Under", "covered_by"),
        ("Ignoring", "covered_by"),
        ("Cover", "not_a_control"),
    ] {
        assert_eq!(refused(&mut game, "press_button", json!({"path": format!("#{name}")})).0, reason, "{name}");
    }
    let (_, details) = refused(&mut game, "press_button", json!({"path": "#Under"}));
    assert_eq!(details["covered_by"], "/root/Main/Cover");
    assert_eq!(refused(&mut game, "click", json!({"path": "#Under"})).1["covered_by"], "/root/Main/Cover");
    assert_eq!(game.data("get_property", json!({"path": "/root/Main", "property": "count"}))["value"], 0);
    // With force, the signal itself is emitted.
    for name in ["Stop", "Away", "Hidden", "Under"] {
        let answer = game.ask("press_button", json!({"path": format!("#{name}"), "force": true}));
        let mut events = types(&answer);
        events.sort_unstable();
        assert_eq!(events, ["counted", "pressed"], "{name}: {answer}");
    }
    assert_eq!(game.refusal("press_button", json!({"path": "#Under", "force": 1})).0, "INVALID_ARGS");
    assert_eq!(game.refusal("press_button", json!({"path": "#Nobody"})).0, "NODE_NOT_FOUND");
    assert_eq!(game.refusal("press_button", json!({})).0, "INVALID_ARGS");
}

/// Buttons whose handlers free or add nodes.
const HANDLERS: &str = r#"extends Control
signal early
signal deferred(n: int)
signal next_frame
func _ready():
	var y := 0
	for title in ["FreesItself", "FreesItselfNow", "Leaves", "Opens", "Defers", "Fails", "Slow", "FreesParent"]:
		var parent: Control = self
		if title == "FreesParent":
			parent = Panel.new()
			parent.name = "Parent"
			parent.position = Vector2(400, 400)
			parent.size = Vector2(200, 100)
			add_child(parent)
		var button := Button.new()
		button.name = title
		button.text = title
		button.position = Vector2(300, y) if parent == self else Vector2.ZERO
		button.size = Vector2(150, 30)
		y += 40
		button.pressed.connect(_on.bind(title, button))
		parent.add_child(button)
	var dialog := AcceptDialog.new()
	dialog.name = "Dialog"
	dialog.dialog_text = "Well?"
	dialog.confirmed.connect(func(): early.emit())
	add_child(dialog)
func _on(title: String, button: Button):
	match title:
		"FreesItself": button.queue_free()
		"FreesItselfNow": button.free()
		"FreesParent": button.get_parent().queue_free()
		"Leaves": get_tree().change_scene_to_file("res://other.tscn")
		"Opens": $Dialog.popup_centered()
		"Defers":
			early.emit()
			_later.call_deferred(1)
			await get_tree().process_frame
			next_frame.emit()
		"Fails":
			var nobody: Variant = null
			nobody.no_such_method()
		"Slow": OS.delay_msec(300)
func _later(n: int):
	deferred.emit(n)
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_handler_may_free_the_pressed_button() {
    let folder = small_game(HANDLERS);
    let scene = "[gd_scene format=3]\n\n[node name=\"Other\" type=\"Control\"]\n\n[node name=\"Go\" type=\"Button\" parent=\".\"]\noffset_right = 90.0\noffset_bottom = 40.0\n";
    std::fs::write(folder.path().join("other.tscn"), scene).unwrap();
    let mut game = Game::start(&mut bridge(folder.path()));
    for name in ["FreesItself", "FreesParent"] {
        let path = json!({"path": format!("#{name}")});
        let answer = game.ask("press_button", path.clone());
        assert!(answer["ok"] == true && types(&answer).starts_with(&["button_down", "pressed"]), "{answer}");
        assert_eq!(game.refusal("press_button", path).0, "NODE_NOT_FOUND");
    }
    // The engine itself does not allow this in a handler, and reports an error.
    let answer = game.ask("press_button", json!({"path": "#FreesItselfNow"}));
    assert!(answer["ok"] == true && types(&answer).contains(&"engine_error"), "{answer}");
    let answer = game.ask("press_button", json!({"path": "#Fails"}));
    assert!(answer["ok"] == true && answer["events"].to_string().contains("no_such_method"), "{answer}");
    let answer = game.ask("press_button", json!({"path": "#Slow"}));
    assert_eq!(types(&answer), PRESS);
    let answer = game.ask("press_button", json!({"path": "#Leaves"}));
    let mut events = events_of(&answer, "/root/Main/Leaves");
    events.sort_unstable();
    assert_eq!(events, ["button_down", "button_up", "pressed"], "though it is no longer in the tree: {answer}");
    assert_eq!(types(&game.ask("press_button", json!({"path": "/root/Other/Go"}))), PRESS);
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn deferred_effects_of_a_press_come_with_its_answer() {
    let (mut game, _folder) = Game::play(HANDLERS);
    let answer = game.ask("press_button", json!({"path": "#Defers"}));
    let mut main: Vec<_> = events_of(&answer, "/root/Main");
    main.sort_unstable();
    assert_eq!(main, ["deferred", "early", "next_frame"], "{answer}");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_dialog_covers_the_controls_below_until_it_is_closed() {
    let (mut game, _folder) = Game::play(HANDLERS);
    game.data("press_button", json!({"path": "#Opens"}));
    assert_eq!(game.data("get_node", json!({"path": "#Dialog"}))["visible"], true);
    let (reason, details) = refused(&mut game, "press_button", json!({"path": "#Defers"}));
    assert_eq!((reason.as_str(), &details["covered_by"]), ("covered_by", &json!("/root/Main/Dialog")));
    let answer = game.ask("press_button", json!({"path": "#Dialog Button:visible:text(\"OK\")"}));
    assert!(types(&answer).contains(&"early"), "{answer}");
    assert_eq!(game.data("get_node", json!({"path": "#Dialog"}))["visible"], false);
    assert_eq!(types(&game.ask("press_button", json!({"path": "#Slow"}))), PRESS);
}

/// Toggles, an option button, and clickable nodes that are not buttons.
const CLICKS: &str = r#"extends Control
signal clicked(who: String, button: int, at: Vector2)
signal chosen(index: int)
func _ready():
	var check := CheckBox.new()
	check.name = "Check"
	check.position = Vector2(600, 500)
	add_child(check)
	var group := ButtonGroup.new()
	for i in 2:
		var radio := CheckBox.new()
		radio.name = "Radio%d" % i
		radio.button_group = group
		radio.position = Vector2(600, 400 + 40 * i)
		add_child(radio)
	var choice := OptionButton.new()
	choice.name = "Choice"
	choice.position = Vector2(600, 300)
	for item in ["one", "two", "three"]:
		choice.add_item(item)
	choice.item_selected.connect(func(index): chosen.emit(index))
	add_child(choice)
	var panel := Panel.new()
	panel.name = "Panel"
	panel.position = Vector2(100, 100)
	panel.size = Vector2(100, 50)
	panel.gui_input.connect(func(event):
		if event is InputEventMouseButton and event.pressed:
			clicked.emit("panel", event.button_index, event.position))
	add_child(panel)
	var area := Area2D.new()
	area.name = "Area"
	area.position = Vector2(400, 200)
	var shape := CollisionShape2D.new()
	shape.shape = CircleShape2D.new()
	shape.shape.radius = 20
	area.add_child(shape)
	area.input_event.connect(func(_viewport, event, _shape):
		if event is InputEventMouseButton and event.pressed:
			clicked.emit("area", event.button_index, event.position))
	mouse_filter = MOUSE_FILTER_IGNORE
	add_child(area)
	var hidden := Area2D.new()
	hidden.name = "HiddenArea"
	hidden.hide()
	add_child(hidden)
	var timer := Timer.new()
	timer.name = "Timer"
	add_child(timer)
func _unhandled_input(event):
	if event is InputEventMouseButton and event.pressed and event.position.y > 550:
		clicked.emit("world", event.button_index, event.position)
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_toggle_toggles_by_hand_and_by_force() {
    let (mut game, _folder) = Game::play(CLICKS);
    let mut press = |path: &str, force: bool| {
        let answer = game.ask("press_button", json!({"path": path, "force": force}));
        let events = types(&answer).into_iter().map(str::to_owned).collect::<Vec<_>>();
        (answer["data"]["pressed"].clone(), events)
    };
    let (pressed, events) = press("#Check", false);
    assert_eq!(pressed, true);
    assert!(["button_down", "toggled", "pressed", "button_up"].iter().all(|name| events.contains(&(*name).to_owned())));
    assert_eq!(press("#Check", false).0, false);
    let (pressed, mut events) = press("#Check", true);
    events.sort_unstable();
    assert_eq!((pressed, events), (json!(true), vec!["pressed".to_owned(), "toggled".to_owned()]));
    assert_eq!(press("#Check", true).0, false);
    assert_eq!(press("#Radio0", false).0, true);
    assert_eq!(press("#Radio1", false).0, true);
    assert_eq!(game.data("get_node", json!({"path": "#Radio0"}))["pressed"], false, "one of a group");
    // The chosen button of a group stays chosen when it is pressed.
    assert_eq!(game.data("press_button", json!({"path": "#Radio1"}))["pressed"], true);
    assert_eq!(game.data("press_button", json!({"path": "#Radio1", "force": true}))["pressed"], true);
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_option_is_opened_and_chosen_with_keys() {
    let (mut game, _folder) = Game::play(CLICKS);
    game.data("press_button", json!({"path": "#Choice"}));
    game.data("press_key", json!({"key": "Down"}));
    game.data("press_key", json!({"key": "Down"}));
    let answer = game.ask("press_key", json!({"key": "Enter"}));
    let index = &answer["events"].as_array().unwrap().iter().find(|event| event["type"] == "chosen").unwrap()["index"];
    assert_eq!(game.data("get_node", json!({"path": "#Choice"}))["selected"], *index);
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn anything_drawn_can_be_clicked() {
    let (mut game, _folder) = Game::play(CLICKS);
    let mut click = |arguments: Value| {
        let answer = game.ask("click", arguments);
        assert_eq!(answer["ok"], true, "{answer}");
        let event = answer["events"].as_array().unwrap().iter().find(|event| event["type"] == "clicked");
        let event = event.unwrap_or_else(|| panic!("{answer}"));
        (event["who"].clone(), event["button"].clone(), event["at"]["value"].clone())
    };
    let expected = |who: &str, button: u8, at: [f64; 2]| (json!(who), json!(button), json!(at));
    assert_eq!(click(json!({"path": "#Panel"})), expected("panel", 1, [50.0, 25.0]));
    assert_eq!(click(json!({"path": "#Panel", "button": "right"})), expected("panel", 2, [50.0, 25.0]));
    assert_eq!(click(json!({"position": [110, 120]})), expected("panel", 1, [10.0, 20.0]));
    assert_eq!(
        click(json!({"position": {"$type": "Vector2", "value": [110.5, 120]}})),
        expected("panel", 1, [10.5, 20.0])
    );
    assert_eq!(click(json!({"path": "#Area", "button": "middle"})), expected("area", 3, [400.0, 200.0]));
    assert_eq!(click(json!({"position": [700, 590]})), expected("world", 1, [700.0, 590.0]));
    assert_eq!(refused(&mut game, "click", json!({"position": [800, 10]})).0, "offscreen");
    assert_eq!(refused(&mut game, "click", json!({"position": [-1, 10]})).0, "offscreen");
    assert_eq!(refused(&mut game, "click", json!({"path": "#HiddenArea"})).0, "hidden");
    assert_eq!(refused(&mut game, "click", json!({"path": "#Timer"})).0, "not_a_control");
    for bad in [
        json!({}),
        json!({"path": "#Panel", "position": [1, 1]}),
        json!({"path": "#Panel", "button": "fourth"}),
        json!({"position": [1]}),
        json!({"position": ["1", 2]}),
        json!({"position": {"$type": "Vector2", "value": [1]}}),
    ] {
        assert_eq!(game.refusal("click", bad.clone()).0, "INVALID_ARGS", "{bad}");
    }
}

/// A line, a text, and a record of keys.
const KEYS: &str = r#"extends Control
signal key(text: String, ctrl: bool, shift: bool)
signal submitted(text: String)
signal jumped(frames: int)
var held := 0
var began := 0
var physics := 0
var strength := 0.0
func _ready():
	InputMap.add_action("jump")
	var line := LineEdit.new()
	line.name = "Line"
	line.position = Vector2(400, 300)
	line.size = Vector2(300, 40)
	line.text_submitted.connect(func(text): submitted.emit(text))
	add_child(line)
	var short := LineEdit.new()
	short.name = "Short"
	short.max_length = 3
	add_child(short)
	var fixed := LineEdit.new()
	fixed.name = "Fixed"
	fixed.editable = false
	fixed.position = Vector2(0, 60)
	add_child(fixed)
	var area := TextEdit.new()
	area.name = "Area"
	area.position = Vector2(0, 100)
	area.size = Vector2(300, 200)
	add_child(area)
	var spin := SpinBox.new()
	spin.name = "Spin"
	spin.position = Vector2(0, 400)
	add_child(spin)
	var go := Button.new()
	go.name = "Go"
	go.position = Vector2(0, 500)
	add_child(go)
	var label := Label.new()
	label.name = "Label"
	add_child(label)
func _unhandled_key_input(event):
	if event.pressed:
		key.emit(event.as_text_key_label() if event.keycode == 0 else OS.get_keycode_string(event.keycode), event.ctrl_pressed, event.shift_pressed)
func _process(_delta):
	if Input.is_action_just_pressed("jump"):
		began += 1
	if Input.is_action_pressed("jump"):
		held += 1
		strength = Input.get_action_strength("jump")
	elif held > 0:
		jumped.emit(held)
		held = 0
func _physics_process(_delta):
	if Input.is_action_pressed("jump"):
		physics += 1
"#;

fn text_of(game: &mut Game, path: &str) -> Value {
    game.data("get_node", json!({"path": path}))["text"].take()
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn text_in_any_writing_system_is_typed() {
    let (mut game, _folder) = Game::play(KEYS);
    let text = "Gr\u{fc}\u{df}e, \u{4e16}\u{754c} \u{1F389}! a+b=\"c\" (100%) \u{5e9}\u{5dc}\u{5d5}\u{5dd}";
    assert_eq!(game.data("type_text", json!({"path": "#Line", "text": text}))["text"], text);
    assert_eq!(game.data("type_text", json!({"path": "#Line", "text": "."}))["text"], format!("{text}."), "at its end");
    assert_eq!(game.data("find", json!({"selector": "LineEdit:focused"}))["matches"], json!(["/root/Main/Line"]));
    game.data("type_text", json!({"text": "?"}));
    assert_eq!(text_of(&mut game, "#Line"), format!("{text}.?"), "where the focus is");
    let answer = game.ask("type_text", json!({"path": "#Line", "text": "\n"}));
    assert!(types(&answer).contains(&"submitted"), "{answer}");
    assert_eq!(
        game.data("type_text", json!({"path": "#Short", "text": "abcdef"}))["text"],
        "abc",
        "as much as it takes"
    );
    assert_eq!(game.data("type_text", json!({"path": "#Area", "text": "one\ntwo\tx"}))["text"], "one\ntwo\tx");
    let spin = "#Spin LineEdit";
    game.data("press_key", json!({"key": "Tab"}));
    game.data("click", json!({"path": spin}));
    game.data("press_key", json!({"key": "Ctrl+A"}));
    game.data("type_text", json!({"path": spin, "text": "42\n"}));
    assert!(game.data("get_node", json!({"path": "#Spin"}))["value"].as_f64().unwrap() >= 42.0);
    assert_eq!(refused(&mut game, "type_text", json!({"path": "#Fixed", "text": "x"})).0, "disabled");
    assert_eq!(refused(&mut game, "type_text", json!({"path": "#Label", "text": "x"})).0, "not_a_control");
    assert_eq!(game.refusal("type_text", json!({"path": "#Line"})).0, "INVALID_ARGS");
    assert_eq!(game.refusal("type_text", json!({"path": "#Line", "text": 5})).0, "INVALID_ARGS");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn keys_are_pressed_with_their_modifiers() {
    let (mut game, _folder) = Game::play(KEYS);
    let mut key = |name: &str| {
        let answer = game.ask("press_key", json!({"key": name}));
        assert_eq!(answer["ok"], true, "{answer}");
        // The modifiers before it are also keys.
        let key = answer["events"].as_array().unwrap().iter().rfind(|event| event["type"] == "key");
        key.map(|key| (key["text"].as_str().unwrap().to_owned(), key["ctrl"] == true, key["shift"] == true))
    };
    for (name, expected) in [
        ("A", ("A", false, false)),
        ("a", ("A", false, false)),
        ("Shift+A", ("A", false, true)),
        ("Ctrl+S", ("S", true, false)),
        ("ctrl+shift+s", ("S", true, true)),
        ("Escape", ("Escape", false, false)),
        ("Esc", ("Escape", false, false)),
        ("F1", ("F1", false, false)),
        ("ArrowLeft", ("Left", false, false)),
        ("7", ("7", false, false)),
        ("+", ("Plus", false, false)),
        ("Ctrl++", ("Plus", true, false)),
        ("Ctrl+-", ("Minus", true, false)),
    ] {
        assert_eq!(key(name), Some((expected.0.to_owned(), expected.1, expected.2)), "{name}");
    }
    for bad in ["NoSuchKey", "", "Ctrl+", "A B"] {
        let answer = game.ask("press_key", json!({"key": bad}));
        assert!(answer["code"] == "INVALID_ARGS" && answer["events"] == json!([]), "{bad}: {answer}");
    }
    // With the focus, they have their usual effect in the field.
    game.data("type_text", json!({"path": "#Line", "text": "abc"}));
    game.data("press_key", json!({"key": "Backspace"}));
    game.data("press_key", json!({"key": "Home"}));
    game.data("press_key", json!({"key": "Shift+x"}));
    assert_eq!(text_of(&mut game, "#Line"), "Xab");
    game.data("press_key", json!({"key": "Ctrl+A"}));
    game.data("press_key", json!({"key": "Delete"}));
    assert_eq!(text_of(&mut game, "#Line"), "");
    game.data("click", json!({"path": "#Go"}));
    assert!(types(&game.ask("press_key", json!({"key": "Enter"}))).contains(&"pressed"));
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_action_is_held_for_the_given_number_of_frames() {
    let (mut game, _folder) = Game::play(KEYS);
    let number = |game: &mut Game, name: &str| {
        game.data("get_property", json!({"path": "/root/Main", "property": name}))["value"].as_f64().unwrap()
    };
    let mut physics = 0.0;
    for (round, frames) in [1.0, 5.0, 20.0].into_iter().enumerate() {
        let answer = game.ask("press_action", json!({"action": "jump", "frames": frames as u64}));
        assert!(types(&answer).contains(&"jumped"), "let go when it is answered: {answer}");
        assert_eq!(number(&mut game, "began"), round as f64 + 1.0, "pressed once");
        let now = number(&mut game, "physics");
        // The engine's loop may run faster than the physics ticks: a frame is at least one of both, and hardly more.
        assert!((frames - 1.0..=frames + 1.0).contains(&(now - physics)), "{frames}: {}", now - physics);
        physics = now;
    }
    game.data("press_action", json!({"action": "jump", "strength": 0.25}));
    assert_eq!(number(&mut game, "strength"), 0.25);
    let (code, answer) = game.refusal("press_action", json!({"action": "fly"}));
    assert!(code == "INVALID_ARGS" && answer["hint"].as_str().unwrap().contains("jump"), "{answer}");
    // A command that times out still releases its key.
    assert_eq!(game.refusal("press_action", json!({"action": "jump", "frames": 600, "timeout": 0.3})).0, "TIMEOUT");
    game.data("wait_for", json!({"frames": 3}));
    assert_eq!(game.data("get_property", json!({"path": "/root/Main", "property": "held"}))["value"], 0);
}

/// Nodes with their own coordinates.
const VIEWS: &str = r#"extends Control
signal done(who: String)
func _ready():
	get_window().content_scale_factor = FACTOR
	var holder := SubViewportContainer.new()
	holder.name = "Holder"
	holder.position = Vector2(200, 100)
	holder.size = Vector2(160, 120)
	holder.stretch = true
	holder.stretch_shrink = 2
	add_child(holder)
	var view := SubViewport.new()
	view.name = "View"
	holder.add_child(view)
	_button(view, "InView", Vector2(30, 30))
	var window := Window.new()
	window.name = "Window"
	window.position = Vector2i(50, 250)
	window.size = Vector2i(200, 40)
	add_child(window)
	_button(window, "InWindow", Vector2(120, 5))
	_button(self, "Corner", Vector2(300, 10))
	var layer := CanvasLayer.new()
	layer.name = "Layer"
	layer.offset = Vector2(30, 200)
	layer.scale = Vector2(1.5, 1.5)
	add_child(layer)
	_button(layer, "InLayer", Vector2(150, 20))
	var camera := Camera2D.new()
	camera.position = Vector2(0, 0)
	camera.anchor_mode = Camera2D.ANCHOR_MODE_FIXED_TOP_LEFT
	add_child(camera)
func _button(parent: Node, title: String, at: Vector2):
	var button := Button.new()
	button.name = title
	button.position = at
	button.size = Vector2(40, 25)
	button.pressed.connect(func(): done.emit(title))
	parent.add_child(button)
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_press_works_through_viewports_windows_and_scaling() {
    for factor in ["1.0", "2.0"] {
        let (mut game, _folder) = Game::play(&VIEWS.replace("FACTOR", factor));
        for name in ["InView", "InWindow", "Corner", "InLayer"] {
            let answer = game.ask("press_button", json!({"path": format!("#{name}")}));
            assert_eq!(answer["ok"], true, "{factor} {name}: {answer}");
            let done = answer["events"].as_array().unwrap().iter().find(|event| event["type"] == "done");
            assert_eq!(done.unwrap_or_else(|| panic!("{factor}: {answer}"))["who"], *name);
            // The reported position is the actual position.
            let rect = game.data("get_node", json!({"path": format!("#{name}")}))["rect"].take();
            let side = |at: usize| rect[at].as_f64().unwrap() + rect[at + 2].as_f64().unwrap() / 2.0;
            let answer = game.ask("click", json!({"position": [side(0), side(1)]}));
            assert!(types(&answer).contains(&"done"), "{factor} {name} {rect}: {answer}");
        }
        game.end();
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_stretched_canvas_has_its_own_coordinates() {
    let folder = small_game(BUTTONS);
    let project = folder.path().join("project.godot");
    let mut text = std::fs::read_to_string(&project).unwrap();
    text = text.replace("[display]\n", "[display]\n\nwindow/stretch/mode=\"canvas_items\"\nwindow/stretch/aspect=\"expand\"\nwindow/size/window_width_override=1600\nwindow/size/window_height_override=1200\n");
    std::fs::write(&project, text).unwrap();
    let mut game = Game::start(&mut bridge(folder.path()));
    for name in ["Far", "Row59", "Turned"] {
        let answer = game.ask("press_button", json!({"path": format!("#{name}")}));
        assert!(answer["ok"] == true && types(&answer).contains(&"counted"), "{answer}");
    }
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_button_added_later_is_pressed_like_the_others() {
    let (mut game, _folder) = Game::play(
        "extends Control\nfunc agent_commands():\n\treturn {\"add\": {}}\nfunc agent_command(_c, _a):\n\tvar go := Button.new()\n\tgo.name = \"Late\"\n\tgo.position = Vector2(500, 400)\n\tgo.size = Vector2(50, 50)\n\tadd_child(go)\n\treturn {}\n",
    );
    game.data("add", json!({}));
    assert_eq!(types(&game.ask("press_button", json!({"path": "#Late"}))), PRESS);
    game.end();
}
