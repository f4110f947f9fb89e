//! The pipelines of `examples/`, each run as written: its output, its exit status, and that it leaves nothing behind.

mod agent;
#[cfg(feature = "browser")]
mod browser;
mod godot;
mod mcp_servers;
mod spire;

use crate::documents::{has_jq, path_with_our_programs};
use crate::process::{pipe, text, with_a_person};
use rexpect::session::PtySession;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// A script of the examples, started from another folder, with a folder of its own for its files.
fn script(name: &str, path: &str, place: &Path) -> Command {
    let mut script = Command::new("bash");
    script.arg(folder().join(name)).current_dir(place).env("TMPDIR", place).env("PATH", path);
    script.env_remove("PIPEWRIGHT_FOREGROUND").env_remove("AI_STS_PROXY_NO_RECORD").env("NO_COLOR", "1");
    script.stdin(Stdio::null());
    script
}

/// What a script printed, and its exit status.
struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run_with(name: &str, arguments: &[&str], path: &str) -> Ran {
    let place = tempfile::tempdir().unwrap();
    let output = script(name, path, place.path()).args(arguments).output().unwrap();
    // godot-bridge's session folder stays, but must be empty.
    let is_empty = |path: &Path| path.is_dir() && std::fs::read_dir(path).unwrap().next().is_none();
    let left = std::fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().path());
    let left: Vec<_> = left.filter(|path| !is_empty(path)).collect();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(left.is_empty(), "{name} left {left:?}\n{stderr}");
    Ran { status: output.status.code(), stdout, stderr }
}

fn run(name: &str, arguments: &[&str]) -> Ran {
    run_with(name, arguments, &path_with_our_programs())
}

/// A script that asks a person, with its terminal. The terminal finally shows the exit status.
fn at_a_terminal(name: &str, arguments: &[&str], path: &str, place: &Path) -> PtySession {
    let script = script(name, path, place);
    let mut shell = Command::new("bash");
    shell.args(["-c", r#"bash "$@"; echo status $?"#, "bash"]).args(script.get_args()).args(arguments);
    shell.current_dir(place).env("TERM", "xterm");
    for (variable, value) in script.get_envs() {
        match value {
            Some(value) => shell.env(variable, value),
            None => shell.env_remove(variable),
        };
    }
    with_a_person(shell)
}

#[test]
fn each_example_is_run_here_and_has_its_row() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let tests = [
        include_str!("mod.rs"),
        include_str!("agent.rs"),
        include_str!("browser.rs"),
        include_str!("godot.rs"),
        include_str!("mcp_servers.rs"),
        include_str!("spire.rs"),
    ];
    let mut scripts = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name == "README.md" || name == "__pycache__" {
            continue;
        }
        assert!(readme.contains(&format!("| [`{name}`]({name}) |")), "examples/README.md has no row for {name}");
        if name.ends_with(".sh") {
            scripts += 1;
            let starts = ["run", "run_with", "at_a_terminal", "script"].map(|start| format!("{start}(\"{name}\""));
            let is_run = tests.iter().any(|test| starts.iter().any(|call| test.contains(call)));
            assert!(is_run, "no test in tests/it/examples runs examples/{name}");
        }
    }
    assert!(scripts >= 8, "{scripts}");
}

/// A JSON file of `examples/claude-code`.
fn claude_code(name: &str) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(folder().join("claude-code").join(name)).unwrap()).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn an_agent_in_a_sandbox_has_only_the_pipe() {
    runs_in_sandbox("bwrap", &["--ro-bind", "/", "/", "--unshare-all", "true"], &path_with_our_programs());
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs agent harnesses: run scripts/test"]
fn an_agent_in_srt_has_only_the_pipe() {
    let folder = std::env::var("PIPEWRIGHT_HARNESSES").expect("PIPEWRIGHT_HARNESSES names no folder: run scripts/test");
    runs_in_sandbox("srt", &["true"], &format!("{folder}:{}", path_with_our_programs()));
}

/// Skipped if the sandbox cannot run anything.
#[cfg(target_os = "linux")]
fn runs_in_sandbox(sandbox: &str, trial: &[&str], path: &str) {
    let tried = Command::new(sandbox).args(trial).env("PATH", path).output();
    if !tried.is_ok_and(|ended| ended.status.success()) {
        eprintln!("skipped: {sandbox} is missing or lacks a program, or may not make user namespaces");
        return;
    }
    let (place, run_folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    // What an approver has there.
    std::fs::create_dir(run_folder.path().join("pipewright")).unwrap();
    std::fs::write(run_folder.path().join("pipewright/approver-1"), "").unwrap();
    let mut script = script("agent-in-a-sandbox.sh", path, place.path());
    script.env("XDG_RUNTIME_DIR", run_folder.path()).env("TIMEOUT", "0.2").env("SANDBOX", sandbox);
    let output = script.output().unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), stderr.matches(": it cannot").count()), (Some(1), 5), "{stdout}{stderr}");
    assert!(stderr.contains("agent: to write in its folder: it can\n"), "{stderr}");
    assert!(stdout.contains("\"result\":\"the text\"") && stdout.contains("\"kind\":\"rejected\""), "{stdout}");
}

#[test]
fn the_hook_for_claude_code_asks_before_a_deletion() {
    let settings = claude_code("settings.json");
    let hook = settings.pointer("/hooks/PreToolUse/0/hooks/0/command").unwrap().as_str().unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", hook]).env("PATH", path_with_our_programs());
    let call = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf build"}}"#;
    let output = pipe(&mut shell, call.as_bytes());
    assert!(text(&output.stdout).contains(r#""permissionDecision":"ask""#), "{}", text(&output.stdout));
}

#[test]
fn a_shared_log_has_no_personal_data_and_is_still_a_log() {
    let ran = run("share-a-log.sh", &[]);
    let expected = "{\"tool\":\"browser_type\",\"args\":{\"element\":\"E-mail\",\"text\":\"<EMAIL_1>\"}}\n\
                {\"tool\":\"browser_type\",\"args\":{\"element\":\"Password\",\"text\":\"<PASSWORD_1>\"}}\n\
                {\"tool\":\"pay\",\"args\":{\"card\":\"<CARD_1>\",\"amount\":12.50}}\n";
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), expected), "{}", ran.stderr);
}

#[test]
fn a_shell_world_is_an_mcp_server() {
    if !has_jq() {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let mut server = script("dice-server.sh", &path_with_our_programs(), place.path());
    let input = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"roll","arguments":{"sides":2}}}"#;
    let output = pipe(&mut server, input.as_bytes());
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(matches!(answer["result"]["structuredContent"]["rolled"].as_u64(), Some(1 | 2)), "{answer}");
    assert_eq!(run("dice-server.sh", &[]).status, Some(0));
}

#[test]
fn an_agent_that_uses_commands_calls_one_world() {
    let ran = run("calls-by-command.sh", &[]);
    let expected = "weather  The weather in a city\n         city=string\nBern: 12.50 degrees, rain\nCairo: 31 degrees, sun\ngo to Cairo\n";
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), expected), "{}", ran.stderr);
}

#[test]
fn a_program_may_approve_calls_that_the_caller_may_not() {
    if !has_jq() {
        return;
    }
    let ran = run("a-program-decides.sh", &[]);
    let expected =
        "1 list_invoices: carried out\n2 pay_invoice: carried out\n3 pay_invoice: it was rejected: more than 100\n";
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), expected), "{}", ran.stderr);
}
