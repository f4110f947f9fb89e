//! Logs for the tests of other commands: recorded by `jsonl-record` if possible, written by hand if they are damaged.

use crate::process::{command, pipe};
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder with logs.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        std::fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// A command that runs in this folder, so that logs have short names.
    pub fn command(&self, words: &str) -> Command {
        let mut words = words.split(' ').filter(|word| !word.is_empty());
        let mut command = command(words.next().unwrap());
        command.current_dir(&self.0).args(words);
        command
    }

    /// Runs a command to its end without input.
    pub fn run(&self, words: &str) -> Output {
        pipe(&mut self.command(words), b"")
    }
}

/// The first line of a log; `child` is its field about the parts.
pub fn header(child: &str) -> String {
    let child = if child.is_empty() { String::new() } else { format!(r#""child":"{child}","#) };
    format!(
        r#"{{"format":"pipewright-log","version":1,"seq":0,"start":"2026-11-22T01:00:00.000000Z",{child}"command":["./bot","-v"]}}"#
    )
}

/// A log of messages a millisecond apart: `<` is for the child, `>` from its stdout, `!` from its stderr. A message
/// that is not JSON is text.
pub fn log(child: &str, messages: &[&str]) -> String {
    let mut log = header(child) + "\n";
    for (index, message) in messages.iter().enumerate() {
        let seq = index + 1;
        log += &line(seq as u64 * 1000, seq as u64, message);
    }
    log
}

pub fn line(t: u64, seq: u64, message: &str) -> String {
    let (direction, recorded) = message.split_at(1);
    let direction = match direction {
        "<" => "in",
        ">" => "out",
        _ => "err",
    };
    let is_json = serde_json::from_str::<serde_json::Value>(recorded).is_ok();
    let content = if is_json {
        format!("\"msg\":{recorded}")
    } else {
        format!("\"text\":{}", serde_json::to_string(recorded).unwrap())
    };
    format!("{{\"t\":{t},\"seq\":{seq},\"dir\":\"{direction}\",{content}}}\n")
}

/// The line that ends a session.
pub fn end(seq: u64, status: u8) -> String {
    format!("{{\"t\":9000,\"seq\":{seq},\"end\":\"exit status {status}\",\"status\":{status}}}\n")
}

/// Peak memory of a running process in KiB.
pub fn peak(pid: i32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Waits for the end of a process, and returns its peak memory in KiB.
pub fn watch(child: &mut Child, patience: Duration) -> u64 {
    let (started, mut most) = (Instant::now(), 0);
    while child.try_wait().unwrap().is_none() && started.elapsed() < patience {
        most = most.max(peak(child.id() as i32).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(10));
    }
    most
}
