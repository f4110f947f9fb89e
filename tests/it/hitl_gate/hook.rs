//! `hitl-gate hook`: a harness's question goes to the approver that is connected.

use super::PROMPT;
use super::approvers::Place;
use crate::process::{pipe, text};
use serde_json::{Value, json};
use std::process::Output;
use std::thread;

/// A question of Claude Code, or of another harness with these further fields.
fn input(event: &str, shell: &str, more: &Value) -> String {
    let mut input = json!({
        "session_id": "s1", "transcript_path": "/t", "cwd": "/tmp", "hook_event_name": event,
        "tool_name": "Bash", "tool_input": {"command": shell},
    });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input.to_string()
}

fn claude(event: &str, shell: &str) -> String {
    input(event, shell, &json!({"prompt_id": "p1", "permission_mode": "default"}))
}

fn ask(place: &Place, options: &[&str], input: &str) -> Output {
    pipe(&mut place.gate(&[&["hook"], options].concat()), input.as_bytes())
}

/// The only record on stdout; null if there is none.
fn answer(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let printed = text(&output.stdout);
    assert!(printed.lines().count() <= 1, "{printed}");
    printed.lines().next().map_or(Value::Null, |line| serde_json::from_str(line).unwrap())
}

/// Answers the question about `rm -rf build` with this line.
fn answered(place: &Place, options: &[&str], input: &str, line: &str) -> Value {
    let mut person = place.attach();
    let output = thread::scope(|scope| {
        let asked = scope.spawn(|| ask(place, options, input));
        let shown = person.exp_string(PROMPT).unwrap();
        assert!(shown.contains("rm -rf build"), "{shown}");
        person.send_line(line).unwrap();
        asked.join().unwrap()
    });
    answer(&output)
}

#[test]
fn without_an_approver_there_is_no_opinion() {
    let place = Place::new();
    for event in ["PermissionRequest", "PreToolUse"] {
        assert_eq!(answer(&ask(&place, &[], &claude(event, "rm -rf build"))), Value::Null, "{event}");
    }
    let required = answer(&ask(&place, &["--required"], &claude("PermissionRequest", "rm -rf build")));
    assert_eq!(required["hookSpecificOutput"]["decision"]["behavior"], "deny");
}

#[test]
fn the_answer_of_the_approver_is_that_of_the_hook() {
    let place = Place::new();
    let request = claude("PermissionRequest", "rm -rf build");
    let decision = |answer: Value| answer["hookSpecificOutput"]["decision"].clone();
    assert_eq!(decision(answered(&place, &[], &request, "y")), json!({"behavior": "allow"}));
    let rejected = decision(answered(&place, &[], &request, "n not today"));
    assert_eq!(rejected, json!({"behavior": "deny", "message": "a person rejected it: not today"}));
    let before = answered(&place, &[], &claude("PreToolUse", "rm -rf build"), "y");
    assert_eq!(before["hookSpecificOutput"]["permissionDecision"], "allow");
    // Codex takes no `allow` before a call: nothing lets it run.
    let codex = input("PreToolUse", "rm -rf build", &json!({"turn_id": "t", "model": "m", "tool_use_id": "c"}));
    assert_eq!(answered(&place, &[], &codex, "y"), Value::Null);
    let rejected = answered(&place, &[], &codex, "n");
    assert_eq!(rejected["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn nobody_is_asked_about_what_the_policy_decides() {
    let place = Place::new();
    let _person = place.attach();
    assert_eq!(answer(&ask(&place, &[], &claude("PreToolUse", "ls"))), Value::Null);
    let rules = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(rules.path(), "[[rule]]\nid = \"no\"\nverdict = \"deny\"\nreason = \"no\"\ntool = \"Bash\"\n")
        .unwrap();
    let denied = ask(&place, &["--rules", rules.path().to_str().unwrap()], &claude("PermissionRequest", "ls"));
    assert_eq!(answer(&denied)["hookSpecificOutput"]["decision"]["behavior"], "deny");
    for broken in ["", "{}", "[]"] {
        let output = ask(&place, &[], broken);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{broken}");
        let cline = answer(&ask(&place, &["--for", "cline"], broken));
        assert_eq!(cline["cancel"], true, "{broken}");
    }
}

#[test]
fn a_question_without_an_answer_is_denied_in_time_and_audited() {
    let place = Place::new();
    let _person = place.attach();
    let audit = place.folder.path().join("audit");
    let options = ["--timeout", "0.2", "--audit", audit.to_str().unwrap()];
    let late = answer(&ask(&place, &options, &claude("PermissionRequest", "rm -rf build")));
    assert_eq!(late["hookSpecificOutput"]["decision"]["behavior"], "deny");
    let text = std::fs::read_to_string(&audit).unwrap();
    for part in ["\"event\":\"asked\"", "\"verdict\":\"rejected\"", "\"by\":\"timeout\""] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn an_approval_for_the_session_counts_for_later_calls_of_the_harness() {
    let place = Place::new();
    let audit = place.folder.path().join("audit");
    let options = ["--audit", audit.to_str().unwrap()];
    let request = claude("PermissionRequest", "rm -rf build");
    let allowed = answered(&place, &options, &request, "a");
    assert_eq!(allowed["hookSpecificOutput"]["decision"]["behavior"], "allow");
    let _person = place.attach();
    let again = answer(&ask(&place, &options, &request));
    assert_eq!(again["hookSpecificOutput"]["decision"]["behavior"], "allow");
    let text = std::fs::read_to_string(&audit).unwrap();
    assert!(text.contains("\"by\":\"session\"") && !text.contains("undelivered"), "{text}");
    // Another session has no such rule, and other text is no part of it.
    let other = ["--timeout", "0.2"];
    for different in [request.replace("\"s1\"", "\"s2\""), claude("PermissionRequest", "rm -rf /")] {
        let asked = answer(&ask(&place, &other, &different));
        assert_eq!(asked["hookSpecificOutput"]["decision"]["behavior"], "deny", "{different}");
    }
}

#[test]
fn rules_over_the_session_count_what_the_hook_has_let_pass() {
    let place = Place::new();
    let rules = place.folder.path().join("rules");
    let text = "[[rule]]\nid = \"looked\"\narguments = { \".command\" = \"ls*\" }\n[[rule]]\nid = \"few\"\nverdict = \"deny\"\narguments = { \".command\" = \"rm *\" }\nbeyond = { calls = 1 }\n[[rule]]\nid = \"clean\"\nverdict = \"deny\"\narguments = { \".command\" = \"make*\" }\nafter = \"looked\"\n";
    std::fs::write(&rules, text).unwrap();
    let options = ["--required", "--rules", rules.to_str().unwrap()];
    let call = |shell: &str| claude("PreToolUse", shell);
    let decision = |answer: Value| answer["hookSpecificOutput"]["permissionDecisionReason"].to_string();
    assert_eq!(decision(answered(&place, &options, &call("rm -rf build"), "n")).matches("few").count(), 0);
    assert_eq!(decision(answered(&place, &options, &call("rm -rf build"), "y")).matches("few").count(), 0);
    assert!(decision(answer(&ask(&place, &options, &call("rm -rf build")))).contains("few"));
    assert!(!decision(answer(&ask(&place, &options, &call("make")))).contains("clean"));
    assert_eq!(answer(&ask(&place, &options, &call("ls"))), Value::Null);
    assert!(decision(answer(&ask(&place, &options, &call("make")))).contains("clean"));
}
