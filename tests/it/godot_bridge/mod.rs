//! `godot-bridge` with a stand-in for a game (`tests/stand_in/game.rs`): the forms of answers, failures of the game, and
//! the end. The tests with a real engine are in `godot`.

mod attach;
mod calls;
mod ends;
mod events;
mod faults;
mod flow;
mod project;
mod starts;

use crate::process::{Ended, Talk, command, eventually, example, text};
use crate::schemas::hold_all;
use serde_json::Value;
use std::io::{Seek, Write};
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A bridge with a game, and the folder that contains its session.
struct Bridge {
    talk: Talk,
    home: TempDir,
}

impl Bridge {
    fn start(fault: &str, options: &[&str]) -> Bridge {
        let (mut bridge, home) = bridge(fault, options);
        Bridge { talk: Talk::start(&mut bridge), home }
    }

    /// Sends a line, and reads the answer.
    fn ask(&mut self, line: &str) -> Value {
        serde_json::from_str(&self.talk.ask(line)).unwrap()
    }

    /// The game, and the processes it has left behind.
    fn processes(&mut self) -> Vec<i32> {
        let answer = self.ask(r#"{"cmd":"processes"}"#);
        let process = |name: &str| answer["data"][name].as_i64().map(|pid| pid as i32);
        ["game", "grandchild"].into_iter().filter_map(process).collect()
    }

    fn end(self) -> Ended {
        let ended = self.talk.end();
        assert_nothing_is_left(self.home.path());
        ended
    }

    fn end_after_close(mut self) -> Ended {
        self.talk.close();
        self.end()
    }
}

/// `godot-bridge OPTIONS -- stand-in-game FAULT`.
fn bridge(fault: &str, options: &[&str]) -> (Command, TempDir) {
    let home = tempfile::tempdir().unwrap();
    let mut bridge = command("godot-bridge");
    bridge.env("XDG_RUNTIME_DIR", home.path()).env_remove("PIPEWRIGHT_GODOT");
    bridge.args(options).arg("--").arg(example("stand-in-game")).arg(fault);
    (bridge, home)
}

/// Plays these lines to a game. They are written before it starts: a game may end at once, and then the bridge does not
/// wait long for input.
fn play(fault: &str, options: &[&str], lines: &[&str]) -> Output {
    let (mut bridge, home) = bridge(fault, options);
    let mut input = tempfile::tempfile().unwrap();
    lines.iter().for_each(|line| writeln!(input, "{line}").unwrap());
    input.rewind().unwrap();
    let output = bridge.stdin(input).output().unwrap();
    hold_all(&output.stdout, lines.join("\n").as_bytes());
    assert_nothing_is_left(home.path());
    output
}

/// Asserts that there is no session, and no game with a session.
fn assert_nothing_is_left(home: &Path) {
    let sessions = std::fs::read_dir(home.join("pipewright")).map(|entries| entries.count()).unwrap_or_default();
    assert_eq!(sessions, 0, "a session's folder was left");
    eventually("the game has ended", || !has_a_process(home));
}

/// Whether a process has a session in this folder, by its environment.
fn has_a_process(folder: &Path) -> bool {
    let session = format!("AGENT_BRIDGE_DIR={}", folder.display());
    let knows = |variables: Vec<u8>| text(&variables).contains(&session);
    let mut processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.any(|process| std::fs::read(process.path().join("environ")).is_ok_and(knows))
}

fn lines(output: &Output) -> Vec<String> {
    text(&output.stdout).lines().map(str::to_owned).collect()
}
