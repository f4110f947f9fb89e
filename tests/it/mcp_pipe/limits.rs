//! Lines that are long or deep.

use super::{mcp_pipe, play};
use crate::process::pipe;
use serde_json::json;

#[test]
#[ignore = "64 MB: scripts/test runs it"]
fn a_line_of_64_mb_passes_and_one_over_the_limit_is_told() {
    let played = play("echo", &[], &[r#"{"tool":"big","args":{"bytes":67108864},"id":1}"#]);
    assert!(played.lines[0].len() > 64 << 20);
    played.assert_well();
    let calls = [r#"{"tool":"big","args":{"bytes":100000000},"id":1}"#, r#"{"tool":"echo","id":2}"#];
    let played = play("echo", &["--max-result", "64M"], &calls);
    let answers = played.answers();
    assert_eq!(
        (&answers[0]["kind"], &answers[1]["status"], played.status),
        (&json!("too_large"), &json!("ok"), Some(1))
    );
    assert!(played.lines[0].contains("--max-result"));
}

#[test]
fn the_call_of_an_overlong_line_is_found() {
    let long = r#"{"tool":"big","args":{"bytes":3000000,"id_last":true},"id":1}"#;
    let other = r#"{"tool":"sleep","args":{"seconds":0.5},"id":2}"#;
    let short = long.replace(r#","id_last":true"#, "");
    for long in [long, &short] {
        let played = play("echo", &["--max-result", "1M", "-j", "2", "--timeout", "60"], &[long, other]);
        let answers = played.answers();
        assert_eq!((&answers[0]["kind"], &answers[1]["status"]), (&json!("too_large"), &json!("ok")), "{answers:?}");
    }
    // An overlong notification fails no call.
    let played = play(
        "echo",
        &["--max-result", "1M", "--timeout", "60"],
        &[r#"{"tool":"big","args":{"bytes":3000000,"log":true},"id":1}"#],
    );
    assert_eq!(played.answers()[0]["status"], "ok", "{:?}", played.lines);
}

#[test]
fn an_overlong_list_fails_at_once() {
    let played = play("echo", &["--max-result", "200"], &[r#"{"tool":"echo"}"#]);
    assert_eq!((played.status, played.lines.len()), (Some(3), 1), "{}", played.stderr);
    assert!(played.stderr.contains("--max-result"), "{}", played.stderr);
}

#[test]
fn only_the_overlong_or_too_deep_call_is_refused() {
    let deep = format!(r#"{{"tool":"echo","args":{{"x":{}1{}}}}}"#, "[".repeat(5000), "]".repeat(5000));
    let long = format!(r#"{{"tool":"echo","args":{{"message":"{}"}}}}"#, "x".repeat(2 << 20));
    let played = play("echo", &["--max-line", "1M"], &[&deep, &long, r#"{"tool":"echo","id":3}"#]);
    let answers = played.answers();
    assert_eq!(
        (&answers[0]["kind"], &answers[1]["kind"], &answers[2]["status"]),
        (&json!("bad_input"), &json!("too_large"), &json!("ok"))
    );
    assert_eq!((played.status, answers.len()), (Some(1), 3));
}

#[test]
fn an_over_long_line_of_json_rpc_is_refused_in_that_form() {
    let long = "x".repeat(5000);
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"{long}"}}}}}}"#
    );
    let played = play("echo", &["--max-line", "1K"], &[&call]);
    assert_eq!(played.answers()[0]["error"]["data"]["kind"], "too_large", "{:?}", played.lines);
}

#[test]
fn a_deep_result_is_passed_on_unchanged() {
    let levels = 100_000;
    let played =
        play("echo", &[], &[&format!(r#"{{"tool":"deep","args":{{"levels":{levels}}}}}"#), r#"{"tool":"echo"}"#]);
    assert!(played.lines[0].contains(&"[".repeat(levels)) && played.lines[0].contains(r#""status":"ok""#));
    assert_eq!(played.lines.len(), 2);
    played.assert_well();
}

#[test]
fn very_deep_arguments_are_sent_unchecked() {
    let deep = format!(r#"{{"tool":"echo","args":{{"x":{}1{}}}}}"#, "[".repeat(200), "]".repeat(200));
    let played = play("echo", &["--max-depth", "1000", "--no-check"], &[&deep]);
    assert!(played.lines[0].contains(r#""status":"ok""#), "{:?}", played.lines);
}

#[test]
fn invalid_utf8_is_refused() {
    let (mut command, _home) = mcp_pipe("echo", &[]);
    let output = pipe(
        &mut command,
        b"{\"tool\":\"echo\",\"args\":{\"message\":\"\xff\"}}\n\0\n{\"tool\":\"echo\",\"id\":2}\r\n",
    );
    let lines: Vec<serde_json::Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["kind"], &lines[1]["kind"], &lines[2]["status"]),
        (&json!("bad_input"), &json!("bad_input"), &json!("ok"))
    );
}
