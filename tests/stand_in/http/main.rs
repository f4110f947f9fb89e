//! An MCP server over HTTP for the tests of `mcp-pipe --url`, with faults that cannot be provoked in real servers.
//!
//!     stand-in-http-server [ERA] [FAULT...]
//!
//! ERA is `legacy` (sessions, initialize) or `modern` (stateless); with `tls` it uses https. It is also a proxy, only for
//! http://mcp.example, which is itself. It prints its URL, then one line for each request: the
//! method of HTTP and of JSON-RPC, and the headers that MCP defines. A FAULT applies to the complete server, see [`Server::answer`];
//! faults in a call are requested by the name of its tool, see [`Server::call`].
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod connection;

use connection::{Request, Stream};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::io::Write;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread::{self, sleep};
use std::time::Duration;

/// Its results contain data that a typed reader would lose.
const BIG: &str =
    r#"{"content":[{"type":"text","text":"hi"}],"n":12345678901234567890123,"x":1.10,"unknown":{"b":1,"a":2}}"#;

struct Server {
    faults: HashSet<String>,
    /// Those that are open.
    sessions: Mutex<HashSet<String>>,
    made: Mutex<u32>,
}

fn main() {
    let faults: HashSet<String> = std::env::args().skip(1).collect();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let tls = faults.contains("tls").then(connection::tls);
    let scheme = if tls.is_some() { "https" } else { "http" };
    println!("{scheme}://{}/mcp", listener.local_addr().unwrap());
    let server = Arc::new(Server { faults, sessions: Mutex::default(), made: Mutex::default() });
    for stream in listener.incoming() {
        let (server, tls) = (Arc::clone(&server), tls.clone());
        thread::spawn(move || {
            let mut stream = Stream::new(stream.unwrap(), tls);
            while let Some(request) = stream.read() {
                server.answer(&request, &mut stream);
            }
        });
    }
}

impl Server {
    fn has(&self, fault: &str) -> bool {
        self.faults.contains(fault)
    }

