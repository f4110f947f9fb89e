//! Popups and dialogs: open ones are shown, and controls behind a modal one are refused.

use super::{Game, bridge, named, small_game};
use crate::display::Display;
use serde_json::{Value, json};

const POPUPS: &str = r#"extends Control
func place(control: Control, title: String, at: Vector2) -> Control:
	control.name = title
	control.position = at
	control.size = Vector2(120, 30)
	add_child(control)
	return control
func _ready():
	var choice: OptionButton = place(OptionButton.new(), "Choice", Vector2(20, 20))
	for item in ["Easy", "Hard"]:
		choice.add_item(item)
	var menu: MenuButton = place(MenuButton.new(), "Menu", Vector2(200, 20))
	menu.text = "Menu"
	menu.get_popup().add_item("Open")
	var recent := PopupMenu.new()
	recent.name = "Recent"
	recent.add_item("a.txt")
	menu.get_popup().add_submenu_node_item("Recent", recent)
	var bar: MenuBar = place(MenuBar.new(), "Bar", Vector2(400, 20))
	for title in ["File", "Edit"]:
		var popup := PopupMenu.new()
		popup.name = title
		popup.add_item(title + " it")
		bar.add_child(popup)
	place(ColorPickerButton.new(), "Colour", Vector2(20, 100))
	place(LineEdit.new(), "Line", Vector2(200, 100)).tooltip_text = "Your name"
	var dialog := ConfirmationDialog.new()
	dialog.name = "Dialog"
	dialog.dialog_text = "Really?"
	var within := LineEdit.new()
	within.name = "Within"
	dialog.add_child(within)
	add_child(dialog)
	var ask: Button = place(Button.new(), "Ask", Vector2(20, 150))
	ask.pressed.connect(func():
		dialog.popup_centered()
		within.grab_focus())
"#;

fn count(game: &mut Game, selector: &str) -> Value {
    game.data("find", json!({"selector": selector}))["count"].take()
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_open_popup_is_in_the_tree() {
    let (mut game, _folder) = Game::play(POPUPS);
    for (node, popup, button) in [
        ("#Choice", "#Choice > PopupMenu", "left"),
        ("#Menu", "#Menu > PopupMenu", "left"),
        ("#Colour", "#Colour > PopupPanel ColorPicker", "left"),
        ("#Line", "#Line > PopupMenu > PopupMenu:nth(0)", "right"),
    ] {
        assert_eq!(count(&mut game, popup), 0, "{popup}");
        game.data("click", json!({"path": node, "button": button}));
        assert_eq!(count(&mut game, popup), 1, "{popup}");
        game.data("press_key", json!({"key": "Escape"}));
        assert_eq!(count(&mut game, popup), 0, "{popup}");
    }
    game.data("press_button", json!({"path": "#Choice"}));
    let tree = game.data("get_tree", json!({"root": "#Choice", "fields": ["rect"]}))["tree"].take();
    let popup = &tree["children"][0];
    assert_eq!((&popup["type"], &popup["items"]), (&json!("PopupMenu"), &json!(["Easy", "Hard"])));
    assert_eq!((&popup["rect"][0], &popup["rect"][1]), (&json!(20.0), &json!(51.0)), "below the button: {popup}");
    assert_eq!(game.data("get_node", json!({"path": "#Bar"}))["items"], json!(["File", "Edit"]));
    game.data("press_key", json!({"key": "Escape"}));
    game.data("mouse_move", json!({"path": "#Line"}));
    game.data("wait_for", json!({"selector": "PopupPanel Label:text(\"Your name\")"}));
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn text_behind_a_modal_dialog_is_refused() {
    let (mut game, _folder) = Game::play(POPUPS);
    game.data("press_button", json!({"path": "#Ask"}));
    let (code, answer) = game.refusal("type_text", json!({"path": "#Line", "text": "a"}));
    assert_eq!((code.as_str(), &answer["details"]["reason"]), ("NOT_ACTIONABLE", &json!("covered_by")));
    assert_eq!(answer["details"]["covered_by"], "/root/Main/Dialog");
    let typed = game.data("type_text", json!({"text": "ab"}));
    assert_eq!(typed, json!({"path": "/root/Main/Dialog/Within", "text": "ab"}), "into what has the focus");
    let listed = game.data("list_actions", json!({}));
    let paths = |list: &str| -> Vec<(String, Value)> {
        let entries = listed[list].as_array().unwrap().iter();
        entries.map(|entry| (entry["args"]["path"].as_str().unwrap().to_owned(), entry["reason"].clone())).collect()
    };
    let reachable = paths("actions");
    assert!(
        reachable.len() == 3 && reachable.iter().all(|(path, _)| path.starts_with("/root/Main/Dialog/")),
        "{listed}"
    );
    assert!(paths("unavailable").contains(&("/root/Main/Ask".to_owned(), json!("covered_by"))), "{listed}");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_tooltip_is_a_field() {
    let (mut game, _folder) = Game::play(POPUPS);
    let tree = game.data("get_tree", json!({}))["tree"].take();
    assert_eq!(named(&tree, "Line")["tooltip"], "Your name");
    assert_eq!(named(&tree, "Ask")["tooltip"], Value::Null);
    assert_eq!(
        game.data("find", json!({"selector": "[tooltip=\"Your name\"]"}))["matches"],
        json!(["/root/Main/Line"])
    );
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn dialogs_and_menus_in_separate_windows_work_like_embedded_ones() {
    let (display, folder) = (Display::start(), small_game(POPUPS));
    let project = folder.path().join("project.godot");
    let text = std::fs::read_to_string(&project).unwrap();
    let text = text.replace("[display]\n", "[display]\n\nwindow/subwindows/embed_subwindows=false\n");
    std::fs::write(project, text).unwrap();
    let mut game = Game::start(bridge(folder.path()).arg("--window").env("DISPLAY", &display.name));
    game.data("press_button", json!({"path": "#Choice"}));
    assert_eq!(count(&mut game, "#Choice > PopupMenu"), 1);
    game.data("press_key", json!({"key": "Escape"}));
    assert_eq!(count(&mut game, "#Choice > PopupMenu"), 0, "keys go to the menu");
    assert_eq!(game.data("select", json!({"path": "#Choice", "item": "Hard"}))["selected"], 1);
    game.data("select", json!({"path": "#Menu", "item": "Recent/a.txt"}));
    game.data("press_button", json!({"path": "#Ask"}));
    let (_, answer) = game.refusal("type_text", json!({"path": "#Line", "text": "a"}));
    assert_eq!(answer["details"]["covered_by"], "/root/Main/Dialog");
    assert_eq!(game.data("fill", json!({"path": "#Within", "text": "ab"}))["text"], "ab");
    assert_eq!(game.data("type_text", json!({"text": "c"}))["text"], "abc", "into the dialog");
    game.data("press_button", json!({"path": "#Dialog Button:text(\"OK\")"}));
    assert_eq!(game.data("get_node", json!({"path": "#Dialog"}))["visible"], false);
}
