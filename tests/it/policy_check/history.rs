//! Rules over the session: at most so many calls in a time, never after a call, and not before one.

use super::play;
use crate::process::{Talk, binary, command, pipe, text};
use serde_json::{Value, json};
use std::fs;
use std::process::{Command, Output};
use tempfile::TempDir;

const RULES: &str = r#"
[[rule]]
id = "few"
verdict = "deny"
tool = "send_*"
beyond = { calls = 2 }
[[rule]]
id = "private"
tool = "read_file"
arguments = { ".path" = "/private/*" }
[[rule]]
id = "no-upload"
verdict = "deny"
tool = "upload_file"
after = "private"
[[rule]]
id = "tests"
tool = ["Bash", "run_command"]
arguments = { ".command" = "cargo test*" }
[[rule]]
id = "tests-first"
verdict = "deny"
tool = ["Bash", "run_command"]
arguments = { ".command" = "*git push*" }
before = "tests"
"#;

fn rules() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.toml");
    fs::write(&path, RULES).unwrap();
    let path = path.display().to_string();
    (folder, path)
}

fn call(id: u32, tool: &str, arguments: &Value) -> String {
    json!({"id": id, "tool": tool, "args": arguments}).to_string()
}

fn run(id: u32, shell: &str) -> String {
    call(id, "run_command", &json!({"command": shell}))
}

/// The rule that denies the call, if one does.
fn denied(answer: &str) -> Option<String> {
    let answer: Value = serde_json::from_str(answer).unwrap();
    (answer["kind"] == "denied").then(|| answer["data"]["rule"].as_str().unwrap().to_owned())
}

#[test]
fn earlier_calls_of_the_run_count() {
    let (_folder, rules) = rules();
    let read = |path: &str| call(4, "read_file", &json!({"path": path}));
    let calls = [
        call(1, "send_mail", &json!({})),
        call(2, "send_note", &json!({})),
        call(3, "send_mail", &json!({})),
        read("/public/a"),
        call(5, "upload_file", &json!({})),
        read("/public/../private/a"),
        call(7, "upload_file", &json!({})),
    ];
    let played = play(&["--records", "errors", "--rules", &rules], &(calls.join("\n") + "\n"));
    let refused: Vec<_> = played.lines.iter().map(|line| denied(line)).collect();
    let expected = [None, None, Some("few"), None, None, None, Some("no-upload")];
    assert_eq!(refused, expected.map(|rule| rule.map(str::to_owned)), "{:?}", played.lines);
}

/// A gate around a world that answers each call in the way that its command says.
fn gate(rules: &str) -> Talk {
    let world = r#"while read -r line; do case $line in
        *refuse*) printf '{"id":1,"tool":"t","status":"error","error":"no","kind":"rejected"}\n' ;;
        *fail*) printf '{"id":1,"tool":"t","status":"error","error":"no","kind":"tool_error"}\n' ;;
        *) printf '{"id":1,"tool":"t","status":"ok","data":null}\n' ;; esac; done"#;
    Talk::start(command("policy-check").args(["--rules", rules, "--", "sh", "-c", world]))
}

#[test]
fn what_must_come_first_counts_when_the_world_has_carried_it_out() {
    let (_folder, rules) = rules();
    let mut gate = gate(&rules);
    for test in ["cargo build", "cargo test refuse", "cargo test fail"] {
        gate.ask(&run(1, test));
        assert_eq!(denied(&gate.ask(&run(1, "git push"))).as_deref(), Some("tests-first"), "{test}");
    }
    gate.ask(&run(1, "cargo test"));
    assert_eq!(denied(&gate.ask(&run(1, "cd a && git push"))), None);
    gate.end_after_close();
}

#[test]
fn the_answer_to_another_call_with_the_same_id_proves_nothing() {
    let (_folder, rules) = rules();
    let world =
        r#"read -r held; while read -r line; do printf '{"id":1,"tool":"t","status":"ok","data":null}\n'; done"#;
    let mut gate = Talk::start(command("policy-check").args(["--rules", &rules, "--", "sh", "-c", world]));
    gate.say(&run(1, "cargo test"));
    gate.ask(&call(1, "look", &json!({})));
    assert_eq!(denied(&gate.ask(&run(1, "git push"))).as_deref(), Some("tests-first"));
    gate.end_after_close();
}

