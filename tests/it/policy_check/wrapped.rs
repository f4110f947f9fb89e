//! A gate around a world: the world's answers show the elements that calls act on, and both sides work as without the gate.

use crate::process::{Talk, command, eventually, example, pipe, text};
use serde_json::{Value, json};
use std::process::Command;

/// A world that shows a page first, and answers each later line with the line itself.
const PAGE: &str = r####"read -r call; printf '%s\n' '{"jsonrpc":"2.0","id":0,"result":{"content":[{"type":"text","text":"### Page\n- Page URL: http://x/\n### Snapshot\n```yaml\n- generic [ref=e1]:\n  - button \"Delete account\" [ref=e2]\n  - button \"Next page\" [ref=e3]\n```"}]}}'; exec cat"####;

const LOOK: &str = r#"{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"browser_snapshot"}}"#;

fn wrapped(options: &[&str], far: &[&str]) -> Command {
    let mut gate = command("policy-check");
    gate.args(options).arg("--").args(far);
    gate
}

fn click(id: u32, reference: &str) -> String {
    json!({"jsonrpc":"2.0","id":id,"method":"tools/call","params":{"name":"browser_click","arguments":{"element":"a harmless link","ref":reference}}})
        .to_string()
}

#[test]
fn an_element_is_judged_by_the_shown_page_and_not_by_the_callers_description() {
    let mut talk = Talk::start(&mut wrapped(&[], &["sh", "-c", PAGE]));
    talk.ask(LOOK);
    let refused: Value = serde_json::from_str(&talk.ask(&click(1, "e2"))).unwrap();
    assert_eq!(refused["result"]["_meta"]["kind"], "needs_approval");
    assert_eq!(refused["result"]["_meta"]["data"]["kind"], "delete");
    let unknown: Value = serde_json::from_str(&talk.ask(&click(2, "e9"))).unwrap();
    assert_eq!(unknown["result"]["_meta"]["data"]["rule"], "builtin.unknown_target");
    // It comes back unchanged.
    let harmless = click(3, "e3");
    assert_eq!(talk.ask(&harmless), harmless);
    assert_eq!(talk.end_after_close().status.code(), Some(1));
}

#[test]
fn a_mark_for_the_next_gate_has_the_element() {
    let events = tempfile::NamedTempFile::new().unwrap();
    let options = ["--confirm", "mark", "--events", events.path().to_str().unwrap()];
    let mut talk = Talk::start(&mut wrapped(&options, &["sh", "-c", PAGE]));
    talk.ask(LOOK);
    let marked: Value = serde_json::from_str(&talk.ask(&click(1, "e2"))).unwrap();
    let meta = &marked["params"]["_meta"];
    assert_eq!(
        (&meta["requires_approval"], &meta["target"]["name"], &meta["target"]["role"]),
        (&json!(true), &json!("Delete account"), &json!("button"))
    );
    talk.end_after_close();
    let event: Value = serde_json::from_str(&crate::schemas::written(events.path())).unwrap();
    assert_eq!((&event["type"], &event["policy"]["kind"]), (&json!("policy_request"), &json!("delete")));
}

#[test]
fn a_servers_hint_adds_a_question() {
    let list = r#"read -r line; printf '%s\n' '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read_once","annotations":{"destructiveHint":true}},{"name":"read_twice","annotations":{"readOnlyHint":true}}]}}'; exec cat"#;
    let mut talk = Talk::start(&mut wrapped(&[], &["sh", "-c", list]));
    talk.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let call = |name: &str| format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{name}"}}}}"#);
    assert!(talk.ask(&call("read_once")).contains("builtin.annotation"));
    assert_eq!(talk.ask(&call("read_twice")), call("read_twice"));
    talk.end_after_close();
}

#[test]
fn the_gate_is_transparent_to_both_sides() {
    let lines = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"n\":1.10}}\r\n\n{\"jsonrpc\":\"2.0\",\"method\":\"x\"}";
    let output = pipe(&mut wrapped(&[], &["cat"]), lines.as_bytes());
    assert_eq!(
        (text(&output.stdout).as_str(), output.status.code(), text(&output.stderr).as_str()),
        (lines, Some(0), "")
    );
    // Its status is the world's, and so is its stderr.
    let output = pipe(&mut wrapped(&[], &["sh", "-c", "echo oh >&2; exit 7"]), b"");
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(7), "oh\n"));
    let output = pipe(&mut wrapped(&[], &["/no/such/world"]), b"");
    assert_eq!(output.status.code(), Some(3));
}

#[test]
fn mcp_pipe_after_it_refuses_marked_calls() {
    let far = [
        command("mcp-pipe").get_program().to_owned(),
        "--".into(),
        example("stand-in-server").into_os_string(),
        "echo".into(),
    ];
    let far: Vec<&str> = far.iter().map(|word| word.to_str().unwrap()).collect();
    let output = pipe(&mut wrapped(&[], &far), b"{\"tool\":\"echo\",\"args\":{\"message\":\"hi\"},\"id\":1}\n{\"tool\":\"die\",\"args\":{\"code\":3},\"id\":2}\n");
    let answers: Vec<Value> = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&answers[0]["status"], &answers[1]["kind"]), (&json!("ok"), &json!("needs_approval")));
    assert_eq!(answers.len(), 2);
}

#[test]
fn nothing_is_inserted_into_a_line_that_arrives_in_parts() {
    // More than the longest line, then a call that passes, then the end of the line.
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("begun");
    let far = format!(
        "head -c 6000000 /dev/zero | tr '\\0' x; touch {}; read -r call; echo; exec cat >/dev/null",
        begun.display()
    );
    let mut talk = Talk::start(&mut wrapped(&[], &["sh", "-c", &far]));
    eventually("the line has begun", || begun.exists());
    talk.say("{\"tool\":\"delete_file\",\r\"id\":1}");
    talk.say("{\"tool\":\"look\"}");
    let line = talk.receive();
    assert!(line.len() == 6_000_000 && !line.contains('{'), "{} bytes, {:.80}", line.len(), line);
    assert!(talk.receive().contains("carriage return"));
    talk.end_after_close();
}
