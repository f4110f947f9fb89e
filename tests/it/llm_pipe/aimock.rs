//! Every provider against aimock, a server that plays all of them (`scripts/install-mcp-servers` installs it).
//!
//! aimock counts no tokens in streams, signs nothing, and has its own finish reasons; no test here depends on that.

use super::records;
use crate::process::{PATIENCE, command, pipe, text};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FIXTURES: &str = r#"{"fixtures":[
    {"match":{"userMessage":"rate me"},"response":{"error":{"message":"Rate limit reached","type":"rate_limit_error","code":"rate_limit_exceeded"},"status":429,"retryAfter":7}},
    {"match":{"userMessage":"too long"},"response":{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","code":"context_length_exceeded","param":"messages"},"status":400}},
    {"match":{"userMessage":"look","hasToolResult":true},"response":{"content":"It is a door."}},
    {"match":{"userMessage":"look"},"response":{"toolCalls":[{"name":"look","arguments":"{\"n\":1}"}]}},
    {"match":{"userMessage":"A vote"},"response":{"content":"politics"}},
    {"match":{"userMessage":"A goal"},"response":{"content":"sport"}},
    {"match":{"userMessage":"valid_actions"},"response":{"content":"{\"action_id\":110}"}},
    {"match":{"userMessage":"hello"},"response":{"content":"Hello, reader."}}
]}"#;

/// Each provider, and the suffix of its base URL.
const PROVIDERS: [(&str, &str); 6] = [
    ("gemini", "/v1beta"),
    ("gemini-interactions", "/v1beta"),
    ("anthropic", "/v1"),
    ("openai", "/v1"),
    ("openai-responses", "/v1"),
    ("ollama", "/v1"),
];

pub struct Aimock {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Aimock {
    pub fn start() -> Aimock {
        Aimock::with(FIXTURES)
    }

    /// Starts aimock with these fixtures, JSON text.
    pub fn with(fixtures: &str) -> Aimock {
        let servers = std::env::var("PIPEWRIGHT_MCP_SERVERS").expect("PIPEWRIGHT_MCP_SERVERS: run scripts/test");
        let folder = tempfile::tempdir().unwrap();
        std::fs::File::create(folder.path().join("f.json")).unwrap().write_all(fixtures.as_bytes()).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut program = Command::new(format!("{servers}/bin/llmock"));
        program.args(["-p", &port.to_string(), "-f"]).arg(folder.path()).env("AIMOCK_STRICT_TURN_INDEX", "1");
        let child = program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < PATIENCE, "aimock does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        Aimock { child, port, _folder: folder }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The received requests: `path`, `body` in the form of OpenAI's API, and `response` with its `status`.
    pub fn journal(&self) -> Vec<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(b"GET /__aimock/journal HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    fn ask(&self, provider: &str, path: &str) -> Command {
        let mut llm = command("llm-pipe");
        llm.args(["-m", &format!("{provider}/m"), "--base-url", &self.url(path)]);
        llm.args(["--key-env", "KEY_OF_AIMOCK"]).env("KEY_OF_AIMOCK", "a-key");
        llm
    }
}

impl Drop for Aimock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const TOOLS: &str = r#""tools":[{"name":"look","description":"d","input_schema":{"type":"object","properties":{"n":{"type":"integer"}}}}]"#;

#[test]
#[ignore = "needs aimock"]
fn every_provider_talks_calls_and_fails() {
    let aimock = Aimock::start();
    for (provider, path) in PROVIDERS {
        let request = |messages: &str| format!(r#"{{"type":"model_request","messages":[{messages}],{TOOLS}}}"#);
        let look = r#"{"role":"user","content":"look around"}"#;
        let input = format!("{{\"prompt\":\"hello\"}}\n{}\n{{\"prompt\":\"too long\"}}\n", request(look));
        let output = pipe(&mut aimock.ask(provider, path), input.as_bytes());
        let turns = records(&output);
        assert_eq!(turns.len(), 3, "{provider}: {output:?}");
        assert_eq!(
            (&turns[0]["text"], &turns[0]["stop"]),
            (&"Hello, reader.".into(), &"end".into()),
            "{provider}: {output:?}"
        );
        assert_eq!(
            (&turns[1]["stop"], &turns[1]["calls"][0]["tool_name"]),
            (&"call".into(), &"look".into()),
            "{output:?}"
        );
        assert_eq!(turns[1]["calls"][0]["arguments"], serde_json::json!({"n": 1}), "{provider}");
        assert_eq!(turns[2]["kind"], "overflow", "{provider}: {output:?}");
        let lines = text(&output.stdout);
        let call_id = &turns[1]["calls"][0]["call_id"];
        let turn = lines.lines().nth(1).unwrap();
        let result = format!(r#"{{"role":"tool","call_id":{call_id},"content":[{{"text":"a door"}}]}}"#);
        let second = request(&format!(r#"{look},{{"role":"assistant","turn":{turn}}},{result}"#)) + "\n";
        let output = pipe(&mut aimock.ask(provider, path), second.as_bytes());
        assert_eq!(records(&output)[0]["text"], "It is a door.", "{provider}: {output:?}");
        let output = pipe(aimock.ask(provider, path).args(["--retries", "0"]), b"{\"prompt\":\"rate me\"}\n");
        assert_eq!(records(&output)[0]["kind"], "rate_limited", "{provider}: {output:?}");
    }
}
