//! Faults: invalid messages, and agents that crash, hang or flood.

use super::{Editor, IDLE, Place, RUNNING, no_capabilities};
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn invalid_requests_are_refused_and_the_run_continues() {
    let place = Place::new();
    let mut editor = Editor::start(place.scripted(&[IDLE]));
    let long =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"x":"{}"}}}}"#, "x".repeat(5 << 20));
    let deep = "[".repeat(600) + &"]".repeat(600);
    let early = r#"{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#;
    for (line, id, code) in [
        ("hello", Value::Null, -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"initialize""#, Value::Null, -32700),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"initialize"}]"#, Value::Null, -32600),
        ("{}", Value::Null, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"initialize","params":{}}"#, Value::Null, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"initialize","params":{}}"#, Value::Null, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"initialize","params":{}}"#, Value::Null, -32600),
        (&*long, Value::Null, -32600),
        (&*deep, Value::Null, -32600),
        (early, json!(7), -32600),
        (r#"{"jsonrpc":"2.0","id":"x","method":"initialize","params":{}}"#, json!("x"), -32602),
        (r#"{"jsonrpc":"2.0","id":8,"method":"initialize","params":[1]}"#, json!(8), -32602),
    ] {
        editor.talk.say(line);
        let answer = editor.next_message();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&id, &json!(code)),
            "{} {answer}",
            &line[..line.len().min(99)]
        );
    }
    editor.ask("initialize", json!({"protocolVersion": 1}));
    for (method, params, code) in [
        ("session/fork", json!({}), -32601),
        ("session/load", json!({"sessionId": "a", "cwd": "/", "mcpServers": []}), -32601),
        ("authenticate", json!({"methodId": "x"}), -32602),
        ("session/new", json!({"cwd": "relative", "mcpServers": []}), -32602),
        ("session/new", json!({"mcpServers": []}), -32602),
        ("session/new", json!({"cwd": "/nowhere/at/all", "mcpServers": []}), -32602),
        ("session/new", json!({"cwd": "/", "mcpServers": 7}), -32602),
        ("session/prompt", json!({"sessionId": "none", "prompt": []}), -32602),
        ("session/set_mode", json!({"modeId": "ask"}), -32602),
        ("session/close", json!({"sessionId": "../x"}), -32602),
    ] {
        editor.talk.say(&json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params}).to_string());
        let answer = editor.next_message();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(method), &json!(code)), "{params} {answer}");
    }
    for ignored in ["session/cancel", "$/cancel_request", "_mine", "$/else"] {
        editor.talk.say(&json!({"jsonrpc": "2.0", "method": ignored, "params": {"sessionId": 7}}).to_string());
    }
    let session = editor.begin(place.path());
    for bad in [json!([]), json!([{"type": "image", "data": "AA==", "mimeType": "image/png"}]), json!("x"), json!([7])]
    {
        let request = json!({"jsonrpc": "2.0", "id": "p", "method": "session/prompt", "params": {"sessionId": session, "prompt": bad}});
        editor.talk.say(&request.to_string());
        assert_eq!(editor.until(|message| message["id"] == "p")["error"]["code"], -32602);
    }
    assert_eq!(editor.talk.end_after_close().status.code(), Some(1), "lines could not be read");
}

