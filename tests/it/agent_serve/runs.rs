//! Runs of the AG-UI protocol. `tests/web/agui.mjs` runs them with the official client.

use super::{AUTHORIZATION, JSON, Server, agent};
use crate::agent_acp::{DONE, ECHO, Place};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};

/// The events of a run, up to its end.
pub fn run(server: &Server, run: &str, more: Value) -> Vec<Value> {
    let mut input = json!({"threadId": "t-1", "runId": run, "messages": [], "tools": [], "context": []});
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let stream = server.send("POST", "/ag-ui", &[AUTHORIZATION, JSON], &input.to_string());
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.filter_map(|line| serde_json::from_str(line.strip_prefix("data: ")?).ok()).collect()
}

fn said(id: &str, text: &str) -> Value {
    json!({"messages": [{"id": id, "role": "user", "content": text}]})
}

#[test]
fn a_held_call_is_an_interrupt_that_the_next_run_resolves() {
    let place = Place::new();
    let server = Server::start(&agent(&place, &[ECHO, ECHO, DONE]), &[]);
    let events = run(&server, "r1", said("u1", "Echo."));
    assert_eq!(events[0], json!({"type": "RUN_STARTED", "threadId": "t-1", "runId": "r1", "protocolVersion": "1.0"}));
    let outcome = &events.last().unwrap()["outcome"];
    assert_eq!((&outcome["type"], &outcome["interrupts"][0]["toolCallId"]), (&"interrupt".into(), &"a1".into()));
    let id = outcome["interrupts"][0]["id"].clone();

    let resume =
        |id: &Value, payload: Value| json!({"resume": [{"interruptId": id, "status": "resolved", "payload": payload}]});
    let wrong = run(&server, "r2", resume(&id, json!({"yes": true})));
    assert_eq!(wrong.last().unwrap()["type"], "RUN_ERROR", "{wrong:?}");
    // Nothing of a refused run reaches the agent.
    let foreign = json!({"resume": [{"interruptId": "other", "status": "cancelled"}], "messages": [{"id": "u2", "role": "user", "content": "Do more."}]});
    assert_eq!(run(&server, "r2b", foreign).last().unwrap()["type"], "RUN_ERROR");
    let mut socket = server.socket("t-1");
    let said = socket.until_type("user_message");
    assert_eq!((&said["content"], socket.passed.len()), (&"Echo.".into(), 0));
    socket.held();
    assert!(socket.passed.iter().all(|record| record["content"] != "Do more."), "{:?}", socket.passed);
    let mut events =
        run(&server, "r3", resume(&id, json!({"action": "edit", "edited_arguments": {"message": "edited"}})));
    let id = events.last().unwrap()["outcome"]["interrupts"][0]["id"].clone();
    events.extend(run(&server, "r4", json!({"resume": [{"interruptId": id, "status": "cancelled"}]})));
    // The gate's second question may overtake the agent's record of the first result, which is then in the next run.
    let results = events.iter().filter(|event| event["type"] == "TOOL_CALL_RESULT");
    let results = Vec::from_iter(results.map(|event| event["content"].as_str().unwrap()));
    assert!(results.len() == 2 && results[0].contains("edited") && results[1].contains("rejected"), "{results:?}");
    let finished = events.last().unwrap();
    assert_eq!((&finished["type"], &finished["outcome"]["type"]), (&"RUN_FINISHED".into(), &"success".into()));
    assert_eq!(finished["result"]["content"], "It is done.");
}

#[test]
fn a_run_joins_a_session_that_another_client_started() {
    let place = Place::new();
    let server = Server::start(&agent(&place, &[ECHO, DONE]), &[]);
    let idle = run(&server, "r0", json!({}));
    assert_eq!(idle.last().unwrap()["outcome"]["type"], "success", "{idle:?}");
    let mut socket = server.socket("t-2");
    socket.message("Echo.");
    socket.held();
    let join = json!({"threadId": "t-2"});
    let events = run(&server, "r1", join.clone());
    let interrupt = &events.last().unwrap()["outcome"]["interrupts"][0];
    assert_eq!(interrupt["toolCallId"], "a1", "{events:?}");
    socket.say(json!({"type": "hitl_response", "call_id": "a1", "action": "approve"}));
    socket.until_type("final");
    let events = run(&server, "r2", join);
    assert!(events.iter().any(|event| event["type"] == "TOOL_CALL_RESULT"), "{events:?}");
    assert_eq!(events.last().unwrap()["outcome"]["type"], "success");
}

/// An agent with a gate of its own that never settles its question, as a slow one has not done yet.
const UNSETTLED: &str = r#"
import json, os, socket, sys
def say(**record): print(json.dumps(record), flush=True)
say(type="status", status="idle", pending_kind="none")
sys.stdin.readline()
say(type="status", status="running", pending_kind="none")
gate = socket.socket(socket.AF_UNIX)
gate.connect(os.environ["PIPEWRIGHT_APPROVALS"])
call = {"call_id": "a1", "tool_name": "look", "arguments": {}}
sha256 = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
question = {"type": "status", "status": "waiting_human", **call, "arguments_sha256": sha256, "nonce": "n1"}
gate.sendall((json.dumps(question) + "\n").encode())
gate.recv(4096)
say(type="tool_result", call_id="a1", status="ok", result=1)
say(type="final", outcome="done", content="", usage={}, steps=1, denied=0, exit_status=0)
say(type="status", status="idle", pending_kind="none")
sys.stdin.read()
"#;

#[test]
fn an_answered_question_is_no_interrupt_though_its_gate_has_not_settled_it_yet() {
    let place = Place::new();
    let mut agent = std::process::Command::new("python3");
    agent.arg(place.file("agent.py", UNSETTLED));
    let server = Server::start(&agent, &[]);
    let mut socket = server.socket("t-1");
    socket.message("Look.");
    socket.held();
    let interrupted = run(&server, "r1", json!({}));
    assert_eq!(interrupted.last().unwrap()["outcome"]["type"], "interrupt", "{interrupted:?}");
    socket.say(json!({"type": "hitl_response", "call_id": "a1", "action": "approve"}));
    socket.until_type("final");
    let events = run(&server, "r2", json!({}));
    assert_eq!(events.last().unwrap()["outcome"]["type"], "success", "{events:?}");
}

#[test]
fn a_thread_has_one_run_and_disconnecting_cancels_it() {
    let place = Place::new();
    let server = Server::start(&place.scripted(&[crate::agent_acp::RUNNING]), &[]);
    let body = json!({"threadId": "t-1", "runId": "r1", "tools": [], "context": [], "messages": [{"id": "u", "role": "user", "content": "Go."}]});
    let stream = server.send("POST", "/ag-ui", &[AUTHORIZATION, JSON], &body.to_string());
    let mut socket = server.socket("t-1");
    socket.until(|record| record["status"] == "running");
    let second = run(&server, "r2", said("u2", "Go."));
    assert_eq!(second[1]["type"], "RUN_ERROR", "{second:?}");
    assert!(second[1]["message"].as_str().unwrap().contains("another run of this thread is open"));
    drop(stream);
    let ended = socket.until_type("final");
    assert_eq!(ended["outcome"], "cancelled");
    let invalid = run(&server, "r3", json!({"threadId": "../x"}));
    assert_eq!(invalid[1]["type"], "RUN_ERROR", "{invalid:?}");
}
