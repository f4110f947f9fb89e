//! Every schema has its record in a real run: none describes what no command says or takes any more.

use super::{SCHEMAS, hold};
use crate::process::{Talk, binary, command, example, pipe, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The files of the records that were met.
struct Met {
    files: BTreeSet<String>,
    folder: TempDir,
}

impl Met {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        std::fs::write(self.at(name), content).unwrap();
        self.at(name)
    }

    /// Takes what a command has said or written.
    #[track_caller]
    fn says(&mut self, lines: &str) -> Vec<Value> {
        self.files.extend(lines.lines().filter_map(hold));
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Takes what a command reads; that it did, its answers show.
    #[track_caller]
    fn reads<'a>(&mut self, file: &str, record: &'a str) -> &'a str {
        let value = serde_json::from_str(record).unwrap();
        assert_eq!(SCHEMAS.with_borrow_mut(|schemas| schemas.check(file, &value)), Ok(()), "{record}");
        self.files.insert(file.to_owned());
        record
    }

    /// Runs a command over an input.
    #[track_caller]
    fn runs(&mut self, command: &mut Command, input: &str) -> Vec<Value> {
        let output = pipe(command, input.as_bytes());
        assert!(matches!(output.status.code(), Some(0 | 1)), "{command:?}: {}", text(&output.stderr));
        self.says(&text(&output.stdout))
    }

    #[track_caller]
    fn file(&mut self, path: &Path) -> Vec<Value> {
        self.says(&std::fs::read_to_string(path).unwrap())
    }
}

#[test]
fn each_has_its_record_in_a_real_run() {
    let mut met = Met { files: BTreeSet::new(), folder: tempfile::tempdir().unwrap() };
    judged(&mut met);
    asked(&mut met);
    approved(&mut met);
    called(&mut met);
    played(&mut met);
    logged(&mut met);
    decided(&mut met);
    modelled(&mut met);
    planned(&mut met);
    #[cfg(all(feature = "gates", feature = "serve"))]
    met.says(&crate::agent_serve::missed());
    let all: BTreeSet<String> = super::sound::of_records().map(|(file, _)| file).collect();
    assert_eq!(met.files, all);
}

