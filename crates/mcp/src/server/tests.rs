use super::*;
use crate::Era;
use proptest::prelude::*;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
const TOOLS: &str = r#"{"type":"tool_list","tools":[{"name":"a"},{"name":"r","input_schema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"in":{"properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}}]}"#;

/// A request over HTTP, in a session with the same number.
fn over_http(link: u64, headers: &[Header]) -> Origin<'_> {
    Origin { link, session: link, headers: Some(headers) }
}

fn headers(pairs: &[(&str, &str)]) -> Vec<Header> {
    pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn with_tools() -> Server {
    let mut server = Server::default();
    assert_eq!(server.take_world_line(TOOLS, &mut Outbox::default()), WorldLine::Record);
    server
}

fn call(id: &str, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},{META}}}}}"#
    )
}

/// The code of the only answer, or 0 for none or a result.
fn code(out: &Outbox) -> i64 {
    let answer: Option<serde_json::Value> = out.clients.first().map(|(_, line)| serde_json::from_str(line).unwrap());
    answer.and_then(|answer| answer["error"]["code"].as_i64()).unwrap_or_default()
}

#[test]
fn headers_must_match_the_body() {
    let standard = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call")];
    for (more, expected) in [
        (&[("mcp-name", "a")][..], 0),
        (&[("mcp-name", " a ")], 0),
        (&[("mcp-name", "=?base64?YQ==?=")], 0),
        (&[], -32020),
        (&[("mcp-name", "A")], -32020),
        (&[("mcp-name", "a"), ("mcp-name", "a")], -32020),
        (&[("mcp-name", "=?base64?YQ=?=")], -32020),
        (&[("mcp-name", "a"), ("mcp-method", "tools/list")], -32020),
    ] {
        let mut out = Outbox::default();
        let headers = headers(&[&standard, more].concat());
        with_tools().take_client_line(over_http(1, &headers), &call("1", "a", "{}"), &mut out).unwrap();
        assert_eq!(code(&out), expected, "{more:?}");
    }
    // A modern body without its header, and a modern header without a modern body.
    for (headers, line, expected) in [
        (headers(&[("mcp-method", "tools/call"), ("mcp-name", "a")]), call("1", "a", "{}"), -32020),
        (headers(&[("mcp-protocol-version", "2026-07-28")]), r#"{"id":1,"method":"tools/list"}"#.to_owned(), -32602),
        (headers(&[("mcp-protocol-version", "2025-06-18")]), r#"{"id":1,"method":"tools/list"}"#.to_owned(), 0),
        (headers(&[]), r#"{"id":1,"method":"ping"}"#.to_owned(), 0),
    ] {
        let mut out = Outbox::default();
        with_tools().take_client_line(over_http(1, &headers), &line, &mut out).unwrap();
        assert_eq!(code(&out), expected, "{line}");
    }
}

#[test]
fn marked_arguments_must_match_their_headers() {
    let standard = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "r")];
    for (arguments, more, expected) in [
        (r#"{"region":"eu"}"#, &[("mcp-param-region", "eu")][..], 0),
        (r#"{"region":"Hello"}"#, &[("mcp-param-region", "=?base64?SGVsbG8=?=")], 0),
        (r#"{"region":"=?base64?x"}"#, &[("mcp-param-region", "=?base64?x")], 0),
        (r#"{"region":null}"#, &[], 0),
        ("{}", &[], 0),
        (r#"{"in":{"n":42}}"#, &[("mcp-param-n", "42.0")], 0),
        (r#"{"in":{"n":42}}"#, &[("mcp-param-n", "43")], -32020),
        (r#"{"region":"eu"}"#, &[], -32020),
        (r#"{"region":"eu"}"#, &[("mcp-param-region", "us")], -32020),
        (r#"{"region":"Hello"}"#, &[("mcp-param-region", "=?base64?SGVsbG8?=")], -32020),
        ("{}", &[("mcp-param-region", "eu")], -32020),
    ] {
        let mut out = Outbox::default();
        let headers = headers(&[&standard, more].concat());
        with_tools().take_client_line(over_http(1, &headers), &call("1", "r", arguments), &mut out).unwrap();
        assert_eq!((code(&out), out.world.len()), (expected, usize::from(expected == 0)), "{arguments} {more:?}");
    }
}

#[test]
fn clients_with_the_same_ids_get_their_own_answers() {
    let (mut server, mut out) = (with_tools(), Outbox::default());
    for session in [1, 2] {
        let from = Origin { link: session, session, headers: None };
        server.take_client_line(from, &call("7", "a", "{}"), &mut out).unwrap();
    }
    let mut out = Outbox::default();
    let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":7}}"#;
    server.take_client_line(Origin { link: 9, session: 2, headers: None }, cancel, &mut out).unwrap();
    assert_eq!(out.world, ["{\"type\":\"cancel\",\"call_id\":\"c2\"}\n"]);
    server.take_world_line(r#"{"type":"tool_result","call_id":"c2","status":"ok","result":1}"#, &mut out);
    server.take_world_line(r#"{"type":"tool_result","call_id":"c1","status":"ok","result":1}"#, &mut out);
    assert_eq!(out.clients.iter().map(|(link, _)| *link).collect::<Vec<_>>(), [1]);
}

#[test]
fn closing_a_link_cancels_only_calls_of_the_modern_era() {
    for (era, cancelled) in [(Era::Modern, 1), (Era::Legacy, 0)] {
        let (mut server, mut out) = (with_tools(), Outbox::default());
        let line = match era {
            Era::Modern => call("1", "a", "{}"),
            Era::Legacy => r#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#.to_owned(),
        };
        server.take_client_line(Origin { link: 4, session: 4, headers: None }, &line, &mut out).unwrap();
        let mut out = Outbox::default();
        server.close_link(4, &mut out);
        assert_eq!(out.world.len(), cancelled, "{era:?}");
    }
}

proptest! {
    #[test]
    fn every_answer_is_one_line_of_json(
        lines in prop::collection::vec(prop_oneof![
            any::<String>(),
            r#"\{"id":[0-9]{1,3},"method":"(tools/list|tools/call|ping|initialize|subscriptions/listen)"(,"params":\{"name":"[ar]"(,"arguments":\{\})?\})?\}"#,
            r#"\{"type":"(tool_result|tool_list|observation)","call_id":"c[0-9]","status":"(ok|error)","result":[0-9],"data":\{"event":"tools"\}\}"#,
        ], 0..20),
        listed in any::<bool>(),
    ) {
        let (mut server, mut out) = (if listed { with_tools() } else { Server::default() }, Outbox::default());
        for line in &lines {
            let _ = server.take_client_line(Origin { link: 0, session: 0, headers: None }, line, &mut out);
            server.take_world_line(line, &mut out);
        }
        server.lose_world("it has ended", &mut out);
        for line in out.world.iter().chain(out.clients.iter().map(|(_, line)| line)) {
            prop_assert!(serde_json::from_str::<serde_json::Value>(line).is_ok() && line.ends_with('\n'), "{line:?}");
            prop_assert!(!line[..line.len() - 1].contains('\n'), "{line:?}");
        }
    }
}
