//! Gates around a child process that carries out calls.

use super::{Desk, Desktop, MARKED, SETTLED, gate, json, ran};
use crate::process::{Talk, example};
use crate::schemas::written;

#[test]
fn the_caller_gets_a_notice_and_records_go_to_the_events() {
    let folder = tempfile::tempdir().unwrap();
    let events = folder.path().join("events");
    let mut desk = Desktop::start(&["--events", events.to_str().unwrap(), "--", "cat"]);
    assert_eq!(desk.talk.ask(r#"{"tool":"look",  "id":1}"#), r#"{"tool":"look",  "id":1}"#);
    desk.talk.say(MARKED);
    let asked = || std::fs::read_to_string(&events).unwrap_or_default();
    crate::process::eventually("it is asked", || asked().contains("waiting_human"));
    // The caller may stop its clocks, and could not answer.
    assert_eq!(desk.talk.receive(), r#"{"type":"status","status":"waiting_human","call_id":1}"#);
    desk.talk.receive_nothing_for(100);
    let question = json(asked().lines().next().unwrap());
    desk.answer_to(&question, r#""action":"approve""#);
    assert_eq!(desk.talk.receive(), r#"{"type":"status","status":"approved","call_id":1}"#);
    assert_eq!(desk.talk.receive(), SETTLED);
    desk.talk.close();
    let ended = desk.talk.end();
    assert_eq!((ended.status.code(), ended.stderr.as_str(), ended.lines.len()), (Some(0), "", 0));
    let statuses: Vec<_> = written(&events).lines().map(|line| json(line)["status"].clone()).collect();
    assert_eq!(statuses, ["waiting_human".into(), "approved".into(), serde_json::Value::Null]);
}

#[test]
fn a_person_approves_and_rejects_before_a_server_of_mcp() {
    let home = tempfile::tempdir().unwrap();
    let before = format!("STAND_IN_HOME={} {} ", home.path().display(), "env");
    let pipe = crate::process::binary("mcp-pipe");
    let far = format!("-- {} -- {} echo", pipe.display(), example("stand-in-server").display());
    let mut desk = Desk::lay(&before, &far, "echo status $?");
    desk.call(r#"{"tool":"echo","args":{"message":"a"},"id":1,"requires_approval":true}"#);
    assert_eq!(desk.receive_json()["status"], "waiting_human");
    desk.question();
    desk.types("e message=b");
    desk.question();
    desk.types("y");
    let notice = desk.receive_json();
    assert_eq!((&notice["status"], &notice["edited_arguments"]["message"]), (&"edited_by_human".into(), &"b".into()));
    let answer = desk.receive_json();
    assert_eq!(
        (&answer["status"], &answer["data"]["structuredContent"]["message"]),
        (&"ok".into(), &"b".into()),
        "{answer}"
    );
    desk.call(r#"{"tool":"echo","args":{"message":"c"},"id":2,"requires_approval":true}"#);
    assert_eq!(desk.receive_json()["status"], "waiting_human");
    desk.question();
    desk.types("n");
    let answer = desk.receive_json();
    assert_eq!((&answer["id"], &answer["kind"]), (&2.into(), &"rejected".into()));
    desk.calls = None;
    desk.person.exp_string("status 1").unwrap();
}

#[test]
fn calls_of_a_json_rpc_client_are_held_in_the_same_way() {
    let mut desk = Desktop::start(&["--events", "-", "--", example("stand-in-server").to_str().unwrap(), "echo"]);
    let greeting = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"0"}}}"#;
    assert!(desk.talk.ask(greeting).contains("serverInfo"));
    desk.talk.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let call = |id: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"a"}},"_meta":{{"requires_approval":true,"policy":{{"rule":"r"}}}}}}}}"#
        )
    };
    let asked = desk.hold(&call(1));
    desk.answer_to(&asked, r#""action":"approve""#);
    desk.receive();
    desk.receive();
    let answer = desk.receive();
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["message"]),
        (&1.into(), &"a".into()),
        "{answer}"
    );
    let asked = desk.hold(&call(2));
    desk.answer_to(&asked, r#""action":"reject","feedback":"no""#);
    desk.receive();
    desk.receive();
    let answer = desk.receive();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&2.into(), &true.into()), "{answer}");
    let said = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.starts_with("echo was not carried out: it was rejected: no. Do not repeat"), "{said}");
    // A cancelled request has no answer (MCP, cancellation).
    desk.hold(&call(3));
    desk.talk.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#);
    desk.receive();
    assert_eq!(desk.receive()["by"], "caller");
    desk.talk.receive_nothing_for(200);
}

