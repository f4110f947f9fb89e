//! Servers that send invalid messages.

use super::{Pipe, play};
use serde_json::{Value, json};

#[test]
fn invalid_answers_affect_no_call() {
    let calls: Vec<String> = (0..20).map(|id| format!(r#"{{"tool":"echo","args":{{"x":{id}}},"id":{id}}}"#)).collect();
    for server in ["noisy", "twice", "unknown-ids", "asks", "echo pages=1", "leaves", "stubborn", "string-ids"] {
        for jobs in ["1", "5"] {
            let played =
                play(server, &["-j", jobs, "--timeout", "60"], &Vec::from_iter(calls.iter().map(String::as_str)));
            played.assert_well();
            let answers = played.answers();
            assert_eq!(answers.len(), 20, "{server}");
            for (id, answer) in answers.iter().enumerate() {
                assert_eq!(
                    (&answer["id"], &answer["data"]["structuredContent"]["x"]),
                    (&json!(id), &json!(id)),
                    "{server}"
                );
            }
        }
    }
}

#[test]
fn requests_of_the_server_are_answered() {
    let mut pipe = Pipe::start("asks", &["--timeout", "60"]);
    pipe.ask(r#"{"tool":"echo"}"#);
    let received = pipe.ask(r#"{"tool":"heard"}"#);
    let received = received["data"]["structuredContent"].as_array().unwrap();
    assert_eq!(received[0], json!({"jsonrpc":"2.0","id":"p","result":{}}));
    for (answer, id) in received[1..4].iter().zip([json!(7), json!([1.1]), Value::Null]) {
        assert!(id.is_null() || answer["id"] == id, "{answer}");
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    assert_eq!(pipe.end_after_close().status.code(), Some(0));
}

#[test]
fn a_changed_list_is_read_again_completely() {
    let mut pipe = Pipe::start("echo pages=3", &["--timeout", "60"]);
    assert_eq!(pipe.ask(r#"{"tool":"grown"}"#)["kind"], "unknown_tool");
    pipe.ask(r#"{"tool":"grow","args":{"times":5}}"#);
    crate::process::eventually("the tool is known", || pipe.ask(r#"{"tool":"grown"}"#)["status"] == "ok");
    for tool in ["echo", "outside", "count", "grown", "sleep"] {
        let answer = pipe.ask(&format!(r#"{{"tool":"{tool}","args":{{"seconds":0}}}}"#));
        assert_eq!(answer["status"], "ok", "{answer}");
    }
    assert_eq!(pipe.end_after_close().status.code(), Some(1));
}

#[test]
fn a_tool_that_was_added_before_a_call_is_known_to_that_call() {
    let played = play("echo pages=1", &[], &[r#"{"tool":"grow"}"#, r#"{"tool":"grown"}"#, r#"{"tool":"ungrown"}"#]);
    let answers = played.answers();
    assert_eq!((&answers[1]["status"], &answers[2]["kind"]), (&json!("ok"), &json!("unknown_tool")), "{answers:?}");
    // The wait for a new list has a time limit.
    let options = ["--start-timeout", "0.5"];
    let played = play("relist-silent", &options, &[r#"{"tool":"grow"}"#, r#"{"tool":"grown"}"#, r#"{"tool":"echo"}"#]);
    let answers = played.answers();
    assert_eq!((&answers[1]["kind"], &answers[2]["status"]), (&json!("unknown_tool"), &json!("ok")), "{answers:?}");
    assert!(played.stderr.contains("--start-timeout"), "{}", played.stderr);
}

#[test]
fn a_changed_list_that_cannot_be_read_keeps_the_server() {
    let mut pipe = Pipe::start("relist-refused", &["--timeout", "60"]);
    pipe.ask(r#"{"tool":"grow"}"#);
    for _ in 0..3 {
        let answer = pipe.ask(r#"{"tool":"echo"}"#);
        assert_eq!((&answer["status"], &answer["epoch"]), (&json!("ok"), &json!(0)));
    }
    assert_eq!(pipe.end_after_close().status.code(), Some(0));
}

#[test]
fn results_of_any_shape_are_results() {
    let results =
        ["[1]", "null", "7", "{}", r#"{"isError":1}"#, r#"{"content":{"a":1}}"#, r#"{"content":[7,{"text":8}]}"#];
    for result in results {
        let played =
            play("echo", &["--timeout", "60"], &[&format!(r#"{{"tool":"bad_result","args":{{"result":{result}}}}}"#)]);
        assert_eq!(played.lines, [format!(r#"{{"tool":"bad_result","status":"ok","data":{result},"epoch":0}}"#)]);
    }
    let played = play(
        "echo",
        &[],
        &[r#"{"tool":"bad_result","args":{"result":{"resultType":"input_required","requestState":"s"}}}"#],
    );
    assert_eq!((played.lines.len(), &played.answers()[0]["kind"], played.status), (1, &json!("tool_error"), Some(1)));
}

#[test]
fn a_server_that_hangs_under_load_is_restarted() {
    let calls = [r#"{"tool":"hangs_in","id":1}"#, r#"{"tool":"echo","id":2}"#, r#"{"tool":"echo","id":3}"#];
    for (options, kinds, requests) in [
        (&["--timeout", "2"][..], ["timeout", "", ""], "2 requests"),
        // Both calls are open when it hangs.
        (&["--timeout", "2", "-j", "2"], ["timeout", "timeout", ""], "2 requests"),
        (&["--timeout", "2", "--restart-after-timeouts", "1"], ["timeout", "", ""], "1 request"),
        (&["--timeout", "2", "--restart-after-timeouts", "4"], ["timeout", "", ""], "4 requests"),
        (&["--timeout", "2", "--restart-after-timeouts", "0"], ["timeout", "timeout", "timeout"], ""),
    ] {
        let played = play("echo", options, &calls);
        let answers = played.answers();
        let found: Vec<&str> = answers.iter().map(|answer| answer["kind"].as_str().unwrap_or("")).collect();
        assert_eq!((&found[..], played.status), (&kinds[..], Some(1)), "{options:?}: {}", played.stderr);
        assert!(played.stderr.contains(requests), "{options:?}: {}", played.stderr);
        let epoch = u64::from(!requests.is_empty());
        assert!(answers[2]["epoch"] == epoch, "{options:?}: {}", answers[2]);
    }
}

#[test]
fn a_slow_server_is_not_restarted() {
    let slow = r#"{"tool":"sleep","args":{"seconds":10}}"#;
    let played = play("echo", &["--timeout", "2", "-j", "3"], &[slow, slow, slow, slow, r#"{"tool":"echo"}"#]);
    let answers = played.answers();
    assert!(answers[..4].iter().all(|answer| answer["kind"] == "timeout"), "{answers:?}");
    assert_eq!((&answers[4]["status"], &answers[4]["epoch"]), (&json!("ok"), &json!(0)), "{}", played.stderr);
}

#[test]
fn a_timeout_does_not_end_another_call_with_a_longer_limit() {
    let slow = r#"{"tool":"run_command","args":{"command":"sleep 2"},"timeout":60}"#;
    let played = play(
        "echo",
        &["--timeout", "0.3", "-j", "2"],
        &[slow, r#"{"tool":"echo"}"#, r#"{"tool":"echo","timeout":60}"#],
    );
    let answers = played.answers();
    assert_eq!(
        [&answers[0]["status"], &answers[1]["kind"], &answers[2]["status"]],
        [&json!("ok"), &json!("timeout"), &json!("ok")],
        "{}",
        played.stderr
    );
    assert_eq!(answers[2]["epoch"], 0);
}

#[test]
fn an_unreadable_reply_is_named_when_its_call_times_out() {
    for (line, why) in [
        (r#"{"jsonrpc":"2.0","id":ID,"result":{"x":NaN}}"#, "not a JSON object"),
        (r#"{"jsonrpc":"2.0","id":ID,"id":ID,"result":{}}"#, "\"id\" appears twice"),
        (r#"[{"jsonrpc":"2.0","id":ID,"result":{}}]"#, "array"),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
            "without an id: Parse error",
        ),
        (r#"{"jsonrpc":"2.0","id":"ID.5","result":{}}"#, "\"3.5\""),
    ] {
        let call = json!({"tool":"say","args":{"line":line}}).to_string();
        let played = play("echo", &["--timeout", "0.3"], &[&call, r#"{"tool":"forget"}"#]);
        let answers = played.answers();
        let error = answers[0]["error"].as_str().unwrap();
        assert!(
            answers[0]["kind"] == "timeout" && error.contains("--timeout") && error.contains(why),
            "{line}: {error}"
        );
        assert!(!answers[1]["error"].as_str().unwrap().contains(why), "{line}: {}", answers[1]);
    }
}

#[test]
fn the_deadline_answers_everybody_with_124() {
    for server in ["echo", "silent"] {
        let played = play(
            server,
            &["--deadline", "1"],
            &[
                r#"{"tool":"hangs_in","id":1}"#,
                r#"{"tool":"echo","id":2}"#,
                r#"{"type":"plan_update"}"#,
                r#"{"tool":"echo","id":3}"#,
            ],
        );
        assert_eq!((played.status, played.lines.len()), (Some(124), 4), "{}", played.stderr);
        assert!(played.stderr.contains("--deadline"), "{}", played.stderr);
        assert!(
            played.answers().iter().filter(|line| line["tool"] == "echo").all(|answer| answer["kind"] == "timeout"),
            "{:?}",
            played.lines
        );
    }
}