/// Calls in each form, refused and marked; the audit of that, and the subcommands.
fn judged(met: &mut Met) {
    let rules = met.write("rules.toml", "[[rule]]\nid = \"no\"\nverdict = \"deny\"\ntool = \"no\"\n");
    let audit = met.at("judged.jsonl");
    let calls = [
        ("tool_call.json", r#"{"type":"tool_call","call_id":"c1","tool_name":"delete_file","arguments":{"path":"a"}}"#),
        ("short_call.json", r#"{"tool":"no","id":2}"#),
        ("godot_command.json", r#"{"cmd":"no","id":3}"#),
        ("json_rpc_call.json", r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"no"}}"#),
        ("tool_call.json", r#"{"type":"tool_call","call_id":"c5","tool_name":"no"}"#),
    ];
    let calls = calls.map(|(file, call)| met.reads(file, call)).join("\n");
    let mut check = command("policy-check");
    let said = met.runs(check.arg("--rules").arg(&rules).arg("--audit").arg(&audit), &calls);
    assert_eq!(said.len(), 6, "the first call has a policy_request before it: {said:?}");
    assert_eq!(met.file(&audit).len(), 7);
    met.runs(command("policy-check").arg("verify").arg(&audit), "");
    let element = met.reads("element.json", r#"{"role":"button","name":"Pay now"}"#);
    assert_eq!(met.runs(command("policy-check").arg("classify"), element)[0]["kind"], "pay");
    let case = met.reads("policy_case.json", r#"{"call":{"tool":"no"},"verdict":"allow"}"#);
    let cases = met.write("cases.jsonl", case);
    assert_eq!(met.runs(command("policy-check").arg("test").arg(&rules).arg(&cases), "").len(), 2);
}

/// A request to a recorded model.
fn modelled(met: &mut Met) {
    let request = r#"{"type":"model_request","request_id":1,"messages":[{"role":"user","content":"hello"}]}"#;
    let answers = [
        r#"{"type":"assistant_message","request_id":1,"token":"hi","is_final":true,"kind":"answer"}"#,
        r#"{"type":"model_turn","request_id":1,"status":"ok","stop":"end","text":"hi","calls":[],"usage":{},"provider":"p","model":"m","raw":{}}"#,
    ];
    let lines = [format!("<{request}"), format!(">{}", answers[0]), format!(">{}", answers[1])];
    let log = crate::recorded::log("world", &lines.each_ref().map(String::as_str));
    let log = met.write("model.jsonl", &log);
    let request = met.reads("model_request.json", request);
    let said = met.runs(command("replay").args(["--as", "world", "--any-order"]).arg(log), request);
    assert_eq!(said.len(), 2);
    let server = crate::llm_pipe::server();
    let prompt = met.reads("short_model_request.json", r#"{"prompt":"hello","id":7}"#);
    let mut llm = command("llm-pipe");
    let said = met.runs(llm.args(["-m", "gemini/g", "--base-url", server]), prompt);
    assert_eq!((said.len(), &said[0]["request_id"]), (1, &7.into()));
    let mut llm = command("llm-pipe");
    assert_eq!(met.runs(llm.args(["check", "-m", "gemini/g", "--base-url", server]), "").len(), 5);
    met.runs(command("llm-pipe").arg("models"), "");
}

/// An agent that makes a plan.
fn planned(met: &mut Met) {
    let turns = [
        r#"{"calls":[{"tool_name":"assistant_plan","arguments":{"steps":[{"id":"1","desc":"Look"}]}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_progress","arguments":{"step_id":"1","status":"done"}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"done"}}]}"#,
    ];
    let script = met.write("script", &turns.join("\n"));
    let model = format!("'{}' '{}'", example("stand-in-model").display(), script.display());
    let message = met.reads("user_message.json", r#"{"type":"user_message","content":"Look"}"#);
    let mut agent = command("agent-loop");
    agent.args(["--llm", &model, "--session"]).arg(met.at("session")).arg("--").arg(example("stand-in-world"));
    met.runs(&mut agent, message);
    let history = met.reads("history.json", r#"{"type":"history"}"#);
    met.runs(&mut agent, history);
    let mut chain = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/chain.sh"));
    chain.env("PATH", crate::documents::path_with_our_programs());
    if crate::documents::has_jq() {
        met.runs(&mut chain, "");
    } else {
        met.files.insert("agent_chain_update.json".to_owned());
    }
}

/// A call that is held, and answered for.
fn asked(met: &mut Met) {
    // In a session of its own, nobody sits at its terminal.
    let mut gate = Command::new("setsid");
    let mut gate = Talk::start(gate.arg(binary("hitl-gate")).args(["--answers", "stdin"]));
    let question = gate.ask(r#"{"tool":"rm","id":1,"args":{"path":"a"},"requires_approval":true}"#);
    let question = met.says(&question).remove(0);
    let answer = format!(
        r#"{{"type":"hitl_response","call_id":1,"nonce":{},"action":"edit","edited_arguments":{{"path":"b"}}}}"#,
        question["nonce"]
    );
    gate.say(met.reads("hitl_response.json", &answer));
    let said: Vec<Value> = (0..3).flat_map(|_| met.says(&gate.hear())).collect();
    assert_eq!((&said[0]["status"], &said[2]["args"]["path"]), (&"edited_by_human".into(), &"b".into()));
    assert_eq!(gate.end_after_close().status.code(), Some(0));
    let said = met.runs(&mut command("hitl-gate"), &answer);
    assert_eq!(said[0]["type"], "error", "whoever makes the calls can't approve them");
    let said = met.runs(command("jsonl-mask").args(["--max-line", "10"]), "{\"long\":\"hunter2\"}\n");
    assert_eq!(said[0]["type"], "error", "a line that cannot be masked is withheld");
}

/// A call that a client allows for the session, and takes back.
fn approved(met: &mut Met) {
    let path = met.at("approvals");
    let listener = UnixListener::bind(&path).unwrap();
    // timeout(1) is the one that makes the calls: what it has not started may approve.
    let mut gate = Command::new("timeout");
    gate.arg("600").arg(binary("hitl-gate")).env("PIPEWRIGHT_APPROVALS", &path);
    let mut gate = Talk::start(&mut gate);
    gate.say(r#"{"tool":"rm","id":1,"requires_approval":true}"#);
    let (mut to, _) = listener.accept().unwrap();
    let mut lines = BufReader::new(to.try_clone().unwrap()).lines().map(Result::unwrap);
    let question = met.says(&lines.next().unwrap()).remove(0);
    let answer = format!(
        r#"{{"type":"hitl_response","call_id":1,"nonce":{},"action":"approve","scope":"session"}}"#,
        question["nonce"]
    );
    writeln!(to, "{}", met.reads("hitl_response.json", &answer)).unwrap();
    let rules = met.says(&lines.next().unwrap()).remove(0);
    assert_eq!(rules["rules"][0]["rule_id"], "session-1");
    assert_eq!(met.says(&lines.next().unwrap())[0]["verdict"], "approved");
    writeln!(to, "{}", met.reads("revoke_rule.json", r#"{"type":"revoke_rule","rule_id":"session-1"}"#)).unwrap();
    assert_eq!(met.says(&lines.next().unwrap())[0]["rules"], serde_json::json!([]));
}

/// Tools of an MCP server that a file names, and what it asks.
fn called(met: &mut Met) {
    let servers = format!(r#"{{"mcpServers":{{"s":{{"command":{:?},"args":["echo"]}}}}}}"#, example("stand-in-server"));
    let servers = met.reads("mcp_servers.json", &servers).to_owned();
    let servers = met.write("servers.json", &servers);
    let mcp_pipe = || {
        let mut pipe = command("mcp-pipe");
        pipe.arg("--config").arg(&servers);
        pipe
    };
    assert!(!met.runs(mcp_pipe().arg("--list"), "").is_empty());
    let mut pipe = Talk::start(mcp_pipe().args(["--interactive", "-j", "2", "--unordered"]));
    met.says(&pipe.ask(r#"{"tool":"ask","id":1}"#));
    let answer = r#"{"type":"input_response","request_id":"q1","action":"accept","content":{"n":1}}"#;
    let answered = pipe.ask(met.reads("input_response.json", answer));
    assert!(answered.contains(r#""action":"accept""#), "{answered}");
    met.says(&answered);
    pipe.say(r#"{"tool":"ask","id":2}"#);
    met.says(&pipe.hear());
    let cancelled = pipe.ask(met.reads("cancel.json", r#"{"type":"cancel","call_id":2}"#));
    assert_eq!(met.says(&cancelled)[0]["kind"], "cancelled");
    assert_eq!(pipe.end_after_close().status.code(), Some(1));
}

/// A Godot game.
fn played(met: &mut Met) {
    let mut bridge = command("godot-bridge");
    bridge.env("XDG_RUNTIME_DIR", met.folder.path()).args(["--events", "-", "--"]).arg(example("stand-in-game"));
    // A game that is gone at once isn't waited for; this one stays until it is told to end.
    let mut bridge = Talk::start(bridge.arg("echo"));
    bridge.say(r#"{"cmd":"emit","id":1,"args":{"events":1}}"#);
    let said: Vec<Value> = (0..3).flat_map(|_| met.says(&bridge.hear())).collect();
    assert_eq!((&said[0]["source"], &said[2]["ok"]), (&"godot".into(), &true.into()));
    assert_eq!(bridge.end_after_close().status.code(), Some(0));
}

/// A bot that was recorded, and answers otherwise now.
fn logged(met: &mut Met) {
    let (log, report) = (met.at("run.jsonl"), met.at("report.jsonl"));
    let bot = |answer: &str| format!("read -r line; echo '{{\"type\":\"tool_call\",\"tool_name\":\"{answer}\"}}'");
    let mut record = command("jsonl-record");
    met.runs(record.args(["--child", "agent"]).arg(&log).args(["--", "sh", "-c", &bot("left")]), "{\"n\":1}\n");
    assert_eq!(met.file(&log).len(), 4);
    met.runs(command("jsonl-log").arg("check").arg(&log), "");
    met.runs(command("jsonl-log").args(["summary", "--format", "json"]).arg(&log), "");
    let mut world = Talk::start(command("replay").args(["--as", "world"]).arg(&log));
    assert_eq!(world.hear(), r#"{"n":1}"#);
    let list = world.ask(met.reads("list_tools.json", r#"{"type":"list_tools","request_id":1}"#));
    assert_eq!(met.says(&list)[0]["world"], "replay");
    drop(world);
    let mut replay = command("replay");
    replay.args(["--as", "world", "--report"]).arg(&report).arg(&log).args(["--", "sh", "-c", &bot("right")]);
    met.runs(&mut replay, "");
    let kinds: Vec<Value> = met.file(&report).iter().map(|line| line["type"].clone()).collect();
    assert_eq!(kinds, ["difference", "turn", "summary"]);
}

/// Slay the Spire.
fn decided(met: &mut Met) {
    let message = crate::spire::rest_site(-8_301_534_427_382_183_567, 5);
    let message = format!("{}\n", met.reads("spire_message.json", &message));
    met.runs(&mut command("valid-actions"), &message);
    met.runs(command("valid-actions").arg("--bare"), &message);
    let answer = met.reads("spire_answer.json", r#"{"action_id":110}"#);
    let bot = format!("while read -r line; do echo '{answer}'; done");
    let records = met.at("records");
    let mut proxy = Talk::start(command("sts-proxy").arg("--data-dir").arg(&records).args(["--", "sh", "-c", &bot]));
    assert_eq!((proxy.hear(), proxy.ask(message.trim_end())), ("ready".to_owned(), "choose 0".to_owned()));
    proxy.say(&crate::spire::game_over(-8_301_534_427_382_183_567, 5));
    proxy.say(&crate::spire::menu());
    proxy.end_after_close();
    let record = std::fs::read_dir(&records).unwrap().next().unwrap().unwrap().path();
    let records = met.file(&record);
    assert_eq!((&records[0]["action_id"], &records[1]["run_over"]["score"]), (&110.into(), &12.into()));
}
