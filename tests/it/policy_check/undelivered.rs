//! A call that is audited as passed, but was never written to the child: the audit records that, too.

use crate::process::{Talk, command, eventually, is_idle, pipe, text};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// `policy-check --audit audit -- sh -c SCRIPT` in a folder of its own.
fn around(folder: &TempDir, script: &str) -> Command {
    let mut gate = command("policy-check");
    gate.current_dir(folder.path()).args(["--confirm", "mark", "--audit", "audit", "--", "sh", "-c", script]);
    gate
}

/// The audit's entries about each call: the event, and what was done with the call.
fn audited(folder: &TempDir) -> Vec<(String, Value, Value)> {
    let audit = crate::schemas::written(folder.path().join("audit"));
    let events = audit.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events
        .map(|event| (event["event"].as_str().unwrap().to_owned(), event["call_id"].clone(), event["did"].clone()))
        .collect()
}

fn verified(folder: &TempDir) -> (Option<i32>, Value) {
    let verified = pipe(command("policy-check").arg("verify").arg(folder.path().join("audit")), b"");
    (verified.status.code(), serde_json::from_slice(&verified.stdout).unwrap())
}

fn call(id: usize) -> String {
    format!("{{\"tool\":\"look\",\"id\":{id}}}\n")
}

fn wait_for(path: &Path) {
    eventually("the child is ready", || path.exists());
}

#[test]
fn calls_behind_a_child_that_has_closed_its_stdin_are_answered_and_audited() {
    let folder = tempfile::tempdir().unwrap();
    let mut talk = Talk::start(&mut around(&folder, "exec <&-; touch ready; sleep 30"));
    wait_for(&folder.path().join("ready"));
    talk.say(&(call(1) + r#"{"tool":"delete_file","id":2}"#));
    for id in [1, 2] {
        let answer: Value = serde_json::from_str(&talk.receive()).unwrap();
        assert_eq!((&answer["id"], &answer["kind"]), (&json!(id), &json!("lost")));
        assert!(answer["error"].as_str().unwrap().contains("Broken pipe"), "{answer}");
    }
    talk.signal(Signal::SIGTERM);
    let ended = talk.end();
    assert!(ended.stderr.contains("stdin:1: look: it was not delivered: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("stdin:2: delete_file: it was not delivered: "), "{}", ended.stderr);
    let event = |event: &str, id, did: &str| (event.to_owned(), id, json!(did));
    let events = audited(&folder);
    assert_eq!(
        events[1..5],
        [
            event("verdict", json!(1), "passed"),
            event("verdict", json!(2), "marked"),
            event("undelivered", json!(1), "passed"),
            event("undelivered", json!(2), "marked"),
        ]
    );
    assert_eq!((events[5].0.as_str(), events.len()), ("end", 6));
    let (status, summary) = verified(&folder);
    assert_eq!((status, &summary["undelivered"]), (Some(0), &json!(2)), "{summary}");
    assert_eq!(summary.get("unchecked"), None, "nobody has to be asked about a call that was not delivered: {summary}");
}

#[test]
fn a_call_that_was_written_to_the_child_is_not_undelivered() {
    let folder = tempfile::tempdir().unwrap();
    let mut talk = Talk::start(&mut around(&folder, "read -r call; echo \"$call\"; exec <&-; touch ready; sleep 30"));
    talk.say(call(1).trim_end());
    assert!(talk.receive().contains("\"id\":1"));
    wait_for(&folder.path().join("ready"));
    talk.say(call(2).trim_end());
    assert!(talk.receive().contains("\"lost\""));
    talk.signal(Signal::SIGTERM);
    talk.end();
    let undelivered: Vec<Value> =
        audited(&folder).into_iter().filter(|(event, ..)| event == "undelivered").map(|(_, id, _)| id).collect();
    assert_eq!(undelivered, [json!(2)]);
}

/// A gate that waits for a child which reads nothing; there are more calls than fit into a pipe.
fn blocked(folder: &TempDir, script: &str) -> Talk {
    let mut talk = Talk::start(&mut around(folder, script));
    wait_for(&folder.path().join("ready"));
    let calls: String = (0..4000).map(|id| call(id) + &" ".repeat(100) + "\n").collect();
    let mut writer = talk.take_stdin();
    std::thread::spawn(move || writer.write_all(calls.as_bytes()));
    let path = folder.path().join("audit");
    let size = || std::fs::metadata(&path).map_or(0, |audit| audit.len());
    let mut before = 0;
    eventually("the gate waits for the child", || {
        std::thread::sleep(std::time::Duration::from_millis(200));
        size() > 10_000 && std::mem::replace(&mut before, size()) == size() && is_idle(talk.pid().as_raw())
    });
    talk
}

/// The ids of the calls that were not delivered: all from one on, up to the last that passed.
fn undelivered(folder: &TempDir) -> Vec<Value> {
    let events = audited(folder);
    let of =
        |name: &str| Vec::from_iter(events.iter().filter(|(event, ..)| event == name).map(|(_, id, _)| id.clone()));
    let (passed, undelivered) = (of("verdict"), of("undelivered"));
    assert!(!undelivered.is_empty() && undelivered.len() < passed.len(), "{} of {}", undelivered.len(), passed.len());
    assert!(passed.ends_with(&undelivered), "{undelivered:?}");
    assert_eq!(events.last().unwrap().0, "end");
    undelivered
}

#[test]
fn calls_not_read_when_a_signal_ends_the_gate_are_audited() {
    let folder = tempfile::tempdir().unwrap();
    let talk = blocked(&folder, "touch ready; sleep 30");
    talk.signal(Signal::SIGTERM);
    talk.end();
    undelivered(&folder);
}

#[test]
fn calls_not_read_when_the_child_ends_are_answered_and_audited() {
    let folder = tempfile::tempdir().unwrap();
    let talk = blocked(&folder, "touch ready; while [ ! -e go ]; do sleep 0.1; done; exit 7");
    std::fs::write(folder.path().join("go"), "").unwrap();
    let ended = talk.end();
    let answered = ended.lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone());
    assert_eq!((ended.status.code(), Vec::from_iter(answered)), (Some(7), undelivered(&folder)));
}

#[test]
fn calls_in_a_pipe_without_a_reader_are_audited_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut gate = command("policy-check");
    gate.current_dir(folder.path()).args(["--audit", "audit"]);
    let mut gate = gate.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(gate.stdout.take());
    let mut stdin = gate.stdin.take().unwrap();
    // The gate may have ended already, since its reader has gone.
    let _ = stdin.write_all((call(1) + &call(2)).as_bytes());
    let output = gate.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    let events = audited(&folder);
    let of = |name: &str| events.iter().filter(|(event, ..)| event == name).map(|(_, id, _)| id).collect::<Vec<_>>();
    assert_eq!((of("verdict"), of("end").len()), (of("undelivered"), 1), "{events:?}");
}
