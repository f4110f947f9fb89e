//! The source of the tools: the world's list, a file, or none.

use super::{Client, META, serve, stand_in};
use crate::process::{pipe, text};
use serde_json::{Value, json};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const RECORD: &str = "{\"type\":\"tool_list\",\n\"tools\":[{\"name\":\"a\",\n\"description\":\"b\"}]}";

fn names(listed: &Value) -> Vec<&str> {
    listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn the_error_for_a_world_without_a_list_says_what_to_do() {
    let says =
        |why: &str| format!("mcp-serve: the world does not list its tools: {why}; give them with --tools FILE\n");
    let mut client = Client::start(&mut serve(&["--start-timeout", "0.5"], &["sleep", "600"]));
    // The request need not wait for the world.
    client.ask("initialize", &json!({"protocolVersion": "2025-11-25"}));
    client.talk.say(LIST);
    let why = "no answer to list_tools within 0.5 s (--start-timeout)";
    let ended = client.talk.end();
    let refused: Value = serde_json::from_str(&ended.lines[0]).unwrap();
    assert_eq!(refused["error"]["code"], -32603, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().ends_with(why), "{refused}");
    assert_eq!((ended.status.code(), ended.stderr), (Some(3), says(why)));
    // A world that echoes lines fails at once.
    let ended = pipe(&mut serve(&["--start-timeout", "1h"], &["cat"]), b"");
    let why = "it passes list_tools on instead of answering it";
    assert_eq!((ended.status.code(), text(&ended.stderr)), (Some(3), says(why)));
}

#[test]
fn a_file_replaces_the_list() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.json");
    std::fs::write(&file, RECORD).unwrap();
    for world in [&["cat"][..], &["sleep", "600"]] {
        let options = ["--start-timeout", "0.2", "--tools", file.to_str().unwrap()];
        let mut client = Client::start(&mut serve(&options, world));
        let listed = client.ask("tools/list", &json!({}));
        let tool = json!({"name": "a", "description": "b", "inputSchema": {"type": "object"}});
        assert_eq!(listed["result"]["tools"], json!([tool]));
    }
    // A world's own list takes precedence.
    let mut client = Client::start(&mut stand_in(&["--tools", file.to_str().unwrap()]));
    assert!(names(&client.ask("tools/list", &json!({}))).contains(&"echo"));
    for (content, why) in
        [("{}", "not a tool_list record"), ("[\"tool_list\"]", "array"), (r#"{"type":"tool_list"}"#, "not a list")]
    {
        std::fs::write(&file, content).unwrap();
        let output = pipe(&mut stand_in(&["--tools", file.to_str().unwrap()]), b"");
        let stderr = text(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(why), "{stderr}");
    }
}

#[test]
fn a_program_that_cannot_be_started_is_3_and_one_that_ends_at_once_gives_its_status() {
    let output = pipe(&mut serve(&[], &["/no/such/world"]), LIST.as_bytes());
    assert_eq!(output.status.code(), Some(3));
    let mut client = Client::start(&mut serve(&[], &["sh", "-c", "read -r line; exit 5"]));
    client.talk.say(LIST);
    let ended = client.talk.end();
    assert_eq!(ended.status.code(), Some(5));
    assert!(ended.lines.iter().all(|line| line.contains("-32603")), "{:?}", ended.lines);
}

#[test]
fn changed_tools_are_notified_and_listed_again() {
    let mut client = Client::start(&mut stand_in(&[]));
    client.ask("initialize", &json!({"protocolVersion": "2025-11-25"}));
    let before = names(&client.ask("tools/list", &json!({}))).len();
    client.call("test_trigger_tool_change", &json!({}));
    assert_eq!(client.receive(), json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    let listed = client.ask("tools/list", &json!({}));
    assert_eq!(names(&listed).len(), before + 1);
    client.call("extra_0", &json!({}));
    // The same list again is not a change.
    let again = r#"{"type":"observation","source":"mcp","data":{"event":"tools","data":{}}}"#;
    client.call("say", &json!({"line": again}));
    client.talk.receive_nothing_for(50);
    assert_eq!(client.talk.end_after_close().status.code(), Some(0));
}

#[test]
fn a_client_of_2026_is_notified_where_it_listens() {
    let meta: Value = serde_json::from_str(META).unwrap();
    let mut client = Client::start(&mut stand_in(&[]));
    client.request(
        "subscriptions/listen",
        &json!({"_meta": meta, "notifications": {"toolsListChanged": true, "promptsListChanged": true}}),
    );
    let id = json!({"io.modelcontextprotocol/subscriptionId": 1});
    let acknowledged = json!({"_meta": id, "notifications": {"toolsListChanged": true}});
    assert_eq!(client.receive()["params"], acknowledged);
    client.request("subscriptions/listen", &json!({"_meta": meta, "notifications": {"promptsListChanged": true}}));
    assert_eq!(client.receive()["params"]["notifications"], json!({}));
    client.call("test_trigger_tool_change", &json!({}));
    let changed = client.receive();
    assert_eq!(
        (&changed["method"], &changed["params"]),
        (&json!("notifications/tools/list_changed"), &json!({"_meta": id}))
    );
    client.notify("notifications/cancelled", &json!({"requestId": 1}));
    client.call("test_trigger_tool_change", &json!({}));
    client.talk.receive_nothing_for(50);
    assert_eq!(client.talk.end_after_close().status.code(), Some(0));
}
