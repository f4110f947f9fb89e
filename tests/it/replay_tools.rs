//! `replay --as`: requests for the tools belong to no turn, and calls may have another form than the recorded one.

use crate::process::{Talk, pipe, text};
use crate::recorded::{Folder, end, log};
use serde_json::{Value, json};

/// A world that lists its tools and executes calls in the short form.
const WORLD: &str = r#"while read -r line; do
    id=${line#*\"id\":}; id=${id%%,*}
    case $line in
    *list_tools*) echo '{"type":"tool_list","request_id":1,"world":"w","tools":[{"name":"a","description":"A","input_schema":{"type":"object"},"n":1.10}]}' ;;
    *) echo "{\"id\":$id,\"tool\":\"a\",\"status\":\"ok\",\"data\":$id}" ;;
    esac
done"#;

const LIST: &str = r#"{"type":"list_tools","request_id":1}"#;

/// The answer of that world to a request that has this id.
fn listed(id: &str) -> String {
    format!(
        r#"{{"type":"tool_list","request_id":{id},"world":"w","tools":[{{"name":"a","description":"A","input_schema":{{"type":"object"}},"n":1.10}}]}}"#
    )
}

/// Records these lines to that world.
fn record(folder: &Folder, lines: &[&str]) {
    let mut recorder = folder.command("jsonl-record --child world run.jsonl -- sh -c");
    let mut recorder = Talk::start(recorder.arg(WORLD));
    lines.iter().for_each(|line| _ = recorder.ask(line));
    assert_eq!(recorder.end_after_close().status.code(), Some(0));
}

