//! `--ask client`: the question goes to the MCP client's own user.

use super::{gate, json};
use crate::process::{Talk, command, pipe, text};
use serde_json::{Value, json};

fn initialize(capabilities: &Value) -> String {
    let info = json!({"name": "c", "version": "0"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": info});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string()
}

fn call(id: u32, arguments: &Value) -> String {
    let meta =
        json!({"requires_approval": true, "policy": {"verdict": "confirm", "rule": "r", "reason": "pay: \"pay\""}});
    let params = json!({"name": "pay", "arguments": arguments, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// A client of a gate around `cat`; its `initialize` comes back, like everything else that passes.
fn start(options: &[&str], capabilities: &Value) -> Talk {
    let mut talk = Talk::start(gate(&["--ask", "client"]).args(options).args(["--", "cat"]));
    talk.ask(&initialize(capabilities));
    talk
}

fn answer(question: &Value, result: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": question["id"], "result": result}).to_string()
}

#[test]
fn the_clients_user_approves_and_rejects_without_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit");
    let mut talk = start(&["--audit", audit.to_str().unwrap()], &json!({"elicitation": {}}));
    let question =
        json(&talk.ask(&call(1, &json!({"amount": 5, "to": "a\u{202e}b", "note": format!("x{}y", " ".repeat(300))}))));
    assert_eq!(question["method"], "elicitation/create");
    let message = question["params"]["message"].as_str().unwrap();
    for part in ["call of pay", "pay: \\\"pay\\\"", "\"amount\":5", "a<U+202E>b", "x<300 blanks>y"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let schema = &question["params"]["requestedSchema"]["properties"];
    assert_eq!(schema["decision"]["enum"], json!(["approve", "reject"]));
    // The server sends a request, too: that is between it and the client.
    let other = r#"{"jsonrpc":"2.0","id":"pipewright-0","result":{"action":"accept","content":{"decision":"reject"}}}"#;
    assert_eq!(talk.ask(other), other);
    let approved = answer(&question, &json!({"action": "accept", "content": {"decision": "approve"}}));
    assert_eq!(json(&talk.ask(&approved))["params"]["name"], "pay");
    // The question is answered once; a second answer does not reach the server.
    talk.say(&approved);
    talk.say(&approved);
    talk.receive_nothing_for(200);

    let question = json(&talk.ask(&call(2, &json!({}))));
    let content = json!({"decision": "reject", "feedback": "too dear"});
    let rejected = json(&talk.ask(&answer(&question, &json!({"action": "accept", "content": content}))));
    let said = rejected["result"]["content"][0]["text"].as_str().unwrap();
    assert!(rejected["id"] == 2 && said.contains("it was rejected: too dear"), "{rejected}");
    for result in
        [json!({"action": "decline"}), json!({"action": "cancel"}), json!({"action": "accept", "content": {}})]
    {
        let question = json(&talk.ask(&call(3, &json!({}))));
        assert_eq!(json(&talk.ask(&answer(&question, &result)))["result"]["isError"], true, "{result}");
    }
    assert_eq!(talk.end_after_close().status.code(), Some(1));
    let verified = pipe(command("policy-check").arg("verify").arg(&audit), b"");
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified.stderr));
    assert_eq!(std::fs::read_to_string(audit).unwrap().matches(r#""by":"client""#).count(), 5);
}

#[test]
fn the_clients_user_is_shown_fields_besides_the_arguments() {
    let mut talk = start(&[], &json!({"elicitation": {}}));
    let hidden = call(1, &json!({})).replace(r#""name""#, r#""path":"/etc/passwd","name""#);
    let question = json(&talk.ask(&hidden));
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains(r#"besides the arguments: {"params":{"path":"/etc/passwd"}}"#), "{message}");
    drop(talk);
    // A call that is too long to be shown is not asked about.
    let mut talk = start(&[], &json!({"elicitation": {}}));
    let refused = json(&talk.ask(&hidden.replace("/etc/passwd", &"x".repeat(5000))));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
}

#[test]
fn a_client_that_cannot_ask_its_user_gets_no_request() {
    for (capabilities, arguments) in [
        (json!({}), json!({})),
        (json!({"elicitation": {"url": {}}}), json!({})),
        (json!({"elicitation": {"form": {}}}), json!({"text": "x".repeat(5000)})),
    ] {
        let mut talk = start(&[], &capabilities);
        let rejected = json(&talk.ask(&call(1, &arguments)));
        let said = rejected["result"]["content"][0]["text"].as_str().unwrap();
        assert!(said.contains("nobody can be asked here") && !said.contains("--approver"), "{said}");
        let stderr = talk.end_after_close().stderr;
        assert!(stderr.contains("the client does not ask its user either"), "{stderr}");
    }
    let mut talk = start(&[], &json!({"elicitation": {"form": {}}}));
    let question = json(&talk.ask(&call(1, &json!({}))));
    let failed =
        json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32601, "message": "no such method"}});
    assert_eq!(json(&talk.ask(&failed.to_string()))["result"]["_meta"]["kind"], "rejected");
    assert!(talk.end_after_close().stderr.contains("the client did not ask its user: no such method"));
    // Nor does it get one without the option.
    let mut talk = Talk::start(gate(&[]).args(["--", "cat"]));
    talk.ask(&initialize(&json!({"elicitation": {}})));
    assert_eq!(json(&talk.ask(&call(1, &json!({}))))["result"]["isError"], true);
}

#[test]
fn a_question_that_is_settled_elsewhere_is_withdrawn() {
    let mut talk = start(&["--timeout", "300ms"], &json!({"elicitation": {}}));
    let question = json(&talk.ask(&call(1, &json!({}))));
    assert_eq!(json(&talk.receive())["id"], 1);
    let withdrawn = json(&talk.receive());
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    // A late answer has no effect, and does not reach the server.
    talk.say(&answer(&question, &json!({"action": "accept", "content": {"decision": "approve"}})));
    talk.receive_nothing_for(200);
}
