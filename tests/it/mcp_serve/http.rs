//! `mcp-serve --http`: access control, and the lifetime of requests. MCP's own suite (`scripts/conformance`) covers the protocol.
#![cfg(all(feature = "serve", feature = "http"))]

use super::META;
use crate::process::{PATIENCE, Talk, command, eventually, example, pipe, text};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};

const TOKEN: &str = "a-token-for-tests";
const AUTHORIZATION: &str = "Authorization: Bearer a-token-for-tests";
const JSON: &str = "Content-Type: application/json";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

struct Server {
    child: Child,
    stderr: BufReader<ChildStderr>,
    address: String,
}

/// With the stand-in world.
fn serve(options: &[&str]) -> Command {
    let mut serve = command("mcp-serve");
    serve.args(["--http", "127.0.0.1:0"]).args(options).env("MCP_SERVE_TOKEN", TOKEN);
    serve.arg("--").arg(example("stand-in-world"));
    serve
}

impl Server {
    fn start(serve: &mut Command) -> Server {
        let mut child = serve.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut stderr, mut line) = (BufReader::new(child.stderr.take().unwrap()), String::new());
        stderr.read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("mcp-serve: serving http://").unwrap_or_else(|| panic!("{line}"));
        Server { child, stderr, address: url.strip_suffix("/mcp").unwrap().to_owned() }
    }

    /// Sends a request; `headers` may replace `Host`. The server closes the connection after its answer.
    fn send(&self, method: &str, headers: &[&str], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            head += &format!("Host: {}\r\n", self.address);
        }
        headers.iter().for_each(|header| head += &format!("{header}\r\n"));
        // A server that refuses a request by its headers need not read the body.
        let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        stream
    }

    /// The status and the complete answer.
    fn ask(&self, method: &str, headers: &[&str], body: &str) -> (u16, String) {
        let mut answer = String::new();
        let mut stream = self.send(method, headers, body);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let _ = stream.read_to_string(&mut answer);
        (answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default(), answer)
    }

    fn post(&self, headers: &[&str], body: &str) -> (u16, String) {
        self.ask("POST", &[&[AUTHORIZATION, JSON], headers].concat(), body)
    }

    /// Calls a tool like a client of 2026-07-28, without waiting for the answer.
    fn send_call(&self, tool: &str, arguments: &Value) -> TcpStream {
        let name = format!("Mcp-Name: {tool}");
        let headers = [AUTHORIZATION, JSON, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", &name];
        let meta: Value = serde_json::from_str(META).unwrap();
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        self.send("POST", &headers, &call.to_string())
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        result(self.send_call(tool, arguments))
    }

    /// The lines that the world has received.
    fn seen(&self) -> String {
        let seen = self.call("seen", &json!({}));
        serde_json::from_str::<Vec<String>>(seen["content"][0]["text"].as_str().unwrap()).unwrap().join("\n")
    }

    fn begin_session(&self) -> String {
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
        let (_, answer) = self.post(&[], initialize);
        let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
        format!("Mcp-Session-Id: {}", id.trim())
    }
}

