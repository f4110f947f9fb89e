//! Approving for the session.

use super::approvers::{Client, Place, decided, decision, hold, read};
use super::{Desk, PROMPT, json};
use crate::process::{Talk, command, pipe, text};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

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
