//! Every schema has a record in a real run, so none describes a record that no command writes or reads any more.

use super::{SCHEMAS, hold};
use crate::process::{Talk, binary, command, example, pipe, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The schema files whose records were seen.
struct Seen {
    files: BTreeSet<String>,
    folder: TempDir,
}

impl Seen {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        std::fs::write(self.at(name), content).unwrap();
        self.at(name)
    }

    /// Checks the output of a command, and returns its records.
    #[track_caller]
    fn output(&mut self, lines: &str) -> Vec<Value> {
        self.files.extend(lines.lines().filter_map(hold));
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Checks a record that is given to a command. Its answers show that it was read.
    #[track_caller]
    fn input<'a>(&mut self, file: &str, record: &'a str) -> &'a str {
        let value = serde_json::from_str(record).unwrap();
        assert_eq!(SCHEMAS.with_borrow_mut(|schemas| schemas.check(file, &value)), Ok(()), "{record}");
        self.files.insert(file.to_owned());
        record
    }

    /// Runs a command with this input, and checks its output.
    #[track_caller]
    fn run(&mut self, command: &mut Command, input: &str) -> Vec<Value> {
        let output = pipe(command, input.as_bytes());
        assert!(matches!(output.status.code(), Some(0 | 1)), "{command:?}: {}", text(&output.stderr));
        self.output(&text(&output.stdout))
    }

    #[track_caller]
    fn file(&mut self, path: &Path) -> Vec<Value> {
        self.output(&std::fs::read_to_string(path).unwrap())
    }
}

#[test]
fn each_schema_has_a_record_in_a_real_run() {
    let mut seen = Seen { files: BTreeSet::new(), folder: tempfile::tempdir().unwrap() };
    judged(&mut seen);
    asked(&mut seen);
    approved(&mut seen);
    called(&mut seen);
    played(&mut seen);
    logged(&mut seen);
    decided(&mut seen);
    modelled(&mut seen);
    planned(&mut seen);
    #[cfg(all(feature = "gates", feature = "serve"))]
    seen.output(&crate::agent_serve::missed());
    let all: BTreeSet<String> = super::sound::of_records().map(|(file, _)| file).collect();
    assert_eq!(seen.files, all);
}

