//! A server that runs commands.

use super::{Guarded, assert_shows, path};
use crate::process::example;
use serde_json::{Value, json};

fn run(command: &str) -> Value {
    json!({"tool": "run_command", "args": {"command": command}, "id": command})
}

#[test]
fn reading_commands_run_without_a_question_and_removing_ones_are_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["letters", "cache", "drafts"] {
        std::fs::create_dir_all(at(name).join("within")).unwrap();
    }
    let server = example("stand-in-server");
    let line = format!("policy-check -- hitl-gate --tty {} -- mcp-pipe -- {} echo", super::TERMINAL, server.display());
    let mut gated = Guarded::start(&line, folder.path(), &path());
    let listed = gated.unasked(&run("ls"));
    assert_eq!(listed["data"]["content"][0]["text"], "cache\ndrafts\nletters\n", "{listed}");

    let shown = gated.held(&run("rm -rf letters"));
    assert_shows(&shown, &["tool  run_command", "RUN: it may run a program", ".command: \"rm -rf letters\""]);
    let rejected = gated.decide("n I still need them");
    assert_eq!(
        (&rejected["kind"], &rejected["error"]),
        (&json!("rejected"), &json!("a person rejected it: I still need them"))
    );

    gated.held(&run("rm -rf letters"));
    assert_shows(
        &gated.edit("command=rm -rf cache"),
        &["- .command: \"rm -rf letters\"", "+ .command: \"rm -rf cache\""],
    );
    assert!(at("cache").exists(), "it waits until the edit is approved");
    assert_eq!(gated.decide("y")["status"], "ok");
    assert!(at("letters").exists() && !at("cache").exists());

    gated.held(&run("rm -rf drafts"));
    assert!(at("drafts").exists());
    assert_eq!(gated.decide("y")["status"], "ok");
    assert!(at("letters").exists() && !at("drafts").exists());
    assert_eq!(gated.calls.end_after_close().status.code(), Some(1), "something was rejected");
}
