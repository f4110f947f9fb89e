//! The end of a session: the game quits, crashes, hangs or breaks, or the bridge is killed; no process is left running.

use super::{Game, bridge, small_game, vault};
use crate::process::{Talk, command, eventually, is_running, pipe, text};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A game with commands that end it abnormally.
const DOOMED: &str = r#"extends Control
func agent_commands() -> Dictionary:
	return {"crash": {}, "hang": {}, "leave": {}, "blunder": {}}
func agent_command(name: String, _args: Dictionary) -> Variant:
	match name:
		"crash":
			OS.crash("asked for")
		"hang":
			while true:
				pass
		"leave":
			printerr("leaving now")
			get_tree().quit(7)
		"blunder":
			var nothing: Variant = null
			return nothing.no_such_method()
	return {}
"#;

fn codes(lines: &[String]) -> Vec<String> {
    let code = |line: &String| serde_json::from_str::<Value>(line).unwrap()["code"].as_str().unwrap_or("").to_owned();
    lines.iter().map(code).collect()
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_crash_answers_all_calls_and_exits_4() {
    let (mut game, _folder) = Game::play(DOOMED);
    let pid = game.pid();
    for line in [r#"{"cmd":"crash","id":"x"}"#, r#"{"type":"tool_call","call_id":"c","tool_name":"get_tree"}"#] {
        game.talk.say(line);
    }
    let ended = game.talk.end();
    assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
    assert_eq!(codes(&ended.lines), ["GAME_CRASHED", "GAME_CRASHED"]);
    let answer: Value = serde_json::from_str(&ended.lines[0]).unwrap();
    assert!(answer["id"] == "x" && answer["data"]["status"].as_u64().unwrap() > 128, "{answer}");
    assert!(answer["data"]["stderr"].as_str().unwrap().contains("asked for"), "{answer}");
    let answer: Value = serde_json::from_str(&ended.lines[1]).unwrap();
    assert_eq!((&answer["call_id"], &answer["kind"]), (&json!("c"), &json!("lost")));
    assert!(ended.stderr.contains("godot-bridge: the game has crashed"), "{}", ended.stderr);
    assert!(!is_running(pid));
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_game_that_ends_by_itself_is_reported_with_its_status() {
    let (mut game, _folder) = Game::play(DOOMED);
    // The answer to the command that ends it may still come.
    game.talk.say(r#"{"cmd":"leave","id":1}"#);
    game.talk.say(r#"{"cmd":"wait_for","id":2,"args":{"frames":100}}"#);
    let ended = game.talk.end();
    let last: Value = serde_json::from_str(ended.lines.last().unwrap()).unwrap();
    assert_eq!(
        (ended.status.code(), &last["code"], &last["data"]["status"]),
        (Some(4), &json!("GAME_EXITED"), &json!(7))
    );
    assert!(last["data"]["stderr"].as_str().unwrap().contains("leaving now"), "{last}");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn quit_is_answered_and_its_code_is_the_exit_status() {
    let mut game = Game::start(&mut bridge(&vault()));
    game.data("quit", json!({}));
    assert_eq!(game.talk.end().status.code(), Some(0), "though our stdin is open");
    let mut game = Game::start(&mut bridge(&vault()));
    game.data("quit", json!({"code": 3}));
    assert_eq!(game.talk.end_after_close().status.code(), Some(3));
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_game_that_saves_at_its_end_gets_the_configured_time() {
    let saves = "extends Control\nfunc _exit_tree() -> void:\n\tOS.delay_msec(3000)\n\t\
                 FileAccess.open(\"res://saved\", FileAccess.WRITE).store_string(\"all\")\n";
    for (options, is_saved) in [(&[][..], false), (&["--quit-timeout", "30s"], true)] {
        let folder = small_game(saves);
        let mut game = Game::start(bridge(folder.path()).args(options));
        game.data("get_tree", json!({}));
        let ended = game.talk.end_after_close();
        assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
        assert_eq!(ended.stderr.contains("has not ended in time (--quit-timeout)"), !is_saved, "{}", ended.stderr);
        assert_eq!(folder.path().join("saved").exists(), is_saved, "{options:?}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_hanging_game_is_given_up() {
    let folder = small_game(DOOMED);
    let mut game = Game::start(bridge(folder.path()).args(["--timeout", "1"]));
    let pid = game.pid();
    game.talk.say(r#"{"cmd":"hang","id":1}"#);
    game.talk.say(r#"{"cmd":"get_tree","id":2}"#);
    let ended = game.talk.end();
    assert_eq!((ended.status.code(), codes(&ended.lines)), (Some(4), vec!["TIMEOUT".to_owned(), "TIMEOUT".to_owned()]));
    assert!(ended.took < Duration::from_secs(10), "{:?}", ended.took);
    assert!(!is_running(pid));
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_script_error_is_reported_and_the_game_continues() {
    let (mut game, _folder) = Game::play(DOOMED);
    let answer = game.ask("blunder", json!({}));
    assert!(answer["events"].to_string().contains("no_such_method"), "the engine's own words: {answer}");
    game.data("get_tree", json!({}));
}

/// A broken script is reported by name, and the game does not run on silently.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_script_that_does_not_parse_is_reported() {
    for broken in ["addons/agent_bridge/agent_bridge.gd", "addons/agent_bridge/agent_session.gd"] {
        let folder = small_game(DOOMED);
        std::fs::write(folder.path().join(broken), "extends Node\nfunc (").unwrap();
        let output = pipe(&mut bridge(folder.path()), b"{\"cmd\":\"get_tree\",\"id\":1}\n");
        assert_eq!(output.status.code(), Some(3), "{broken}");
        assert_eq!(codes(&[text(&output.stdout)]), ["GAME_START_FAILED"]);
        assert!(text(&output.stderr).contains("Parse Error"), "{}", text(&output.stderr));
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_game_with_a_broken_script_is_still_playable() {
    let folder = small_game("extends Control\nfunc (");
    let mut game = Game::start(&mut bridge(folder.path()));
    assert_eq!(
        game.data("get_node", json!({"path": "/root/Main"}))["type"],
        "Control",
        "the engine runs on without its script"
    );
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_addon_of_another_version_is_refused() {
    let folder = small_game(DOOMED);
    let addon = folder.path().join("addons/agent_bridge");
    let mut changed = 0;
    for entry in std::fs::read_dir(addon).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        if path.extension().is_some_and(|end| end == "gd") && text.contains("\"1.0\"") {
            changed += 1;
            std::fs::write(path, text.replace("\"1.0\"", "\"2.0\"")).unwrap();
        }
    }
    assert!(changed > 0);
    let output = pipe(&mut bridge(folder.path()), b"{\"cmd\":\"get_tree\",\"id\":1}\n");
    assert_eq!((output.status.code(), codes(&[text(&output.stdout)])), (Some(3), vec!["VERSION_MISMATCH".to_owned()]));
    assert!(text(&output.stderr).contains("godot-bridge install"), "{}", text(&output.stderr));
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn no_game_keeps_running_after_its_bridge() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut game = Game::start(&mut bridge(&vault()));
        let pid = game.pid();
        game.talk.signal(signal);
        eventually("the game is gone", || !is_running(pid));
        let ended = game.talk.end();
        assert!(ended.status.code().is_none(), "it died of {signal}");
    }
}

/// If the kernel does not kill it (a process of another user, a wrapper in between), the game itself notices that its owner has ended.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_game_ends_after_its_owner() {
    let mut owner = Command::new("sleep").arg("1000").spawn().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut game = Command::new(std::env::var("PIPEWRIGHT_GODOT").unwrap());
    game.args(["--headless", "--path"]).arg(vault()).args(["--", "--agent-mode"]);
    game.arg(format!("--agent-dir={}", folder.path().join("session").display()));
    let mut game =
        game.arg(format!("--agent-owner={}", owner.id())).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually("it is ready", || folder.path().join("session/game.json").exists());
    assert!(game.try_wait().unwrap().is_none());
    owner.kill().unwrap();
    owner.wait().unwrap();
    eventually("it has ended", || game.try_wait().unwrap().is_some());
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_running_game_is_attached_to_and_left_running() {
    let mut game = Command::new(std::env::var("PIPEWRIGHT_GODOT").unwrap());
    game.args(["--headless", "--path"]).arg(vault()).args(["--", "--agent-mode"]).process_group(0);
    let mut game = game.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let printed = BufReader::new(game.stdout.take().unwrap()).lines().map(Result::unwrap);
    let session =
        printed.filter_map(|line| line.strip_prefix("AgentBridge: session ").map(str::to_owned)).next().unwrap();
    eventually("it is ready", || std::path::Path::new(&session).join("game.json").exists());
    for round in 0..2 {
        let mut one = Talk::start(command("godot-bridge").arg("--attach").arg(&session));
        assert!(one.ask(r#"{"cmd":"list_levels","id":"a"}"#).starts_with(r#"{"ok":true,"id":"a""#), "{round}");
        let other = pipe(command("godot-bridge").arg("--attach").arg(&session), b"{\"cmd\":\"hello\"}\n");
        assert_eq!(other.status.code(), Some(3), "one at a time");
        assert_eq!(one.end_after_close().status.code(), Some(0));
        assert!(game.try_wait().unwrap().is_none(), "it goes on");
    }
    // An unfinished line does not disturb later sessions.
    let mut half =
        std::fs::OpenOptions::new().append(true).open(std::path::Path::new(&session).join("cmd.jsonl")).unwrap();
    half.write_all(b"{\"id\":5,\"cmd\":\n").unwrap();
    let mut one = Talk::start(command("godot-bridge").arg("--attach").arg(&session));
    assert!(one.ask(r#"{"cmd":"list_levels","id":7}"#).starts_with(r#"{"ok":true,"id":7"#));
    kill(Pid::from_raw(game.id() as i32), Signal::SIGKILL).unwrap();
    game.wait().unwrap();
    one.say(r#"{"cmd":"get_tree","id":8}"#);
    let ended = one.end();
    assert_eq!((ended.status.code(), codes(&ended.lines)), (Some(4), vec!["GAME_EXITED".to_owned()]));
    let late = pipe(command("godot-bridge").arg("--attach").arg(&session), b"");
    assert_eq!(late.status.code(), Some(3), "{}", text(&late.stderr));
    std::fs::remove_dir_all(session).unwrap();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn every_transport_gives_the_same_answers() {
    let mut trees = Vec::new();
    for transport in ["file", "tcp", "unix"] {
        let mut game = Game::start(bridge(&vault()).args(["--transport", transport]));
        let hello = game.data("hello", json!({}));
        assert_eq!(hello["transport"], transport);
        trees.push(game.data("get_tree", json!({})));
        let started = Instant::now();
        for _ in 0..50 {
            game.data("get_node", json!({"path": "#CounterLabel"}));
        }
        assert!(started.elapsed() < Duration::from_secs(5));
        game.end();
    }
    assert!(trees.windows(2).all(|pair| pair[0]["tree"] == pair[1]["tree"]));
}

/// In a game that is not started for an agent, the addon does nothing.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn without_agent_mode_the_addon_does_nothing() {
    let folder = small_game(
        "extends Control\nfunc _ready():\n\tprint(\"children: \", get_node(\"/root/AgentBridge\").get_child_count(true))\n\tprint(\"size: \", get_window().size)\n",
    );
    let mut game = Command::new(std::env::var("PIPEWRIGHT_GODOT").unwrap());
    let output = pipe(game.args(["--headless", "--quit-after", "5", "--path"]).arg(folder.path()), b"");
    let stdout = text(&output.stdout);
    assert!(stdout.contains("children: 0") && stdout.contains("size: (64, 64)"), "{stdout}");
    assert!(!stdout.contains("AgentBridge:") && output.stderr.is_empty(), "{stdout}{}", text(&output.stderr));
}
