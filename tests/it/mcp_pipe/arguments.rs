//! The forms of a call's arguments and time limit, and the answer to an unreadable call.

use super::{mcp_pipe, play};
use crate::process::{pipe, text, without_duration};
use serde_json::{Value, json};

#[test]
fn both_names_of_the_arguments_reach_the_server_in_every_form() {
    let calls = [
        r#"{"tool":"echo","arguments":{"n":1.10}}"#,
        r#"{"type":"tool_call","tool_name":"echo","args":{"n":1.10}}"#,
        r#"{"cmd":"echo","arguments":{"n":1.10}}"#,
    ];
    let played = play("echo", &[], &calls);
    assert!(played.lines.iter().all(|line| line.contains(r#""structuredContent":{"n":1.10}"#)), "{:?}", played.lines);
    played.assert_well();
    let both = play("echo", &[], &[r#"{"tool":"echo","id":1,"args":{"a":1},"arguments":{"b":1}}"#]);
    assert_eq!((&both.answers()[0]["id"], &both.answers()[0]["kind"]), (&json!(1), &json!("bad_input")));
}

#[test]
fn null_arguments_mean_none_and_other_values_are_refused_in_the_form_of_the_call() {
    let played = play(
        "echo",
        &[],
        &[
            r#"{"tool":"echo","args":null,"id":1}"#,
            r#"{"tool":"echo","args":"{}","id":"c\u0041"}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":[]}}"#,
            r#"{"jsonrpc":"2.0","id":8,"method":"tools/call""#,
        ],
    );
    let answers = played.answers();
    assert_eq!(answers[0]["data"]["structuredContent"], json!({}));
    assert_eq!((&answers[1]["id"], &answers[1]["tool"]), (&json!("cA"), &json!("echo")));
    assert!(played.lines[1].contains(r#""id":"c\u0041""#), "{}", played.lines[1]);
    assert_eq!((&answers[2]["id"], &answers[2]["error"]["data"]["kind"]), (&json!(7), &json!("bad_input")));
    assert_eq!(
        (&answers[3]["id"], &answers[3]["jsonrpc"], &answers[3]["error"]["code"]),
        (&Value::Null, &json!("2.0"), &json!(-32000))
    );
    assert_eq!(played.status, Some(1));
}

#[test]
fn a_call_may_have_its_own_timeout() {
    let slow = |timeout: &str| format!(r#"{{"tool":"sleep","args":{{"seconds":0.6}},"timeout":{timeout}}}"#);
    let calls = [slow("0.2"), slow("\"200ms\""), slow("5"), slow("0"), slow("null"), slow("\"soon\""), slow("-1")];
    let played = play("echo", &["--timeout", "0.3"], &Vec::from_iter(calls.iter().map(String::as_str)));
    let kinds: Vec<Value> = played.answers().iter().map(|answer| answer["kind"].clone()).collect();
    let expected = ["timeout", "timeout", "", "", "timeout", "bad_input", "bad_input"];
    assert_eq!(
        kinds,
        expected.map(|kind| if kind.is_empty() { Value::Null } else { json!(kind) }),
        "{:?}",
        played.lines
    );
    assert!(played.lines[5].contains(r#"\"timeout\": a duration is"#), "{}", played.lines[5]);
}

#[test]
fn a_result_has_the_duration_of_its_call() {
    let (mut command, _home) = mcp_pipe("echo", &[]);
    let calls = r#"{"tool":"sleep","args":{"seconds":0.3}}
{"tool":"unknown"}
{"type":"tool_call","tool_name":"echo"}
"#;
    let output = text(&pipe(&mut command, calls.as_bytes()).stdout);
    let answers: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let took = answers[0]["duration_ms"].as_u64().unwrap();
    assert!(took >= 300, "{took}");
    assert_eq!(answers[1]["duration_ms"], Value::Null, "it was not sent");
    assert!(answers[2]["duration_ms"].is_u64(), "{}", answers[2]);
    assert!(!without_duration(output.lines().next().unwrap()).contains("duration"));
}
