//! Records and answers on stdout are written between complete lines of the child, in whatever pieces the child writes them.

use crate::process::{Talk, command, eventually};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

const MARKED: &str = r#"{"tool":"delete_file","id":1}"#;
const UNREADABLE: &str = "{\"tool\":\"look\",\r\"id\":2}";

/// `policy-check --events -` around a shell script. Once the script has run `begun`, the gate has read its earlier output.
fn around(script: &str) -> (Talk, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let mut gate = command("policy-check");
    gate.args(["--confirm", "mark", "--events", "-", "--max-line", "100", "--", "sh", "-c"]);
    gate.arg(format!("begun() {{ touch {}; }}; {script}", folder.path().join("begun").display()));
    let talk = Talk::start(gate.env("FOLDER", folder.path()));
    (talk, folder)
}

/// Waits until the gate has read what the child has written.
fn wait_for(talk: &Talk, folder: &Path) {
    eventually("the child has written", || folder.join("begun").exists());
    talk.settles();
}

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

#[test]
fn an_event_waits_for_the_end_of_a_line_that_passes_in_parts() {
    let line = "a".repeat(150);
    let (mut talk, folder) =
        around(&format!("printf {line}; begun; read -r call; printf 'b\\n%s\\n' \"$call\"; exec cat >/dev/null"));
    wait_for(&talk, folder.path());
    talk.say(UNREADABLE);
    talk.say(MARKED);
    assert_eq!(talk.receive(), format!("{line}b"));
    assert_eq!(json(&talk.receive())["kind"], "bad_input");
    assert_eq!(json(&talk.receive())["type"], "policy_request");
    assert_eq!(json(&talk.receive())["requires_approval"], true, "the next line of the child");
    assert_eq!(talk.end_after_close().status.code(), Some(1));
}

#[test]
fn events_and_answers_do_not_join_a_last_line_without_a_newline() {
    for (line, expected) in [(MARKED, json!("policy_request")), (UNREADABLE, json!("tool_result"))] {
        for last in ["the end".to_owned(), "a".repeat(150)] {
            let (mut talk, folder) = around(&format!("printf '{last}'; exec >&-; begun; exec cat >/dev/null"));
            wait_for(&talk, folder.path());
            talk.say(line);
            assert_eq!(talk.receive(), last);
            assert_eq!(json(&talk.receive())["type"], expected);
            talk.end_after_close();
        }
    }
}

#[test]
fn nothing_is_added_to_a_last_line_without_a_newline_if_nothing_follows() {
    let output = crate::process::pipe(
        command("policy-check").args(["--events", "-", "--", "sh", "-c", "printf 'the end'"]),
        b"",
    );
    assert_eq!(crate::process::text(&output.stdout), "the end");
}

#[test]
fn a_line_that_arrives_slowly_is_not_divided() {
    let (mut talk, folder) = around(
        "printf aa; begun; read -r call; until [ -e \"$FOLDER/asked\" ]; do sleep 0.05; done; printf 'bb\\n'; exec cat >/dev/null",
    );
    wait_for(&talk, folder.path());
    talk.say(MARKED);
    assert_eq!(json(&talk.receive())["type"], "policy_request");
    std::fs::write(folder.path().join("asked"), "").unwrap();
    assert_eq!(talk.receive(), "aabb");
    talk.end_after_close();
}

#[test]
fn waiting_records_are_written_even_if_the_child_never_ends_its_line() {
    let line = "a".repeat(150);
    // A process that outlives the child keeps its stdout open, so the line has no end.
    let (mut talk, folder) = around(&format!("printf {line}; begun; sleep 600 & read -r call; exit 7"));
    wait_for(&talk, folder.path());
    talk.say(UNREADABLE);
    talk.say(MARKED);
    assert_eq!(talk.receive(), line);
    assert_eq!(json(&talk.receive())["kind"], "bad_input");
    assert_eq!(json(&talk.receive())["type"], "policy_request");
    assert_eq!(talk.end().status.code(), Some(7));
    // The same if a signal ends the gate.
    let (mut talk, folder) = around(&format!("printf {line}; begun; read -r never"));
    wait_for(&talk, folder.path());
    talk.say(UNREADABLE);
    talk.settles();
    talk.receive_nothing_for(100);
    talk.signal(Signal::SIGTERM);
    assert_eq!(talk.receive(), line);
    assert_eq!(json(&talk.receive())["kind"], "bad_input");
}
