//! `replay --as world --any-order`: a recorded world answers calls in our own forms, in any order. JSON-RPC: replay_jsonrpc.rs.

use crate::process::{Talk, pipe, text};
use crate::recorded::{Folder, log};
use serde_json::{Value, json};

const LIST: &str = r#"{"type":"list_tools","request_id":1}"#;

/// Records `mcp-pipe` in front of a server while it answers these lines, and gives its answers.
#[cfg(feature = "mcp")]
fn record(folder: &Folder, lines: &[&str]) -> Vec<Value> {
    let mut recorder = folder.command("jsonl-record --child world run.jsonl --");
    recorder.arg(crate::process::binary("mcp-pipe")).arg("--");
    recorder.arg(crate::process::example("stand-in-server")).args(["echo", "count=count"]);
    let mut recorder = Talk::start(&mut recorder);
    let answers = lines.iter().map(|line| serde_json::from_str(&recorder.ask(line)).unwrap()).collect();
    recorder.end_after_close();
    answers
}

/// What `run.jsonl` answers to these lines, what is reported, and the exit status.
fn ask(folder: &Folder, options: &str, lines: &[&str]) -> (Vec<String>, String, Option<i32>) {
    let mut replay = folder.command(&format!("replay --as world --any-order {options} run.jsonl"));
    let output = pipe(&mut replay, (lines.join("\n") + "\n").as_bytes());
    (text(&output.stdout).lines().map(str::to_owned).collect(), text(&output.stderr), output.status.code())
}

