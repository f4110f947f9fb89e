//! Logs to play and to look into: made by `jsonl-record` itself where that is natural, by hand where they are damaged.

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

    /// A command that runs here, so that logs are named as a person would.
    pub fn command(&self, words: &str) -> Command {
        let mut words = words.split(' ').filter(|word| !word.is_empty());
        let mut command = command(words.next().unwrap());
        command.current_dir(&self.0).args(words);
        command
    }

    /// Runs it to its end without an input.
    pub fn run(&self, words: &str) -> Output {
        pipe(&mut self.command(words), b"")
    }
}

/// The first line of a log; `child` is what it says about roles.
pub fn header(child: &str) -> String {
    let child = if child.is_empty() { String::new() } else { format!(r#""child":"{child}","#) };
    format!(
        r#"{{"format":"pipewright-log","version":1,"seq":0,"start":"2026-11-22T01:00:00.000000Z",{child}"command":["./bot","-v"]}}"#
    )
}

/// A log of messages a millisecond apart: `<` goes to the child, `>` comes from it, `!` is what it says on stderr. A message
/// that is no JSON is text.
pub fn log(child: &str, messages: &[&str]) -> String {
    let mut log = header(child) + "\n";
    for (index, message) in messages.iter().enumerate() {
        let seq = index + 1;
        log += &line(seq as u64 * 1000, seq as u64, message);
    }
    log
}

pub fn line(t: u64, seq: u64, message: &str) -> String {
    let (direction, said) = message.split_at(1);
    let direction = match direction {
        "<" => "in",
        ">" => "out",
        _ => "err",
    };
    let is_json = serde_json::from_str::<serde_json::Value>(said).is_ok();
    let content =
        if is_json { format!("\"msg\":{said}") } else { format!("\"text\":{}", serde_json::to_string(said).unwrap()) };
    format!("{{\"t\":{t},\"seq\":{seq},\"dir\":\"{direction}\",{content}}}\n")
}

/// How a session ends in the log.
pub fn end(seq: u64, status: u8) -> String {
    format!("{{\"t\":9000,\"seq\":{seq},\"end\":\"exit status {status}\",\"status\":{status}}}\n")
}

/// Peak memory in KiB, while it runs.
pub fn peak(pid: i32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Waits for its end, and gives its peak memory in KiB.
pub fn watch(child: &mut Child, patience: Duration) -> u64 {
    let (started, mut most) = (Instant::now(), 0);
    while child.try_wait().unwrap().is_none() && started.elapsed() < patience {
        most = most.max(peak(child.id() as i32).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(10));
    }
    most
}
