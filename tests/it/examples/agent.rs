//! The agent with a model: recorded on both sides, and run again from the logs.

use super::{run, run_with};
use crate::documents::{has_jq, path_with_our_programs};
use crate::llm_pipe::server::{Reply, Server};
use crate::process::{command, text};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};

const NO_DIFFERENCE: [&str; 2] =
    ["4 turns, 0 different; lines: 3 the same\n", "3 turns, 0 different; lines: 2 the same\n"];

/// Runs the loop again, between the two recorded sides.
fn again(place: &Path, world: &str) -> Output {
    let mut agent = command("agent-loop");
    agent.args(["--goal", "Pay the open invoice."]);
    agent.args(["--llm", "replay --as world --settle 0.02 --timeout 5 llm.log", "--"]);
    agent.args(["replay", "--as", "world", "--settle", "0.02", "--timeout", "5", world]);
    agent.current_dir(place).env("PATH", path_with_our_programs()).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn an_agent_is_replayed_offline_without_a_difference() {
    if !has_jq() {
        return;
    }
    let ran = run("replay-an-agent.sh", &[]);
    let expected = "Invoice 7 is paid.\nInvoice 7 is paid.\n";
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), expected), "{}", ran.stderr);
    for sum in NO_DIFFERENCE {
        assert!(ran.stderr.contains(sum), "{}", ran.stderr);
    }
}

