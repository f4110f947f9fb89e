//! An agent observes, plays and completes the Triangle Vault, and finds a control that was added later.

use super::{Game, binary, bridge, catch, named, nodes, types, vault};
use crate::process::{pipe, text};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

fn level(game: &mut Game, id: &str) {
    assert_eq!(game.data("load_level", json!({"level_id": id})), json!({"level": id, "loaded": true}));
}

/// Whether `found` contains everything in `expected`, with the same values.
fn holds(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            expected.iter().all(|(key, value)| found.get(key).is_some_and(|found| holds(found, value)))
        }
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected).all(|(found, value)| holds(found, value))
        }
        _ => found == expected,
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_recorded_session_gives_the_recorded_answers() {
    let mut game = Game::start(&mut bridge(&vault()));
    let hello = game.data("hello", json!({}));
    assert_eq!(hello["version"], "1.0");
    for command in
        ["hello", "get_tree", "get_state", "list_actions", "swap", "submit_permutation", "press_button", "reset"]
    {
        assert!(hello["commands"].as_array().unwrap().contains(&command.into()), "{command}");
    }
    level(&mut game, "act1_level01");
    let tree = game.data("get_tree", json!({}))["tree"].take();
    assert_eq!((&tree["name"], &tree["type"]), (&"root".into(), &"Window".into()));
    let scene = named(&tree, "LevelScene");
    assert_eq!(scene["type"], "LevelScene");
    let expected = json!({"type": "CrystalNode", "crystal_id": 0, "color": "red", "label": "A", "draggable": true, "actions": ["swap_to"]});
    assert!(holds(named(named(scene, "CrystalContainer"), "Crystal_0"), &expected));
    let expected = json!({"type": "EdgeRenderer", "from": 0, "to": 1, "edge_type": "standard"});
    assert!(holds(named(named(scene, "EdgeContainer"), "Edge_0_1"), &expected));
    let hud = named(scene, "HUDLayer");
    assert!(holds(named(hud, "TitleLabel"), &json!({"type": "Label", "text": "The Triangle Vault", "visible": true})));
    assert!(holds(named(hud, "CounterLabel"), &json!({"text": "Symmetries: 0 / 3", "visible": true})));
    let expected = json!({"type": "Button", "text": "Reset", "disabled": false, "actions": ["press"]});
    assert!(holds(named(hud, "ResetButton"), &expected));
    let swap = game.ask("swap", json!({"from": 0, "to": 1}));
    let expected =
        json!([{"type": "swap_performed", "mapping": [1, 0, 2]}, {"type": "invalid_attempt", "mapping": [1, 0, 2]}]);
    assert!(swap["data"] == json!({"result": "ok"}) && holds(&swap["events"], &expected), "{swap}");
    let found = game.ask("submit_permutation", json!({"mapping": [1, 2, 0]}));
    let expected = json!([{"type": "symmetry_found", "sym_id": "r1", "mapping": [1, 2, 0]}]);
    assert!(found["data"] == json!({"result": "ok"}) && holds(&found["events"], &expected), "{found}");
    let state = game.data("get_state", json!({}));
    let expected = json!({"arrangement": [0, 1, 2], "keyring": {"found_count": 1, "total": 3, "complete": false}});
    assert!(holds(&state, &expected), "{state}");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_agent_reads_everything_and_completes_the_level() {
    let mut game = Game::start(&mut bridge(&vault()));
    level(&mut game, "act1_level01");
    let tree = game.data("get_tree", json!({}))["tree"].take();
    let mut crystals = nodes(&tree, &|node| node["type"] == "CrystalNode");
    crystals.sort_by_key(|crystal| crystal["crystal_id"].as_u64());
    let labels: Vec<_> = crystals.iter().map(|crystal| crystal["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["A", "B", "C"]);
    let edges = nodes(&tree, &|node| node["type"] == "EdgeRenderer");
    assert!(edges.len() == 3 && edges.iter().all(|edge| edge["edge_type"] == "standard"));
    // An invalid arrangement stays, so that swaps compose: two make a rotation.
    assert_eq!(types(&game.ask("swap", json!({"from": 0, "to": 1}))), ["swap_performed", "invalid_attempt"]);
    assert_eq!(types(&game.ask("swap", json!({"from": 0, "to": 2}))), ["swap_performed", "symmetry_found"]);
    let counter = |game: &mut Game| game.data("get_node", json!({"path": "#CounterLabel"}))["text"].take();
    assert_eq!(counter(&mut game), "Symmetries: 1 / 3");
    // Found again: reported, but counted once.
    game.data("swap", json!({"from": 0, "to": 1}));
    assert_eq!(types(&game.ask("swap", json!({"from": 0, "to": 2}))), ["swap_performed", "symmetry_found"]);
    assert_eq!(counter(&mut game), "Symmetries: 1 / 3");
    assert_eq!(types(&game.ask("submit_permutation", json!({"mapping": [0, 1, 2]}))), ["symmetry_found"]);
    assert_eq!(types(&game.ask("submit_permutation", json!({"mapping": [1, 2, 0]})))[0], "symmetry_found");
    let last = game.ask("submit_permutation", json!({"mapping": [2, 0, 1]}));
    assert!(counter(&mut game) == "Symmetries: 3 / 3", "{last}");
    let state = game.data("get_state", json!({}));
    assert_eq!(state["keyring"]["complete"], true);
    assert_eq!(game.data("get_node", json!({"path": "#NextLevelButton"}))["disabled"], false);
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_games_own_commands_refuse_invalid_moves() {
    let mut game = Game::start(&mut bridge(&vault()));
    assert_eq!(game.refusal("swap", json!({"from": 0, "to": 5})).0, "INVALID_ID");
    assert_eq!(game.data("swap", json!({"from": 1, "to": 1}))["result"], "no_op");
    for bad in [json!({"from": 0}), json!({"from": 0.5, "to": 1}), json!({"from": "0", "to": 1})] {
        assert_eq!(game.refusal("swap", bad).0, "INVALID_ARGS");
    }
    for bad in [json!([0, 0, 1]), json!([0, 1]), json!([0, 1, 3]), json!([])] {
        let (code, _) = game.refusal("submit_permutation", json!({"mapping": bad}));
        assert!(code.starts_with("INVALID"), "{code}");
    }
    game.refusal("load_level", json!({"level_id": "no such level"}));
    let ended = game.talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1), "the status shows the failure");
}

/// Compares every level's symmetries, found by trying all arrangements, with those that the game computes.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn every_level_can_be_completed() {
    let mut game = Game::start(&mut bridge(&vault()));
    let levels = game.data("list_levels", json!({}));
    let levels = levels["levels"].as_array().unwrap_or_else(|| panic!("{levels}")).clone();
    assert!(levels.len() >= 3);
    let mut sizes = Vec::new();
    for listed in &levels {
        let id =
            listed.get("level_id").or(listed.get("id")).and_then(Value::as_str).unwrap_or_else(|| panic!("{listed}"));
        level(&mut game, id);
        let state = game.data("get_state", json!({}));
        let count = state["crystals"].as_array().unwrap().len();
        sizes.push(count);
        let mut completed = false;
        for mapping in permutations(count) {
            let answer = game.ask("submit_permutation", json!({"mapping": mapping}));
            completed |= types(&answer).contains(&"completed");
        }
        assert!(completed, "{id}");
        let keyring = game.data("get_state", json!({}))["keyring"].take();
        assert_eq!(keyring["found_count"], keyring["total"], "{id}");
    }
    assert!(sizes.iter().any(|size| *size != 3), "one is no triangle");
    game.end();
}

/// The game's own check of the levels: every symmetry by brute force, and whether swaps lead to it.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_games_own_check_of_its_levels_passes() {
    let mut check = Command::new(std::env::var("PIPEWRIGHT_GODOT").unwrap());
    let output =
        pipe(check.args(["--headless", "--path"]).arg(vault()).args(["--script", "tests/check_symmetries.gd"]), b"");
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    if count == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(count - 1);
    let insert = |order: &Vec<usize>, at: usize| [&order[..at], &[count - 1], &order[at..]].concat();
    shorter.iter().flat_map(|order| (0..count).map(move |at| insert(order, at))).collect()
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_button_added_later_is_listed_and_pressed() {
    let folder = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(vault()).arg(folder.path().join("game")).status().unwrap();
    assert!(copied.success());
    let project = folder.path().join("game");
    let scene = project.join("scenes/level_scene.tscn");
    let mut changed = std::fs::read_to_string(&scene).unwrap();
    changed.push_str("\n[node name=\"CayleyButton\" type=\"Button\" parent=\"HUDLayer\"]\noffset_left = 32.0\noffset_top = 590.0\noffset_right = 252.0\noffset_bottom = 630.0\ntext = \"Show Cayley Table\"\n");
    std::fs::write(scene, changed).unwrap();
    let mut game = Game::start(&mut bridge(&project));
    let tree = game.data("get_tree", json!({}))["tree"].take();
    let expected = json!({"name": "CayleyButton", "type": "Button", "path": "/root/LevelScene/HUDLayer/CayleyButton",
        "text": "Show Cayley Table", "disabled": false, "visible": true, "actions": ["press"]});
    assert!(holds(named(&tree, "CayleyButton"), &expected));
    let actions = game.data("list_actions", json!({}));
    let press = json!({"cmd": "press_button", "args": {"path": "/root/LevelScene/HUDLayer/CayleyButton"}});
    assert!(actions["actions"].as_array().unwrap().iter().any(|action| holds(action, &press)), "{actions}");
    let pressed = game.ask("press_button", press["args"].clone());
    assert_eq!(types(&pressed), ["button_down", "pressed", "button_up"]);
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_vault_is_completed_recorded_and_replayed_in_both_roles() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("vault.jsonl");
    let play = |world: &mut Command| {
        let output = pipe(world, b"");
        let stderr = text(&output.stderr);
        assert!(output.status.success() && stderr.contains("Symmetries: 3 / 3"), "{stderr}");
    };
    let player = || Command::new(root.join("examples/play_vault.py"));
    play(
        player()
            .arg(binary("jsonl-record"))
            .args(["--child", "world"])
            .arg(&log)
            .arg("--")
            .arg(binary("godot-bridge"))
            .arg("--launch")
            .arg(vault()),
    );
    play(player().arg(binary("replay")).args(["--as", "world"]).arg(&log));
    let mut replay = Command::new(binary("replay"));
    replay.args(["--as", "agent", "--ignore", ".frame", "--ignore", ".events[].frame"]).arg(&log);
    let output = pipe(replay.arg("--").arg(binary("godot-bridge")).arg("--launch").arg(vault()), b"");
    let stderr = text(&output.stderr);
    assert!(output.status.success() && stderr.contains(" 0 different"), "{stderr}");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_physics_game_in_lockstep_gives_the_same_result_twice() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let play = || {
        let mut player = Command::new(root.join("examples/play_catch.py"));
        let output = pipe(player.arg(binary("godot-bridge")).arg("--lockstep").arg("--launch").arg(catch()), b"");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let first = play();
    assert!(first.starts_with("caught 10 of 10, in frame "), "{first}");
    assert_eq!(play(), first);
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_tree_is_drawn_for_people() {
    let mut tree = crate::process::command("godot-bridge");
    let output = pipe(tree.arg("tree").arg("--launch").arg(vault()).args(["--root", "#HUDLayer"]), b"");
    let stdout = text(&output.stdout);
    assert!(output.status.success() && stdout.contains("CounterLabel  Label  \"Symmetries: 0 / 3\""), "{stdout}");
}
