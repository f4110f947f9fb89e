//! Both eras of the protocol, and clients that break its rules.

use super::{Client, META, stand_in};
use crate::process::{Talk, pipe, text};
use serde_json::{Value, json};

fn meta() -> Value {
    serde_json::from_str(META).unwrap()
}

#[test]
fn a_client_of_2025_shakes_hands_and_calls() {
    let mut client = Client::start(&mut stand_in(&[]));
    for (asked, given) in [("2024-11-05", "2024-11-05"), ("2025-11-25", "2025-11-25"), ("2099-01-01", "2025-11-25")] {
        let params = json!({"protocolVersion": asked, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        let greeting = client.ask("initialize", &params);
        assert_eq!(greeting["result"]["protocolVersion"], given);
        assert_eq!(greeting["result"]["capabilities"]["tools"]["listChanged"], true);
    }
    client.notify("notifications/initialized", &json!({}));
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
    let listed = client.ask("tools/list", &json!({}));
    let echo = json!({"name": "echo", "description": "Gives its arguments back", "inputSchema": {"type": "object", "properties": {"message": {"type": "string"}}}, "annotations": {"readOnlyHint": true}});
    assert_eq!(listed["result"]["tools"][0], echo);
    assert_eq!(listed["result"].as_object().unwrap().len(), 1, "{listed}");
    let called = client.call("echo", &json!({"message": "hi"}));
    assert_eq!(called["structuredContent"], json!({"message": "hi"}));
    assert_eq!(client.talk.end_after_close().status.code(), Some(0));
}

#[test]
fn a_client_of_2026_needs_no_handshake() {
    let mut client = Client::start(&mut stand_in(&[]));
    let discovered = client.ask("server/discover", &json!({"_meta": meta()}));
    assert_eq!(discovered["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(discovered["result"]["resultType"], "complete");
    let listed = client.ask("tools/list", &json!({"_meta": meta()}));
    assert_eq!((&listed["result"]["ttlMs"], &listed["result"]["cacheScope"]), (&json!(0), &json!("private")));
    let called = client.ask("tools/call", &json!({"_meta": meta(), "name": "test_simple_text"}));
    assert_eq!(called["result"]["resultType"], "complete");
    assert_eq!(called["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "pipewright");
    for method in ["initialize", "ping", "resources/list"] {
        assert_eq!(client.ask(method, &json!({"_meta": meta()}))["error"]["code"], -32601, "{method}");
    }
    let mut unknown = meta();
    unknown["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let refused = client.ask("tools/list", &json!({"_meta": unknown}));
    let data = json!({"supported": ["2026-07-28"], "requested": "2031-01-01"});
    assert_eq!((&refused["error"]["code"], &refused["error"]["data"]), (&json!(-32022), &data));
    for missing in
        [json!({}), json!({"_meta": {}}), json!({"_meta": {"io.modelcontextprotocol/clientCapabilities": {}}})]
    {
        assert_eq!(client.ask("server/discover", &missing)["error"]["code"], -32602, "{missing}");
    }
    assert_eq!(client.talk.end_after_close().status.code(), Some(0));
}

#[test]
fn ids_are_returned_unchanged() {
    let mut talk = Talk::start(&mut stand_in(&[]));
    for id in ["0", "-7", "1.50", "12345678901234567890123", r#""a\u0062""#, r#""""#] {
        let answer =
            talk.ask(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo"}}}}"#));
        assert!(answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)), "{answer}");
    }
    assert_eq!(talk.end_after_close().status.code(), Some(0));
}

#[test]
fn unknown_tools_and_wrong_parameters_are_errors_of_the_protocol() {
    let mut client = Client::start(&mut stand_in(&[]));
    for params in [
        json!({"name": "no_such_tool"}),
        json!({"name": 7}),
        json!({}),
        json!({"name": "echo", "arguments": []}),
        json!({"name": "echo", "_meta": []}),
        json!([]),
    ] {
        assert_eq!(client.ask("tools/call", &params)["error"]["code"], -32602, "{params}");
    }
    assert_eq!(client.ask("no/such/method", &json!({}))["error"]["code"], -32601);
    assert_eq!(client.seen(), [] as [Value; 0]);
    assert_eq!(client.talk.end_after_close().status.code(), Some(0));
}

#[test]
fn invalid_lines_are_answered_and_the_run_continues() {
    let mut talk = Talk::start(&mut stand_in(&["--max-line", "10K", "--max-depth", "50"]));
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}1{}}}"#, "[".repeat(60), "]".repeat(60));
    let long = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":"{}"}}"#, "x".repeat(20_000));
    for (line, code) in [
        ("listening", -32700),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0"}"#, -32600),
        (&deep, -32600),
        (&long, -32600),
    ] {
        let answer: Value = serde_json::from_str(&talk.ask(line)).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(code)), "{answer}");
    }
    // An answer without a request, and notifications: none of them is answered.
    talk.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    talk.say(r#"{"jsonrpc":"2.0","method":"notifications/whatever"}"#);
    talk.say("");
    assert_eq!(talk.ask(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#), r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.starts_with("mcp-serve: stdin:1: ") && ended.stderr.lines().count() == 7, "{}", ended.stderr);
}

#[test]
fn text_that_is_not_utf_8_is_refused() {
    let input = [
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}\n".as_slice(),
        b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n",
    ];
    let output = pipe(&mut stand_in(&[]), &input.concat());
    let said = text(&output.stdout);
    assert!(said.contains("-32700") && said.contains(r#""id":2,"result":{}"#), "{said}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_client_cannot_approve_what_it_calls() {
    let mut client = Client::start(&mut stand_in(&[]));
    let meta = json!({"requires_approval": false, "policy": {"verdict": "allow"}, "target": {}, "progressToken": "t"});
    let params = json!({"name": "echo", "arguments": {"a": 1}, "_meta": meta, "requires_approval": false, "call_id": "mine", "timeout": 1});
    client.ask("tools/call", &params);
    assert_eq!(
        client.seen(),
        [json!({"type": "tool_call", "call_id": "c1", "tool_name": "echo", "arguments": {"a": 1}})]
    );
    client.talk.end_after_close();
}

#[test]
fn two_hundred_calls_are_answered_in_the_order_of_the_world() {
    let mut client = Client::start(&mut stand_in(&[]));
    let ids: Vec<u64> = (0..200).map(|_| client.request("tools/call", &json!({"name": "wait"}))).collect();
    let release = client.request("tools/call", &json!({"name": "release"}));
    for id in ids.iter().rev().chain([&release]) {
        assert_eq!(client.receive()["id"], *id);
    }
    assert_eq!(client.talk.end_after_close().status.code(), Some(0));
}

#[test]
fn a_cancelled_call_is_cancelled_in_the_world_and_not_answered() {
    let mut client = Client::start(&mut stand_in(&[]));
    client.ask("tools/list", &json!({}));
    let waiting = client.request("tools/call", &json!({"name": "wait"}));
    client.notify("notifications/cancelled", &json!({"requestId": waiting, "reason": "enough"}));
    // A finished request, and an unknown one.
    client.call("echo", &json!({}));
    client.notify("notifications/cancelled", &json!({"requestId": waiting + 1}));
    client.notify("notifications/cancelled", &json!({"requestId": "never"}));
    client.notify("notifications/cancelled", &json!({}));
    let calls = client.seen();
    assert_eq!(calls[1], json!({"type": "cancel", "call_id": "c1"}));
    assert_eq!(calls.len(), 3, "{calls:?}");
    client.talk.receive_nothing_for(50);
    assert_eq!(client.talk.end_after_close().status.code(), Some(0));
}

#[test]
fn progress_goes_only_to_requests_with_a_token() {
    let mut client = Client::start(&mut stand_in(&[]));
    let params = json!({"name": "test_tool_with_progress", "_meta": {"progressToken": "abc"}});
    let id = client.request("tools/call", &params);
    for progress in [0, 50, 100] {
        let progress_line = client.receive();
        assert_eq!(progress_line["method"], "notifications/progress");
        assert_eq!(progress_line["params"], json!({"progressToken": "abc", "progress": progress, "total": 100}));
    }
    assert_eq!(client.receive()["id"], id);
    client.call("test_tool_with_progress", &json!({}));
    assert_eq!(client.talk.end_after_close().status.code(), Some(0));
}

#[test]
fn requests_before_the_end_of_stdin_are_answered() {
    let input = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;
    let output = pipe(&mut stand_in(&[]), input.as_bytes());
    assert!(text(&output.stdout).starts_with(r#"{"jsonrpc":"2.0","id":1,"result":"#), "{}", text(&output.stdout));
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn an_open_call_of_a_closed_client_does_not_keep_the_server() {
    let mut client = Client::start(&mut stand_in(&[]));
    client.request("tools/call", &json!({"name": "wait"}));
    let ended = client.talk.end_after_close();
    assert_eq!(ended.status.code(), Some(0));
}
