//! A game in a real window: the system's pointer, and separate windows.

use super::{Game, bridge, small_game};
use crate::display::Display;
use serde_json::{Value, json};

const WINDOWS: &str = r#"extends Control
var place := Vector2.ZERO
func _ready():
	get_window().gui_embed_subwindows = false
	mouse_filter = MOUSE_FILTER_IGNORE
	var window := Window.new()
	window.name = "Own"
	window.position = Vector2i(100, 100)
	window.size = Vector2i(200, 100)
	var inner := Button.new()
	inner.name = "Inner"
	inner.size = Vector2(100, 40)
	window.add_child(inner)
	add_child(window)
	var choice := OptionButton.new()
	choice.name = "Choice"
	choice.position = Vector2(500, 300)
	for item in ["one", "two", "three"]:
		choice.add_item(item)
	add_child(choice)
func _process(_delta):
	if Input.is_mouse_button_pressed(MOUSE_BUTTON_LEFT):
		place = get_global_mouse_position()
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_systems_pointer_follows_in_each_window() {
    let display = Display::start();
    let folder = small_game(WINDOWS);
    let mut game = Game::start(bridge(folder.path()).arg("--window").env("DISPLAY", &display.name));
    let place = |game: &mut Game| -> Value {
        game.data("get_property", json!({"path": "#Main", "property": "place"}))["value"]["value"].take()
    };
    game.data("click", json!({"position": [120, 80]}));
    assert_eq!(place(&mut game), json!([120.0, 80.0]), "get_global_mouse_position");
    let pressed = game.ask("press_button", json!({"path": "#Inner"}));
    assert_eq!(super::types(&pressed), ["button_down", "pressed", "button_up"], "in a window of the system's own");
    game.data("click", json!({"position": [300, 200]}));
    assert_eq!(place(&mut game), json!([300.0, 200.0]));
    game.data("mouse_move", json!({"relative": [20, 10]}));
    game.data("click", json!({"position": [320, 210]}));
    game.data("press_button", json!({"path": "#Choice"}));
    game.data("wait_for", json!({"frames": 10}));
    game.data("press_key", json!({"key": "Down"}));
    game.data("press_key", json!({"key": "Enter"}));
    let selected = game.data("get_property", json!({"path": "#Choice", "property": "text"}));
    assert_eq!(selected["value"], "one", "its popup is a window, too");
    game.end();
}

const LARGE: &str = r#"extends Control
var place := Vector2.ZERO
func _ready():
	var back := ColorRect.new()
	back.name = "Back"
	back.size = Vector2(1600, 1000)
	add_child(back)
	for at: Vector2 in [Vector2(1500, 1150), Vector2(20, 20)]:
		var button := Button.new()
		button.name = "At%d" % at.x
		button.text = "Go"
		button.position = at
		button.pressed.connect(func(): place = get_global_mouse_position() - at)
		add_child(button)
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_window_may_be_larger_than_the_screen() {
    let display = Display::start();
    let folder = small_game(LARGE);
    let file = folder.path().join("project.godot");
    let project = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, project.replace("width=800", "width=1600").replace("height=600", "height=1200")).unwrap();
    let mut game = Game::start(bridge(folder.path()).arg("--window").env("DISPLAY", &display.name));
    for button in ["#At1500", "#At20", "#At1500"] {
        let pressed = game.ask("press_button", json!({"path": button}));
        assert_eq!(super::types(&pressed), ["button_down", "pressed", "button_up"], "{pressed}");
        let place = game.data("get_property", json!({"path": "#Main", "property": "place"}))["value"]["value"].take();
        let is_inside = |at: &Value| (0.0..40.0).contains(&at.as_f64().unwrap());
        assert!(place.as_array().unwrap().iter().all(is_inside), "the pointer is in {button}: {place}");
    }
    game.end();
}