#[test]
fn a_failed_start_of_an_agent_is_reported_with_its_reason() {
    let place = Place::new();
    let mut editor = Editor::greet(Command::new("/nowhere/agent"), no_capabilities());
    let answer = editor.ask("session/new", json!({"cwd": place.path(), "mcpServers": []}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("/nowhere/agent"), "{answer}");
    editor.end(0);
    let mut agent = Command::new("sh");
    agent.args(["-c", "exit 3"]);
    let mut editor = Editor::greet(agent, no_capabilities());
    let answer = editor.ask("session/new", json!({"cwd": place.path(), "mcpServers": []}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("exit status 3"), "{answer}");
    editor.end(0);
}

#[test]
fn a_silent_agent_counts_as_started_after_a_while() {
    let place = Place::new();
    let mut agent = Command::new("sh");
    let done = format!("read -r line; echo '{RUNNING}'; echo '{IDLE}'; cat >/dev/null");
    agent.args(["-c", &done]);
    let mut editor = Editor::greet(agent, no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "x");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    editor.end(0);
}

#[test]
fn a_crash_ends_its_prompt_and_no_other_session() {
    let place = Place::new();
    let script = format!(
        "echo '{IDLE}'; read -r line; echo '{RUNNING}'; case $line in *die*) echo '{}'; sleep 0.2; kill -9 $$;; *) sleep 1; echo '{IDLE}'; cat;; esac",
        r#"{"type":"tool_call","call_id":"c1","tool_name":"t","arguments":{}}"#
    );
    let mut agent = Command::new("sh");
    agent.args(["-c", &script]);
    let mut editor = Editor::greet(agent, no_capabilities());
    let (first, second) = (editor.begin(place.path()), editor.begin(place.path()));
    let (dies, lives) = (editor.prompt(&first, "die"), editor.prompt(&second, "live"));
    let answer = editor.answer_to(dies);
    assert!(answer["error"]["message"].as_str().unwrap().contains("SIGKILL"), "{answer}");
    assert_eq!(editor.updates("tool_call_update")[0]["status"], "failed", "its call has no result");
    assert_eq!(editor.stop_reason(lives), "end_turn");
    let again = editor.ask("session/prompt", json!({"sessionId": first, "prompt": [{"type": "text", "text": "x"}]}));
    assert!(again["error"]["message"].as_str().unwrap().contains("Start a new session"), "{again}");
    editor.end(0);
}

#[test]
fn an_agent_that_does_not_react_to_a_cancel_does_not_hold_the_prompt() {
    let place = Place::new();
    let mut agent = Command::new("sh");
    agent.args(["-c", &format!("echo '{IDLE}'; read -r line; echo '{RUNNING}'; cat >/dev/null; :")]);
    let mut editor = Editor::greet(agent, no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "x");
    editor.until(|message| message["params"]["update"]["_meta"]["pipewright/record"]["status"] == "running");
    let second = editor.ask("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": "y"}]}));
    assert_eq!(second["error"]["code"], -32600, "one prompt at a time");
    let cancelled = Instant::now();
    editor.notify("$/cancel_request", json!({"requestId": prompt}));
    assert_eq!(editor.stop_reason(prompt), "cancelled");
    assert!(cancelled.elapsed() >= Duration::from_secs(5), "{:?}", cancelled.elapsed());
    editor.end(0);
}

#[test]
fn an_agent_that_reads_nothing_can_be_cancelled_and_gets_no_second_prompt() {
    let place = Place::new();
    let mut agent = Command::new("sh");
    agent.args(["-c", &format!("echo '{IDLE}'; exec sleep 600")]);
    let mut editor = Editor::greet(agent, no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, &"x".repeat(3 << 20));
    editor.notify("session/cancel", json!({"sessionId": session}));
    assert_eq!(editor.stop_reason(prompt), "cancelled");
    let second = editor.ask("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": "y"}]}));
    assert!(second["error"]["message"].as_str().unwrap().contains("has not read the previous prompt"), "{second}");
    editor.end(0);
}

#[test]
fn an_agent_that_closes_its_stdout_is_ended() {
    let place = Place::new();
    let mut agent = Command::new("sh");
    agent.args(["-c", &format!("echo '{IDLE}'; read -r line; echo '{RUNNING}'; exec sleep 600 >/dev/null")]);
    let mut editor = Editor::greet(agent, no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "x");
    let answer = editor.answer_to(prompt);
    assert!(answer["error"]["message"].as_str().unwrap().contains("closed its stdout"), "{answer}");
    editor.end(0);
}

#[test]
fn invalid_lines_of_an_agent_are_skipped() {
    let place = Place::new();
    let agent = place.scripted(&[
        "hello",
        "[1]",
        r#"{"type":"tool_call","call_id":1,"call_id":2}"#,
        RUNNING,
        r#"{"type":"tool_result","call_id":"none","status":"ok","result":1}"#,
        IDLE,
    ]);
    let mut editor = Editor::greet(agent, no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "x");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert!(editor.updates("tool_call_update").is_empty());
    let ended = editor.talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(ended.stderr.lines().count(), 4, "{}", ended.stderr);
    assert!(ended.stderr.contains("which is not an open call"), "{}", ended.stderr);
}

#[test]
fn an_agent_that_closes_its_stdout_at_the_start_fails_the_session() {
    let mut editor = Editor::greet(shell("exec >&-; sleep 600"), no_capabilities());
    let answer = editor.ask("session/new", json!({"cwd": "/", "mcpServers": []}));
    assert!(answer["error"]["message"].as_str().unwrap().contains("closed its stdout"), "{answer}");
    editor.end(0);
}

#[test]
fn closing_a_session_answers_its_pending_load() {
    let place = Place::new();
    std::fs::write(place.path().join("s-1"), "").unwrap();
    let mut agent = shell("cat >/dev/null");
    agent.arg(place.path().join("s-{session}"));
    let mut editor = Editor::greet(agent, no_capabilities());
    let load = editor.request("session/load", json!({"sessionId": "1", "cwd": place.path(), "mcpServers": []}));
    let close = editor.request("session/close", json!({"sessionId": "1"}));
    assert_eq!(editor.answer_to(load)["error"]["code"], -32800);
    assert!(editor.answer_to(close)["result"].is_object());
    editor.end(0);
}

/// An agent that runs a line of shell.
fn shell(script: &str) -> Command {
    let mut agent = Command::new("sh");
    agent.args(["-c", script]);
    agent
}
