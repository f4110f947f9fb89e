//! What a game is started with: arguments of the engine, and variables for the addon.

use super::{Bridge, bridge, play};
use crate::process::{command, pipe, text};
use serde_json::{Value, json};

/// The arguments of a game that is started with these options, and what its variables OWNER, LOCKSTEP, SEED, ALLOW_EDIT and OUTPUT say.
fn started_with(options: &[&str]) -> (Value, [Value; 5]) {
    let output = play("echo", options, &[r#"{"cmd":"started_with","id":1}"#]);
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let variables = answer["data"]["variables"].as_array().unwrap().clone();
    (answer["data"]["arguments"].clone(), variables.try_into().unwrap())
}

#[test]
fn a_game_keeps_its_own_arguments() {
    let mut bridge = Bridge::start("echo", &[]);
    let answer = bridge.ask(r#"{"cmd":"started_with"}"#);
    let owner = bridge.talk.pid().to_string();
    assert_eq!(answer["data"], json!({"arguments":["echo"],"variables":[owner, null, null, null, null]}));
    bridge.end_after_close();
}

#[test]
fn options_are_given_to_the_game_as_variables() {
    let (arguments, [_, lockstep, seed, ..]) = started_with(&["--lockstep"]);
    assert_eq!((arguments, lockstep, seed), (json!(["--fixed-fps", "60", "echo"]), json!("1"), json!("0")));
    let (arguments, [_, lockstep, seed, ..]) = started_with(&["--seed", "-9223372036854775808"]);
    assert_eq!((arguments, lockstep, seed), (json!(["echo"]), json!(null), json!("-9223372036854775808")));
    let (_, [_, _, seed, allow_edit, _]) = started_with(&["--lockstep", "--seed=7", "--allow-edit"]);
    assert_eq!((seed, allow_edit), (json!("7"), json!("1")));
}

#[test]
fn paths_are_absolute_and_their_folders_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let (mut bridge, _home) = bridge("echo", &["--output", "a/b", "--movie", "c/movie.avi"]);
    let output = pipe(bridge.current_dir(folder.path()), b"{\"cmd\":\"started_with\"}\n");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let at = |path: &str| folder.path().join(path);
    let arguments = json!(["--fixed-fps", "60", "--write-movie", at("c/movie.avi"), "echo"]);
    assert_eq!((&answer["data"]["arguments"], &answer["data"]["variables"][4]), (&arguments, &json!(at("a/b"))));
    assert!(at("a/b").is_dir() && at("c").is_dir());
}

#[test]
fn variables_of_the_bridge_do_not_reach_the_game() {
    let (mut bridge, _home) = bridge("echo", &[]);
    bridge.envs(["CONNECT", "LOCKSTEP", "OUTPUT"].map(|name| (format!("AGENT_BRIDGE_{name}"), "x")));
    let output = pipe(&mut bridge, b"{\"cmd\":\"started_with\"}\n");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["data"]["variables"].as_array().unwrap()[1..], [(); 4].map(|()| Value::Null));
}

#[test]
fn what_cannot_be_is_refused() {
    let options: [&[&str]; 6] = [
        &["--window"],
        &["--lockstep"],
        &["--seed", "1"],
        &["--allow-edit"],
        &["--output", "x"],
        &["--movie", "x.avi"],
    ];
    for options in options {
        let output = pipe(command("godot-bridge").args(["--attach", "/no/such/folder"]).args(options), b"");
        let message = format!("godot-bridge: {} applies only to a game that is started, not to --attach\n", options[0]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(2), message));
    }
    for (options, message) in [
        (["--seed", "1.5"], "invalid digit"),
        (["--seed", "9223372036854775808"], "too large"),
        (["--movie", "x.mp4"], "the name must end in .avi, .ogv or .png"),
    ] {
        let output = pipe(command("godot-bridge").args(["--launch", "x"]).args(options), b"");
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(message), "{}", text(&output.stderr));
    }
}