    fn answer(&self, request: &Request, stream: &mut Stream) {
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or("-").to_owned();
        let shown = [
            "mcp-protocol-version",
            "mcp-session-id",
            "mcp-method",
            "mcp-name",
            "mcp-param-n",
            "last-event-id",
            "x-key",
        ]
        .map(|name| request.header(name).map(|value| format!(" {name}={value}")).unwrap_or_default())
        .concat();
        println!("{} {method}{shown}", request.method);
        let path = request.path.trim_start_matches("http://mcp.example").split('?').next().unwrap();
        if path == "/moved" {
            stream.headers.push("Location: /mcp".to_owned());
            return stream.say(307, "", "");
        }
        if path != "/mcp" {
            return stream.say(404, "text/html", "<h1>not here</h1>");
        }
        if self.has("401") {
            let key = request.header("x-key").unwrap_or_default();
            return stream.say(401, "text/plain", &format!("who is {key}?"));
        }
        if self.has("503") {
            return stream.say(503, "text/html", "<h1>busy</h1>");
        }
        if self.has("html") {
            return stream.say(200, "text/html", "<h1>welcome</h1>");
        }
        let modern = self.has("modern");
        if !modern && method != "initialize" && !self.knows(request) {
            return stream.say(
                404,
                "application/json",
                r#"{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}"#,
            );
        }
        match (request.method.as_str(), method.as_str()) {
            ("GET", _) => self.go_on(request, stream),
            ("DELETE", _) => {
                self.sessions.lock().unwrap().remove(request.header("mcp-session-id").unwrap_or_default());
                stream.say(200, "", "");
            }
            ("POST", "initialize") if modern => {
                let error = json!({"code": -32022, "message": "only 2026-07-28 is spoken here"});
                stream.say(400, "application/json", &json!({"jsonrpc": "2.0", "id": null, "error": error}).to_string());
            }
            ("POST", "initialize") => {
                let mut made = self.made.lock().unwrap();
                *made += 1;
                let session = format!("session-{made}");
                self.sessions.lock().unwrap().insert(session.clone());
                stream.headers.push(format!("Mcp-Session-Id: {session}"));
                // An older version than requested.
                self.give(stream, &message, r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"0"}}"#);
            }
            ("POST", "server/discover") => {
                self.give(
                    stream,
                    &message,
                    r#"{"supportedVersions":["2026-07-28"],"capabilities":{},"serverInfo":{"name":"s","version":"0"}}"#,
                );
            }
            ("POST", "ping") => self.give(stream, &message, "{}"),
            ("POST", "tools/list") => self.give(stream, &message, &tools().to_string()),
            ("POST", "tools/call") => self.call(stream, &message),
            // Notifications, and answers.
            _ => stream.say(202, "", ""),
        }
    }

    fn knows(&self, request: &Request) -> bool {
        request.header("mcp-session-id").is_some_and(|id| self.sessions.lock().unwrap().contains(id))
    }

    /// An answer in the usual forms: as JSON, or as one event.
    fn give(&self, stream: &mut Stream, to: &Value, result: &str) {
        // As the SDKs accept: white space and line breaks within the JSON text.
        let answer = format!("{{\r\n \"result\":{result},\n \"jsonrpc\":\"2.0\",\"id\":{}}}", to["id"]);
        if self.has("sse") {
            stream.begin();
            stream.event(&format!(
                "event: message\r\ndata: {}\r\n\r\n",
                answer.replace("\r\n", "\n").replace('\n', "\r\ndata: ")
            ));
            stream.end();
        } else {
            stream.say(200, "application/json; charset=utf-8", &answer);
        }
    }

    /// A resumed stream, or unsolicited messages.
    fn go_on(&self, request: &Request, stream: &mut Stream) {
        match request.header("last-event-id") {
            Some(last) => {
                let id = last.trim_start_matches("of-");
                stream.begin();
                stream.event(&format!("id: end\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{BIG}}}\n\n"));
                stream.end();
            }
            None if self.has("listens") => {
                stream.begin();
                stream.event("data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n");
                stream.event("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"unasked\"}}\n\n");
                sleep(Duration::from_secs(60));
            }
            None => stream.say(405, "", ""),
        }
    }

    fn call(&self, stream: &mut Stream, message: &Value) {
        let id = &message["id"];
        let answer = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{BIG}}}");
        match message["params"]["name"].as_str().unwrap() {
            // Its events come in fragments, after data that is not an event.
            "split" => {
                stream.begin();
                let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":0.5}}"#;
                let events = format!(
                    ": hello\n\nretry: 10\nunknown: x\n\nevent: other\ndata: x\n\ndata: {progress}\n\ndata: {answer}\n\n"
                );
                for part in events.as_bytes().chunks(7) {
                    stream.event(std::str::from_utf8(part).unwrap());
                }
                stream.end();
            }
            "slow" => {
                stream.begin_with("application/json");
                for part in answer.as_bytes().chunks(answer.len() / 4 + 1) {
                    sleep(Duration::from_millis(100));
                    stream.event(std::str::from_utf8(part).unwrap());
                }
                stream.end();
            }
            // The answer comes on the resumed stream.
            "breaks" => {
                stream.begin();
                stream.event(&format!("id: of-{id}\nretry: 20\ndata:\n\n"));
                stream.end();
            }
            "torn" => {
                stream.begin();
                stream.event("data: {\"jsonrpc\"");
                stream.hang_up();
            }
            "never" => {
                stream.begin();
                stream.event(": wait\n\n");
                // Detects that no client waits.
                while stream.try_event(": still\n\n") {
                    sleep(Duration::from_millis(20));
                }
                println!("hung up on");
            }
            "forget" => {
                self.sessions.lock().unwrap().clear();
                stream.say(404, "text/plain", "Session not found");
            }
            // The first session ends before this call.
            "expire" if *self.made.lock().unwrap() == 1 => {
                self.sessions.lock().unwrap().clear();
                stream.say(404, "text/plain", "Session not found");
            }
            "refuse" => stream.say(
                500,
                "application/json",
                r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"it broke"},"id":null}"#,
            ),
            "gateway" => stream.say(502, "text/plain", "Bad\nGateway"),
            "redirect" => {
                stream.headers.push("Location: http://127.0.0.1:1/elsewhere".to_owned());
                stream.say(307, "", "");
            }
            "broken" => stream.say(200, "application/json", "{\"jsonrpc\""),
            "other" => stream.say(200, "application/json", "{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}"),
            "long" => self.give(stream, message, &format!("{{\"content\":[],\"long\":\"{}\"}}", "x".repeat(1 << 20))),
            "die" => {
                std::io::stdout().flush().unwrap();
                std::process::exit(7);
            }
            _ => self.give(stream, message, BIG),
        }
    }
}

fn tools() -> Value {
    let names = [
        "echo", "split", "slow", "breaks", "torn", "never", "forget", "expire", "refuse", "gateway", "redirect",
        "broken", "other", "long", "die",
    ];
    let tool = |name: &&str| {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}});
        json!({"name": name, "inputSchema": schema})
    };
    let mut tools: Vec<Value> = names.iter().map(tool).collect();
    tools.push(json!({"name": "ill", "inputSchema": {"type": "object", "x-mcp-header": "Root"}}));
    json!({"tools": tools})
}
