//! `policy-check hook`, with the input of Claude Code's hooks reference.

use super::play;
use serde_json::{Value, json};

fn input(tool: &str, arguments: &Value) -> String {
    let input = json!({
        "session_id": "abc123",
        "transcript_path": "/home/me/.claude/projects/p/abc123.jsonl",
        "cwd": "/home/me/p",
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": arguments,
        "tool_use_id": "toolu_01",
    });
    format!("{input}\n")
}

fn permission(options: &[&str], input: &str) -> (String, String) {
    let played = play(&[&["hook"], options].concat(), input);
    assert_eq!((played.status, played.lines.len()), (Some(0), 1), "{input}: {}", played.stderr);
    let output = &played.records()[0]["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "PreToolUse");
    let text = |key: &str| output[key].as_str().unwrap().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

#[test]
fn a_tool_call_is_allowed_asked_about_or_denied() {
    for (tool, arguments, expected) in [
        ("Bash", json!({"command": "rm -rf build"}), "ask"),
        ("Bash", json!({"command": "ls -la"}), "allow"),
        ("Read", json!({"file_path": "/home/me/p/a.rs"}), "allow"),
        ("Edit", json!({"file_path": "/home/me/p/a.rs", "old_string": "a", "new_string": "b"}), "ask"),
        (
            "TodoWrite",
            json!({"todos": [{"content": "delete it", "status": "pending", "activeForm": "Deleting"}]}),
            "allow",
        ),
        (
            "Task",
            json!({"description": "a", "prompt": "rm x", "subagent_type": "b", "run_in_background": true}),
            "allow",
        ),
        ("Skill", json!({"skill": "pdf", "args": "--fix"}), "allow"),
        ("mcp__todo__TodoWrite", json!({"todos": []}), "ask"),
        ("TaskStop", json!({}), "ask"),
        ("mcp__files__read_text_file", json!({"path": "a.txt"}), "allow"),
        ("mcp__github__delete_repo", json!({"name": "p"}), "ask"),
    ] {
        assert_eq!(permission(&[], &input(tool, &arguments)).0, expected, "{tool} {arguments}");
    }
}

#[test]
fn rules_apply_in_a_hook_as_in_a_pipe() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let rules = r#"
        [[rule]]
        id = "own-edits"
        verdict = "allow"
        instead_of_builtin = true
        tool = "Edit"
        arguments = { ".file_path" = { within = "/home/me/p" } }
        [[rule]]
        id = "no-keys"
        verdict = "deny"
        reason = "keys stay here"
        agent = "claude"
        arguments = { ".file_path" = "*.pem" }
    "#;
    std::fs::write(file.path(), rules).unwrap();
    let options = ["--rules", file.path().to_str().unwrap(), "--agent", "claude"];
    let edit = |path: &str| permission(&options, &input("Edit", &json!({"file_path": path}))).0;
    assert_eq!((edit("/home/me/p/a.rs").as_str(), edit("/etc/passwd").as_str()), ("allow", "ask"));
    let denied = permission(&options, &input("Read", &json!({"file_path": "/home/me/p/a.pem"})));
    assert_eq!(denied, ("deny".to_owned(), "keys stay here (no-keys)".to_owned()));
}

#[test]
fn unreadable_input_blocks_the_call() {
    let call = input("Read", &json!({}));
    for (text, why) in [
        (String::new(), "not a JSON object"),
        ("{\"hook_event_name\":\"PreToolUse\"}\n".to_owned(), "tool_name"),
        (call.replace("PreToolUse", "PostToolUse"), "\"PostToolUse\""),
        (call.replace("\"tool_name\":\"Read\"", "\"tool_name\":\"Read\",\"Tool_Name\":\"Bash\""), "tool_name"),
        (call.replace("\"tool_input\":{}", "\"tool_input\":[]"), "tool_input"),
        (
            call.replace("\"tool_input\":{}", &format!("\"tool_input\":{}{}", "[".repeat(5000), "]".repeat(5000))),
            "deep",
        ),
    ] {
        let played = play(&["hook"], &text);
        assert_eq!((played.status, played.lines.len()), (Some(2), 0), "{text}");
        assert!(played.stderr.starts_with("policy-check: stdin: ") && played.stderr.contains(why), "{}", played.stderr);
    }
    let played = play(&["hook", "--rules", "/nowhere"], &call);
    assert_eq!((played.status, played.lines.len()), (Some(2), 0));
}
