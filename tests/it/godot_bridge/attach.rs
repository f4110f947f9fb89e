//! Joining a game that somebody has started, and leaving it.

use crate::process::{Talk, command, eventually, example, is_running, pipe, text};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A game that was started by hand.
struct Started {
    game: Child,
    folder: TempDir,
}

impl Started {
    fn start(fault: &str) -> Started {
        let folder = tempfile::tempdir().unwrap();
        let mut game = Command::new(example("stand-in-game"));
        game.arg(fault).env("AGENT_BRIDGE_MODE", "1").env("AGENT_BRIDGE_DIR", folder.path());
        let game = game.stdout(Stdio::null()).spawn().unwrap();
        let json = folder.path().join("game.json");
        eventually("the game has begun", || std::fs::read(&json).is_ok_and(|text| text.ends_with(b"}")));
        Started { game, folder }
    }

    fn attach(&self) -> Command {
        attach(self.folder.path())
    }

    fn pid(&self) -> i32 {
        self.game.id() as i32
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.game.kill();
        let _ = self.game.wait();
    }
}

fn attach(folder: &Path) -> Command {
    let mut attach = command("godot-bridge");
    attach.arg("--attach").arg(folder);
    attach
}

#[test]
fn it_is_joined_and_left_running_again_and_again() {
    let started = Started::start("echo");
    for id in 0..3 {
        let mut attach = started.attach();
        attach.args(["--transport", "file"]);
        let output = pipe(&mut attach, format!("{{\"cmd\":\"x\",\"id\":{id}}}\n").as_bytes());
        assert!(text(&output.stdout).starts_with(&format!(r#"{{"ok":true,"id":{id},"#)), "{}", text(&output.stderr));
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    }
    assert!(is_running(started.pid()));
    assert!(started.folder.path().join("resp.jsonl").exists(), "the folder is the game's");
}

#[test]
fn one_at_a_time() {
    let started = Started::start("echo");
    let mut first = Talk::start(&mut started.attach());
    first.ask(r#"{"cmd":"x"}"#);
    let second = pipe(&mut started.attach(), b"");
    assert_eq!(second.status.code(), Some(3));
    assert!(
        text(&second.stderr).contains("another godot-bridge is already attached to this game"),
        "{}",
        text(&second.stderr)
    );
    first.ask(r#"{"cmd":"x"}"#);
    assert_eq!(first.end_after_close().status.code(), Some(0));
    assert_eq!(pipe(&mut started.attach(), b"").status.code(), Some(0));
}

#[test]
fn a_signal_leaves_it_running() {
    let started = Started::start("echo");
    let mut bridge = Talk::start(&mut started.attach());
    bridge.ask(r#"{"cmd":"x"}"#);
    bridge.signal(nix::sys::signal::SIGTERM);
    bridge.end();
    assert!(is_running(started.pid()));
    let output = pipe(&mut started.attach(), b"{\"cmd\":\"x\"}\n");
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

#[test]
fn what_was_said_to_somebody_before_us_is_nobodys() {
    let started = Started::start("stale");
    // A client that was killed in the middle of a line, and an answer that nobody waits for.
    let mut commands = OpenOptions::new().append(true).open(started.folder.path().join("cmd.jsonl")).unwrap();
    commands.write_all(b"{\"id\":1,\"cmd\":\"sle").unwrap();
    let output = pipe(&mut started.attach(), b"{\"cmd\":\"x\",\"id\":7}\n");
    assert!(text(&output.stdout).starts_with(r#"{"ok":true,"id":7,"#), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn it_is_left_when_it_goes() {
    for (command, status, told) in [
        (r#"{"cmd":"exit","id":1}"#, 4, "the game closed its connection (GAME_EXITED)"),
        (r#"{"cmd":"abort","id":1}"#, 4, "the game closed its connection (GAME_EXITED)"),
        (r#"{"cmd":"quit","id":1}"#, 0, ""),
    ] {
        // Nobody waits for the dead game, as a program that started it and does something else wouldn't.
        let started = Started::start("echo");
        let mut bridge = Talk::start(&mut started.attach());
        let answer = bridge.ask(command);
        assert_eq!(answer.contains("GAME_EXITED"), status == 4, "{answer}");
        let ended = bridge.end();
        assert_eq!(ended.status.code(), Some(status), "{}", ended.stderr);
        assert!(ended.stderr.contains(told), "{}", ended.stderr);
        let again = pipe(&mut started.attach(), b"");
        assert_eq!(again.status.code(), Some(3));
        assert!(text(&again.stderr).contains("is not running any more"), "{}", text(&again.stderr));
    }
}

#[test]
fn a_folder_that_is_no_sessions() {
    let folder = tempfile::tempdir().unwrap();
    for (game, told) in [
        (None, "game.json: No such file"),
        (Some("{}"), "game.json: missing field `pid`"),
        (Some("{\"pid\":0}"), "is not running any more"),
    ] {
        if let Some(game) = game {
            std::fs::write(folder.path().join("game.json"), game).unwrap();
        }
        let output = pipe(&mut attach(folder.path()), b"");
        assert_eq!(output.status.code(), Some(3));
        assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    }
}
