//! `list_tools`: the tools of the server, or of several, in one record.

use super::several::play as play_several;
use super::{Played, play};
use crate::process::{pipe, text};
use serde_json::{Value, json};

const LIST: &str = r#"{"type":"list_tools","request_id":7.10}"#;

/// The `tool_list` records, and the names of their tools.
fn lists(played: &Played) -> Vec<(Value, Vec<String>)> {
    let lists = played.answers().into_iter().filter(|answer| answer["type"] == "tool_list");
    let names = |list: &Value| {
        let tools = list["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    lists.map(|list| (list.clone(), names(&list))).collect()
}

#[test]
fn the_tools_are_listed_once_for_each_request_with_its_own_id() {
    let played = play("echo", &["--deny", "die*"], &[LIST, r#"{"type":"list_tools"}"#, r#"{"tool":"echo","id":1}"#]);
    played.assert_well();
    let lists = lists(&played);
    assert_eq!(lists.len(), 2);
    assert!(
        played.lines.iter().any(|line| line.starts_with(r#"{"type":"tool_list","request_id":7.10,"world":"mcp","#))
    );
    assert_eq!(lists[1].0.get("request_id"), None);
    let (list, names) = &lists[0];
    assert!(names.contains(&"echo".to_owned()) && !names.iter().any(|name| name.starts_with("die")), "{names:?}");
    let echo = list["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "echo").unwrap();
    assert_eq!(echo["input_schema"]["type"], "object", "{echo}");
    assert!(echo["description"].is_string());
}

#[test]
fn the_tools_of_several_servers_have_their_full_names() {
    let played = play_several(&[("git", "echo"), ("gone", "none"), ("web", "modern")], &[], &[LIST]);
    let names = &lists(&played)[0].1;
    assert!(names.contains(&"git__echo".to_owned()) && names.contains(&"web__echo".to_owned()), "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("git__") || name.starts_with("web__")), "{names:?}");
}

#[test]
fn a_world_that_cannot_start_answers_too() {
    let played = play_several(&[("gone", "none")], &[], &[LIST]);
    assert_eq!(played.status, Some(3), "{}", played.stderr);
    let (list, tools) = lists(&played).swap_remove(0);
    assert_eq!((&list["request_id"], &list["tools"], tools.len()), (&json!(7.10), &json!([]), 0));
    assert!(list["error"].as_str().unwrap().contains("cannot start /no/such/server"), "{list}");
}

#[test]
fn a_failed_start_is_no_empty_list_for_those_that_ask() {
    let mcp_pipe = crate::process::binary("mcp-pipe");
    let world = ["--", mcp_pipe.to_str().unwrap(), "--", "sh", "-c", "exit 1"];
    let listed = pipe(crate::process::command("tool-call").arg("--list").args(world), b"");
    assert_eq!((listed.stdout.len(), listed.status.code()), (0, Some(3)));
    assert!(
        text(&listed.stderr).ends_with("tool-call: start_failed: the server ended: exit status 1\n"),
        "{}",
        text(&listed.stderr)
    );
    let messages = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        "\n"
    );
    let served = pipe(crate::process::command("mcp-serve").args(world), messages.as_bytes());
    assert_eq!(served.status.code(), Some(3));
    let answer = text(&served.stdout);
    assert!(
        answer.contains(r#""id":2,"error":{"code":-32603,"message":"the server ended: exit status 1"}"#),
        "{answer}"
    );
    // One of several servers: the others' tools are listed, and the status tells.
    let played = play_several(&[("gone", "none"), ("there", "echo")], &[], &[LIST]);
    let (list, tools) = lists(&played).swap_remove(0);
    assert!(!tools.is_empty() && list["error"].as_str().unwrap().contains("gone"), "{list}");
}

#[test]
fn a_request_with_a_repeated_key_is_refused() {
    let played = play("echo", &[], &[r#"{"type":"list_tools","type":"list_tools"}"#, LIST]);
    assert_eq!((played.status, lists(&played).len()), (Some(1), 1), "{:?}", played.lines);
    assert!(played.stderr.contains("stdin:1"), "{}", played.stderr);
}

#[test]
fn the_deadline_of_the_run_leaves_no_request_unanswered() {
    let played = play("silent", &["--deadline", "0.5"], &[LIST]);
    assert_eq!((played.status, lists(&played).len()), (Some(124), 1), "{:?}", played.lines);
}
