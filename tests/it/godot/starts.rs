//! The arguments and variables of a started game.

use super::{Game, bridge, small_game};
use serde_json::{Value, json};

/// A game that ends at once on an unknown argument, and reports its environment.
const OWN_OPTIONS: &str = r#"extends Control
var drawn := randi()
func _init() -> void:
	for argument in OS.get_cmdline_user_args() + OS.get_cmdline_args():
		if argument.begins_with("--"):
			printerr("unknown option: ", argument)
			OS.kill(OS.get_process_id())
func agent_commands() -> Dictionary:
	return {"look": {}}
func agent_command(_name: String, _args: Dictionary) -> Dictionary:
	var variables := []
	OS.execute("sh", ["-c", "env | grep AGENT_BRIDGE"], variables)
	var options: RefCounted = get_node("/root/AgentBridge/Session").options
	return {"variables": variables, "drawn": drawn, "delta": get_process_delta_time(),
		"options": [options.lockstep, options.seed, options.allow_edit, options.output]}
"#;

fn look(options: &[&str]) -> Value {
    let folder = small_game(OWN_OPTIONS);
    let file = folder.path().join("project.godot");
    let project = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, project + "\n[physics]\n\ncommon/physics_ticks_per_second=30\n").unwrap();
    let mut game = Game::start(bridge(folder.path()).args(options));
    let found = game.data("look", json!({}));
    game.end();
    found
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_game_that_refuses_unknown_arguments_is_played_and_its_own_processes_do_not_take_the_session() {
    for transport in ["file", "tcp"] {
        let found = look(&["--transport", transport]);
        assert_eq!(found["variables"], json!([""]), "what a process of the game finds");
        assert_eq!(found["options"], json!([false, null, false, ""]));
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn random_numbers_are_seeded_before_the_nodes_of_the_game_are_created() {
    let drawn = |options: &[&str]| look(options)["drawn"].take();
    let with_7 = drawn(&["--seed", "7"]);
    assert_eq!(drawn(&["--seed", "7"]), with_7);
    assert_ne!(drawn(&["--seed", "8"]), with_7);
    assert_ne!(drawn(&[]), drawn(&[]), "the engine seeds them itself");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn lockstep_has_a_fixed_delta_and_the_options_reach_the_addon() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("made").to_str().unwrap().to_owned();
    let found = look(&["--lockstep", "--seed=-3", "--allow-edit", "--output", &output]);
    assert_eq!(found["options"], json!([true, -3, true, output]));
    assert!((found["delta"].as_f64().unwrap() - 1.0 / 30.0).abs() < 1e-9, "{found}");
}
