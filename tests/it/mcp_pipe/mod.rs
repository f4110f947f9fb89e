//! `mcp-pipe` with a stand-in server (`tests/stand_in/server.rs`): the answers to calls, the effects of a failing
//! server, and the end of a run. Real servers are used elsewhere.

mod arguments;
mod calls;
mod discovery;
mod ends;
mod eras;
mod events;
mod faults;
mod flow;
mod health;
mod limits;
mod options;
mod questions;
mod restarts;
mod several;
mod unanswered;

use crate::process::{Ended, Talk, command, eventually, example, pipe, text, without_duration};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A pipe with a server, and the folder that distinguishes the server's processes from those of other tests.
struct Pipe {
    talk: Talk,
    home: TempDir,
}

impl Pipe {
    fn start(server: &str, options: &[&str]) -> Pipe {
        let (mut pipe, home) = mcp_pipe(server, options);
        Pipe { talk: Talk::start(&mut pipe), home }
    }

    /// The same, with a log of the lines that the server receives.
    fn start_logged(server: &str, options: &[&str]) -> Pipe {
        let (mut pipe, home) = mcp_pipe(server, options);
        Pipe { talk: Talk::start(with_log(&mut pipe, &home)), home }
    }

    fn ask(&mut self, line: &str) -> Value {
        serde_json::from_str(&self.talk.ask(line)).unwrap()
    }

    /// Waits until the server has received this text so many times.
    #[track_caller]
    fn reaches_server(&self, text: &str, times: usize) {
        let log = self.home.path().join("log");
        let received = || std::fs::read_to_string(&log).unwrap_or_default().matches(text).count();
        eventually(text, || received() >= times);
    }

    /// The server and its children.
    fn processes(&mut self) -> Vec<i32> {
        let answer = self.ask(r#"{"tool":"processes"}"#);
        let process = |name: &str| answer["data"]["structuredContent"][name].as_i64().map(|pid| pid as i32);
        ["server", "grandchild"].into_iter().filter_map(process).collect()
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

/// The output of a complete run.
struct Played {
    status: Option<i32>,
    lines: Vec<String>,
    stderr: String,
    home: TempDir,
}

impl Played {
    fn answers(&self) -> Vec<Value> {
        self.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The lines that the server has received.
    fn received(&self) -> Vec<Value> {
        let received = std::fs::read_to_string(self.home.path().join("log")).unwrap();
        received.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Asserts that it succeeded with an empty stderr.
    fn assert_well(&self) {
        assert_eq!((self.status, self.stderr.as_str()), (Some(0), ""), "{:?}", self.lines);
    }
}

/// `mcp-pipe OPTIONS -- stand-in-server SERVER`, where SERVER is the server's fault and its arguments.
fn mcp_pipe(server: &str, options: &[&str]) -> (Command, TempDir) {
    let home = tempfile::tempdir().unwrap();
    let mut pipe = command("mcp-pipe");
    pipe.env("STAND_IN_HOME", home.path()).args(options).arg("--").arg(example("stand-in-server"));
    pipe.args(server.split(' ')).arg(format!("count={}", home.path().join("count").display()));
    (pipe, home)
}

/// Runs a server with these lines as input.
fn play(server: &str, options: &[&str], lines: &[&str]) -> Played {
    let (mut command, home) = mcp_pipe(server, options);
    play_command(&mut command, home, lines)
}

/// The same, with a log of the lines that the server receives.
fn play_logged(server: &str, options: &[&str], lines: &[&str]) -> Played {
    let (mut command, home) = mcp_pipe(server, options);
    with_log(&mut command, &home);
    play_command(&mut command, home, lines)
}

fn with_log<'a>(command: &'a mut Command, home: &TempDir) -> &'a mut Command {
    command.arg(format!("log={}", home.path().join("log").display()))
}

fn play_command(command: &mut Command, home: TempDir, lines: &[&str]) -> Played {
    let output = pipe(command, lines.iter().map(|line| format!("{line}\n")).collect::<String>().as_bytes());
    assert_nothing_is_left(home.path());
    let lines = text(&output.stdout).lines().map(without_duration).collect();
    Played { status: output.status.code(), lines, stderr: text(&output.stderr), home }
}

/// Asserts that no server of this test, and none of its children, still runs.
fn assert_nothing_is_left(home: &Path) {
    eventually("the server has ended", || !is_known_to_anybody(home));
}

/// Whether a process has this folder in its arguments or environment.
fn is_known_to_anybody(folder: &Path) -> bool {
    let folder = folder.to_str().unwrap();
    let names = |file: std::path::PathBuf| std::fs::read(file).is_ok_and(|words| text(&words).contains(folder));
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|process| ["cmdline", "environ"].iter().any(|file| names(process.path().join(file))))
}
