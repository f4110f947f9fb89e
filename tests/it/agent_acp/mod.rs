//! `agent-acp`, as an editor uses it. Every message in both directions is checked against the schema of ACP.

pub mod acpx;
mod faults;
mod permissions;
mod schema;
mod sessions;
mod updates;

use crate::process::{Talk, binary, command, example};
use schema::{Sender, Traffic};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An editor, and the `agent-acp` that it has started.
struct Editor {
    talk: Talk,
    traffic: Traffic,
    last_id: u64,
    /// Messages that were skipped.
    passed: Vec<Value>,
}

impl Editor {
    /// Starts `agent-acp` with this agent, a command line.
    fn start(agent: Command) -> Editor {
        let mut acp = command("agent-acp");
        acp.arg("--").arg(agent.get_program()).args(agent.get_args());
        Editor { talk: Talk::start(&mut acp), traffic: Traffic::default(), last_id: 0, passed: Vec::new() }
    }

    /// Starts it, and sends `initialize`.
    fn greet(agent: Command, capabilities: Value) -> Editor {
        let mut editor = Editor::start(agent);
        editor.ask("initialize", json!({"protocolVersion": 1, "clientCapabilities": capabilities}));
        editor
    }

    fn say(&mut self, message: &Value) {
        self.traffic.hold(Sender::Editor, message);
        self.talk.say(&message.to_string());
    }

    /// Sends a request; gives its id.
    fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.say(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}));
        self.last_id
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.say(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The next message.
    #[track_caller]
    fn next_message(&mut self) -> Value {
        let message: Value = serde_json::from_str(&self.talk.receive()).unwrap();
        self.traffic.hold(Sender::Agent, &message);
        message
    }

    /// The next matching message; those before it are kept as passed.
    #[track_caller]
    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next_message();
            if is_it(&message) {
                return message;
            }
            self.passed.push(message);
        }
    }

    /// The answer to a request; answers to several requests come in any order.
    #[track_caller]
    fn answer_to(&mut self, id: u64) -> Value {
        let is_it = |message: &Value| message["id"] == id && message.get("method").is_none();
        match self.passed.iter().position(is_it) {
            Some(place) => self.passed.remove(place),
            None => self.until(is_it),
        }
    }

    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer_to(id)
    }

    /// Starts a session in this folder; gives its id.
    #[track_caller]
    fn begin(&mut self, folder: &Path) -> String {
        let answer = self.ask("session/new", json!({"cwd": folder, "mcpServers": []}));
        answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    fn prompt(&mut self, session: &str, text: &str) -> u64 {
        self.request("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]}))
    }

    /// The result of a prompt.
    #[track_caller]
    fn stop_reason(&mut self, prompt: u64) -> String {
        let answer = self.answer_to(prompt);
        answer["result"]["stopReason"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// The next request of a method.
    #[track_caller]
    fn asked(&mut self, method: &str) -> Value {
        self.until(|message| message["method"] == method && message.get("id").is_some())
    }

    fn answer(&mut self, request: &Value, result: Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// Answers a permission request with an option.
    fn choose(&mut self, request: &Value, option: &str) {
        self.answer(request, json!({"outcome": {"outcome": "selected", "optionId": option}}));
    }

    /// The updates of a kind that have passed.
    fn updates(&self, kind: &str) -> Vec<Value> {
        let updates = self.passed.iter().map(|message| message["params"]["update"].clone());
        updates.filter(|update| update["sessionUpdate"] == kind).collect()
    }

    /// The text of the messages that have passed.
    fn said(&self) -> String {
        let chunks = self.updates("agent_message_chunk");
        chunks.iter().filter_map(|chunk| chunk["content"]["text"].as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Closes stdin, and asserts this exit status and an empty stderr.
    #[track_caller]
    fn end(self, status: i32) {
        let ended = self.talk.end_after_close();
        assert_eq!(ended.status.code(), Some(status));
        // The stderr of agents is ignored.
        assert!(!ended.stderr.contains("agent-acp:"), "{}", ended.stderr);
    }
}

/// A folder with the agent's files.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// `agent-loop` with a scripted model, over a world behind a gate that holds every call; `more` are further arguments.
    pub fn agent(&self, script: &[&str], more: &[&str]) -> Command {
        let script = self.file("script", &script.join("\n"));
        let rules = self.file("rules.toml", "[[rule]]\nid = \"ask\"\nverdict = \"confirm\"\ntool = \"*\"\n");
        let mut agent = Command::new(binary("agent-loop"));
        agent.arg("--llm").arg(format!("'{}' '{}'", example("stand-in-model").display(), script.display()));
        agent.args(more).arg("--").arg(binary("policy-check")).args(["--confirm", "mark", "--rules"]).arg(rules);
        agent.arg("--").arg(binary("hitl-gate")).arg("--").arg(example("stand-in-world"));
        agent
    }

    /// An agent that prints these records for each message, and reacts to a cancel as agents do.
    pub fn scripted(&self, records: &[&str]) -> Command {
        let records = self.file("records", &(records.join("\n") + "\n"));
        let mut agent = Command::new("sh");
        let cancelled =
            r#"{"type":"final","outcome":"cancelled","content":"","usage":{},"steps":0,"denied":0,"exit_status":1}"#;
        let script = format!(
            "echo '{IDLE}'; while read -r line; do case $line in *user_message*) cat \"$0\";; *cancel*) printf '%s\\n' '{cancelled}' '{IDLE}';; esac; done"
        );
        agent.arg("-c").arg(script).arg(records);
        agent
    }
}

pub const IDLE: &str = r#"{"type":"status","status":"idle","pending_kind":"none"}"#;
pub const RUNNING: &str = r#"{"type":"status","status":"running","pending_kind":"none"}"#;
pub const DONE: &str = r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"It is done."}}]}"#;
pub const ECHO: &str = r#"{"text":"I echo.","calls":[{"tool_name":"echo","arguments":{"message":"hi","n":1}}]}"#;

fn no_capabilities() -> Value {
    json!({})
}

#[test]
fn an_agent_works_for_an_editor() {
    let place = Place::new();
    let plan = r#"{"calls":[{"tool_name":"assistant_plan","arguments":{"steps":[{"id":"1","desc":"Look"},{"id":"2","desc":"Act"}]}}]}"#;
    let mut editor = Editor::start(place.agent(&[plan, ECHO, DONE], &[]));
    let answer = editor.ask("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}}));
    assert_eq!(answer["result"]["protocolVersion"], 1);
    assert_eq!(answer["result"]["agentCapabilities"]["loadSession"], false);
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Echo.");
    let permission = editor.asked("session/request_permission");
    assert_eq!(permission["params"]["toolCall"]["toolCallId"], "a1");
    editor.choose(&permission, "allow");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert_eq!(editor.said(), "I echo.\nIt is done.");
    let plans = editor.updates("plan");
    assert_eq!(plans[0]["entries"][1]["content"], "Act");
    let calls = editor.updates("tool_call");
    assert_eq!((calls.len(), &calls[0]["title"], &calls[0]["name"]), (1, &"echo: hi".into(), &"echo".into()));
    let statuses: Vec<Value> =
        editor.updates("tool_call_update").iter().map(|update| update["status"].clone()).collect();
    assert_eq!(statuses, ["pending", "in_progress", "completed"]);
    editor.end(0);
}