#[test]
fn what_must_not_come_first_counts_unless_it_was_refused() {
    let rules =
        RULES.replace("tool = \"read_file\"\narguments = { \".path\" = \"/private/*\" }", "tool = \"run_command\"");
    let (folder, path) = self::rules();
    fs::write(folder.path().join("rules.toml"), rules).unwrap();
    let mut gate = gate(&path);
    let upload = call(1, "upload_file", &json!({}));
    gate.ask(&run(1, "make refuse"));
    assert_eq!(denied(&gate.ask(&upload)), None);
    gate.ask(&run(1, "make fail"));
    assert_eq!(denied(&gate.ask(&upload)).as_deref(), Some("no-upload"));
    gate.end_after_close();
}

#[test]
fn nobody_can_approve_more_calls_than_a_rule_allows() {
    let (folder, rules) = rules();
    let fifo = folder.path().join("answers");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut gate = Command::new("setsid");
    gate.arg(binary("hitl-gate")).args(["--rules", &rules, "--answers", fifo.to_str().unwrap()]);
    let mut gate = Talk::start(&mut gate);
    let mut answers = fs::OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
    // All are held before any of them passes.
    for id in 1..=3 {
        let held = json!({"id": id, "tool": "send_mail", "requires_approval": true}).to_string();
        gate.say(&held);
    }
    let mut last = Vec::new();
    for id in 1..=3 {
        let asked: Value = serde_json::from_str(&gate.receive()).unwrap();
        assert_eq!(asked["status"], "waiting_human", "{asked}");
        let nonce = &asked["nonce"];
        let answer = json!({"type": "hitl_response", "call_id": id, "nonce": nonce, "action": "approve"});
        std::io::Write::write_all(&mut answers, format!("{answer}\n").as_bytes()).unwrap();
        let records = [gate.receive(), gate.receive(), gate.receive()];
        last.push(serde_json::from_str::<Value>(&records[2]).unwrap());
    }
    assert_eq!((&last[0]["tool"], &last[1]["tool"]), (&"send_mail".into(), &"send_mail".into()));
    assert!(last[2]["error"].as_str().unwrap().contains("(few)"), "{last:?}");
}

/// A call of Claude Code, or its end.
fn input(session: &str, event: &str, tool: &str, tool_input: &Value) -> String {
    let mut input = json!({"session_id": session, "transcript_path": "/t", "cwd": "/tmp", "hook_event_name": event,
        "prompt_id": "p", "tool_name": tool, "tool_input": tool_input, "tool_use_id": "u1"});
    if event == "PostToolUse" {
        input["tool_response"] = json!({"stdout": "ok", "stderr": "", "interrupted": false});
    }
    input.to_string()
}

fn run_hook(folder: &TempDir, rules: &str, input: &str) -> Output {
    let mut hook = command("policy-check");
    hook.args(["hook", "--rules", rules]).env("XDG_RUNTIME_DIR", folder.path()).env("TMPDIR", folder.path());
    pipe(&mut hook, input.as_bytes())
}

/// What the hook decides; null for no opinion.
fn hook(folder: &TempDir, rules: &str, input: &str) -> Value {
    let output = run_hook(folder, rules, input);
    let said: Value = serde_json::from_str(&text(&output.stdout)).unwrap_or_default();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    said["hookSpecificOutput"]["permissionDecision"].clone()
}

#[test]
fn hooks_of_one_session_share_what_has_passed() {
    let (folder, rules) = rules();
    let read = |path: &str| input("s1", "PreToolUse", "mcp__a__read_file", &json!({"path": path}));
    fs::write(
        &rules,
        RULES.replace("\"read_file\"", "\"mcp__*__read_file\"").replace("\"upload_file\"", "\"mcp__*__upload_file\""),
    )
    .unwrap();
    let upload = |session: &str| input(session, "PreToolUse", "mcp__a__upload_file", &json!({}));
    assert_eq!(hook(&folder, &rules, &upload("s1")), "ask");
    assert_eq!(hook(&folder, &rules, &read("/private/a")), Value::Null);
    assert_eq!(hook(&folder, &rules, &upload("s1")), "deny");
    assert_eq!(hook(&folder, &rules, &upload("s2")), "ask", "another session");
    // Tests count when they have run.
    let shell = |event: &str, shell: &str| input("s1", event, "Bash", &json!({"command": shell}));
    assert_eq!(hook(&folder, &rules, &shell("PreToolUse", "git push")), "deny");
    assert_eq!(hook(&folder, &rules, &shell("PreToolUse", "cargo test")), "ask");
    assert_eq!(hook(&folder, &rules, &shell("PreToolUse", "git push")), "deny");
    hook(&folder, &rules, &shell("PostToolUse", "cargo test"));
    assert_eq!(hook(&folder, &rules, &shell("PreToolUse", "git push")), "ask");
    // A file that cannot be read blocks the call.
    let kept = walk(folder.path()).into_iter().find(|path| path.to_string_lossy().contains("history-policy-check"));
    let kept = kept.expect("a file for the session");
    assert!(!fs::read_to_string(&kept).unwrap().contains("/private/a"));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&kept).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    fs::write(kept, "{").unwrap();
    let blocked = run_hook(&folder, &rules, &read("/public/a"));
    assert_eq!(blocked.status.code(), Some(2));
    assert!(
        text(&blocked.stderr).contains("the earlier calls of the session are not known"),
        "{}",
        text(&blocked.stderr)
    );
}

