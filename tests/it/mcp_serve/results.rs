//! A world's results and errors as MCP results.

use super::{Client, stand_in};
use crate::process::Talk;
use serde_json::{Value, json};

/// The MCP result for a world's result, as text: every digit and the order of keys matter.
fn becomes(talk: &mut Talk, result: &str) -> String {
    let params = format!(r#"{{"name":"result","arguments":{{"result":{result}}}}}"#);
    let answer = talk.ask(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#));
    answer.strip_prefix(r#"{"jsonrpc":"2.0","id":1,"result":"#).unwrap().strip_suffix('}').unwrap().to_owned()
}

#[test]
fn a_result_of_any_shape_becomes_content() {
    let mut talk = Talk::start(&mut stand_in(&[]));
    let events = r#"{"type":"text","text":"events: [{\"pressed\":\"Go\"}]"}"#;
    for (result, text, structured) in [
        (r#""hi \"you\"""#, r#"hi \"you\""#, false),
        ("1.10", "1.10", false),
        ("[1,2]", "[1,2]", false),
        ("null", "null", false),
        (r#"{"b":12345678901234567890123,"a":1.10}"#, r#"{\"b\":12345678901234567890123,\"a\":1.10}"#, true),
        // Has `content`, but not that of MCP.
        (r#"{"content":"x"}"#, r#"{\"content\":\"x\"}"#, true),
        (r#"{"content":[{"type":"card"}]}"#, r#"{\"content\":[{\"type\":\"card\"}]}"#, true),
    ] {
        let structured = if structured { format!(r#","structuredContent":{result}"#) } else { String::new() };
        let expected = format!(r#"{{"content":[{{"type":"text","text":"{text}"}},{events}]{structured}}}"#);
        assert_eq!(becomes(&mut talk, result), expected);
    }
    talk.end_after_close();
}

#[test]
fn an_mcp_result_is_passed_on_unchanged() {
    let mut talk = Talk::start(&mut stand_in(&[]));
    for result in [
        r#"{"x":1.10,"content":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"structuredContent":{"n":12345678901234567890123}}"#,
        r#"{"content":[],"isError":true}"#,
    ] {
        assert_eq!(becomes(&mut talk, result), result);
    }
    talk.end_after_close();
}

#[test]
fn files_with_saved_media_are_named() {
    let mut talk = Talk::start(&mut stand_in(&[]));
    let saved = r#"{"content":[{"type":"image","path":"/a/1.png","mimeType":"image/png"},{"type":"resource","resource":{"uri":"u","path":"/a/2.bin"}},{"type":"image","data":"aGk=","path":"x"}]}"#;
    let named = r#"{"content":[{"type":"text","text":"saved to /a/1.png (image/png)"},{"type":"text","text":"saved to /a/2.bin"},{"type":"image","data":"aGk=","path":"x"}]}"#;
    assert_eq!(becomes(&mut talk, saved), named);
    talk.end_after_close();
}

#[test]
fn an_error_is_a_result_that_a_model_can_read() {
    let mut client = Client::start(&mut stand_in(&[]));
    let failed = client.call("fail", &json!({}));
    let text = "no such thing\nkind: not_found\ncode: E7\ndata: {\"n\":1}";
    assert_eq!(failed, json!({"content": [{"type": "text", "text": text}], "isError": true}));
    client.talk.end_after_close();
}

#[test]
fn ten_megabytes_pass_and_an_overlong_result_is_an_error() {
    let mut client = Client::start(&mut stand_in(&["--max-result", "11M"]));
    let big = client.call("big", &json!({"bytes": 10 << 20}));
    assert_eq!(big["content"][0]["text"].as_str().unwrap().len(), 10 << 20);
    let too_big = client.call("big", &json!({"bytes": 12 << 20}));
    assert_eq!(too_big["isError"], true);
    let text = too_big["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("--max-result") && text.contains("kind: too_large"), "{text}");
    client.call("echo", &json!({}));
    client.talk.end_after_close();
}

#[test]
fn a_result_limit_below_the_line_limit_applies() {
    let mut client = Client::start(&mut stand_in(&["--max-result", "100K"]));
    assert!(client.call("big", &json!({"bytes": 90 << 10}))["isError"].is_null());
    assert!(client.call("big", &json!({"bytes": 101 << 10})).to_string().contains("kind: too_large"));
    client.talk.end_after_close();
}

#[test]
fn noise_of_the_world_only_reaches_stderr() {
    let mut client = Client::start(&mut stand_in(&[]));
    let deep = "[".repeat(600);
    for line in [
        "listening on port 7",
        r#"{"type":"status","status":"waiting_human","call_id":"c1"}"#,
        r#"{"type":"tool_result","call_id":"c999","status":"ok","result":1}"#,
        r#"{"type":"tool_result","call_id":7,"status":"ok","result":1}"#,
        r#"{"type":"tool_result","call_id":"c1"}"#,
        r#"{"type":"tool_list"}"#,
        r#"{"type":"tool_call","call_id":"c1","tool_name":"echo"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        &deep,
    ] {
        assert_eq!(client.call("say", &json!({"line": line}))["content"][0]["text"], "said", "{line}");
    }
    let ended = client.talk.end_after_close();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("mcp-serve: world:2: it is not a JSON object"), "{}", ended.stderr);
}

#[test]
fn a_dead_world_fails_every_call_and_sets_the_exit_status() {
    let mut client = Client::start(&mut stand_in(&[]));
    let waiting: Vec<u64> = (0..3).map(|_| client.request("tools/call", &json!({"name": "wait"}))).collect();
    let dying = client.request("tools/call", &json!({"name": "die", "arguments": {"status": 7}}));
    for id in waiting.into_iter().chain([dying]) {
        let lost: Value = client.receive();
        assert_eq!((&lost["id"], &lost["result"]["isError"]), (&json!(id), &json!(true)), "{lost}");
        let text = lost["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("exit status 7\nkind: lost\nmaybe_executed: true"), "{text}");
    }
    let ended = client.talk.end();
    assert_eq!(ended.status.code(), Some(7));
    assert_eq!(ended.stderr, "mcp-serve: the world ended: exit status 7\n");
}
