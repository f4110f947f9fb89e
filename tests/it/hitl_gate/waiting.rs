//! The records and answers for the caller while a call is held.

use super::{Desktop, MARKED, SETTLED, gate, json, marked};
use crate::process::{Talk, command, eventually, pipe, text};
use serde_json::{Value, json};

/// A call of an MCP client, marked like policy-check does.
fn rpc(id: u32, path: &str) -> String {
    let meta = json!({"requires_approval": true, "policy": {"verdict": "confirm", "rule": "r", "reason": "why"}});
    let params = json!({"name": "delete_file", "arguments": {"path": path}, "_meta": meta});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

/// The text for a model in an answer that is an error.
fn said(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

/// A gate around `cat`, whose questions are written to a file.
struct Wrapped {
    desk: Desktop,
    asked: usize,
}

impl Wrapped {
    fn start(options: &[&str]) -> Wrapped {
        let events = ["--events", "events.jsonl"];
        Wrapped { desk: Desktop::start(&[&events, options, &["--", "cat"]].concat()), asked: 0 }
    }

    fn events(&self) -> Vec<Value> {
        let events = std::fs::read_to_string(self.desk.folder.path().join("events.jsonl")).unwrap_or_default();
        events.lines().map(json).collect()
    }

    /// The next question.
    fn question(&mut self) -> Value {
        let mut question = None;
        eventually("it is asked", || {
            question = self.events().into_iter().filter(|event| event["nonce"].is_string()).nth(self.asked);
            question.is_some()
        });
        self.asked += 1;
        question.unwrap()
    }
}

#[test]
fn a_call_held_too_long_is_answered_and_its_approval_counts_for_one_repetition() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit");
    let mut gate = Wrapped::start(&["--hold-limit", "300ms", "--audit", audit.to_str().unwrap()]);
    gate.desk.talk.say(&rpc(1, "a"));
    let question = gate.question();
    let answer = gate.desk.receive();
    assert_eq!((&answer["id"], &answer["result"]["_meta"]["kind"]), (&json!(1), &json!("needs_approval")));
    assert!(said(&answer).contains("a person is still being asked"), "{answer}");
    assert!(said(&answer).contains("Repeat the call with the same arguments"), "{answer}");
    // No call waits behind one that has been answered.
    let look = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"look"}}"#;
    assert_eq!(gate.desk.talk.ask(look), look);
    // It is repeated while the question is open, and again afterwards.
    gate.desk.talk.say(&rpc(3, "a"));
    assert_eq!(gate.desk.receive()["id"], 3);
    gate.desk.answer_to(&question, r#""action":"approve""#);
    eventually("it is settled", || gate.events().len() == 5);
    // With other arguments, it is another call.
    gate.desk.talk.say(&rpc(4, "b"));
    let other = gate.question();
    assert_eq!(other["arguments"], json!({"path": "b"}));
    gate.desk.answer_to(&other, r#""action":"reject","feedback":"keep b""#);
    assert!(said(&gate.desk.receive()).contains("it was rejected: keep b"));
    let passed = gate.desk.talk.ask(&rpc(5, "a"));
    assert_eq!(json(&passed)["params"], json!({"name": "delete_file", "arguments": {"path": "a"}}), "{passed}");
    // Only once.
    gate.desk.talk.say(&rpc(6, "a"));
    let again = gate.question();
    assert_eq!(again["call_id"], 6);
    gate.desk.answer_to(&again, r#""action":"approve""#);
    assert_eq!(json(&gate.desk.talk.receive())["id"], 6);
    gate.desk.talk.close();
    assert_eq!(gate.desk.talk.end().status.code(), Some(1), "one was rejected");

    let verified = pipe(command("policy-check").arg("verify").arg(&audit), b"");
    assert_eq!(verified.status.code(), Some(0), "{}", text(&verified.stderr));
    let counts = json(&text(&verified.stdout));
    let counts = ["asked", "approved", "rejected", "passed"].map(|name| counts[name].as_u64().unwrap());
    assert_eq!(counts, [3, 4, 1, 3], "calls 1, 3, 5 and 6 were approved; look, 5 and 6 passed");
}

#[test]
fn a_call_with_other_fields_besides_its_arguments_is_not_a_repetition() {
    let mut gate = Wrapped::start(&["--hold-limit", "300ms"]);
    gate.desk.talk.say(&rpc(1, "a"));
    let question = gate.question();
    assert_eq!(gate.desk.receive()["id"], 1);
    gate.desk.answer_to(&question, r#""action":"approve""#);
    eventually("it is settled", || gate.events().len() == 3);
    let others =
        [("_meta\":{", "_meta\":{\"force\":true,"), ("params\":{", "params\":{\"extra\":1,"), ("{\"", "{\"top\":1,\"")];
    for (id, (before, after)) in (2..).zip(others) {
        gate.desk.talk.say(&rpc(id, "a").replacen(before, after, 1));
        let other = gate.question();
        assert_eq!(other["call_id"], id, "{after}");
        gate.desk.answer_to(&other, r#""action":"reject""#);
        assert_eq!(gate.desk.receive()["id"], id);
    }
    // The progress token differs each time.
    let again = rpc(9, "a").replacen("_meta\":{", "_meta\":{\"progressToken\":9,", 1);
    assert_eq!(json(&gate.desk.talk.ask(&again))["id"], 9);
}

#[test]
fn a_rejection_and_an_edit_count_for_the_repetition_too_and_a_repetition_may_wait() {
    let mut gate = Wrapped::start(&["--hold-limit", "300ms"]);
    let hold = |gate: &mut Wrapped, id: u32| {
        gate.desk.talk.say(&rpc(id, "a"));
        let question = gate.question();
        assert_eq!(gate.desk.receive()["id"], id);
        question
    };
    let question = hold(&mut gate, 1);
    gate.desk.answer_to(&question, r#""action":"reject","feedback":"keep it""#);
    eventually("it is settled", || gate.events().len() == 3);
    gate.desk.talk.say(&rpc(2, "a"));
    let answer = gate.desk.receive();
    assert!(answer["id"] == 2 && said(&answer).contains("it was rejected: keep it"), "{answer}");

    let question = hold(&mut gate, 3);
    gate.desk.answer_to(&question, r#""action":"edit","edited_arguments":{"path":"b"}"#);
    eventually("it is settled", || gate.events().len() == 8);
    let passed = json(&gate.desk.talk.ask(&rpc(4, "a")));
    assert_eq!((&passed["id"], &passed["params"]["arguments"]), (&json!(4), &json!({"path": "b"})));

    // The answer passes the call that waits for it; two equal calls need two answers.
    let question = hold(&mut gate, 5);
    gate.desk.talk.say(&rpc(6, "a"));
    gate.desk.talk.say(&rpc(7, "a"));
    gate.desk.answer_to(&question, r#""action":"approve""#);
    assert_eq!(json(&gate.desk.talk.receive())["id"], 6);
    assert_eq!(gate.question()["call_id"], 7);
    // A question whose call is not repeated ends with the caller.
    assert_eq!(gate.desk.receive()["id"], 7);
    gate.desk.talk.close();
    let ended = gate.desk.talk.end();
    assert!(ended.stderr.contains("the call cannot be repeated"), "{}", ended.stderr);
    assert_eq!(ended.lines, [""; 0]);
}

#[test]
fn an_approval_does_not_count_for_a_repetition_that_means_something_else() {
    let click = |id: u32, target: &str| {
        let meta = json!({"requires_approval": true, "target": {"role": "button", "name": target}});
        let params = json!({"name": "browser_click", "arguments": {"ref": "e2"}, "_meta": meta});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let mut gate = Wrapped::start(&["--hold-limit", "200ms"]);
    gate.desk.talk.say(&click(1, "Delete draft"));
    let question = gate.question();
    gate.desk.receive();
    gate.desk.answer_to(&question, r#""action":"approve""#);
    eventually("it is settled", || gate.events().len() == 3);
    gate.desk.talk.say(&click(2, "Pay now"));
    assert_eq!(gate.question()["target"]["name"], "Pay now", "the page has changed: a new question is asked");
}

#[test]
fn calls_that_wait_behind_another_are_answered_as_well_and_a_client_that_wants_progress_gets_it() {
    let mut gate = Wrapped::start(&["--hold-limit", "5500ms"]);
    let meta = r#""_meta":{"progressToken":"t\u0031","#;
    gate.desk.talk.say(&rpc(1, "a").replace(r#""_meta":{"#, meta));
    let look = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"look"}}"#;
    gate.desk.talk.say(look);
    gate.desk.talk.say(&rpc(3, "b"));
    gate.desk.talk.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert!(gate.desk.talk.receive().contains("initialized"), "other records are not held");
    let progress = gate.desk.talk.receive();
    assert!(progress.contains(r#""progressToken":"t\u0031","progress":0.001,"#), "{progress}");
    assert_eq!(json(&progress)["method"], "notifications/progress");
    let mut answers = [1, 2, 3].map(|_| gate.desk.receive());
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert!(said(&answers[0]).contains("a person is still being asked"), "{}", answers[0]);
    assert_eq!(answers[1]["method"], "tools/call", "a harmless call passes when no call waits before it");
    assert!(said(&answers[2]).contains("it waits behind another call"), "{}", answers[2]);
    // In our own forms, a caller waits as long as the person takes.
    gate.desk.talk.say(MARKED);
    gate.desk.talk.receive_nothing_for(300);
}

#[test]
fn with_hold_call_harmless_calls_go_on() {
    let mut gate = Wrapped::start(&["--hold", "call"]);
    let notice = |id: u32| format!(r#"{{"type":"status","status":"waiting_human","call_id":{id}}}"#);
    assert_eq!(gate.desk.talk.ask(MARKED), notice(1));
    gate.desk.talk.say(&marked(2));
    let look = r#"{"tool":"look","id":3}"#;
    assert_eq!(gate.desk.talk.ask(look), look);
    let question = gate.question();
    gate.desk.answer_to(&question, r#""action":"approve""#);
    // One comes from the gate, the other from the child.
    let next = [gate.desk.talk.receive(), gate.desk.talk.receive(), gate.desk.talk.receive()];
    assert!(next.contains(&SETTLED.to_owned()) && next.contains(&notice(2)), "{next:?}");
}

#[test]
fn in_a_pipe_five_calls_can_be_five_lines() {
    let calls: String = (1..=5).map(|id| format!("{{\"tool\":\"delete_file\",\"id\":{id}}}\n")).collect();
    let judge = |options: &[&str]| pipe(command("policy-check").args(options), calls.as_bytes());
    assert_eq!(text(&judge(&[]).stdout).lines().count(), 10);
    let folder = tempfile::tempdir().unwrap();
    let events = folder.path().join("events");
    let judged = judge(&["--records", "errors", "--events", events.to_str().unwrap()]);
    assert_eq!(text(&judged.stdout).lines().count(), 5);
    assert_eq!(crate::schemas::written(&events).matches("policy_request").count(), 5);
    let output = pipe(gate(&[]).args(["--records", "errors"]), &judged.stdout);
    let results: Vec<Value> = text(&output.stdout).lines().map(json).collect();
    assert_eq!(results.len(), 5, "{results:?}");
    assert!(results.iter().all(|result| result["kind"] == "rejected"));
    let wrong = pipe(gate(&[]).args(["--records", "errors", "--events", "-"]), b"");
    assert_eq!(wrong.status.code(), Some(2));

    // The caller still gets a notice that the call waits for a person.
    let mut desk = Desktop::start(&["--records", "errors"]);
    assert_eq!(desk.talk.ask(MARKED), r#"{"type":"status","status":"waiting_human","call_id":1}"#);
    let mut talk = Talk::start(gate(&[]).args(["--records", "errors", "--answers", "stdin"]));
    talk.close();
    assert_eq!(talk.end().status.code(), Some(2), "the questions are written nowhere");
}