/// The result in an answer with a single JSON object.
fn result(mut stream: TcpStream) -> Value {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    serde_json::from_str::<Value>(body).unwrap_or_else(|_| panic!("{answer}"))["result"].clone()
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn requests_with_another_host_from_another_page_or_without_the_token_are_refused() {
    let server = Server::start(&mut serve(&["--max-line", "64K"]));
    let port = server.address.split_once(':').unwrap().1;
    let localhost = format!("Host: localhost:{port}");
    let (own_page, longer) = (format!("Origin: http://localhost:{port}"), format!("Host: 127.0.0.1:{port}1"));
    for (headers, expected) in [
        (&[AUTHORIZATION, JSON][..], 200),
        (&[AUTHORIZATION, JSON, &localhost, &own_page], 200),
        (&[JSON], 401),
        (&["Authorization: Bearer a-token-for-test", JSON], 401),
        (&[AUTHORIZATION, JSON, "Host: evil.example"], 403),
        (&[AUTHORIZATION, JSON, &longer], 403),
        (&[AUTHORIZATION, JSON, "Origin: http://evil.example"], 403),
        (&[AUTHORIZATION, JSON, "Origin: null"], 403),
        // A content type that a page may send to any server without asking first.
        (&[AUTHORIZATION, "Content-Type: text/plain"], 415),
        (&[AUTHORIZATION], 415),
    ] {
        assert_eq!(server.ask("POST", headers, PING).0, expected, "{headers:?}");
    }
    assert_eq!(server.post(&[], &" ".repeat(65 << 10)).0, 413);
    assert_eq!(server.post(&[], &format!("{PING}{}", "[".repeat(1000))).0, 400);
    for method in ["GET", "DELETE", "PUT", "OPTIONS"] {
        assert_eq!(server.ask(method, &[AUTHORIZATION], "").0, 405, "{method}");
    }
    assert!(!server.seen().contains("ping"));
}

#[test]
fn a_token_is_generated_by_default_and_shown_once() {
    let mut serve = serve(&[]);
    let mut server = Server::start(serve.env_remove("MCP_SERVE_TOKEN"));
    let mut line = String::new();
    server.stderr.read_line(&mut line).unwrap();
    let token = line.strip_prefix("mcp-serve: token: ").and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(token.len() == 32, "{line}");
    let authorization = format!("Authorization: Bearer {token}");
    assert_eq!(server.ask("POST", &[&authorization, JSON], PING).0, 200);
    assert_eq!(server.post(&[], PING).0, 401);
}

#[test]
fn a_token_from_a_file_or_the_environment_is_not_printed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, format!("{TOKEN}\n")).unwrap();
    let mut of_file = serve(&["--token-file", file.to_str().unwrap()]);
    assert_eq!(Server::start(of_file.env("MCP_SERVE_TOKEN", "another-token-than-that")).post(&[], PING).0, 200);
    for (variable, why) in [("short", "16 or more"), ("with a space in the middle", "16 or more")] {
        let output = pipe(serve(&[]).env("MCP_SERVE_TOKEN", variable), b"");
        let stderr = text(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains(why) && !stderr.contains(variable), "{stderr}");
    }
    // The world does not get the token.
    let out = folder.path().join("env");
    let script = format!("env >{}; exec {}", out.display(), example("stand-in-world").display());
    let mut serve = command("mcp-serve");
    serve.args(["--http", "127.0.0.1:0", "--", "sh", "-c", &script]).env("MCP_SERVE_TOKEN", TOKEN);
    Server::start(&mut serve).seen();
    assert!(!std::fs::read_to_string(out).unwrap().contains(TOKEN));
}

#[test]
fn an_address_that_is_taken_is_3() {
    let server = Server::start(&mut serve(&[]));
    let mut taken = command("mcp-serve");
    let output = pipe(taken.args(["--http", &server.address, "--", "cat"]), b"");
    let stderr = text(&output.stderr);
    assert!(output.status.code() == Some(3) && stderr.contains(&server.address), "{stderr}");
}

#[test]
fn an_unspecified_address_is_refused() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let output = pipe(command("mcp-serve").args(["--http", address, "--", "cat"]), b"");
        let stderr = text(&output.stderr);
        assert!(output.status.code() == Some(2) && stderr.contains("the one that clients connect to"), "{stderr}");
    }
}

#[test]
fn a_flood_of_progress_does_not_lose_the_response() {
    let server = Server::start(&mut serve(&[]));
    let session = server.begin_session();
    let call = json!({"name": "wait", "_meta": {"progressToken": "t"}});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call});
    let mut stream = server.send("POST", &[AUTHORIZATION, JSON, &session], &call.to_string());
    eventually("it waits", || server.seen().contains("\"wait\""));
    // The world's first call is c1; 20 MB do not fit into a connection's buffers.
    let progress = json!({"progress": 1, "message": "x".repeat(1000)});
    let progress = json!({"type": "observation", "call_id": "c1", "data": {"event": "progress", "data": progress}});
    let lines = vec![progress.to_string(); 1000].join("\n");
    (0..20).for_each(|_| drop(server.call("say", &json!({"line": lines}))));
    server.call("release", &json!({}));
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let delivered = answer.matches("notifications/progress").count();
    assert!((1024..20_000).contains(&delivered) && answer.contains("released"), "{delivered}");
}