/// All files below a folder.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn calls_at_the_same_time_are_counted_one_after_the_other() {
    let (folder, rules) = rules();
    fs::write(&rules, RULES.replace("tool = \"send_*\"", "tool = \"mcp__*__look\"")).unwrap();
    let look = input("s1", "PreToolUse", "mcp__a__look", &json!({}));
    let decided: Vec<Value> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..6).map(|_| scope.spawn(|| hook(&folder, &rules, &look))).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    assert_eq!(decided.iter().filter(|decision| **decision == "deny").count(), 4, "{decided:?}");
}

#[test]
fn cases_have_the_calls_before_them() {
    let (folder, rules) = rules();
    fs::write(&rules, RULES.replace("calls = 2", "calls = 2, per = \"1h\"")).unwrap();
    let cases = folder.path().join("cases");
    let send = json!({"tool": "send_mail"});
    let lines = [
        json!({"call": send, "verdict": "confirm"}),
        json!({"before": [send, send], "call": send, "verdict": "deny", "rule": "few"}),
        json!({"before": [send, send, {"wait": "60m"}], "call": send, "verdict": "confirm"}),
        json!({"before": [send, {"wait": "59m"}, send, send], "call": send, "verdict": "deny"}),
        // The third one is denied, so it does not count.
        json!({"before": [send, {"wait": "2m"}, send, send, {"wait": "58m"}], "call": send, "verdict": "confirm"}),
        json!({"before": [{"tool": "run_command", "args": {"command": "cargo test"}}],
            "call": {"tool": "run_command", "args": {"command": "git push"}}, "verdict": "confirm"}),
        json!({"call": {"tool": "run_command", "args": {"command": "git push"}}, "verdict": "deny"}),
        json!({"before": [{"tool": "read_file", "args": {"path": "/private/a"}}], "call": {"tool": "upload_file"}, "verdict": "deny"}),
        json!({"call": {"tool": "upload_file"}, "verdict": "deny"}),
    ];
    fs::write(&cases, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let output = pipe(command("policy-check").args(["test", &rules]).arg(&cases), b"");
    let lines: Vec<Value> = text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["case"], output.status.code()), (2, &9.into(), Some(1)), "{lines:?}");
    assert_eq!(lines[1]["rules"]["few"], 2, "{lines:?}");
    for (line, why) in [
        (r#"{"before":[{"wait":"soon"}],"call":{"tool":"x"},"verdict":"deny"}"#, "before: "),
        (r#"{"before":[7],"call":{"tool":"x"},"verdict":"deny"}"#, "before: "),
    ] {
        fs::write(&cases, line).unwrap();
        let output = pipe(command("policy-check").args(["test", &rules]).arg(&cases), b"");
        assert!(output.status.code() == Some(2) && text(&output.stderr).contains(why), "{}", text(&output.stderr));
    }
}

#[test]
fn the_rules_in_the_documents_give_the_verdict_in_the_documents() {
    let page = include_str!("../../../docs/gates.md").split_once("### Rules over the session").unwrap().1;
    let block = |begin: &str| page.split(begin).nth(1).unwrap().split("```").next().unwrap();
    let (folder, rules) = rules();
    let cases = folder.path().join("cases");
    fs::write(&rules, block("```toml\n")).unwrap();
    let push = json!({"call": {"tool": "Bash", "args": {"command": "cd a && git push"}}, "verdict": "deny", "rule": "tests-first"});
    fs::write(&cases, format!("{}{push}\n", block("```json\n"))).unwrap();
    let output = pipe(command("policy-check").args(["test", &rules]).arg(&cases), b"");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
}
