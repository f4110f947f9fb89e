//! `agent-serve`, as clients use it: over HTTP, WebSocket and server-sent events.
#![cfg(all(feature = "gates", feature = "serve"))]

mod access;
mod approvals;
mod clients;
mod load;
mod refactoring;
mod runs;
mod sessions;

use crate::agent_acp::Place;
use crate::process::{PATIENCE, command};
use crate::schemas::hold;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Instant;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

const TOKEN: &str = "a-token-for-tests";
const AUTHORIZATION: &str = "Authorization: Bearer a-token-for-tests";
const JSON: &str = "Content-Type: application/json";

struct Server {
    child: Child,
    stderr: BufReader<ChildStderr>,
    address: String,
}

impl Server {
    fn start(agent: &Command, options: &[&str]) -> Server {
        let mut serve = command("agent-serve");
        serve.args(["--listen", "127.0.0.1:0"]).args(options).arg("--").arg(agent.get_program()).args(agent.get_args());
        Server::of(&mut serve)
    }

    fn of(serve: &mut Command) -> Server {
        serve.env("AGENT_SERVE_TOKEN", TOKEN).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = serve.spawn().unwrap();
        let (mut stderr, mut line) = (BufReader::new(child.stderr.take().unwrap()), String::new());
        stderr.read_line(&mut line).unwrap();
        let url = line.trim_end().strip_prefix("agent-serve: open http://").unwrap_or_else(|| panic!("{line}"));
        Server { child, stderr, address: url.strip_suffix("/?token=TOKEN").unwrap().to_owned() }
    }

    /// Sends a request; `headers` may replace `Host`. The server closes the connection after its answer.
    fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n");
        if !headers.iter().any(|header| header.starts_with("Host:")) {
            head += &format!("Host: {}\r\n", self.address);
        }
        headers.iter().for_each(|header| head += &format!("{header}\r\n"));
        // A server that refuses a request by its headers need not read the body.
        let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
        stream
    }

    /// The status, and the complete answer.
    fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> (u16, String) {
        let mut answer = Vec::new();
        let _ = self.send(method, path, headers, body).read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        (answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default(), answer)
    }

    /// The status, and the JSON body.
    fn json(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let (status, answer) = self.ask(method, path, &[AUTHORIZATION, JSON], body);
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}")))
    }

    /// The listed sessions.
    fn sessions(&self) -> Vec<Value> {
        self.json("GET", "/sessions", "").1["sessions"].as_array().unwrap().clone()
    }

    fn socket(&self, session: &str) -> Socket {
        self.socket_at(&format!("/sessions/{session}/ws"))
    }

    fn socket_at(&self, path: &str) -> Socket {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("ws://{}{path}", self.address).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {TOKEN}").parse().unwrap());
        Socket { socket: tungstenite::client(request, stream).unwrap().0, passed: Vec::new() }
    }

    fn events(&self, session: &str, headers: &[&str]) -> Events {
        let headers = [&[AUTHORIZATION], headers].concat();
        let stream = self.send("GET", &format!("/sessions/{session}/events"), &headers, "");
        let mut lines = BufReader::new(stream).lines();
        let status = lines.next().unwrap().unwrap();
        assert!(status.contains(" 200 "), "{status}");
        Events { lines }
    }

    /// Ends the server; gives its stderr.
    fn end(mut self) -> String {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.child.id().cast_signed()), nix::sys::signal::SIGTERM)
            .unwrap();
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&self.child.wait().unwrap()), Some(15));
        said
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client over WebSocket.
struct Socket {
    socket: WebSocket<TcpStream>,
    /// Records that were skipped.
    passed: Vec<Value>,
}

impl Socket {
    fn say(&mut self, record: Value) {
        self.socket.send(Message::text(record.to_string())).unwrap();
    }

    fn message(&mut self, text: &str) {
        self.say(json!({"type": "user_message", "content": text, "role": "user"}));
    }

    /// The next record; `None` if the server closes the connection.
    #[track_caller]
    fn next(&mut self) -> Option<Value> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.socket.read() {
                Ok(Message::Ping(_)) if Instant::now() > until => {
                    panic!("nothing came; before that: {:?}", self.passed)
                }
                Ok(Message::Text(text)) => {
                    hold(&text);
                    return Some(serde_json::from_str(&text).unwrap());
                }
                Ok(Message::Close(_)) | Err(tungstenite::Error::ConnectionClosed) => return None,
                Ok(_) => {}
                Err(error) => panic!("{error}; before that: {:?}", self.passed),
            }
        }
    }

    /// The first matching record among the skipped and the following ones: records of an agent and of its gates
    /// arrive by different ways, in either order.
    #[track_caller]
    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.passed.iter().position(&is_it) {
            return self.passed.remove(place);
        }
        loop {
            let record = self.next().unwrap_or_else(|| panic!("closed; before that: {:?}", self.passed));
            if is_it(&record) {
                return record;
            }
            self.passed.push(record);
        }
    }

    #[track_caller]
    fn until_type(&mut self, kind: &str) -> Value {
        self.until(|record| record["type"] == kind)
    }

    /// The next held call.
    #[track_caller]
    fn held(&mut self) -> Value {
        self.until(|record| record["type"] == "tool_call" && record["requires_approval"] == true)
    }
}

/// A client of server-sent events.
struct Events {
    lines: Lines<BufReader<TcpStream>>,
}

impl Events {
    /// The next event: its id and its record.
    #[track_caller]
    fn next(&mut self) -> (u64, Value) {
        let mut id = 0;
        loop {
            let line = self.lines.next().unwrap().unwrap();
            if let Some(text) = line.strip_prefix("id: ") {
                id = text.parse().unwrap();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return (id, serde_json::from_str(data).unwrap());
            }
        }
    }

    #[track_caller]
    fn until_type(&mut self, kind: &str) -> Vec<(u64, Value)> {
        let mut all = Vec::new();
        loop {
            all.push(self.next());
            if all.last().unwrap().1["type"] == kind {
                return all;
            }
        }
    }
}

/// The records for a client that has read the last record long ago.
pub fn missed() -> String {
    let place = Place::new();
    let server = Server::start(&place.scripted(&[]), &[]);
    server.json("POST", "/sessions", r#"{"session_id":"s"}"#);
    server.events("s", &["Last-Event-ID: 1"]).next().1.to_string()
}

fn agent(place: &Place, script: &[&str]) -> Command {
    place.agent(script, &[])
}
