//! The request for a line of stdin, and its answer.

use super::{Pipe, play, play_logged};
use serde_json::json;

#[test]
fn every_form_is_answered_in_kind_and_every_digit_is_kept() {
    let args = r#"{"n":12345678901234567890123,"x":1.10,"e":1E5}"#;
    let played = play(
        "echo",
        &[],
        &[
            &format!(r#"{{"tool":"echo","args":{args},"id":12345678901234567890}}"#),
            &format!(
                r#"{{"type":"tool_call","call_id":"c\u0041","tool_name":"echo","arguments":{args},"session_id":"s","step_id":1.0}}"#
            ),
            &format!(
                r#"{{"jsonrpc":"2.0","id":1e2,"method":"tools/call","params":{{"name":"echo","arguments":{args}}}}}"#
            ),
            &format!(r#"{{"cmd":"echo","args":{args},"id":[1, {{"b":null}}]}}"#),
            r#"{"tool":"echo"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"echo"}}"#,
        ],
    );
    let result = |args: &str| {
        format!(
            r#"{{"content":[{{"type":"text","text":"echo"}}],"structuredContent":{args},"more":{{"n":12345678901234567890123,"x":1.10}}}}"#
        )
    };
    let (whole, empty) = (result(args), result("{}"));
    assert_eq!(
        played.lines,
        [
            format!(r#"{{"id":12345678901234567890,"tool":"echo","status":"ok","data":{whole},"epoch":0}}"#),
            format!(
                r#"{{"type":"tool_result","call_id":"c\u0041","session_id":"s","step_id":1.0,"status":"ok","result":{whole},"epoch":0}}"#
            ),
            format!(r#"{{"jsonrpc":"2.0","id":1e2,"result":{whole}}}"#),
            format!(r#"{{"ok":true,"id":[1, {{"b":null}}],"data":{whole},"events":[],"epoch":0}}"#),
            format!(r#"{{"tool":"echo","status":"ok","data":{empty},"epoch":0}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":null,"result":{empty}}}"#),
        ]
    );
    played.assert_well();
}

#[test]
fn a_failed_tool_keeps_its_result() {
    let played = play(
        "echo",
        &[],
        &[r#"{"tool":"fail","id":1}"#, r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fail"}}"#],
    );
    let data = r#"{"content":[{"type":"text","text":"no such page"},{"type":"image","data":"","mimeType":"image/png"}],"structuredContent":{"url":"x","n":1.10},"isError":true}"#;
    assert_eq!(
        played.lines,
        [
            format!(
                r#"{{"id":1,"tool":"fail","status":"error","error":"no such page","kind":"tool_error","data":{data},"epoch":0}}"#
            ),
            format!(
                r#"{{"jsonrpc":"2.0","id":2,"error":{{"code":-32000,"message":"no such page","data":{{"kind":"tool_error","data":{data},"epoch":0}}}}}}"#
            ),
        ]
    );
    assert_eq!((played.status, played.stderr.as_str()), (Some(1), ""));
}

#[test]
fn a_tools_content_is_interpreted_only_by_the_callers_filter() {
    let calls = [r#"{"tool":"contract_ok"}"#, r#"{"tool":"contract_error"}"#, r#"{"tool":"contract_text"}"#];
    let played = play("echo", &[], &calls);
    let whole = r#"{"content":[],"structuredContent":{"status":"ok","data":{"url":"x","n":1.10}}}"#;
    assert_eq!(played.lines[0], format!(r#"{{"tool":"contract_ok","status":"ok","data":{whole},"epoch":0}}"#));
    assert!(played.answers().iter().all(|answer| answer["status"] == "ok"), "{:?}", played.lines);
    played.assert_well();

    let contract = ".structuredContent // (.content[0].text | fromjson?)";
    let played = play("echo", &["--status-from", contract], &calls);
    assert_eq!(
        played.lines,
        [
            r#"{"tool":"contract_ok","status":"ok","data":{"url":"x","n":1.10},"epoch":0}"#,
            r#"{"tool":"contract_error","status":"error","error":"gone","kind":"tool_error","data":{"n":1.10},"epoch":0}"#,
            r#"{"tool":"contract_text","status":"ok","data":{"url":"x"},"epoch":0}"#,
        ]
    );
    assert_eq!((played.status, played.stderr.as_str()), (Some(1), ""));
}

#[test]
fn a_failed_status_filter_leaves_the_result_unchanged() {
    let played = play("echo", &["--status-from", ".content[0].text | fromjson"], &[r#"{"tool":"echo"}"#]);
    assert_eq!((&played.answers()[0]["status"], played.status), (&json!("ok"), Some(1)));
    assert!(
        played.stderr.contains("--status-from") && played.stderr.contains("is left unchanged"),
        "{}",
        played.stderr
    );
    let played = play("echo", &["--status-from", ".["], &[]);
    assert_eq!(played.status, Some(2), "{}", played.stderr);
}

#[test]
fn resources_are_listed_and_read() {
    let played = play("echo resources=1", &["--list-resources"], &[]);
    assert_eq!(
        played.lines,
        [
            r#"{"uri":"file:///a","name":"a"}"#,
            r#"{"uri":"file:///b","name":"b"}"#,
            r#"{"uriTemplate":"file:///{path}","name":"any","n":1.10}"#,
        ]
    );
    played.assert_well();
    let read = r#"{"tool":"resources/read","args":{"uri":"file:///a"},"id":1}"#;
    let played = play("echo resources=1", &[], &[read, r#"{"tool":"resources/read","args":{"url":"x"}}"#]);
    assert_eq!(played.answers()[0]["data"]["contents"][0], json!({"uri":"file:///a","text":"hi"}));
    assert_eq!(played.answers()[1]["kind"], "invalid_args");
    // Servers without resources: one that does not know the method, and one that fails.
    let played = play("echo", &["--list-resources"], &[]);
    assert_eq!(played.lines.len(), 0);
    played.assert_well();
    assert_eq!(play("echo", &[], &[read]).answers()[0]["kind"], "unknown_tool");
    let played = play("resources-refused", &["--list-resources"], &[]);
    assert_eq!(played.status, Some(1));
    assert!(played.stderr.contains("resources/list: no list today"), "{}", played.stderr);
}

#[test]
fn an_unknown_tool_is_answered_with_the_nearest() {
    let played = play("echo", &[], &[r#"{"tool":"cuont_safe"}"#, r#"{"tool":"Echo"}"#, r#"{"tool":"xyzzy"}"#]);
    let errors = played.answers().iter().map(|answer| answer["error"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert!(errors[0].contains("nearest: count_safe, ") && errors[1].contains("nearest: echo"), "{errors:?}");
    assert!(errors[2].ends_with(r#"no tool "xyzzy"; --list prints its 29 tools"#), "{errors:?}");
    assert!(errors.iter().all(|error| error.len() < 150), "{errors:?}");
}

#[test]
fn an_error_of_the_protocol_has_its_kind_and_its_number() {
    let calls: Vec<String> = [-32601, -32602, -32603, 7]
        .iter()
        .map(|code| format!(r#"{{"tool":"rpc_error","args":{{"code":{code}}}}}"#))
        .collect();
    let played = play("echo", &[], &Vec::from_iter(calls.iter().map(String::as_str)));
    for (line, (kind, code)) in played.lines.iter().zip([
        ("unknown_tool", "-32601"),
        ("invalid_args", "-32602"),
        ("tool_error", "-32603"),
        ("tool_error", "7"),
    ]) {
        let rest = format!(
            r#""status":"error","error":"so it is","kind":"{kind}","code":"{code}","data":{{"why":[1]}},"epoch":0}}"#
        );
        assert_eq!(*line, format!(r#"{{"tool":"rpc_error",{rest}"#));
    }
    assert_eq!((played.lines.len(), played.status), (4, Some(1)));
}

#[test]
fn other_records_pass_in_order_and_unreadable_lines_are_answered() {
    let played = play(
        "echo",
        &["-j", "4"],
        &[
            r#"{"tool":"sleep","args":{"seconds":0.3},"id":1}"#,
            r#"{"type":"observation","n":1.10,  "x":1}"#,
            r#"{"tool":"echo","id":2}"#,
            "no JSON",
            "[1]",
            r#"{"tool":"echo","cmd":"echo"}"#,
            "",
            r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
            r#"{"tool":"echo","status":"ok","data":1}"#,
        ],
    );
    let said = &played.lines;
    assert!(said[0].starts_with(r#"{"id":1,"#) && said[2].starts_with(r#"{"id":2,"#), "{said:?}");
    assert_eq!(said[1], r#"{"type":"observation","n":1.10,  "x":1}"#);
    for (line, number) in said[3..6].iter().zip(4..) {
        assert!(
            line.contains(&format!(r#""status":"error","error":"line {number}: "#))
                && line.contains(r#""kind":"bad_input""#),
            "{line}"
        );
    }
    assert_eq!(
        said[6..],
        [r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, r#"{"tool":"echo","status":"ok","data":1}"#]
    );
    assert_eq!(played.status, Some(1));
    assert!(played.stderr.starts_with("mcp-pipe: stdin:4: it is not a JSON object"), "{}", played.stderr);
}

#[test]
fn calls_that_require_approval_never_reach_the_server() {
    let played = play_logged(
        "echo",
        &["--no-check"],
        &[
            r#"{"tool":"die","id":1,"requires_approval":true}"#,
            r#"{"type":"tool_call","call_id":2,"tool_name":"die","requires_approval":true}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"die","_meta":{"requires_approval":true}}}"#,
            r#"{"tool":"echo","id":4,"requires_approval":false,"policy":{"verdict":"allow"}}"#,
        ],
    );
    assert!(played.lines[..3].iter().all(|line| line.contains(r#""kind":"needs_approval""#)), "{:?}", played.lines);
    assert!(played.lines[3].starts_with(r#"{"id":4,"tool":"echo","status":"ok""#));
    assert_eq!(played.status, Some(1));
    let calls: Vec<_> = played.received().into_iter().filter(|line| line["method"] == "tools/call").collect();
    assert_eq!(calls.len(), 1);
    assert!(
        !calls[0].to_string().contains("approval") && !calls[0].to_string().contains("verdict"),
        "a mark reached the server"
    );
}

#[test]
fn arguments_are_checked_before_they_are_sent() {
    let calls = [
        r#"{"tool":"echo","args":{"message":7,"names":["a",{}]},"id":1}"#,
        r#"{"tool":"ehco","id":2}"#,
        r#"{"tool":"echo","args":{"message":"hi"},"id":3}"#,
        r#"{"tool":"loop","id":4}"#,
        r#"{"tool":"outside","id":5}"#,
    ];
    let played = play_logged("echo pages=2", &[], &calls);
    let answers = played.answers();
    let error = answers[0]["error"].as_str().unwrap();
    assert!(error.contains("/message: ") && error.contains("/names/1: "), "{error}");
    assert_eq!((&answers[0]["kind"], &answers[1]["kind"]), (&json!("invalid_args"), &json!("unknown_tool")));
    assert!(answers[1]["error"].as_str().unwrap().contains("echo"), "{}", answers[1]);
    // An unreadable schema prevents no call; a schema with an endless reference is detected.
    assert_eq!((&answers[2]["status"], &answers[4]["status"]), (&json!("ok"), &json!("ok")), "{answers:?}");
    assert!(answers[3]["error"].as_str().unwrap().contains("cycle"), "{}", answers[3]);
    assert_eq!(
        (played.received().iter().filter(|line| line["method"] == "tools/call").count(), played.status),
        (2, Some(1))
    );
    let unchecked = play("echo", &["--no-check"], &calls[..2]);
    assert!(unchecked.answers().iter().all(|answer| answer["status"] == "ok"), "{:?}", unchecked.lines);
    unchecked.assert_well();
}

#[test]
fn concurrent_calls_are_answered_in_order_or_as_they_finish() {
    let calls = [("0.6", 1), ("0.1", 2), ("0.3", 3)]
        .map(|(seconds, id)| format!(r#"{{"tool":"sleep","args":{{"seconds":{seconds}}},"id":{id}}}"#));
    let calls = calls.each_ref().map(String::as_str);
    for (options, expected) in
        [(&["-j", "3"][..], [1, 2, 3]), (&["-j", "3", "--unordered"], [2, 3, 1]), (&["--unordered"], [1, 2, 3])]
    {
        let played = play("echo", options, &calls);
        let ids: Vec<_> = played.answers().iter().map(|answer| answer["id"].as_i64().unwrap()).collect();
        assert_eq!(ids, expected, "{options:?}");
        played.assert_well();
    }
}

#[test]
fn the_number_of_concurrent_calls_is_limited() {
    let mut pipe = Pipe::start_logged("echo", &["-j", "2", "--unordered"]);
    pipe.talk.say(r#"{"tool":"forget","id":0}"#);
    pipe.talk.say(r#"{"tool":"forget","id":1}"#);
    pipe.talk.say(r#"{"tool":"echo","id":2}"#);
    pipe.reaches_server("\"forget\"", 2);
    pipe.talk.receive_nothing_for(150);
    for id in 0..2 {
        let cancelled = pipe.ask(&format!(r#"{{"type":"cancel","call_id":{id}}}"#));
        assert_eq!((&cancelled["id"], &cancelled["kind"]), (&json!(id), &json!("cancelled")));
        if id == 0 {
            assert!(pipe.talk.receive().contains(r#""id":2"#));
        }
    }
    assert_eq!(pipe.end_after_close().status.code(), Some(1));
}

#[test]
fn a_call_is_cancelled_and_its_late_reply_dropped() {
    let mut pipe = Pipe::start_logged("echo", &["-j", "1"]);
    pipe.talk.say(r#"{"tool":"sleep","args":{"seconds":0.5},"id":"a"}"#);
    pipe.talk.say(r#"{"tool":"echo","id":"b"}"#);
    pipe.talk.say(r#"{"tool":"echo","id":"c"}"#);
    pipe.reaches_server("\"sleep\"", 1);
    pipe.talk.say(r#"{"type":"cancel","call_id":"b"}"#);
    pipe.talk.say(r#"{"type":"cancel","call_id":"a"}"#);
    let [a, b, c] = [(); 3].map(|()| serde_json::from_str::<serde_json::Value>(&pipe.talk.receive()).unwrap());
    assert_eq!(
        (&a["id"], &a["kind"], &b["id"], &b["kind"], &c["id"], &c["status"]),
        (&json!("a"), &json!("cancelled"), &json!("b"), &json!("cancelled"), &json!("c"), &json!("ok"))
    );
    pipe.talk.receive_nothing_for(600);
    let ended = pipe.end_after_close();
    assert_eq!((ended.status.code(), ended.lines.len()), (Some(1), 0));
}

#[test]
fn the_server_gets_the_cancellation() {
    let played = play_logged(
        "echo",
        &["--timeout", "0.3"],
        &[r#"{"tool":"forget","id":1}"#, r#"{"tool":"sleep","args":{"seconds":0.1},"timeout":60,"id":2}"#],
    );
    assert!(
        played.lines[0].starts_with(r#"{"id":1,"tool":"forget","status":"error""#)
            && played.lines[0].contains(r#""kind":"timeout""#),
        "{:?}",
        played.lines
    );
    assert!(played.lines[1].contains(r#""status":"ok""#), "{:?}", played.lines);
    let received = played.received();
    let id = &received.iter().find(|line| line["method"] == "tools/call").unwrap()["id"];
    let cancelled: Vec<_> = received.iter().filter(|line| line["method"] == "notifications/cancelled").collect();
    assert_eq!((cancelled.len(), &cancelled[0]["params"]["requestId"]), (1, id));
    assert_eq!(played.status, Some(1));
}

#[test]
fn a_late_reply_is_dropped() {
    let played = play(
        "echo",
        &["--timeout", "60"],
        &[
            r#"{"tool":"sleep","args":{"seconds":0.5},"timeout":0.3,"id":1}"#,
            r#"{"tool":"sleep","args":{"seconds":0.4},"id":2}"#,
            r#"{"tool":"echo","id":3}"#,
        ],
    );
    let answers = played.answers();
    assert_eq!(
        answers
            .iter()
            .map(|answer| (answer["id"].as_i64().unwrap(), answer["status"].as_str().unwrap()))
            .collect::<Vec<_>>(),
        [(1, "error"), (2, "ok"), (3, "ok")]
    );
}
