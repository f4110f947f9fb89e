//! Calls without a result: those that were sent are flagged as possibly executed.

use super::{Pipe, play};
use serde_json::{Value, json};

const FORGOTTEN: &str = r#"{"tool":"forget","id":1}"#;
const WAITING: &str = r#"{"tool":"echo","id":2}"#;

fn maybe_executed(answers: &[Value]) -> Vec<(Value, Value)> {
    answers.iter().map(|answer| (answer["kind"].clone(), answer["maybe_executed"].clone())).collect()
}

#[test]
fn a_call_that_times_out_may_have_been_executed() {
    let in_json_rpc = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"forget"}}"#;
    let played = play("echo", &["--timeout", "0.3"], &[FORGOTTEN, in_json_rpc]);
    let answers = played.answers();
    assert_eq!(maybe_executed(&answers[..1]), [(json!("timeout"), json!(true))]);
    assert_eq!(answers[1]["error"]["data"]["maybe_executed"], true, "{}", answers[1]);
}

#[test]
fn at_the_deadline_only_sent_calls_may_have_been_executed() {
    let played = play("echo", &["--deadline", "3"], &[FORGOTTEN, WAITING]);
    assert_eq!(
        maybe_executed(&played.answers()),
        [(json!("timeout"), json!(true)), (json!("timeout"), Value::Null)],
        "{:?}",
        played.lines
    );
}

#[test]
fn of_cancelled_calls_only_sent_ones_may_have_been_executed() {
    let mut pipe = Pipe::start_logged("echo", &["-j", "1"]);
    pipe.talk.say(r#"{"tool":"forget","id":"c\u0041"}"#);
    pipe.talk.say(r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}"#);
    pipe.talk.say(r#"{"tool":"echo","id":2}"#);
    pipe.reaches_server("\"forget\"", 1);
    pipe.talk.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#);
    let sent = pipe.ask(r#"{"type":"cancel","call_id":"cA"}"#);
    assert_eq!((&sent["kind"], &sent["maybe_executed"]), (&json!("cancelled"), &json!(true)), "{sent}");
    let unsent: Value = serde_json::from_str(&pipe.talk.receive()).unwrap();
    let about = &unsent["error"]["data"];
    assert_eq!(
        (&unsent["id"], &about["kind"], &about["maybe_executed"]),
        (&json!(7), &json!("cancelled"), &Value::Null)
    );
    assert!(pipe.talk.receive().contains(r#""id":2"#));
    assert_eq!(pipe.end_after_close().status.code(), Some(1));
}

#[test]
fn a_repeated_call_that_is_never_answered_may_have_been_executed() {
    // It is sent again after each of two losses; after the third there is no server any more.
    let call = r#"{"tool":"count_safe","args":{"dies":9},"id":1}"#;
    let played = play("echo", &["--restart", "2"], &[call]);
    assert_eq!(maybe_executed(&played.answers()), [(json!("lost"), json!(true))], "{:?}", played.lines);
}

#[test]
fn a_cancel_is_read_although_the_server_reads_nothing() {
    let mut pipe = Pipe::start_logged("echo", &["-j", "4", "--unordered", "--timeout", "600"]);
    pipe.talk.say(r#"{"tool":"hangs_in","id":1}"#);
    pipe.reaches_server("\"hangs_in\"", 1);
    pipe.talk.say(&format!(r#"{{"tool":"echo","id":2,"args":{{"x":"{}"}}}}"#, "y".repeat(1_000_000)));
    pipe.talk.say(r#"{"type":"cancel","call_id":1}"#);
    let answer: Value = serde_json::from_str(&pipe.talk.receive()).unwrap();
    assert_eq!((&answer["id"], &answer["kind"]), (&json!(1), &json!("cancelled")), "{answer}");
}

#[test]
fn a_json_rpc_notification_has_no_answer() {
    let played = play(
        "echo",
        &[],
        &[
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#,
        ],
    );
    assert_eq!(played.lines.len(), 1, "{:?}", played.lines);
    assert_eq!(played.answers()[0]["id"], 1);
}
