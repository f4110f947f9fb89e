//! Answers that come from a program.

use super::{Desktop, MARKED, SETTLED, gate, json, marked};
use crate::process::Talk;
use pipewright_record::recognise;
use std::io::Write;

#[test]
fn a_program_asks_and_answers() {
    let mut desk = Desktop::start(&[]);
    let held = r#"{"type":"tool_call","call_id":"c1","tool_name":"x","arguments":{"n":1.10,  "big":12345678901234567890123},"step_id":3,"target":{"name":"Pay"},"requires_approval":true,"policy":{"rule":"r"}}"#;
    let line = desk.talk.ask(held);
    let asked = json(&line);
    assert!(line.contains(r#""arguments":{"n":1.10,  "big":12345678901234567890123}"#), "as in the call: {line}");
    for (key, value) in [
        ("type", json("\"status\"")),
        ("status", json("\"waiting_human\"")),
        ("call_id", json("\"c1\"")),
        ("step_id", json("3")),
        ("tool_name", json("\"x\"")),
        ("target", json(r#"{"name":"Pay"}"#)),
        ("policy", json(r#"{"rule":"r"}"#)),
        ("arguments_sha256", sha256(r#"{"n":1.10,  "big":12345678901234567890123}"#).into()),
    ] {
        assert_eq!(asked[key], value, "{key}");
    }
    assert!(asked["nonce"].as_str().unwrap().len() >= 24, "at least 96 bits");
    desk.answer_to(&asked, r#""action":"approve","feedback":"fine""#);
    assert_eq!(desk.receive()["status"], "approved");
    let result = desk.receive();
    assert_eq!((&result["by"], &result["feedback"]), (&"answers".into(), &"fine".into()));
    assert_eq!(desk.talk.receive(), held.replace(r#","requires_approval":true"#, ""));
    desk.talk.close();
    assert_eq!(desk.talk.end().status.code(), Some(0));
}

/// Computed by another program.
fn sha256(text: &str) -> String {
    let output = crate::process::pipe(&mut std::process::Command::new("sha256sum"), text.as_bytes());
    crate::process::text(&output.stdout).split(' ').next().unwrap().to_owned()
}

#[test]
fn a_wrong_answer_is_reported_and_changes_nothing() {
    let mut desk = Desktop::start(&[]);
    let first = desk.hold(MARKED);
    let sha = first["arguments_sha256"].as_str().unwrap().replace(|c: char| c.is_ascii_digit(), "f");
    let nonce = &first["nonce"];
    let wrong = [
        (r#"{"type":"hitl_response","call_id":1,"nonce":"0000","action":"approve"}"#.to_owned(), "its nonce is not"),
        (r#"{"type":"hitl_response","call_id":1,"action":"approve"}"#.to_owned(), "no nonce"),
        (r#"{"type":"hitl_response","call_id":1,"nonce":"","action":"approve"}"#.to_owned(), "no nonce"),
        (format!(r#"{{"type":"hitl_response","call_id":"1","nonce":{nonce},"action":"approve"}}"#), "its call_id"),
        (format!(r#"{{"type":"hitl_response","nonce":{nonce},"action":"approve"}}"#), "its call_id"),
        (format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{nonce},"action":"APPROVE"}}"#), "action is not"),
        (format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{nonce},"action":"edit"}}"#), "edited_arguments"),
        (
            format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{nonce},"action":"approve","action":"reject"}}"#),
            "twice",
        ),
        (
            format!(
                r#"{{"type":"hitl_response","call_id":1,"nonce":{nonce},"action":"approve","arguments_sha256":"{sha}"}}"#
            ),
            "its arguments_sha256",
        ),
        (
            format!(
                r#"{{"type":"hitl_response","call_id":1,"nonce":{nonce},"action":"edit","edited_arguments":{{}},"replace":"yes"}}"#
            ),
            "its replace is neither true nor false",
        ),
        (
            format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{nonce},"action":"approve","replace":true}}"#),
            "use edit",
        ),
        (
            format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{nonce},"action":"edit","replace":true}}"#),
            "without edited_arguments",
        ),
        ("yes".to_owned(), "JSON"),
        (r#"{"tool":"x"}"#.to_owned(), "not a hitl_response"),
        ("[".repeat(1000), "--max-depth"),
    ];
    for (answer, _) in &wrong {
        desk.answer(answer);
    }
    // A blank line is the terminal's signal; it has no effect without a terminal.
    desk.answer("");
    desk.talk.receive_nothing_for(300);
    desk.answer_to(&first, r#""action":"reject","feedback":"no""#);
    desk.receive();
    desk.receive();
    assert_eq!(desk.receive()["error"], "it was rejected: no");
    // The nonce of a settled question settles no other.
    let second = desk.hold(&marked(2));
    assert_ne!(second["nonce"], first["nonce"]);
    desk.answer(&format!(r#"{{"type":"hitl_response","call_id":2,"nonce":{nonce},"action":"approve"}}"#));
    desk.talk.receive_nothing_for(200);
    desk.answer_to(&second, r#""action":"approve""#);
    desk.receive();
    desk.receive();
    desk.receive();
    desk.answer_to(&second, r#""action":"approve""#);
    desk.talk.receive_nothing_for(200);
    desk.talk.close();
    let ended = desk.talk.end();
    assert_eq!(ended.status.code(), Some(1));
    for (answer, why) in &wrong {
        assert!(ended.stderr.contains(why), "{answer}: {}", ended.stderr);
    }
    assert!(ended.stderr.starts_with("hitl-gate: answers:1: not accepted as an answer: its nonce"), "{}", ended.stderr);
    assert!(ended.stderr.contains("no question is open"), "{}", ended.stderr);
    assert_eq!(ended.lines, [""; 0]);
}

#[test]
fn edited_arguments_are_merged_over_the_calls_own_or_replace_them() {
    let mut desk = Desktop::start(&[]);
    for (held, edited, passes) in [
        (
            r#"{"type":"tool_call","call_id":1,"tool_name":"write_file","arguments":{"path":"main.py","content":"old"},"requires_approval":true}"#,
            r#"{"content":"new"}"#,
            r#"{"type":"tool_call","call_id":1,"tool_name":"write_file","arguments":{"path":"main.py","content":"new"}}"#,
        ),
        (
            r#"{"id":1,"tool":"rm","args":{"path":"a","options":{"force":true,"deep":true}},"requires_approval":true}"#,
            r#"{"options":{"force":false}}"#,
            r#"{"id":1,"tool":"rm","args":{"path":"a","options":{"force":false}}}"#,
        ),
        (
            r#"{"id":1,"tool":"rm","args":{"path":"a","n":1.10},"requires_approval":true}"#,
            r#"{"path":"b"},"replace":false"#,
            r#"{"id":1,"tool":"rm","args":{"path":"b","n":1.10}}"#,
        ),
        (
            r#"{"id":1,"tool":"rm","args":{"path":"a","n":1.10},"requires_approval":true}"#,
            r#"{"path":"b","big":1.0},"replace":true"#,
            r#"{"id":1,"tool":"rm","args":{"path":"b","big":1.0}}"#,
        ),
        (
            r#"{"id":1,"tool":"rm","args":{"path":"a"},"requires_approval":true}"#,
            r#"{},"replace":true"#,
            r#"{"id":1,"tool":"rm","args":{}}"#,
        ),
        (
            r#"{"id":1,"tool":"rm","args":{ "path":"a" ,"n":1.10},"requires_approval":true }"#,
            r#"{"path":"b","new \"key\"":12345678901234567890123}"#,
            r#"{"id":1,"tool":"rm","args":{ "path":"b" ,"n":1.10,"new \"key\"":12345678901234567890123} }"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"requires_approval":true}}}"#,
            r#"{"a":1.0}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1.0}}}"#,
        ),
    ] {
        let asked = desk.hold(held);
        desk.answer_to(&asked, &format!(r#""action":"edit","edited_arguments":{edited}"#));
        assert_eq!(desk.receive()["status"], "edited_by_human");
        let result = desk.receive();
        assert_eq!(result["verdict"], "edited");
        assert_eq!(desk.talk.receive(), passes);
        let arguments = recognise(passes).unwrap().unwrap().arguments.unwrap().get();
        assert_eq!(result["arguments_sha256"], sha256(arguments).as_str(), "of what passes: {arguments}");
    }
    for replace in ["", r#","replace":true"#] {
        let asked = desk.hold(MARKED);
        desk.answer_to(&asked, &format!(r#""action":"edit","edited_arguments":{{"a":1,"A":2}}{replace}"#));
        assert_eq!(desk.receive()["status"], "rejected");
        desk.receive();
        let received = desk.receive();
        assert!(received["error"].as_str().unwrap().contains("edited_arguments: "), "{received}");
        assert!(received["error"].as_str().unwrap().contains("two spellings"), "{received}");
    }
}

#[test]
fn a_caller_cannot_approve_its_calls() {
    let mut desk = Desktop::start(&[]);
    let asked = desk.hold(MARKED);
    let answer =
        |kind: &str| format!(r#"{{"type":"{kind}","call_id":1,"nonce":{},"action":"approve"}}"#, asked["nonce"]);
    for kind in ["hitl_response", "hitl\\u005fresponse"] {
        let received = json(&desk.talk.ask(&answer(kind)));
        assert_eq!((&received["type"], &received["context"]["call_id"]), (&"error".into(), &1.into()), "{received}");
    }
    desk.talk.receive_nothing_for(200);
    desk.answer_to(&asked, r#""action":"reject""#);
    desk.receive();
    desk.talk.close();
    let ended = desk.talk.end();
    assert!(ended.stderr.contains("stdin:2: the caller may not answer"), "{}", ended.stderr);
    assert_eq!(ended.status.code(), Some(1));
}

#[test]
fn a_caller_can_approve_its_calls_with_answers_stdin() {
    let mut talk = Talk::start(&mut gate(&["--answers", "stdin"]));
    let asked = json(&talk.ask(MARKED));
    talk.say(r#"{"tool":"look"}"#);
    talk.say(&format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{},"action":"approve"}}"#, asked["nonce"]));
    assert_eq!(json(&talk.receive())["status"], "approved");
    talk.receive();
    assert_eq!((talk.receive().as_str(), talk.receive().as_str()), (SETTLED, r#"{"tool":"look"}"#));
    assert_eq!(talk.end_after_close().status.code(), Some(0));
    // Wrapped, the questions are written to the caller, which may answer.
    let mut talk = Talk::start(&mut gate(&["--answers", "stdin", "--", "cat"]));
    let asked = json(&talk.ask(MARKED));
    talk.say(&format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{},"action":"approve"}}"#, asked["nonce"]));
    assert_eq!(json(&talk.receive())["status"], "approved");
    talk.receive();
    assert_eq!(talk.receive(), SETTLED);
    assert_eq!(talk.end_after_close().status.code(), Some(0));
}

#[test]
fn a_plain_file_of_answers_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let (status, lines, stderr) = super::ran(&mut gate(&["--answers", file.path().to_str().unwrap()]), "");
    assert_eq!((status, lines.len()), (Some(2), 0));
    assert!(stderr.contains("a plain file: use a FIFO (mkfifo)"), "{stderr}");
}

#[test]
fn a_missing_channel_is_reported_at_once() {
    let (status, lines, stderr) = super::ran(&mut gate(&["--answers", "/nowhere/at/all"]), "");
    assert_eq!((status, lines.len()), (Some(2), 0));
    assert!(stderr.contains("--answers: /nowhere/at/all: No such file"), "{stderr}");
}

#[test]
fn the_first_answer_decides_and_the_other_answerer_is_notified() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("answers");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut desk = super::Desk::lay_in(folder, "", &format!("--answers {}", fifo.display()), "");
    desk.call(MARKED);
    let asked = desk.receive_json();
    desk.question();
    let mut answers = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
    let answer = format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{},"action":"approve"}}"#, asked["nonce"]);
    answers.write_all(format!("{answer}\n").as_bytes()).unwrap();
    assert_eq!(desk.receive_decision(), ("approved".into(), "answers".into()));
    desk.person.exp_string("approved").unwrap();
    desk.receive();
    // The next question replaces nothing: it may be answered at once.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    desk.hold(&marked(2));
    desk.types("y");
    assert_eq!(desk.receive_decision(), ("approved".into(), "terminal".into()));
}
