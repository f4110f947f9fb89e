//! `godot-bridge` on a real Godot (which `scripts/install-godot` installs; PIPEWRIGHT_GODOT names it).

mod actions;
mod choices;
mod compact;
mod devices;
mod edits;
mod ends;
mod errors;
mod expects;
mod facts;
mod fills;
mod lockstep;
mod pictures;
mod plays;
mod popups;
mod presses;
mod projects;
mod public;
mod sees;
mod starts;
mod tools;
mod translations;
mod waits;
mod windows;

use crate::process::{Talk, binary, command};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// A bridge to a project; fails the test if there is no Godot.
fn bridge(project: &Path) -> Command {
    std::env::var("PIPEWRIGHT_GODOT").expect("PIPEWRIGHT_GODOT names no Godot: run scripts/test");
    let mut bridge = command("godot-bridge");
    bridge.arg("--launch").arg(project);
    bridge
}

/// The files below a folder, following links, without files that the engine generates.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let entries = entries.filter(|path| !path.ends_with(".godot") && path.extension().is_none_or(|of| of != "uid"));
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The example game: a copy that is imported once, for all tests.
pub fn vault() -> PathBuf {
    example("example")
}

/// The example game with a menu: the same.
pub fn catch() -> PathBuf {
    example("catch")
}

fn example(name: &str) -> PathBuf {
    imported(name, &Path::new(env!("CARGO_MANIFEST_DIR")).join("godot").join(name))
}

/// A copy of a project that is imported once, for all tests. While it stays current nothing in it is written, since the games of other
/// tests load their scripts from it.
fn imported(name: &str, project: &Path) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    // Not empty once the project was imported. A project without assets has no folder of the engine that would show it.
    let lock = folder.with_extension("lock");
    let mut lock = std::fs::OpenOptions::new().create(true).append(true).open(lock).unwrap();
    lock.lock().unwrap();
    let copies = files_below(project).into_iter().map(|from| (folder.join(from.strip_prefix(project).unwrap()), from));
    let copies: Vec<(PathBuf, PathBuf)> = copies.collect();
    let is_current =
        copies.iter().all(|(to, from)| std::fs::read(to).is_ok_and(|text| text == std::fs::read(from).unwrap()));
    if !is_current || lock.metadata().unwrap().len() == 0 {
        lock.set_len(0).unwrap();
        let _ = std::fs::remove_dir_all(&folder);
        for (to, from) in &copies {
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(from, to).unwrap();
        }
        let mut game = Game::start(&mut bridge(&folder));
        game.data("hello", json!({}));
        lock.write_all(b"imported\n").unwrap();
    }
    folder
}

/// A small game: `body` is the main scene's script (a Control of 800 x 600, named Main), which builds what it needs.
pub fn small_game(body: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let project = "config_version=5\n\n[application]\n\nconfig/name=\"Small\"\nrun/main_scene=\"res://main.tscn\"\n\n\
                   [display]\n\nwindow/size/viewport_width=800\nwindow/size/viewport_height=600\n";
    let scene = "[gd_scene format=3]\n\n[ext_resource type=\"Script\" path=\"res://main.gd\" id=\"1\"]\n\n\
                 [node name=\"Main\" type=\"Control\"]\noffset_right = 800.0\noffset_bottom = 600.0\nscript = ExtResource(\"1\")\n";
    for (name, text) in [("project.godot", project), ("main.tscn", scene), ("main.gd", body)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let status = command("godot-bridge").arg("install").arg(folder.path()).stdout(std::process::Stdio::null()).status();
    assert!(status.unwrap().success());
    folder
}

/// A session with a game.
struct Game {
    talk: Talk,
    next: u64,
}

impl Game {
    fn start(bridge: &mut Command) -> Game {
        Game { talk: Talk::start(bridge), next: 1 }
    }

    fn play(body: &str) -> (Game, tempfile::TempDir) {
        let folder = small_game(body);
        (Game::start(&mut bridge(folder.path())), folder)
    }

    /// Sends a command, and returns the complete answer.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let line = json!({"cmd": command, "id": id, "args": arguments}).to_string();
        let answer: Value = serde_json::from_str(&self.talk.ask(&line)).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a command that must succeed, and returns its data.
    fn data(&mut self, command: &str, arguments: Value) -> Value {
        let mut answer = self.ask(command, arguments);
        assert_eq!(answer["ok"], true, "{command}: {answer}");
        answer["data"].take()
    }

    /// Sends a command that must be refused, and returns its code and the answer.
    fn refusal(&mut self, command: &str, arguments: Value) -> (String, Value) {
        let answer = self.ask(command, arguments);
        assert_eq!(answer["ok"], false, "{command}: {answer}");
        assert!(!answer["error"].as_str().unwrap().is_empty());
        (answer["code"].as_str().unwrap().to_owned(), answer)
    }

    /// The id of the game's process.
    fn pid(&mut self) -> i32 {
        self.data("hello", json!({}))["pid"].as_i64().unwrap() as i32
    }

    /// Closes stdin, and asserts that the run succeeded.
    fn end(self) {
        let ended = self.talk.end_after_close();
        assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
    }
}

/// The types of an answer's events.
/// Less than an answer takes that comes with a frame, at sixty in a second.
const FRAME: Duration = Duration::from_millis(8);

/// The shortest time of 50 answers: on a busy machine, others take longer.
fn fastest(mut ask: impl FnMut()) -> Duration {
    let time = |_| {
        let started = Instant::now();
        ask();
        started.elapsed()
    };
    (0..50).map(time).min().unwrap()
}

fn types(answer: &Value) -> Vec<&str> {
    answer["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect()
}

/// The nodes of a tree for which a condition holds.
fn nodes<'a>(tree: &'a Value, holds: &impl Fn(&Value) -> bool) -> Vec<&'a Value> {
    let children = tree["children"].as_array().map(Vec::as_slice).unwrap_or_default();
    let own = holds(tree).then_some(tree);
    own.into_iter().chain(children.iter().flat_map(|child| nodes(child, holds))).collect()
}

fn named<'a>(tree: &'a Value, name: &str) -> &'a Value {
    let found = nodes(tree, &|node| node["name"] == name);
    assert_eq!(found.len(), 1, "{name} in {tree}");
    found[0]
}
