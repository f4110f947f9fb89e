//! `agent-loop`, with a scripted model and a stand-in world.

#[cfg(feature = "browser")]
mod browser;
mod effects;
mod faults;
mod limits;
#[cfg(feature = "browser")]
mod live;
mod person;
mod resumed;
mod runs;
#[cfg(feature = "browser")]
pub mod sites;
mod terminal;
mod turns;
mod worlds;

use crate::process::{Ended, Talk, command, example, pipe};
use pipewright_clients::session::Session;
use pipewright_record::SessionRecord;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with the model's script and the requests to the model.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// Each line is a turn of the model: see tests/stand_in/model.rs.
    fn new(script: &[&str]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script"), script.join("\n")).unwrap();
        Place { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command with its model command; `--` and the world have to be added.
    fn agent(&self, arguments: &[&str]) -> Command {
        let words = [example("stand-in-model"), self.path("script"), self.path("requests")];
        let words = words.map(|word| format!("'{}'", word.display()));
        let mut agent = command("agent-loop");
        agent.arg("--llm").arg(words.join(" ")).args(arguments);
        agent
    }

    /// Runs it over the stand-in world.
    fn run(&self, arguments: &[&str], input: &str) -> Run {
        let mut agent = self.agent(arguments);
        agent.arg("--").arg(example("stand-in-world"));
        Run::of_input(pipe(&mut agent, input.as_bytes()), input)
    }

    fn talk(&self, arguments: &[&str]) -> Talk {
        Talk::start(self.agent(arguments).arg("--").arg(example("stand-in-world")))
    }

    /// The requests to the model, without the half line of one that was killed.
    fn requests(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.path("requests")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

/// A finished run, and its records.
struct Run {
    status: Option<i32>,
    records: Vec<Value>,
    stderr: String,
}

impl Run {
    #[track_caller]
    fn of(output: Output) -> Run {
        Run::of_input(output, "")
    }

    /// Asserts that the records of a run with this input are in order.
    #[track_caller]
    fn of_input(output: Output, input: &str) -> Run {
        let text = String::from_utf8(output.stdout).unwrap();
        let mut session = Session::default();
        input.lines().for_each(|line| session.sent(line));
        for line in text.lines() {
            session.received(&SessionRecord::read(line).unwrap()).unwrap_or_else(|why| panic!("{why}: {line}\n{text}"));
        }
        let records = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Run { status: output.status.code(), records, stderr: String::from_utf8(output.stderr).unwrap() }
    }

    fn of_talk(ended: &Ended) -> Run {
        let records = ended.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        Run { status: ended.status.code(), records, stderr: ended.stderr.clone() }
    }

    /// The records of a type.
    fn of_type(&self, name: &str) -> Vec<&Value> {
        self.records.iter().filter(|record| record["type"] == name).collect()
    }

    /// The last record; its exit status must be that of the process.
    #[track_caller]
    fn last(&self) -> &Value {
        let last = self
            .of_type("final")
            .pop()
            .unwrap_or_else(|| panic!("no final record: {:?} {}", self.records, self.stderr));
        assert_eq!(last["exit_status"].as_i64().map(|status| status as i32), self.status, "{last} {}", self.stderr);
        last
    }
}

/// A turn that makes a call. The arguments are JSON text.
fn call(tool: &str, arguments: &str) -> String {
    format!(r#"{{"calls":[{{"tool_name":"{tool}","arguments":{arguments}}}]}}"#)
}

/// A turn that ends the goal.
fn done(evidence: &str) -> String {
    call("assistant_done", &format!(r#"{{"reason":"done","evidence":"{evidence}"}}"#))
}

/// The texts of a message, joined.
fn said(message: &Value) -> String {
    let parts = message["content"].as_array().cloned().unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The next record that matches.
#[track_caller]
fn until(talk: &mut Talk, is_it: impl Fn(&Value) -> bool) -> Value {
    loop {
        let record: Value = serde_json::from_str(&talk.receive()).unwrap();
        if is_it(&record) {
            return record;
        }
    }
}