#[test]
fn our_own_client_calls_through_it_in_both_eras() {
    let server = Server::start(&mut serve(&[]));
    let url = format!("http://{}/mcp", server.address);
    for protocol in ["2025-11-25", "2026-07-28"] {
        let mut client = command("mcp-pipe");
        client.args(["--url", &url, "--protocol", protocol, "--header", AUTHORIZATION, "--events", "-"]);
        let mut client = Talk::start(&mut client);
        let mut ask = |line: &str| {
            client.say(line);
            loop {
                let answer: Value = serde_json::from_str(&client.receive()).unwrap();
                if answer["type"] != "observation" {
                    return answer;
                }
            }
        };
        assert_eq!(ask(r#"{"tool":"echo","args":{"a":1}}"#)["data"]["structuredContent"], json!({"a": 1}));
        let failed = ask(r#"{"tool":"fail"}"#);
        assert_eq!((&failed["status"], &failed["kind"]), (&json!("error"), &json!("tool_error")));
        let big = ask(r#"{"tool":"big","args":{"bytes":20000000}}"#);
        assert_eq!(big["data"]["content"][0]["text"].as_str().unwrap().len(), 20_000_000);
        assert_eq!(ask(r#"{"tool":"test_tool_with_progress"}"#)["status"], "ok");
        assert_eq!(client.end_after_close().status.code(), Some(1));
    }
}

#[test]
fn clients_with_the_same_ids_do_not_mix() {
    let server = Server::start(&mut serve(&[]));
    let waiting: Vec<TcpStream> = (0..8).map(|_| server.send_call("wait", &json!({}))).collect();
    eventually("all calls have come", || server.seen().matches("\"wait\"").count() == 8);
    server.call("release", &json!({}));
    for stream in waiting {
        assert_eq!(result(stream)["content"][0]["text"], "released");
    }
}

#[test]
fn a_closed_connection_cancels_a_call_of_2026_and_a_notification_one_of_2025() {
    let server = Server::start(&mut serve(&[]));
    let cancelled = || server.seen().matches("\"cancel\"").count();
    let waiting = |count: usize| eventually("it waits", || server.seen().matches("\"wait\"").count() == count);
    let stream = server.send_call("wait", &json!({}));
    waiting(1);
    drop(stream);
    eventually("it is cancelled", || cancelled() == 1);
    let (session, other) = (server.begin_session(), server.begin_session());
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"wait"}}"#;
    let stream = server.send("POST", &[AUTHORIZATION, JSON, &session], call);
    waiting(2);
    drop(stream);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    assert_eq!(server.post(&[&other], cancel).0, 202);
    assert_eq!(server.post(&[], PING).0, 200);
    assert_eq!(cancelled(), 1, "neither a closed connection nor another session cancels it");
    assert_eq!(server.post(&[&session], cancel).0, 202);
    eventually("it is cancelled", || cancelled() == 2);
}

#[test]
fn a_cancelled_request_is_not_kept_open() {
    let server = Server::start(&mut serve(&[]));
    let session = server.begin_session();
    for (id, token) in [(7, None), (8, Some("t"))] {
        let call = json!({"name": "wait", "_meta": {"progressToken": token}});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call});
        let mut stream = server.send("POST", &[AUTHORIZATION, JSON, &session], &call.to_string());
        eventually("it waits", || server.seen().matches("\"wait\"").count() == id - 6);
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        assert_eq!(server.post(&[&session], &cancel.to_string()).0, 202);
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    }
}

#[test]
fn what_gets_no_answer_is_202_and_what_is_no_message_400() {
    let server = Server::start(&mut serve(&[]));
    for (expected, message) in [
        (202, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
        (202, r#"{"jsonrpc":"2.0","id":null,"method":"notifications/initialized"}"#),
        (202, r#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#),
        (202, r#"{"jsonrpc":"2.0","id":1,"method":5,"result":1}"#),
        (202, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#),
        (400, r#"{"jsonrpc":"2.0","id":1}"#),
        (400, r#"[null,"initialize",null,null]"#),
        (400, r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#),
    ] {
        let (status, answer) = server.post(&[], message);
        assert!(status == expected && !answer.contains("mcp-session-id"), "{message}: {answer}");
    }
}

#[test]
fn a_session_has_a_stream_for_changes_until_it_is_deleted() {
    let server = Server::start(&mut serve(&[]));
    let session = server.begin_session();
    let mut stream = BufReader::new(server.send("GET", &[AUTHORIZATION, &session], ""));
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    server.call("test_trigger_tool_change", &json!({}));
    while !line.contains("list_changed") {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0);
    }
    assert_eq!(server.ask("DELETE", &[AUTHORIZATION, &session], "").0, 204);
    assert_eq!(server.post(&[&session], PING).0, 404);
    stream.get_ref().set_read_timeout(Some(PATIENCE)).unwrap();
    // The stream ends, although this client did not close the connection.
    stream.read_to_string(&mut line).unwrap();
}

#[test]
fn a_dead_world_fails_its_calls_and_ends_the_server() {
    let mut server = Server::start(&mut serve(&[]));
    let waiting: Vec<TcpStream> = (0..100).map(|_| server.send_call("wait", &json!({}))).collect();
    eventually("all wait", || server.seen().matches("\"wait\"").count() == waiting.len());
    let dying = server.send_call("die", &json!({"status": 7}));
    for stream in waiting.into_iter().chain([dying]) {
        let lost = result(stream);
        assert!(lost["isError"] == true && lost.to_string().contains("exit status 7"), "{lost}");
    }
    eventually("it ends", || server.child.try_wait().unwrap().is_some());
    assert_eq!(server.child.wait().unwrap().code(), Some(7));
}
