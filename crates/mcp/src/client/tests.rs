use super::*;

fn lines(out: &mut Vec<u8>) -> Vec<serde_json::Value> {
    let text = String::from_utf8(std::mem::take(out)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ready(era: Era) -> (Client, Vec<u8>) {
    let (mut client, mut out) = (Client::new("test", era, ClientOptions::default()), Vec::new());
    client.start_handshake(&mut out);
    let handshake = match era {
        Era::Legacy => r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}"#,
        Era::Modern => r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#,
    };
    assert!(matches!(client.receive(handshake, &mut out), ServerMessage::Nothing));
    let page = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}],"nextCursor":"p 2"}}"#;
    assert!(matches!(client.receive(page, &mut out), ServerMessage::Nothing) && !client.is_ready());
    let page = r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"b"},{"no name":1}]}}"#;
    assert!(matches!(client.receive(page, &mut out), ServerMessage::Ready) && client.is_ready());
    (client, out)
}

#[test]
fn a_legacy_server_is_initialised_and_all_pages_are_read() {
    let (client, mut out) = ready(Era::Legacy);
    let sent = lines(&mut out);
    let methods: Vec<_> = sent.iter().map(|line| line["method"].as_str().unwrap()).collect();
    assert_eq!(methods, ["initialize", "notifications/initialized", "tools/list", "tools/list"]);
    assert_eq!(sent[0]["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(
        (sent[0]["params"]["capabilities"].to_string(), &sent[3]["params"]["cursor"]),
        ("{}".to_owned(), &"p 2".into())
    );
    assert_eq!(client.tools().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_modern_server_gets_the_version_with_every_request() {
    let (mut client, mut out) = ready(Era::Modern);
    client.call("a", "{\"x\":1.10}", &mut out);
    assert!(String::from_utf8_lossy(&out).contains("{\"x\":1.10}"), "arguments stay as they are");
    let sent = lines(&mut out);
    assert_eq!(sent[0]["method"], "server/discover");
    for line in &sent {
        let meta = &line["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28", "{line}");
        assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object(), "{line}");
    }
}

#[test]
fn answers_match_their_calls_and_late_ones_are_dropped() {
    let (mut client, mut out) = ready(Era::Legacy);
    let (one, other) = (client.call("a", "{}", &mut out), client.call("b", "{}", &mut out));
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{other},"result":{{"n":1.10}}}}"#);
    assert!(
        matches!(client.receive(&answer, &mut out), ServerMessage::Answer(id, Ok(result)) if id == other && result.get() == "{\"n\":1.10}")
    );
    assert!(matches!(client.receive(&answer, &mut out), ServerMessage::Nothing), "twice");
    out.clear();
    client.cancel(one, "timeout", &mut out);
    assert_eq!(lines(&mut out)[0]["params"]["requestId"], one);
    let late = format!(r#"{{"jsonrpc":"2.0","id":{one},"result":{{}}}}"#);
    assert!(matches!(client.receive(&late, &mut out), ServerMessage::Nothing));
}

#[test]
fn requests_of_the_server_are_answered() {
    let (mut client, mut out) = ready(Era::Legacy);
    out.clear();
    assert!(matches!(
        client.receive(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#, &mut out),
        ServerMessage::Nothing
    ));
    let asks = r#"{"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{"x":1}}"#;
    assert!(
        matches!(client.receive(asks, &mut out), ServerMessage::Asks(method, "{\"x\":1}") if method == "sampling/createMessage")
    );
    let sent = lines(&mut out);
    assert_eq!(
        (&sent[0]["id"], &sent[0]["result"], &sent[1]["error"]["code"]),
        (&"p".into(), &serde_json::json!({}), &(-32601).into())
    );
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.5}}"#;
    assert!(
        matches!(client.receive(progress, &mut out), ServerMessage::Event(kind, "{\"progress\":0.5}") if kind == "progress")
    );
    assert!(matches!(client.receive("Server listening", &mut out), ServerMessage::Noise(_)));
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert!(matches!(client.receive(changed, &mut out), ServerMessage::Event(..)));
    assert_eq!(lines(&mut out)[0]["method"], "tools/list");
    let listed = r#"{"jsonrpc":"2.0","id":4,"result":{"tools":[]}}"#;
    assert!(matches!(client.receive(listed, &mut out), ServerMessage::Relisted) && client.tools().count() == 0);
}