#[test]
fn a_chat_calls_refuses_and_approves() {
    if !has_jq() {
        return;
    }
    let ran = run("chat.sh", &[]);
    assert_eq!(ran.status, Some(1), "a call was rejected: {}", ran.stderr);
    let lines: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| ["+", "x", "open", "I", "Then"].iter().any(|word| line.starts_with(word)))
        .collect();
    let expected = [
        "+ list_invoices",
        "open: 7, 8",
        "I pay invoice 7.",
        "x pay_invoice number=7",
        "Then invoice 8.",
        "+ pay_invoice number=8",
    ];
    assert_eq!(lines[..6], expected, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("may this call pass?") && ran.stdout.contains("Invoice 8 is paid.\n   1  list_invoices\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_chain_of_agents_ends_with_all_of_them_done() {
    if !has_jq() {
        return;
    }
    let ran = run("chain.sh", &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let records: Vec<serde_json::Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = records.iter().rfind(|record| record["type"] == "agent_chain_update").unwrap();
    assert!(last["agents"].as_array().unwrap().iter().all(|agent| agent["status"] == "done"), "{last}");
    let is_named = |record: &&serde_json::Value| record["agent_id"].is_string() && record["chain_id"] == "chain-1";
    let others: Vec<_> = records.iter().filter(|record| record["type"] != "agent_chain_update").collect();
    assert!(others.len() > 15 && others.iter().all(is_named), "{others:?}");
}

#[test]
fn a_shell_agent_answers_an_editor() {
    if !has_jq() {
        return;
    }
    let ran = run("agent-in-an-editor.sh", &[]);
    assert_eq!((ran.status, &*ran.stdout), (Some(0), "{\"stopReason\":\"end_turn\"}\n"), "{}", ran.stderr);
    assert_eq!(ran.stderr, "5 words\n");
}

#[test]
fn a_shell_agent_answers_in_a_web_page() {
    if !has_jq() {
        return;
    }
    let ran = run("agent-in-a-web-page.sh", &[]);
    assert_eq!((ran.status, &*ran.stdout), (Some(0), "5 words\n"), "{}", ran.stderr);
}

#[test]
fn an_agent_with_llm_pipe_is_replayed_without_network_or_key() {
    if !has_jq() {
        return;
    }
    let server = Server::start(|request, before| {
        assert!((0..before).all(|turn| request.body.contains(&format!("signature-{turn}"))), "{}", request.body);
        match before {
            0 => Reply::gemini_call("list_invoices", "{}", "signature-0"),
            1 => Reply::gemini_call("pay_invoice", r#"{"number":7,"amount":40.50}"#, "signature-1"),
            _ => Reply::gemini_call("assistant_done", r#"{"reason":"Paid."}"#, "signature-2"),
        }
    });
    let place = tempfile::tempdir().unwrap();
    let arguments = [place.path().to_str().unwrap(), "gemini/gemini-3-flash", "--base-url", &server.url];
    let ran = run_with("replay-an-agent.sh", &arguments, &path_with_our_programs());
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), "Paid.\nPaid.\n"), "{}", ran.stderr);
    for sum in NO_DIFFERENCE {
        assert!(ran.stderr.contains(sum), "{}", ran.stderr);
    }
    assert_eq!(server.requests().len(), 3, "the second run must not reach the server");
}

#[test]
fn a_changed_step_of_an_agent_is_one_difference_for_the_model_and_none_for_the_world() {
    if !has_jq() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let ran = run_with("replay-an-agent.sh", &[place.to_str().unwrap()], &path_with_our_programs());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let read = |name: &str| std::fs::read_to_string(place.join(name)).unwrap();
    for log in ["llm.log", "world.log"] {
        for line in read(log).lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            line.get("msg").and_then(|record| crate::schemas::hold(&record.to_string()));
        }
    }
    for audit in ["policy.audit", "approvals.audit"] {
        let output = command("policy-check").arg("verify").arg(place.join(audit)).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    }
    assert!(read("approvals.audit").contains("\"pay_invoice\""));

    let changed = read("world.log").replace(r#""number":7,"amount":40.5}]"#, r#""number":7,"amount":41.5}]"#);
    assert_ne!(changed, read("world.log"));
    std::fs::write(place.join("changed.log"), changed).unwrap();
    let output = again(place, "changed.log");
    let stderr = text(&output.stderr);
    // The loop itself succeeds; the recordings report the differences.
    assert!(text(&output.stdout).contains("\"content\":\"Invoice 7 is paid.\""), "{stderr}");
    let shown = "replay: llm.log:5: turn 2: the answer differs from the recording\n\
        replay:   - .messages[1].content[0].text \"<world_data source=\\\"list_invoices\\\">\\n[{\\\"number\\\":7,\\\"amount\\\":40.5}]\\n</world_data>\"\n\
        replay:   + .messages[1].content[0].text \"<world_data source=\\\"list_invoices\\\">\\n[{\\\"number\\\":7,\\\"amount\\\":41.5}]\\n</world_data>\"\n";
    // The other recording reports at the same time.
    assert!(shown.lines().all(|line| stderr.contains(line)), "{stderr}");
    assert!(stderr.contains("4 turns, 1 different, first at turn 2; lines: 2 the same, 1 differ\n"), "{stderr}");
    assert!(stderr.contains(NO_DIFFERENCE[1]), "{stderr}");
}

#[test]
fn each_line_of_a_file_gets_an_answer_and_a_second_run_asks_nothing() {
    if !has_jq() {
        return;
    }
    let server = Server::start(|request, before| match request.body.contains("line 77 of") && before < 2000 {
        true => Reply::error(400, r#"{"error":{"message":"not this line"}}"#),
        false => Reply::gemini("news"),
    });
    let place = tempfile::tempdir().unwrap();
    let (lines, answers) = (place.path().join("lines"), place.path().join("answers"));
    std::fs::write(&lines, (1..=1000).map(|number| format!("line {number} of a thousand\n")).collect::<String>())
        .unwrap();
    let arguments =
        [lines.to_str().unwrap(), answers.to_str().unwrap(), "gemini/gemini-3-flash", "--base-url", &server.url];
    // A key in the environment would be sent to the provider only.
    let key = place.path().join("key");
    std::fs::write(&key, "k3y-of-all").unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let arguments = [&arguments[..], &["--key-file", key.to_str().unwrap()]].concat();
    let first = run("classify-lines.sh", &arguments);
    assert_eq!(first.status, Some(1), "{}", first.stderr);
    assert!(first.stdout.starts_with("1000 lines: 999 answered (0 from the cache), 1 failed"), "{}", first.stdout);
    let text = std::fs::read_to_string(&answers).unwrap();
    assert!(text.lines().nth(76).unwrap().contains("not this line"), "the answers are in the order of the lines");
    let second = run("classify-lines.sh", &arguments);
    assert!(second.stdout.starts_with("1000 lines: 999 answered (999 from the cache), 1 failed"), "{}", second.stdout);
    assert_eq!(server.requests().len(), 1001);
}
