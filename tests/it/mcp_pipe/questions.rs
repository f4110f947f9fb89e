//! Questions of a server (`--interactive`), with and without an answer.

use super::{Pipe, play, play_logged};
use serde_json::{Value, json};

fn read(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn a_legacy_servers_question_becomes_a_record_and_its_answer_is_returned() {
    let mut pipe = Pipe::start("echo", &["--interactive"]);
    let question = pipe.talk.ask(r#"{"type":"tool_call","call_id":"c1","tool_name":"ask"}"#);
    assert_eq!(
        question,
        r#"{"type":"input_request","request_id":"q1","call_id":"c1","tool":"ask","source":"mcp","method":"elicitation/create","params":{"message":"Who?","n":1.10},"epoch":0}"#
    );
    let answer = pipe.talk.ask(r#"{"type":"input_response","request_id":"q1","action":"accept","content":{"n":1.10}}"#);
    assert!(
        answer.contains(
            r#""structuredContent":{"jsonrpc":"2.0","id":"e1","result":{"action":"accept","content":{"n":1.10}}}"#
        ),
        "{answer}"
    );
    assert_eq!(pipe.end_after_close().status.code(), Some(0));
}

#[test]
fn a_modern_servers_questions_are_all_answered_before_the_call_is_repeated() {
    let mut pipe = Pipe::start("modern", &["--interactive"]);
    let first = read(&pipe.talk.ask(r#"{"tool":"ask","args":{"n":12345678901234567890123},"id":7}"#));
    let second = read(&pipe.talk.receive());
    assert_eq!(
        (&first["request_id"], &first["call_id"], &first["params"]["message"]),
        (&json!("q1"), &json!(7), &json!("Who?"))
    );
    assert_eq!((&second["request_id"], &second["params"]["message"]), (&json!("q2"), &json!("Why?")));
    pipe.talk.say(r#"{"type":"input_response","request_id":"q2","action":"decline"}"#);
    let answer =
        pipe.talk.ask(r#"{"type":"input_response","request_id":"q1","action":"accept","content":{"name":"Ann"}}"#);
    assert!(
        answer.contains(r#""structuredContent":{"responses":{"why \"\"":{"action":"decline"},"who":{"action":"accept","content":{"name":"Ann"}}},"state":"1","args":{"n":12345678901234567890123}}"#),
        "{answer}"
    );
    assert!(answer.starts_with(r#"{"id":7,"tool":"ask","status":"ok""#), "{answer}");
    assert_eq!(pipe.end_after_close().status.code(), Some(0));
}

#[test]
fn a_tool_may_ask_in_several_rounds_and_with_a_state_only() {
    let mut pipe = Pipe::start("modern", &["--interactive"]);
    pipe.talk.say(r#"{"tool":"ask","args":{"times":2}}"#);
    for ids in [["q1", "q2"], ["q3", "q4"]] {
        for id in ids {
            assert_eq!(read(&pipe.talk.receive())["request_id"], id);
        }
        for id in ids {
            pipe.talk.say(&json!({"type":"input_response","request_id":id,"action":"cancel"}).to_string());
        }
    }
    assert_eq!(read(&pipe.talk.receive())["data"]["structuredContent"]["state"], "2");
    let answer = pipe.ask(r#"{"tool":"ask","args":{"only_state":true,"times":3}}"#);
    assert_eq!(answer["data"]["structuredContent"]["state"], "3");
    let answer = pipe.ask(r#"{"tool":"ask","args":{"only_state":true,"times":1000}}"#);
    assert_eq!((&answer["status"], &answer["kind"]), (&json!("error"), &json!("tool_error")));
    let ended = pipe.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("more than 100 times"), "{}", ended.stderr);
}

#[test]
fn no_capability_is_declared_without_the_option() {
    for (server, options, place) in [
        ("echo", &[][..], "/params/capabilities"),
        ("echo", &["--interactive"], "/params/capabilities"),
        ("modern", &["--protocol", "2026-07-28"], "/params/_meta/io.modelcontextprotocol~1clientCapabilities"),
        (
            "modern",
            &["--protocol", "2026-07-28", "--interactive"],
            "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
        ),
    ] {
        let played = play_logged(server, options, &[r#"{"tool":"echo"}"#]);
        let asks =
            if options.contains(&"--interactive") { json!({"elicitation":{"form":{},"url":{}}}) } else { json!({}) };
        assert_eq!(played.received()[0].pointer(place), Some(&asks), "{server} {options:?}");
        played.assert_well();
    }
    let played = play("modern", &[], &[r#"{"tool":"ask"}"#]);
    assert_eq!(played.answers()[0]["kind"], "tool_error");
    assert_eq!(played.answers()[0]["data"]["resultType"], "input_required");
}

#[test]
fn an_unanswered_question_is_cancelled_and_the_call_continues() {
    for server in ["echo", "modern"] {
        // stdin has ended.
        let played = play(server, &["--interactive"], &[r#"{"tool":"ask","id":1}"#]);
        let last = read(played.lines.last().unwrap());
        assert_eq!((&last["id"], &last["status"]), (&json!(1), &json!("ok")), "{server}");
        assert!(last.to_string().contains(r#""action":"cancel""#), "{last}");
        assert_eq!(played.status, Some(1));
        assert!(played.stderr.contains("nobody can answer"), "{}", played.stderr);
    }
    let mut pipe = Pipe::start("echo", &["--interactive", "--answer-timeout", "3", "--timeout", "2"]);
    pipe.ask(r#"{"tool":"ask"}"#);
    assert!(pipe.talk.receive().contains(r#""action":"cancel""#), "and its call is not late for that");
    let ended = pipe.end_after_close();
    assert!(ended.stderr.contains("--answer-timeout"), "{}", ended.stderr);
}

#[test]
fn a_flood_behind_a_question_cancels_it() {
    let mut lines = vec![r#"{"tool":"ask"}"#; 1];
    lines.extend([r#"{"tool":"echo"}"#; 3000]);
    let played = play("echo", &["--interactive"], &lines);
    assert_eq!(played.lines.len(), 3002);
    assert!(played.stderr.contains("thousand lines") || played.stderr.contains("stdin has ended"), "{}", played.stderr);
}

#[test]
fn answers_without_a_question_are_reported_and_ignored() {
    let mut pipe = Pipe::start("echo", &["--interactive"]);
    for bad in [
        r#"{"type":"input_response","request_id":"q1","action":"accept"}"#,
        r#"{"type":"input_response","request_id":"q9999999999999999999999","action":"accept"}"#,
        r#"{"type":"input_response","request_id":"q1","action":"perhaps"}"#,
    ] {
        pipe.talk.say(bad);
    }
    pipe.ask(r#"{"tool":"ask"}"#);
    pipe.talk.say(r#"{"type":"input_response","request_id":"q1","action":"accept","content":7}"#);
    let answer = pipe.ask(r#"{"type":"input_response","request_id":"q1","action":"accept"}"#);
    assert_eq!(answer["data"]["structuredContent"]["result"], json!({"action":"accept"}));
    let ended = pipe.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    for line in ["stdin:1:", "stdin:2:", "stdin:3:", "stdin:5:"] {
        assert!(ended.stderr.contains(line), "{line}: {}", ended.stderr);
    }
}

#[test]
fn a_question_ends_with_its_call_and_with_its_server() {
    let mut pipe = Pipe::start("echo", &["--interactive", "-j", "2"]);
    pipe.talk.say(r#"{"tool":"ask","args":{"withdraws":true},"id":1}"#);
    assert_eq!(read(&pipe.talk.receive())["type"], "input_request");
    assert_eq!(read(&pipe.talk.receive())["data"]["content"][0]["text"], "never mind");
    pipe.talk.say(r#"{"tool":"ask","id":2}"#);
    assert_eq!(read(&pipe.talk.receive())["request_id"], "q2");
    pipe.talk.say(r#"{"tool":"die","args":{"code":5},"id":3}"#);
    let lost = read(&pipe.talk.receive());
    assert_eq!((&lost["id"], &lost["kind"], &lost["maybe_executed"]), (&json!(2), &json!("lost"), &json!(true)));
    assert_eq!(read(&pipe.talk.receive())["kind"], "lost");
    pipe.talk.say(r#"{"type":"input_response","request_id":"q2","action":"accept"}"#);
    assert_eq!(pipe.ask(r#"{"tool":"echo"}"#)["epoch"], 1);
    assert!(pipe.end_after_close().stderr.contains("no open question"));
}

#[test]
fn a_question_of_the_modern_era_is_removed_with_its_cancelled_call() {
    let mut pipe = Pipe::start("modern", &["--interactive"]);
    pipe.talk.say(r#"{"type":"tool_call","call_id":"a","tool_name":"ask"}"#);
    assert_eq!(read(&pipe.talk.receive())["request_id"], "q1");
    assert_eq!(read(&pipe.talk.receive())["request_id"], "q2");
    assert_eq!(pipe.ask(r#"{"type":"cancel","call_id":"a"}"#)["kind"], "cancelled");
    assert_eq!(pipe.ask(r#"{"tool":"echo"}"#)["status"], "ok");
    pipe.end_after_close();
}

#[test]
fn only_declared_kinds_of_questions_are_asked() {
    let played = play("modern", &["--interactive"], &[r#"{"tool":"ask","args":{"method":"sampling/createMessage"}}"#]);
    assert_eq!((played.lines.len(), &played.answers()[0]["kind"]), (1, &json!("tool_error")));
    assert!(played.stderr.contains("sampling/createMessage"), "{}", played.stderr);
}