#[test]
fn a_client_that_disconnects_gets_no_answer_and_the_child_ends() {
    let mut desk = Desktop::start(&["--events", "-", "--", "sh", "-c", "cat; echo the end; exit 7"]);
    desk.hold(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"requires_approval":true}}}"#,
    );
    desk.talk.close();
    desk.receive();
    desk.receive();
    let answer = desk.receive();
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("stdin has ended"), "{answer}");
    assert_eq!(desk.talk.receive(), "the end");
    assert_eq!(desk.talk.end().status.code(), Some(7));
}

#[test]
fn held_calls_are_still_asked_about_after_the_end_of_the_calls() {
    let mut desk = Desktop::start(&["--events", "-", "--", "sh", "-c", "cat; echo the end; exit 7"]);
    let asked = desk.hold(MARKED);
    desk.talk.close();
    desk.talk.receive_nothing_for(200);
    desk.answer_to(&asked, r#""action":"approve""#);
    desk.receive();
    desk.receive();
    let passed = desk.talk.receive();
    assert!(passed.contains(r#""id":1"#), "{passed}");
    assert_eq!(desk.talk.receive(), "the end");
    assert_eq!(desk.talk.end().status.code(), Some(7));
}

#[test]
fn held_calls_are_answered_when_the_child_dies() {
    let mut desk = Desktop::start(&["--", "sh", "-c", "read -r line; printf 'no line feed'; exit 7"]);
    desk.hold(MARKED);
    desk.talk.say(r#"{"type":"observation"}"#);
    assert_eq!(desk.talk.receive(), "no line feed");
    let answer = desk.receive();
    assert_eq!((&answer["kind"], &answer["id"]), (&"lost".into(), &1.into()));
    assert_eq!(desk.talk.end().status.code(), Some(7));
}

#[test]
fn a_child_that_cannot_be_started_is_status_3() {
    let (status, lines, stderr) = ran(&mut gate(&["--", "/nowhere/at/all"]), MARKED);
    assert_eq!((status, lines.len()), (Some(3), 0));
    assert!(stderr.contains("cannot start /nowhere/at/all"), "{stderr}");
}

#[test]
fn an_answer_is_never_written_within_a_line_of_the_child() {
    let folder = tempfile::tempdir().unwrap();
    let far =
        "printf 'aaaaaaaaaaaaaaaaaaaa'; touch begun; read -r line; printf 'bbbbbbbbbbbbbbbbbbbb\\n'; cat >/dev/null";
    let mut talk = Talk::start(
        gate(&["--max-line", "100", "--", "sh", "-c", &far.replace("aaaa", &"a".repeat(99))])
            .current_dir(folder.path()),
    );
    crate::process::eventually("the child has written", || folder.path().join("begun").exists());
    talk.settles();
    talk.say("no JSON");
    talk.say(r#"{"tool":"go"}"#);
    let (line, answer) = (talk.receive(), talk.receive());
    assert!(line.starts_with('a') && line.ends_with('b') && !line.contains('{'), "{line}");
    assert_eq!(json(&answer)["kind"], "bad_input");
    assert_eq!(talk.end_after_close().status.code(), Some(1));
}
