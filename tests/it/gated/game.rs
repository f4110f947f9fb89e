//! A Godot game whose nodes have meaningless names.

use super::{Guarded, assert_shows, path, shown_line};
use crate::godot::small_game;
use serde_json::{Value, json};

const MENU: &str = r#"extends Control
signal started
signal deleted(slot: String)
func _ready():
	_button("Button6", "Start", 0).pressed.connect(func(): started.emit())
	_button("Button7", "Delete save", 50).pressed.connect(_delete.bind("first.save"))
	_button("Button8", "Delete old save", 100).pressed.connect(_delete.bind("second.save"))
func _delete(slot: String):
	DirAccess.remove_absolute(ProjectSettings.globalize_path("res://" + slot))
	deleted.emit(slot)
func _button(title: String, text: String, y: int) -> Button:
	var button := Button.new()
	button.name = title
	button.text = text
	button.position = Vector2(100, y)
	button.size = Vector2(200, 40)
	add_child(button)
	return button
"#;

fn press(id: u32, node: &str) -> Value {
    json!({"cmd": "press_button", "id": id, "args": {"path": format!("/root/Main/{node}")}})
}

fn has_event(answer: &Value, event: &str) -> bool {
    answer["events"].as_array().is_some_and(|events| events.iter().any(|entry| entry["type"] == event))
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_button_is_judged_by_its_text_and_not_by_its_name() {
    std::env::var("PIPEWRIGHT_GODOT").expect("PIPEWRIGHT_GODOT names no Godot: run scripts/test");
    let project = small_game(MENU);
    let [first, second] = ["first.save", "second.save"].map(|name| project.path().join(name));
    for save in [&first, &second] {
        std::fs::write(save, "much").unwrap();
    }
    let line = shown_line("policy-check -- hitl-gate --tty /dev/pts/3 -- godot-bridge");
    let line = line.replace("~/my-game", project.path().to_str().unwrap());
    let mut gated = Guarded::start(&line, project.path(), &path());
    let tree = gated.unasked(&json!({"cmd": "get_tree", "id": 1}));
    assert!(tree["ok"] == true && tree.to_string().contains("Delete save"), "{tree}");
    let started = gated.unasked(&press(2, "Button6"));
    assert!(has_event(&started, "started"), "{started}");

    let shown = gated.held(&press(3, "Button7"));
    assert_shows(&shown, &["tool  press_button", "target  button \"Delete save\"", "kind  delete", "Button7"]);
    let rejected = gated.decide("n it is my only one");
    assert_eq!((&rejected["id"], &rejected["ok"]), (&json!(3), &json!(false)), "{rejected}");
    assert_eq!(rejected["error"], "a person rejected it: it is my only one");

    gated.held(&press(4, "Button7"));
    assert_shows(&gated.edit("path=/root/Main/Button8"), &["- .path: ", "+ .path: \"/root/Main/Button8\""]);
    assert!(first.exists() && second.exists(), "nothing has been pressed so far");
    let edited = gated.decide("y");
    assert!(has_event(&edited, "deleted") && first.exists() && !second.exists(), "{edited}");

    gated.held(&press(5, "Button7"));
    let approved = gated.decide("y");
    assert!(has_event(&approved, "deleted") && !first.exists(), "{approved}");
    assert_eq!(gated.calls.end_after_close().status.code(), Some(1), "something was rejected");
}