fn parsed(lines: &[String]) -> Vec<Value> {
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
#[cfg(feature = "mcp")]
fn calls_are_answered_in_another_order_form_and_number_than_were_recorded_and_with_their_own_ids() {
    let folder = Folder::new();
    let echo = |id: &str, message: &str| format!(r#"{{"id":{id},"tool":"echo","args":{{"message":"{message}"}}}}"#);
    let count = r#"{"id":3,"tool":"count"}"#;
    let recorded = record(
        &folder,
        &[&echo("1", "a"), &echo("2", "b"), count, count, r#"{"tool":"nowhere"}"#, LIST, r#"{"cmd":"fail","id":4}"#],
    );
    let [a, b, one, two, nowhere, list, fail] = &recorded[..] else { panic!("{recorded:?}") };
    assert_eq!((&one["status"], &two["status"]), (&json!("ok"), &json!("ok")), "{recorded:?}");
    assert_ne!(one["data"], two["data"]);

    let (said, told, status) = ask(
        &folder,
        "",
        &[
            r#"{"type":"list_tools","request_id":"r"}"#,
            r#"{"type":"tool_call","call_id":"m1","tool_name":"fail","session_id":"s"}"#,
            r#"{"cmd":"echo","args":{"message":"b"},"id":[1]}"#,
            r#"{"type":"tool_call","call_id":"m2","tool_name":"count","arguments":null}"#,
            &echo("\"x\"", "a"),
            r#"{"tool":"count","args":{}}"#,
            r#"{"tool":"count","id":7}"#,
            r#"{"tool":"nowhere","id":8}"#,
        ],
    );
    let said = parsed(&said);
    let with = |answer: &Value, key: &str, value: Value| {
        let mut answer = answer.clone();
        answer[key] = value;
        answer
    };
    assert_eq!(said[0], with(list, "request_id", json!("r")));
    assert_eq!(
        said[1],
        json!({
            "type": "tool_result", "call_id": "m1", "session_id": "s", "status": "error", "error": fail["error"],
            "kind": "tool_error", "code": "tool_error", "data": fail["data"], "events": [],
            "epoch": 0, "duration_ms": fail["duration_ms"],
        })
    );
    assert_eq!(
        said[2],
        json!({"ok": true, "id": [1], "data": b["data"], "events": [], "epoch": 0, "duration_ms": b["duration_ms"]})
    );
    assert_eq!(
        said[3],
        json!({"type": "tool_result", "call_id": "m2", "status": "ok", "result": one["data"], "epoch": 0, "duration_ms": one["duration_ms"]})
    );
    assert_eq!(said[4], with(a, "id", json!("x")));
    assert_eq!((&said[5]["data"], said[5].get("id")), (&two["data"], None));
    assert_eq!(said[6], with(two, "id", json!(7)), "the last answer again");
    assert_eq!(said[7], with(nowhere, "id", json!(8)));
    let sum = "replay: 7 requests: 7 answered from the recording, 0 not; recorded and not made: 0\n";
    assert_eq!((said.len(), told.as_str(), status), (8, sum, Some(0)));
}

const LOG: [&str; 8] = [
    r#"<{"id":1,"tool":"get","args":{"n":1.0,"at":5}}"#,
    r#">{"type":"observation","source":"w","data":1.10}"#,
    r#">{"id":1,"tool":"get","status":"ok","data":12345678901234567890123}"#,
    r#"<{"id":2,"tool":"get","args":{"n":2,"at":5}}"#,
    r#">{"id":2,"tool":"get","status":"ok","data":2}"#,
    r#"<{"id":3,"tool":"set"}"#,
    r#">{"id":9,"tool":"set","status":"ok"}"#,
    r#"<{"type":"plan_update","plan":[]}"#,
];

fn with_log() -> Folder {
    let folder = Folder::new();
    folder.write("run.jsonl", log("world", &LOG));
    folder
}

#[test]
fn a_call_that_was_not_recorded_is_an_error_in_its_own_form_that_names_the_nearest() {
    let (said, told, status) = ask(
        &with_log(),
        "--report report",
        &[
            r#"{"type":"tool_call","call_id":"c","tool_name":"get","arguments":{"n":3,"at":5}}"#,
            r#"{"id":8,"tool":"got"}"#,
            r#"{"cmd":"set","id":7}"#,
            r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"get"}}"#,
            r#"{"tool":"get","id":5,"args":{"n":2,"at":5}}"#,
        ],
    );
    let said = parsed(&said);
    let why = "the recording has no call of get with these arguments; the nearest differs at .arguments.n";
    let nearest = json!({"recorded": [{"at": 5, "n": 1}, {"at": 5, "n": 2}]});
    assert_eq!(
        said[0],
        json!({"type": "tool_result", "call_id": "c", "status": "error", "error": why, "kind": "not_found", "data": nearest})
    );
    assert_eq!((&said[1]["id"], &said[1]["kind"]), (&json!(8), &json!("unknown_tool")));
    assert_eq!((&said[1]["status"], &said[1]["data"]["names"]), (&json!("error"), &json!(["get", "set"])));
    let unanswered = "this request is in the recording but was never answered there";
    assert_eq!(said[2], json!({"ok": false, "id": 7, "error": unanswered, "code": "not_found", "events": []}));
    assert_eq!((&said[3]["id"], &said[3]["error"]["code"]), (&json!(6), &json!(-32601)));
    assert_eq!((&said[4]["id"], &said[4]["data"]), (&json!(5), &json!(2)));
    assert!(told.starts_with(&format!("replay: stdin:1: {why}\n")), "{told}");
    assert!(told.contains("replay: run.jsonl:2: recorded, but not requested: "), "{told}");
    let sum = "replay: 5 requests: 1 answered from the recording, 4 not; recorded and not made: 1\n";
    assert!(told.ends_with(sum), "{told}");
    assert_eq!(status, Some(1));
}

#[test]
fn what_may_differ_is_ignored_and_numbers_are_compared_by_value() {
    let call = r#"{"type":"tool_call","tool_name":"get","arguments":{"n":1,"at":6}}"#;
    let observation = &LOG[1][1..];
    let result = r#"{"type":"tool_result","status":"ok","result":12345678901234567890123}"#;
    for options in ["--ignore .arguments.at", "--ignore .args.at", "--normalise del(.args.at,.arguments.at)"] {
        let (said, told, status) = ask(&with_log(), options, &[call]);
        assert_eq!((said, status), (vec![observation.to_owned(), result.to_owned()], Some(0)), "{options}: {told}");
    }
    assert_eq!(ask(&with_log(), "", &[call]).2, Some(1));
}

#[test]
fn what_requires_approval_or_cannot_be_read_is_refused_and_other_records_are_ignored() {
    let twice = r#"{"tool":"get","id":2,"id":3}"#;
    let deep = format!(r#"{{"tool":"get","id":4,"args":{}{}}}"#, "[".repeat(600), "]".repeat(600));
    let long = format!(r#"{{"tool":"get","id":5,"args":{{"text":"{}"}}}}"#, "x".repeat(2000));
    let lines = [
        r#"{"tool":"get","id":1,"args":{"n":2,"at":5},"requires_approval":true}"#,
        "",
        r#"{"type":"plan_update"}"#,
        r#"{"n":1}"#,
        "hello",
        twice,
        &deep,
        &long,
        r#"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#,
    ];
    let (said, told, status) = ask(&with_log(), "--max-line 1400 --max-depth 9999", &lines);
    let said = parsed(&said);
    let kinds: Vec<&Value> = said.iter().take(5).map(|answer| &answer["kind"]).collect();
    assert_eq!(kinds, ["needs_approval", "bad_input", "bad_input", "bad_input", "too_large"], "{told}");
    assert_eq!((&said[0]["id"], &said[5]["error"]["code"]), (&json!(1), &json!(-32600)));
    assert_eq!((said.len(), status), (6, Some(1)));
}

#[test]
fn a_call_that_is_cancelled_before_its_answer_is_due_is_answered_with_that() {
    for cancel in [
        r#"{"type":"cancel","call_id":"\u0041"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"A"}}"#,
    ] {
        let lines = [r#"{"tool":"get","id":"A","args":{"n":2,"at":5}}"#, r#"{"type":"cancel","call_id":"B"}"#, cancel];
        let (said, ..) = ask(&with_log(), "--speed 0.001", &lines);
        assert_eq!(said, [r#"{"id":"A","tool":"get","status":"error","error":"it was cancelled","kind":"cancelled"}"#]);
    }
}

#[test]
fn an_agent_that_is_started_lists_the_tools_and_calls_them() {
    let folder = with_log();
    let agent = format!(
        r#"echo '{LIST}'; read -r list; echo '{{"tool":"get","id":1,"args":{{"at":5,"n":2}}}}'; read -r answer; echo "$list$answer" >&2"#
    );
    let mut replay = folder.command("replay --quiet --as world --any-order run.jsonl -- sh -c");
    let output = pipe(replay.arg(agent), b"");
    let told = text(&output.stderr);
    assert!(
        told.starts_with(r#"{"type":"tool_list","request_id":1,"world":"replay","tools":[{"name":"get","#),
        "{told}"
    );
    assert!(told.contains(r#"}{"id":1,"tool":"get","status":"ok","data":2}"#), "{told}");
    assert_eq!(output.status.code(), Some(0));
}
