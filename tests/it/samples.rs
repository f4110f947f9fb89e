//! How the tests of the line contract run each command: its arguments, and a line that it accepts.

use crate::process::{example, is_windows};
use pipewright::cmd::{ALL, Command};

/// A run that starts, answers and ends with status 0.
pub struct Sample {
    pub arguments: Vec<String>,
    /// A line that it answers or passes on.
    pub line: &'static str,
    /// Whether every unknown line is passed on, byte for byte.
    pub is_filter: bool,
    /// Whether no line is a faulty one.
    pub takes_any_line: bool,
    /// Whether SIGHUP makes it open its files again, and does not end it.
    pub reopens: bool,
}

const OBSERVATION: &str = r#"{"ts":"2026-11-22T01:00:00Z","type":"observation","source":"game","data":{}}"#;
pub const SPIRE: &str = r#"{"available_commands":["choose","state"],"ready_for_command":true,"in_game":true,"game_state":{"screen_type":"REST","screen_state":{"rest_options":["rest"]},"choice_list":["rest"]}}"#;

/// The commands that Windows does not have.
pub const NEED_UNIX: [&str; 10] = [
    "agent-acp",
    "agent-chat",
    "agent-loop",
    "agent-serve",
    "browser-bridge",
    "hitl-gate",
    "llm-pipe",
    "mcp-pipe",
    "mcp-serve",
    "tool-call",
];

/// The commands of the system that is tested.
pub fn commands() -> impl Iterator<Item = &'static Command> {
    ALL.iter().filter(|of| !is_windows() || !NEED_UNIX.contains(&of.name))
}

/// The commands that read records from stdin. A call of `tool-call` is its arguments, `agent-chat` reads what a person types, and
/// `agent-serve` reads HTTP requests.
pub fn line_commands() -> impl Iterator<Item = &'static Command> {
    commands().filter(|of| !["agent-chat", "agent-serve", "tool-call"].contains(&of.name))
}

/// The sample of one of the [`line_commands`].
pub fn sample_of(command: &Command) -> Sample {
    let stand_in = |name: &str| example(name).to_str().unwrap().to_owned();
    let (server, game, world) = (stand_in("stand-in-server"), stand_in("stand-in-game"), stand_in("stand-in-world"));
    let browser = stand_in("stand-in-browser");
    let models = crate::llm_pipe::server();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/agent/done.jsonl");
    let model = format!("'{}' '{script}'", stand_in("stand-in-model"));
    let child = stand_in("windows-child");
    let agent: &[&str] =
        if is_windows() { &[&child, "answer", "110"] } else { &["sh", "-c", "while read -r line; do echo 110; done"] };
    let proxy = [&["--no-record", "--watchdog", "0", "--"], agent].concat();
    let (arguments, line): (&[&str], _) = match command.name {
        "agent-acp" => (
            &["--", "sh", "-c", "cat"],
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}"#,
        ),
        "agent-loop" => (&["--llm", &model, "--", &world], r#"{"type":"user_message","content":"hi"}"#),
        "browser-bridge" => (&["--headless", "--browser", &browser], r#"{"tool":"browser_tabs","id":1}"#),
        "godot-bridge" => (&["--", &game, "echo"], r#"{"id":1,"cmd":"get_node","args":{"path":"/root"}}"#),
        "hitl-gate" => (&[], r#"{"tool":"browser_click","args":{"ref":"e12"},"id":1}"#),
        "jsonl-log" => (&["recover"], OBSERVATION),
        "jsonl-mask" => (&[], OBSERVATION),
        "jsonl-record" => (&[if is_windows() { "NUL" } else { "/dev/null" }], OBSERVATION),
        "llm-pipe" => (
            &["--model", "gemini/g", "--base-url", models, "--max-line", "4M"],
            r#"{"type":"model_request","request_id":1,"messages":[{"role":"user","content":"hi"}]}"#,
        ),
        "mcp-pipe" => (&["--", &server, "echo"], r#"{"tool":"echo","args":{"message":"hi"},"id":1}"#),
        "mcp-serve" => (
            &["--", &world],
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}"#,
        ),
        "policy-check" => (&[], r#"{"tool":"browser_snapshot","args":{},"id":1}"#),
        "replay" => (&["-"], OBSERVATION),
        "sts-proxy" => (&proxy, SPIRE),
        "valid-actions" => (&[], SPIRE),
        new => panic!("{new} has no sample here: add one"),
    };
    Sample {
        arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        line,
        is_filter: matches!(command.name, "jsonl-record" | "valid-actions"),
        takes_any_line: matches!(command.name, "jsonl-mask" | "jsonl-record"),
        reopens: command.name == "jsonl-record",
    }
}
