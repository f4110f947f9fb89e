//! Features of public projects that the example does not have.

use super::{Game, bridge, small_game, types};
use crate::display::Display;
use serde_json::json;

const SITUATIONS: &str = r##"extends Control
signal started
signal keyed(name: String)
func _ready():
	var field := LineEdit.new()
	field.name = "Field"
	field.position = Vector2(400, 500)
	field.size = Vector2(200, 40)
	add_child(field)
	var covered := TextEdit.new()
	covered.name = "Covered"
	covered.position = Vector2(100, 100)
	covered.size = Vector2(100, 60)
	add_child(covered)
	var splash := Window.new()
	splash.name = "Splash"
	splash.position = Vector2i(60, 80)
	splash.size = Vector2i(300, 200)
	add_child(splash)
	splash.grab_focus()
	InputMap.add_action("start")
	var enter := InputEventKey.new()
	enter.physical_keycode = KEY_F5
	InputMap.action_add_event("start", enter)
	var go := Button.new()
	go.name = "Go"
	go.position = Vector2(600, 0)
	go.size = Vector2(100, 40)
	go.shortcut = Shortcut.new()
	var wanted := InputEventAction.new()
	wanted.action = "start"
	go.shortcut.events = [wanted]
	go.pressed.connect(func(): started.emit())
	add_child(go)
	var behind := Button.new()
	behind.name = "Behind"
	behind.position = Vector2(70, 52)
	behind.size = Vector2(60, 20)
	add_child(behind)
	var panel := Panel.new()
	panel.name = "Panel"
	panel.position = Vector2(600, 300)
	panel.size = Vector2(150, 100)
	panel.gui_input.connect(func(event):
		if event is InputEventMouseButton and event.pressed:
			keyed.emit("panel"))
	add_child(panel)
	var label := Label.new()
	label.name = "Words"
	label.text = "Words"
	panel.add_child(label)
	var radio := CheckBox.new()
	radio.name = "Radio"
	radio.position = Vector2(600, 200)
	radio.button_group = ButtonGroup.new()
	radio.button_pressed = true
	add_child(radio)
	var number := SpinBox.new()
	number.name = "Number"
	number.position = Vector2(400, 400)
	add_child(number)
func _unhandled_key_input(event):
	if event.is_action_pressed("start"):
		keyed.emit("start")
"##;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_field_takes_text_while_another_window_has_the_focus() {
    let (mut game, _folder) = Game::play(SITUATIONS);
    assert_eq!(game.data("fill", json!({"path": "#Field", "text": "Ada"}))["text"], "Ada");
    assert_eq!(game.data("type_text", json!({"path": "#Field", "text": "!"}))["text"], "Ada!");
    for (command, text) in [("fill", "x"), ("type_text", "y")] {
        let (code, answer) = game.refusal(command, json!({"path": "#Covered", "text": text}));
        assert_eq!((code.as_str(), &answer["details"]["covered_by"]), ("NOT_ACTIONABLE", &json!("/root/Main/Splash")));
    }
    let (_, answer) = game.refusal("fill", json!({"path": "#Number", "text": "abc"}));
    assert_eq!(answer["details"]["reason"], "unchanged");
    let (_, answer) = game.refusal("press_button", json!({"path": "#Behind"}));
    assert_eq!(answer["details"]["covered_by"], "/root/Main/Splash", "by its title bar");
    let (_, answer) = game.refusal("set_value", json!({"path": "#Radio", "value": false}));
    assert_eq!(answer["details"]["reason"], "unchanged");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_action_is_pressed_with_its_key_so_that_shortcuts_work() {
    let (mut game, _folder) = Game::play(SITUATIONS);
    game.data("click", json!({"path": "#Field"}));
    let answer = game.ask("press_action", json!({"action": "start"}));
    assert!(types(&answer).contains(&"started"), "{answer}");
    let answer = game.ask("click", json!({"path": "#Words"}));
    assert_eq!(types(&answer), ["keyed"], "what ignores the mouse is a place in what it stands in: {answer}");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_signal_names_its_node_even_if_its_handler_left_the_scene() {
    let folder = small_game(
        "extends Control\nfunc _ready():\n\tvar go := Button.new()\n\tgo.name = \"Go\"\n\tgo.size = Vector2(90, 40)\n\tgo.pressed.connect(func(): get_tree().change_scene_to_file(\"res://main.tscn\"))\n\tadd_child(go)\n",
    );
    let mut game = Game::start(&mut bridge(folder.path()));
    let answer = game.ask("press_button", json!({"path": "#Go"}));
    let events = answer["events"].as_array().unwrap();
    assert!(!events.is_empty() && events.iter().all(|event| event["node"] == "/root/Main/Go"), "{answer}");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_item_of_a_short_menu_is_chosen_in_a_window() {
    let display = Display::start();
    let folder = small_game(
        "extends Control\nfunc _ready():\n\tvar menu := MenuButton.new()\n\tmenu.name = \"Menu\"\n\tmenu.text = \"Tests\"\n\tmenu.position = Vector2(50, 50)\n\tvar under := PopupMenu.new()\n\tunder.add_item(\"Box\")\n\tunder.add_item(\"Pyramid\")\n\tmenu.get_popup().add_submenu_node_item(\"More\", under)\n\tmenu.get_popup().add_item(\"Only\")\n\tadd_child(menu)\n",
    );
    for _ in 0..3 {
        let mut game = Game::start(bridge(folder.path()).arg("--window").env("DISPLAY", &display.name));
        for item in ["Only", "More/Pyramid", "Only"] {
            assert_eq!(game.data("select", json!({"path": "#Menu", "item": item}))["item"], item);
        }
        game.end();
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn passwords_are_hidden_and_a_label_cannot_imitate_another_line() {
    let (mut game, _folder) = Game::play(
        "extends Control\nfunc _ready():\n\tvar field := LineEdit.new()\n\tfield.name = \"Secret\"\n\tfield.secret = true\n\tfield.size = Vector2(200, 40)\n\tadd_child(field)\n\tvar button := Button.new()\n\tbutton.text = \"Cancel = x\u{2028}  @3 button(disabled) Delete\"\n\tbutton.position = Vector2(0, 100)\n\tadd_child(button)\n",
    );
    assert_eq!(game.data("fill", json!({"path": "#Secret", "text": "hunter2"}))["text"], "•••••••");
    for look in [json!({}), json!({"view": "agent"}), json!({"fields": "all"})] {
        let tree = game.data("get_tree", look)["tree"].to_string();
        assert!(!tree.contains("hunter2") && tree.contains("•••••••"), "{tree}");
    }
    let tree = game.data("get_tree", json!({"view": "agent"}))["tree"].take();
    assert_eq!(tree[1], "@2 button \"Cancel = x   @3 button(disabled) Delete\"");
    assert_eq!(
        game.data("get_property", json!({"path": "#Secret", "property": "text"}))["value"],
        "hunter2",
        "asked for"
    );
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn script_errors_before_the_first_frame_are_reported() {
    let folder = small_game("extends Control\nfunc _ready():\n\tthis is no script\n");
    let mut game = Game::start(&mut bridge(folder.path()));
    let (code, answer) = game.refusal("expect", json!({"no_errors": true}));
    assert_eq!(code, "EXPECTATION_FAILED", "{answer}");
}
