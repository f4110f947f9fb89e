//! `--audit`, together with that of `policy-check`, and `--rules` for edited calls.

use super::{Desktop, MARKED, gate, json};
use crate::process::{command, eventually, pipe, text};
use serde_json::Value;
use std::fs;
use std::path::Path;

fn verify(paths: &[&Path]) -> (Option<i32>, Vec<Value>, String) {
    let output = pipe(command("policy-check").arg("verify").args(paths), b"");
    (output.status.code(), text(&output.stdout).lines().map(json).collect(), text(&output.stderr))
}

#[test]
fn questions_and_answers_are_audited_and_agree_with_the_verdicts() {
    let folder = tempfile::tempdir().unwrap();
    let [judged, asked] = ["judged", "asked"].map(|name| folder.path().join(name));
    let calls: String = (1..=3)
        .map(|id| format!("{{\"tool\":\"delete_file\",\"args\":{{\"path\":\"s3cret\"}},\"id\":{id}}}\n"))
        .collect();
    let marked = pipe(command("policy-check").arg("--audit").arg(&judged), calls.as_bytes());
    let mut desk = Desktop::start(&["--audit", asked.to_str().unwrap()]);
    for (line, answer) in text(&marked.stdout).lines().filter(|line| line.starts_with("{\"tool\"")).zip([
        r#""action":"approve""#,
        r#""action":"edit","edited_arguments":{"path":"b"}"#,
        r#""action":"reject","feedback":"no""#,
    ]) {
        let question = desk.hold(line);
        desk.answer_to(&question, answer);
        for _ in 0..3 {
            desk.receive();
        }
    }
    desk.talk.ask("{\"tool\":\"read\"}");
    desk.talk.close();
    desk.talk.end();
    let (status, summaries, stderr) = verify(&[&judged, &asked]);
    assert_eq!((status, stderr.as_str()), (Some(0), ""), "{summaries:?}");
    for (what, count) in [("asked", 3), ("approved", 1), ("edited", 1), ("rejected", 1), ("passed", 3)] {
        assert_eq!(summaries[1][what], count, "{what}: {}", summaries[1]);
    }
    let written = crate::schemas::written(&asked);
    assert!(!written.contains("s3cret"), "{written}");
    // Without its approval, a call that passed is found, even if the chain holds.
    let one_sided = pipe(command("policy-check").args(["--mode", "observe", "--audit"]).arg(&judged), calls.as_bytes());
    assert_eq!(one_sided.status.code(), Some(0));
    assert_eq!(verify(&[&judged, &asked]).0, Some(1));
}