#[test]
fn an_unusable_server_is_reported() {
    let handshake = |era, answer: &str| {
        let (mut client, mut out) = (Client::new("test", era, ClientOptions::default()), Vec::new());
        client.start_handshake(&mut out);
        format!("{:?}", client.receive(answer, &mut out))
    };
    assert!(handshake(Era::Legacy, r#"{"id":1,"error":{"code":-32601,"message":"?"}}"#).starts_with("Refused"));
    assert!(handshake(Era::Legacy, r#"{"id":1,"result":{"protocolVersion":"2026-07-28"}}"#).starts_with("Refused"));
    assert!(handshake(Era::Legacy, r#"{"id":1,"result":{}}"#).starts_with("Failed"));
    assert!(handshake(Era::Modern, r#"{"id":1,"result":{"supportedVersions":["2030-01-01"]}}"#).contains("2030-01-01"));
}

#[test]
fn a_list_that_changes_while_it_is_read_is_read_again() {
    let (mut client, mut out) = ready(Era::Legacy);
    out.clear();
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    for _ in 0..3 {
        assert!(matches!(client.receive(changed, &mut out), ServerMessage::Event(..)));
    }
    assert_eq!(lines(&mut out).len(), 1, "one list at a time: pages of two would be mixed");
    let listed = |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"c"}}]}}}}"#);
    assert!(matches!(client.receive(&listed(4), &mut out), ServerMessage::Relisted));
    assert_eq!(lines(&mut out).len(), 1);
    assert!(matches!(client.receive(&listed(5), &mut out), ServerMessage::Relisted) && out.is_empty());
    client.receive(changed, &mut out);
    let refused = r#"{"jsonrpc":"2.0","id":6,"error":{"code":-32603,"message":"no"}}"#;
    assert!(matches!(client.receive(refused, &mut out), ServerMessage::NotRelisted(_)) && client.tool("c").is_some());
}

/// Lines that servers write, and lines that they do not.
fn any_line() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let key = prop::sample::select(vec!["jsonrpc", "id", "method", "params", "result", "error", "x"]);
    let value = prop::sample::select(vec![
        "1",
        "2",
        "3",
        "4",
        "-1",
        "null",
        "\"1\"",
        "1.5",
        "1e400",
        "99999999999999999999",
        "[]",
        "{}",
        "\"ping\"",
        "\"\\ud800\"",
        "\"notifications/tools/list_changed\"",
        "\"elicitation/create\"",
        r#"{"protocolVersion":"2025-11-25"}"#,
        r#"{"supportedVersions":["2026-07-28"]}"#,
        r#"{"tools":[{"name":"a"},7],"nextCursor":1}"#,
        r#"{"tools":[]}"#,
        r#"{"code":-32601,"message":"no"}"#,
        r#"{"code":"x"}"#,
        r#"{"content":[{"type":"text","text":"{\"status\":\"ok\",\"data\":[\n]}"}]}"#,
    ]);
    let message = prop::collection::vec((key, value), 0..5).prop_map(|fields| {
        let fields: Vec<_> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        format!("{{{}}}", fields.join(","))
    });
    prop_oneof![8 => message, 1 => any::<String>(), 1 => prop::collection::vec(any::<u8>(), 0..50).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())]
}

proptest::proptest! {
    #[test]
    fn no_server_makes_it_panic_or_write_invalid_json(received in proptest::collection::vec(any_line(), 0..40), modern: bool) {
        let era = if modern { Era::Modern } else { Era::Legacy };
        let (mut client, mut out) = (Client::new("test", era, ClientOptions::default()), Vec::new());
        client.start_handshake(&mut out);
        for line in &received {
            if let ServerMessage::Answer(_, Ok(result)) = client.receive(line, &mut out) {
                crate::given(result);
            }
            if client.is_ready() {
                client.call("x", "{}", &mut out);
            }
        }
        // A server's id is returned unchanged, even with an unpaired surrogate.
        let sent = String::from_utf8(out).unwrap();
        sent.lines().for_each(|line| _ = serde_json::from_str::<&RawValue>(line).unwrap());
    }
}

#[test]
fn a_server_that_rejects_its_own_version_is_asked_again() {
    let (mut client, mut out) = (Client::new("test", Era::Modern, ClientOptions::default()), Vec::new());
    client.start_handshake(&mut out);
    let refusal = |id: u64, version: &str| {
        format!(r#"{{"id":{id},"error":{{"code":-32022,"message":"?","data":{{"supported":["{version}"]}}}}}}"#)
    };
    assert!(matches!(client.receive(&refusal(1, "2026-07-28"), &mut out), ServerMessage::Nothing));
    let methods: Vec<_> = lines(&mut out).iter().map(|line| line["method"].clone()).collect();
    assert_eq!(methods, ["server/discover", "server/discover"]);
    assert!(matches!(client.receive(&refusal(2, "2026-07-28"), &mut out), ServerMessage::Refused(_)));
    let (mut client, mut out) = (Client::new("test", Era::Modern, ClientOptions::default()), Vec::new());
    client.start_handshake(&mut out);
    assert!(matches!(client.receive(&refusal(1, "2030-01-01"), &mut out), ServerMessage::Refused(_)));
}
