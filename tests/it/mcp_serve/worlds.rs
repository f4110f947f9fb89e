//! Our own worlds behind mcp-serve, with gates between them.
#![cfg(feature = "mcp")]

use super::{Client, serve};
use crate::process::{Talk, binary, command, example};
use serde_json::{Value, json};
use std::time::Duration;

fn path(name: &str) -> String {
    binary(name).to_str().unwrap().to_owned()
}

#[test]
fn gates_between_it_and_the_world_judge_each_call() {
    let world = example("stand-in-world");
    let (policy_check, world) = (path("policy-check"), world.to_str().unwrap());
    let mut client = Client::start(&mut serve(&[], &[&policy_check, "--confirm", "refuse", "--", world]));
    assert_eq!(client.call("echo", &json!({"a": 1}))["structuredContent"], json!({"a": 1}));
    let refused = client.call("die", &json!({}));
    assert_eq!(refused["isError"], true);
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("kind: needs_approval") || text.contains("kind: denied"), "{text}");
    let status = client.talk.end_after_close().status.code();
    assert_eq!(status, Some(1), "the gate's own status: it has refused a call");
}

#[test]
fn a_server_behind_mcp_pipe_is_served_unchanged() {
    let (mcp_pipe, server) = (path("mcp-pipe"), example("stand-in-server"));
    let world = [&mcp_pipe, "--events", "-", "-j", "4", "--unordered", "--", server.to_str().unwrap(), "echo"];
    let mut client = Client::start(&mut serve(&[], &world));
    client.ask("initialize", &json!({"protocolVersion": "2025-11-25"}));
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let echo = tools.iter().find(|tool| tool["name"] == "echo").unwrap();
    assert_eq!(echo["description"], "Says it again.\nWhatever it is.");
    assert_eq!(client.call("echo", &json!({"message": "hi"}))["content"][0]["type"], "text");
    let image = client.call("image", &json!({}));
    assert!(image["content"].as_array().unwrap().iter().any(|block| block["type"] == "image"), "{image}");
    // The server's own error text.
    let failed = client.call("fail", &json!({}));
    assert!(failed["isError"] == true && !failed.to_string().contains("kind: "), "{failed}");
    let refused = client.call("echo", &json!({"message": 7}));
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(refused["isError"] == true && text.contains("kind: invalid_args"), "{text}");
    // The progress of two concurrent calls reaches the right requests.
    for token in ["a", "b"] {
        let meta = json!({"progressToken": token});
        client.request("tools/call", &json!({"name": "tell", "arguments": {"times": 2}, "_meta": meta}));
    }
    let lines: Vec<Value> = (0..6).map(|_| client.receive()).collect();
    for token in ["a", "b"] {
        assert_eq!(lines.iter().filter(|line| line["params"]["progressToken"] == token).count(), 2, "{lines:?}");
    }
    client.request("tools/call", &json!({"name": "grow"}));
    let lines = [client.receive(), client.receive()];
    assert!(lines.iter().any(|line| line["method"] == "notifications/tools/list_changed"), "{lines:?}");
    let listed = client.ask("tools/list", &json!({}));
    assert!(listed.to_string().contains(r#""name":"grown""#));
    client.talk.end_after_close();
}

#[test]
fn a_recorded_world_is_served_offline() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("run.jsonl");
    let (mcp_pipe, replay, server) = (path("mcp-pipe"), path("replay"), example("stand-in-server"));
    let mut record = command("jsonl-record");
    record.args(["--child", "world"]).arg(&log).arg("--").args([&mcp_pipe, "--"]).arg(server).arg("echo");
    let mut recorded = Talk::start(&mut record);
    for message in ["hi", "ho"] {
        recorded.ask(&json!({"tool": "echo", "args": {"message": message}}).to_string());
    }
    assert_eq!(recorded.end_after_close().status.code(), Some(0));
    let world = [&replay, "--as", "world", "--any-order", log.to_str().unwrap()];
    let mut client = Client::start(&mut serve(&[], &world));
    let listed = client.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"][0]["name"], "echo");
    for message in ["ho", "hi", "ho"] {
        let echoed = client.call("echo", &json!({"message": message}));
        assert!(echoed["isError"].is_null() && echoed.to_string().contains(message), "{echoed}");
    }
    let missed = client.call("echo", &json!({"message": "he"}));
    assert!(missed["isError"] == true && missed.to_string().contains("kind: not_found"), "{missed}");
    client.talk.end_after_close();
}

#[test]
fn a_game_is_served_with_the_events_of_its_calls() {
    let (bridge, game) = (path("godot-bridge"), example("stand-in-game"));
    let folder = tempfile::tempdir().unwrap();
    let mut served = serve(&[], &[&bridge, "--", game.to_str().unwrap(), "echo"]);
    let mut client = Client::start(served.env("XDG_RUNTIME_DIR", folder.path()));
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let press = tools.iter().find(|tool| tool["name"] == "press_button").unwrap();
    assert_eq!(press["inputSchema"]["type"], "object");
    let node = client.call("get_node", &json!({"path": "/root"}));
    assert!(node["isError"].is_null() && node["content"][0]["type"] == "text", "{node}");
    assert_eq!(client.talk.end_after_close().status.code(), Some(0));
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_godot_game_is_played_by_an_mcp_client() {
    let (bridge, vault) = (path("godot-bridge"), crate::godot::vault());
    let mut client = Client::start(&mut serve(&[], &[&bridge, "--launch", vault.to_str().unwrap()]));
    let client_info = json!({"name": "test", "version": "1"});
    let version = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client_info});
    assert!(client.ask("initialize", &version)["result"]["capabilities"]["tools"].is_object());
    client.notify("notifications/initialized", &json!({}));
    let listed = client.ask("tools/list", &json!({}));
    let names = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
    let names: Vec<&str> = names.collect();
    assert!(["press_button", "get_tree", "swap"].iter().all(|name| names.contains(name)), "{names:?}");
    client.call("swap", &json!({"from": 0, "to": 1}));
    let pressed = client.call("press_button", &json!({"path": "#ResetButton"}));
    assert_eq!(pressed["structuredContent"]["path"], "/root/LevelScene/HUDLayer/ResetButton");
    assert!(pressed["content"][1]["text"].as_str().unwrap().contains("\"type\":\"pressed\""), "{pressed}");
    let refused = client.call("press_button", &json!({"path": "#NextLevelButton"}));
    assert!(refused["isError"] == true && refused.to_string().contains("NOT_ACTIONABLE"), "{refused}");
    let places = client.call("get_property", &json!({"path": "#Crystal_0", "property": "place"}));
    assert_eq!(places["structuredContent"]["value"], 0, "the crystals are at home again: {places}");
    client.talk.end_after_close();
}

#[test]
fn a_world_that_does_not_end_with_its_stdin_is_ended() {
    let script = r#"read line; echo '{"type":"tool_list","request_id":"tools-1","tools":[]}'; trap '' TERM; sleep 1000; sleep 1000"#;
    let mut client = Client::start(&mut serve(&[], &["sh", "-c", script]));
    client.ask("tools/list", &json!({}));
    let ended = client.talk.end_after_close();
    assert!(ended.status.code() == Some(0) && ended.took >= Duration::from_secs(3), "{:?}", ended.status);
}