#[test]
fn a_call_that_is_cancelled_before_its_question_is_settled_too() {
    let folder = tempfile::tempdir().unwrap();
    let [judged, asked] = ["judged", "asked"].map(|name| folder.path().join(name));
    let calls = "{\"tool\":\"delete_file\",\"id\":1}\n{\"tool\":\"delete_file\",\"id\":2}\n";
    let marked = pipe(command("policy-check").arg("--audit").arg(&judged), calls.as_bytes());
    let mut desk = Desktop::start(&["--audit", asked.to_str().unwrap()]);
    let mut lines: Vec<String> =
        text(&marked.stdout).lines().filter(|line| line.starts_with("{\"tool\"")).map(str::to_owned).collect();
    let second = lines.pop().unwrap();
    let question = desk.hold(&lines[0]);
    desk.talk.say(&second);
    desk.talk.say(r#"{"type":"cancel","call_id":2}"#);
    assert_eq!(desk.receive()["status"], "rejected");
    assert_eq!(desk.receive()["by"], "caller");
    assert_eq!(desk.receive()["kind"], "cancelled");
    desk.answer_to(&question, r#""action":"approve""#);
    for _ in 0..3 {
        desk.receive();
    }
    desk.talk.close();
    desk.talk.end();
    let (status, summaries, stderr) = verify(&[&judged, &asked]);
    assert_eq!((status, stderr.as_str(), &summaries[1]["rejected"]), (Some(0), "", &1.into()), "{summaries:?}");
}

#[test]
fn a_call_that_passed_and_was_not_delivered_is_answered_and_audited() {
    let folder = tempfile::tempdir().unwrap();
    let [audit, ready] = ["audit", "ready"].map(|name| folder.path().join(name));
    let script = format!("exec <&-; touch {}; sleep 30", ready.display());
    let options = ["--events", "-", "--audit", audit.to_str().unwrap(), "--", "sh", "-c", &script];
    let mut desk = Desktop::start(&options);
    eventually("the child is ready", || ready.exists());
    let question = desk.hold(MARKED);
    desk.answer_to(&question, r#""action":"edit","edited_arguments":{"path":"b"}"#);
    desk.receive();
    desk.receive();
    let answer = desk.receive();
    assert_eq!((&answer["id"], &answer["kind"]), (&1.into(), &"lost".into()), "{answer}");
    desk.talk.signal(nix::sys::signal::Signal::SIGTERM);
    let ended = desk.talk.end();
    assert!(ended.stderr.contains("stdin:1: rm: it was not delivered: "), "{}", ended.stderr);
    let (status, summaries, _) = verify(&[&audit]);
    let counts = ["passed", "undelivered", "ended"].map(|what| summaries[0][what].clone());
    assert_eq!((status, counts), (Some(0), [1.into(), 1.into(), true.into()]), "{}", summaries[0]);
    let events: Vec<Value> = crate::schemas::written(&audit).lines().map(json).collect();
    let of = |name: &str| events.iter().find(|event| event["event"] == name).unwrap()["digest"].clone();
    assert_eq!(of("undelivered"), of("passed"), "as it passed, edited");
}

#[test]
fn at_the_file_size_limit_calls_are_refused_and_the_gate_continues() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "ulimit -f 1; \"$0\" --audit \"$1\" --records errors; echo $?"]);
    let calls: String = (0..50).map(|id| format!("{{\"tool\":\"look\",\"id\":{id}}}\n")).collect();
    let output = pipe(shell.arg(crate::process::binary("hitl-gate")).arg(&audit), calls.as_bytes());
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(stderr.contains("--audit: File too large (os error 27)"), "{stderr}");
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!((lines.len(), lines[50]), (51, "1"), "{stdout}");
    assert!(lines[49].contains(r#""kind":"denied""#), "{stdout}");
}

#[test]
fn a_question_that_was_open_when_the_gate_was_killed_is_reported_without_fault() {
    let folder = tempfile::tempdir().unwrap();
    let [judged, asked] = ["judged", "asked"].map(|name| folder.path().join(name));
    let call = "{\"tool\":\"delete_file\",\"args\":{},\"id\":1}\n";
    let marked = pipe(command("policy-check").arg("--audit").arg(&judged), call.as_bytes());
    let marked = text(&marked.stdout).lines().find(|line| line.starts_with("{\"tool\"")).unwrap().to_owned();
    let mut desk = Desktop::start(&["--audit", asked.to_str().unwrap()]);
    desk.hold(&marked);
    desk.talk.signal(nix::sys::signal::Signal::SIGKILL);
    desk.talk.end();
    let (status, summaries, stderr) = verify(&[&judged, &asked]);
    assert_eq!(
        (status, &summaries[1]["unanswered"], &summaries[0]["unapproved"]),
        (Some(0), &1.into(), &Value::Array(vec![]))
    );
    assert!(stderr.contains("1 questions have no answer"), "{stderr}");
    // The next gate continues the file.
    Desktop::start(&["--audit", asked.to_str().unwrap()]).talk.end_after_close();
    assert_eq!(verify(&[&judged, &asked]).0, Some(0));
    // A call that no gate has asked about is still a fault.
    pipe(command("policy-check").arg("--audit").arg(&judged), call.replace('1', "2").as_bytes());
    assert_eq!(verify(&[&judged, &asked]).0, Some(1));
}

#[test]
fn nothing_is_asked_or_passed_if_the_audit_cannot_be_written() {
    let output = pipe(gate(&["--audit", "/dev/full"]).env("PATH", std::env::var("PATH").unwrap()), MARKED.as_bytes());
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
}

#[test]
fn a_call_that_the_rules_deny_does_not_pass_and_is_not_asked_about() {
    let rules = tempfile::NamedTempFile::new().unwrap();
    fs::write(&rules, "[[rule]]\nid = \"no-keys\"\nverdict = \"deny\"\narguments = { \".path\" = \"*.pem\" }\n")
        .unwrap();
    let calls = [
        r#"{"id":1,"tool":"read","args":{"path":"a.pem"}}"#,
        r#"{"id":2,"tool":"read","args":{"path":"a.pem"},"requires_approval":true}"#,
        r#"{"id":3,"tool":"read","args":{"path":"a.txt"}}"#,
    ];
    let mut gate = gate(&["--rules", rules.path().to_str().unwrap()]);
    let output = pipe(&mut gate, calls.map(|call| format!("{call}\n")).concat().as_bytes());
    let stdout = text(&output.stdout);
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!((lines.len(), lines[2], output.status.code()), (3, calls[2], Some(1)), "{stdout}");
    for line in &lines[..2] {
        assert!(line.contains("\"kind\":\"denied\"") && line.contains("no-keys"), "{line}");
    }
}

#[test]
fn a_call_cannot_be_edited_into_one_that_the_rules_deny() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.toml");
    fs::write(&rules, "[[rule]]\nid = \"no-keys\"\nverdict = \"deny\"\nreason = \"keys stay\"\narguments = { \".path\" = \"*.pem\" }\n").unwrap();
    let mut desk = Desktop::start(&["--rules", rules.to_str().unwrap()]);
    let question = desk.hold(MARKED);
    desk.answer_to(&question, r#""action":"edit","edited_arguments":{"path":"a.pem"}"#);
    assert_eq!(desk.receive()["status"], "rejected");
    desk.receive();
    let answer = desk.receive();
    assert_eq!(
        (&answer["kind"], answer["error"].as_str().unwrap().contains("keys stay")),
        (&"rejected".into(), true),
        "{answer}"
    );
    desk.talk.close();
    desk.talk.end();
    fs::write(&rules, "rule").unwrap();
    let output = pipe(&mut gate(&["--rules", rules.to_str().unwrap()]), b"");
    assert_eq!(output.status.code(), Some(2));
}
