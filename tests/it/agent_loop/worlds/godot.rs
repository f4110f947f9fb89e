//! The profile `godot`, with a real Godot (`scripts/install-godot` installs it).

use super::{calls, newest, reach};
use crate::agent_loop::{call, done};
use crate::godot::{small_game, vault};
use crate::process::binary;
use std::path::Path;
use std::process::Command;

fn world(project: &Path) -> impl FnOnce(&mut Command) {
    std::env::var("PIPEWRIGHT_GODOT").expect("PIPEWRIGHT_GODOT names no Godot: run scripts/test");
    move |agent| {
        agent.arg(binary("godot-bridge")).arg("--launch").arg(project);
    }
}

/// A field, a button that is disabled until there is a name, and a welcome that appears a while after the button is pressed.
const MENU: &str = r#"extends Control
func _ready():
	var field := LineEdit.new()
	field.name = "PlayerName"
	field.size = Vector2(200, 40)
	add_child(field)
	var start := Button.new()
	start.text = "Start"
	start.disabled = true
	start.position = Vector2(0, 100)
	start.size = Vector2(200, 40)
	add_child(start)
	field.text_changed.connect(func(text: String): start.disabled = text.is_empty())
	start.pressed.connect(func():
		await get_tree().create_timer(0.15).timeout
		var label := Label.new()
		label.text = "Welcome, " + field.text
		add_child(label))
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_game_is_played_by_what_its_tree_shows() {
    let project = small_game(MENU);
    let script = [
        call("press_button", r#"{"path":"@button Start"}"#),
        call("get_state", "{}"),
        call("type_text", r#"{"path":"@textbox PlayerName","text":"Ada"}"#),
        call("press_button", r#"{"path":"@button Start"}"#),
        done("You have won"),
        done("Welcome, Ada"),
    ];
    let (run, place) = reach("godot", &script, world(project.path()));
    assert_eq!(
        calls(&run),
        [("press_button", "tool_error"), ("get_state", "ok"), ("type_text", "ok"), ("press_button", "ok")],
        "{}",
        run.stderr
    );
    let requests = place.requests();
    // The first decision is preceded by the screen, which shows that the button is disabled.
    let first = newest(&requests[0]);
    assert!(first.contains("button(disabled) Start"), "{first}");
    let failed = newest(&requests[1]);
    assert!(failed.contains("The action failed") && failed.contains("PlayerName"), "{failed}");
    assert!(!newest(&requests[2]).contains("\"tree\""), "after a look nothing is observed: {}", newest(&requests[2]));
    assert!(newest(&requests[4]).contains("Welcome, Ada"), "an action has settled before: {}", newest(&requests[4]));
    assert!(requests[5]["messages"].to_string().contains("does not stand in the last observation"));
}

/// A swap of two crystals, named by the letters on them.
fn swap(from: &str, to: &str) -> String {
    let arguments = format!(r#"{{"from":"@CrystalNode.crystal_id {from}","to":"@CrystalNode.crystal_id {to}"}}"#);
    call("swap", &arguments)
}

/// The example game, by goal: the swap is a command of the game itself.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_triangle_vault_is_opened() {
    let script = [
        swap("A", "B"),
        swap("A", "B"),
        swap("A", "B"),
        swap("B", "C"),
        swap("A", "C"),
        swap("B", "C"),
        done("Symmetries: 3 / 3"),
    ];
    let (run, place) = reach("godot", &script, world(&vault()));
    assert_eq!(run.status, Some(0), "{:?} {}", run.records, run.stderr);
    assert!(newest(&place.requests()[6]).contains("the vault is open"), "{}", newest(&place.requests()[6]));
    let tools = place.requests()[0]["tools"].clone();
    let swap = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "swap").unwrap();
    assert_eq!(swap["input_schema"]["required"], serde_json::json!(["from", "to"]));
}