/// Calls in each form, refused and marked; their audit, and the subcommands.
fn judged(seen: &mut Seen) {
    let rules = seen.write("rules.toml", "[[rule]]\nid = \"no\"\nverdict = \"deny\"\ntool = \"no\"\n");
    let audit = seen.at("judged.jsonl");
    let calls = [
        ("tool_call.json", r#"{"type":"tool_call","call_id":"c1","tool_name":"delete_file","arguments":{"path":"a"}}"#),
        ("short_call.json", r#"{"tool":"no","id":2}"#),
        ("godot_command.json", r#"{"cmd":"no","id":3}"#),
        ("json_rpc_call.json", r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"no"}}"#),
        ("tool_call.json", r#"{"type":"tool_call","call_id":"c5","tool_name":"no"}"#),
    ];
    let calls = calls.map(|(file, call)| seen.input(file, call)).join("\n");
    let mut check = command("policy-check");
    let lines = seen.run(check.arg("--rules").arg(&rules).arg("--audit").arg(&audit), &calls);
    assert_eq!(lines.len(), 6, "the first call has a policy_request before it: {lines:?}");
    assert_eq!(seen.file(&audit).len(), 7);
    seen.run(command("policy-check").arg("verify").arg(&audit), "");
    let element = seen.input("element.json", r#"{"role":"button","name":"Pay now"}"#);
    assert_eq!(seen.run(command("policy-check").arg("classify"), element)[0]["kind"], "pay");
    let case = seen.input("policy_case.json", r#"{"call":{"tool":"no"},"verdict":"allow"}"#);
    let cases = seen.write("cases.jsonl", case);
    assert_eq!(seen.run(command("policy-check").arg("test").arg(&rules).arg(&cases), "").len(), 2);
}

/// A request to a recorded model.
fn modelled(seen: &mut Seen) {
    let request = r#"{"type":"model_request","request_id":1,"messages":[{"role":"user","content":"hello"}]}"#;
    let answers = [
        r#"{"type":"assistant_message","request_id":1,"token":"hi","is_final":true,"kind":"answer"}"#,
        r#"{"type":"model_turn","request_id":1,"status":"ok","stop":"end","text":"hi","calls":[],"usage":{},"provider":"p","model":"m","raw":{}}"#,
    ];
    let lines = [format!("<{request}"), format!(">{}", answers[0]), format!(">{}", answers[1])];
    let log = crate::recorded::log("world", &lines.each_ref().map(String::as_str));
    let log = seen.write("model.jsonl", &log);
    let request = seen.input("model_request.json", request);
    let lines = seen.run(command("replay").args(["--as", "world", "--any-order"]).arg(log), request);
    assert_eq!(lines.len(), 2);
    let server = crate::llm_pipe::server();
    let prompt = seen.input("short_model_request.json", r#"{"prompt":"hello","id":7}"#);
    let mut llm = command("llm-pipe");
    let lines = seen.run(llm.args(["-m", "gemini/g", "--base-url", server]), prompt);
    assert_eq!((lines.len(), &lines[0]["request_id"]), (1, &7.into()));
    let mut llm = command("llm-pipe");
    assert_eq!(seen.run(llm.args(["check", "-m", "gemini/g", "--base-url", server]), "").len(), 5);
    seen.run(command("llm-pipe").arg("models"), "");
}

/// An agent that makes a plan.
fn planned(seen: &mut Seen) {
    let turns = [
        r#"{"calls":[{"tool_name":"assistant_plan","arguments":{"steps":[{"id":"1","desc":"Look"}]}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_progress","arguments":{"step_id":"1","status":"done"}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"done"}}]}"#,
    ];
    let script = seen.write("script", &turns.join("\n"));
    let model = format!("'{}' '{}'", example("stand-in-model").display(), script.display());
    let message = seen.input("user_message.json", r#"{"type":"user_message","content":"Look"}"#);
    let mut agent = command("agent-loop");
    agent.args(["--llm", &model, "--session"]).arg(seen.at("session")).arg("--").arg(example("stand-in-world"));
    seen.run(&mut agent, message);
    let history = seen.input("history.json", r#"{"type":"history"}"#);
    seen.run(&mut agent, history);
    let mut chain = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/chain.sh"));
    chain.env("PATH", crate::documents::path_with_our_programs());
    if crate::documents::has_jq() {
        seen.run(&mut chain, "");
    } else {
        seen.files.insert("agent_chain_update.json".to_owned());
    }
}

/// A held call, and its answer.
fn asked(seen: &mut Seen) {
    // In a session of its own, it has no terminal to ask a person at.
    let mut gate = Command::new("setsid");
    let mut gate = Talk::start(gate.arg(binary("hitl-gate")).args(["--answers", "stdin"]));
    let question = gate.ask(r#"{"tool":"rm","id":1,"args":{"path":"a"},"requires_approval":true}"#);
    let question = seen.output(&question).remove(0);
    let answer = format!(
        r#"{{"type":"hitl_response","call_id":1,"nonce":{},"action":"edit","edited_arguments":{{"path":"b"}}}}"#,
        question["nonce"]
    );
    gate.say(seen.input("hitl_response.json", &answer));
    let lines: Vec<Value> = (0..3).flat_map(|_| seen.output(&gate.receive())).collect();
    assert_eq!((&lines[0]["status"], &lines[2]["args"]["path"]), (&"edited_by_human".into(), &"b".into()));
    assert_eq!(gate.end_after_close().status.code(), Some(0));
    let lines = seen.run(&mut command("hitl-gate"), &answer);
    assert_eq!(lines[0]["type"], "error", "the caller cannot approve calls");
    let lines = seen.run(command("jsonl-mask").args(["--max-line", "10"]), "{\"long\":\"hunter2\"}\n");
    assert_eq!(lines[0]["type"], "error", "a line that cannot be masked is withheld");
}

/// A call that a client approves for the session, and then revokes.
fn approved(seen: &mut Seen) {
    let path = seen.at("approvals");
    let listener = UnixListener::bind(&path).unwrap();
    // timeout(1) counts as the caller, so processes that it has not started may approve.
    let mut gate = Command::new("timeout");
    gate.arg("600").arg(binary("hitl-gate")).env("PIPEWRIGHT_APPROVALS", &path);
    let mut gate = Talk::start(&mut gate);
    gate.say(r#"{"tool":"rm","id":1,"requires_approval":true}"#);
    let (mut to, _) = listener.accept().unwrap();
    let mut lines = BufReader::new(to.try_clone().unwrap()).lines().map(Result::unwrap);
    let question = seen.output(&lines.next().unwrap()).remove(0);
    let answer = format!(
        r#"{{"type":"hitl_response","call_id":1,"nonce":{},"action":"approve","scope":"session"}}"#,
        question["nonce"]
    );
    writeln!(to, "{}", seen.input("hitl_response.json", &answer)).unwrap();
    let rules = seen.output(&lines.next().unwrap()).remove(0);
    assert_eq!(rules["rules"][0]["rule_id"], "session-1");
    assert_eq!(seen.output(&lines.next().unwrap())[0]["verdict"], "approved");
    writeln!(to, "{}", seen.input("revoke_rule.json", r#"{"type":"revoke_rule","rule_id":"session-1"}"#)).unwrap();
    assert_eq!(seen.output(&lines.next().unwrap())[0]["rules"], serde_json::json!([]));
}

/// Tools of an MCP server from a configuration file, and the server's question.
fn called(seen: &mut Seen) {
    let servers = format!(r#"{{"mcpServers":{{"s":{{"command":{:?},"args":["echo"]}}}}}}"#, example("stand-in-server"));
    let servers = seen.input("mcp_servers.json", &servers).to_owned();
    let servers = seen.write("servers.json", &servers);
    let mcp_pipe = || {
        let mut pipe = command("mcp-pipe");
        pipe.arg("--config").arg(&servers);
        pipe
    };
    assert!(!seen.run(mcp_pipe().arg("--list"), "").is_empty());
    let mut pipe = Talk::start(mcp_pipe().args(["--interactive", "-j", "2", "--unordered"]));
    seen.output(&pipe.ask(r#"{"tool":"ask","id":1}"#));
    let answer = r#"{"type":"input_response","request_id":"q1","action":"accept","content":{"n":1}}"#;
    let answered = pipe.ask(seen.input("input_response.json", answer));
    assert!(answered.contains(r#""action":"accept""#), "{answered}");
    seen.output(&answered);
    pipe.say(r#"{"tool":"ask","id":2}"#);
    seen.output(&pipe.receive());
    let cancelled = pipe.ask(seen.input("cancel.json", r#"{"type":"cancel","call_id":2}"#));
    assert_eq!(seen.output(&cancelled)[0]["kind"], "cancelled");
    assert_eq!(pipe.end_after_close().status.code(), Some(1));
}

/// A Godot game.
fn played(seen: &mut Seen) {
    let mut bridge = command("godot-bridge");
    bridge.env("XDG_RUNTIME_DIR", seen.folder.path()).args(["--events", "-", "--"]).arg(example("stand-in-game"));
    // A game that ends at once would not be waited for; this one stays until it gets a signal.
    let mut bridge = Talk::start(bridge.arg("echo"));
    bridge.say(r#"{"cmd":"emit","id":1,"args":{"events":1}}"#);
    let lines: Vec<Value> = (0..3).flat_map(|_| seen.output(&bridge.receive())).collect();
    assert_eq!((&lines[0]["source"], &lines[2]["ok"]), (&"godot".into(), &true.into()));
    assert_eq!(bridge.end_after_close().status.code(), Some(0));
}

/// A recorded bot that now gives another answer.
fn logged(seen: &mut Seen) {
    let (log, report) = (seen.at("run.jsonl"), seen.at("report.jsonl"));
    let bot = |answer: &str| format!("read -r line; echo '{{\"type\":\"tool_call\",\"tool_name\":\"{answer}\"}}'");
    let mut record = command("jsonl-record");
    seen.run(record.args(["--child", "agent"]).arg(&log).args(["--", "sh", "-c", &bot("left")]), "{\"n\":1}\n");
    assert_eq!(seen.file(&log).len(), 4);
    seen.run(command("jsonl-log").arg("check").arg(&log), "");
    seen.run(command("jsonl-log").args(["summary", "--format", "json"]).arg(&log), "");
    let mut world = Talk::start(command("replay").args(["--as", "world"]).arg(&log));
    assert_eq!(world.receive(), r#"{"n":1}"#);
    let list = world.ask(seen.input("list_tools.json", r#"{"type":"list_tools","request_id":1}"#));
    assert_eq!(seen.output(&list)[0]["world"], "replay");
    drop(world);
    let mut replay = command("replay");
    replay.args(["--as", "world", "--report"]).arg(&report).arg(&log).args(["--", "sh", "-c", &bot("right")]);
    seen.run(&mut replay, "");
    let kinds: Vec<Value> = seen.file(&report).iter().map(|line| line["type"].clone()).collect();
    assert_eq!(kinds, ["difference", "turn", "summary"]);
}

/// Slay the Spire.
fn decided(seen: &mut Seen) {
    let message = crate::spire::rest_site(-8_301_534_427_382_183_567, 5);
    let message = format!("{}\n", seen.input("spire_message.json", &message));
    seen.run(&mut command("valid-actions"), &message);
    seen.run(command("valid-actions").arg("--bare"), &message);
    let answer = seen.input("spire_answer.json", r#"{"action_id":110}"#);
    let bot = format!("while read -r line; do echo '{answer}'; done");
    let records = seen.at("records");
    let mut proxy = Talk::start(command("sts-proxy").arg("--data-dir").arg(&records).args(["--", "sh", "-c", &bot]));
    assert_eq!((proxy.receive(), proxy.ask(message.trim_end())), ("ready".to_owned(), "choose 0".to_owned()));
    proxy.say(&crate::spire::game_over(-8_301_534_427_382_183_567, 5));
    proxy.say(&crate::spire::menu());
    proxy.end_after_close();
    let record = std::fs::read_dir(&records).unwrap().next().unwrap().unwrap().path();
    let records = seen.file(&record);
    assert_eq!((&records[0]["action_id"], &records[1]["run_over"]["score"]), (&110.into(), &12.into()));
}