fn call(id: u32) -> String {
    format!(r#"{{"id":{id},"tool":"a"}}"#)
}

fn result(id: u32) -> String {
    format!(r#"{{"id":{id},"tool":"a","status":"ok","data":{id}}}"#)
}

#[test]
fn a_recorded_world_lists_its_tools_at_any_time_and_any_number_of_times() {
    let folder = Folder::new();
    record(&folder, &[&call(1), LIST, &call(2), &call(3)]);
    for asked in [vec![0, 0, 1, 0, 2, 3], vec![1, 2, 3], vec![1, 2, 0, 3]] {
        let mut world = Talk::start(&mut folder.command("replay --as world run.jsonl"));
        for (place, number) in asked.iter().enumerate() {
            if *number == 0 {
                let request = format!(r#"{{"request_id":"r{place}","type":"list_tools"}}"#);
                assert_eq!(world.ask(&request), listed(&format!("\"r{place}\"")));
            } else {
                assert_eq!(world.ask(&call(*number)), result(*number));
            }
        }
        let ended = world.end_after_close();
        assert!(ended.stderr.contains(" 0 different; lines: 3 the same\n"), "{}", ended.stderr);
        assert_eq!((ended.lines, ended.status.code()), (vec![], Some(0)));
    }
}

#[test]
fn a_started_agent_is_also_answered_and_a_request_for_the_tools_does_not_replace_a_call() {
    let folder = Folder::new();
    record(&folder, &[LIST, &call(1)]);
    let agent = format!(r#"echo '{LIST}'; echo '{}'; read -r list; read -r result; echo "$list" >list"#, call(1));
    let mut replay = folder.command("replay --as world --report report run.jsonl -- sh -c");
    let output = pipe(replay.arg(agent), b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&folder.read("list")), listed("1") + "\n");
    let report = crate::schemas::written(folder.path("report"));
    let summary: Value = serde_json::from_str(report.lines().last().unwrap()).unwrap();
    assert_eq!(summary["lines"], json!({"same": 1, "differs": 0, "missing": 0, "extra": 0, "unsaid": 0}));
}

#[test]
fn without_a_recorded_list_the_called_tools_are_listed() {
    let folder = Folder::new();
    let calls =
        [r#"<{"tool":"b","id":1}"#, r#"<{"cmd":"a","id":2}"#, r#"<{"type":"tool_call","call_id":3,"tool_name":"b"}"#];
    let json_rpc = r#"<{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"c"}}"#;
    for (recorded, names) in [(&calls[..], vec!["a", "b"]), (&[json_rpc], vec![])] {
        folder.write("run.jsonl", log("world", recorded));
        let mut world = Talk::start(&mut folder.command("replay --as world run.jsonl"));
        let list: Value = serde_json::from_str(&world.ask(LIST)).unwrap();
        let tools = list["tools"].as_array().unwrap();
        assert_eq!(tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), names);
        for tool in tools {
            assert_eq!(tool["input_schema"], json!({"type": "object"}));
            assert!(tool["description"].as_str().unwrap().contains("recording"), "{tool}");
        }
        assert_eq!((&list["request_id"], &list["world"]), (&json!(1), &json!("replay")));
    }
}

#[test]
fn a_live_world_may_list_its_tools_with_another_request_id_but_not_other_tools() {
    let folder = Folder::new();
    record(&folder, &[LIST, &call(1)]);
    for (from, to, status) in [("\"request_id\":1", "\"request_id\":9", 0), ("\"n\":1.10", "\"n\":2", 1)] {
        let mut replay = folder.command("replay --as agent run.jsonl -- sh -c");
        let output = pipe(replay.arg(WORLD.replace(from, to)), b"");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{stderr}");
        assert_eq!(stderr.contains("  - .tools[0].n 1.10\n"), status == 1, "{stderr}");
    }
}

/// The answers of a recorded world to these lines, each sent after the answer to the previous one.
#[cfg(feature = "mcp")]
fn answers(folder: &Folder, lines: &[&str]) -> Vec<Value> {
    let mut world = Talk::start(&mut folder.command("replay --as world run.jsonl"));
    let answers = lines.iter().map(|line| serde_json::from_str(&world.ask(line)).unwrap()).collect();
    let ended = world.end_after_close();
    assert!(ended.stderr.contains(" 0 different; "), "{}", ended.stderr);
    assert_eq!((ended.lines, ended.status.code()), (vec![], Some(0)));
    answers
}

#[test]
#[cfg(feature = "mcp")]
fn the_tools_of_mcp_pipe_are_listed_and_short_calls_can_be_tool_calls_with_other_ids() {
    let folder = Folder::new();
    let mut recorder = folder.command("jsonl-record --child world run.jsonl --");
    recorder.arg(crate::process::binary("mcp-pipe")).arg("--");
    recorder.arg(crate::process::example("stand-in-server")).arg("echo");
    let mut recorder = Talk::start(&mut recorder);
    let echoed: Value = serde_json::from_str(&recorder.ask(r#"{"tool":"echo","id":7,"args":{"text":"hi"}}"#)).unwrap();
    let refused: Value = serde_json::from_str(&recorder.ask(r#"{"tool":"nowhere"}"#)).unwrap();
    assert_eq!((&echoed["status"], &refused["kind"]), (&json!("ok"), &json!("unknown_tool")), "{echoed} {refused}");
    let list = recorder.ask(LIST);
    assert!(list.contains(r#""request_id":1,"world":"mcp","tools":[{"name":""#), "{list}");
    recorder.end_after_close();

    let mut line = answers(
        &folder,
        &[
            r#"{"type":"list_tools","request_id":2}"#,
            r#"{"type":"tool_call","call_id":"m1","tool_name":"echo","arguments":{"text":"hi"}}"#,
            r#"{"type":"tool_call","call_id":"m2","tool_name":"nowhere","arguments":{}}"#,
        ],
    );
    let expected = list.replace("\"request_id\":1,", "\"request_id\":2,");
    assert_eq!(line.remove(0), serde_json::from_str::<Value>(&expected).unwrap());
    let took = &echoed["duration_ms"];
    assert_eq!(
        line[0],
        json!({"type": "tool_result", "call_id": "m1", "status": "ok", "result": echoed["data"], "duration_ms": took, "epoch": 0})
    );
    assert_eq!((&line[1]["type"], &line[1]["call_id"]), (&json!("tool_result"), &json!("m2")));
    for key in ["status", "error", "kind", "epoch"] {
        assert_eq!(line[1][key], refused[key], "{key}");
    }
}

#[test]
fn a_godot_games_answers_are_also_given_as_results() {
    let folder = Folder::new();
    let failed = r#">{"ok":false,"id":2,"error":"no node","hint":"look at get_tree","code":"NODE_NOT_FOUND","details":{"n":1},"events":[],"frame":3}"#;
    let denied = r#">{"ok":false,"id":3,"error":"denied","code":"denied","events":[]}"#;
    folder.write(
        "run.jsonl",
        log(
            "world",
            &[
                r#"<{"cmd":"seed","id":1,"args":{"seed":12345678901234567890}}"#,
                r#">{"ok":true,"id":1,"data":{"seed":12345678901234567890},"events":[{"type":"x"}],"frame":2}"#,
                r#"<{"cmd":"get_node","id":2,"args":{"path":"X"}}"#,
                failed,
                r#"<{"cmd":"quit","id":3}"#,
                denied,
            ],
        ) + &end(9, 1),
    );
    let call = |id: u32, tool: &str, arguments: &str| {
        format!(r#"{{"type":"tool_call","call_id":{id},"tool_name":"{tool}","arguments":{arguments}}}"#)
    };
    let calls = [
        call(10, "seed", r#"{"seed":12345678901234567890}"#),
        call(11, "get_node", r#"{"path":"X"}"#),
        call(12, "quit", "{}"),
    ];
    let mut world = Talk::start(&mut folder.command("replay --as world run.jsonl"));
    let answers = calls.map(|call| world.ask(&call));
    assert_eq!(
        answers,
        [
            r#"{"type":"tool_result","call_id":10,"status":"ok","result":{"seed":12345678901234567890},"events":[{"type":"x"}],"frame":2}"#,
            r#"{"type":"tool_result","call_id":11,"status":"error","error":"no node; look at get_tree","kind":"tool_error","code":"NODE_NOT_FOUND","data":{"n":1},"events":[],"frame":3}"#,
            r#"{"type":"tool_result","call_id":12,"status":"error","error":"denied","kind":"denied","code":"denied","events":[]}"#,
        ]
    );
    let ended = world.end_after_close();
    assert!(ended.stderr.contains(" 0 different; lines: 3 the same\n"), "{}", ended.stderr);
}
