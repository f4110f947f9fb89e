//! `policy-check hooks install` and `policy-check doctor`.

use super::Played;
use crate::process::{command, pipe, text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const CLIENTS: [&str; 8] = ["claude", "codex", "gemini", "qwen", "copilot", "opencode", "cline", "cursor"];

fn run(home: &Path, options: &[&str]) -> Played {
    let mut own = command("policy-check");
    own.args(options).env("HOME", home).current_dir(home);
    let output = pipe(&mut own, b"");
    Played {
        status: output.status.code(),
        lines: text(&output.stdout).lines().map(str::to_owned).collect(),
        stderr: text(&output.stderr),
    }
}

fn install(home: &Path, options: &[&str]) -> Played {
    run(home, &[&["hooks", "install"], options].concat())
}

fn json_of(path: &PathBuf) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn settings_are_printed_and_nothing_is_written() {
    let home = tempfile::tempdir().unwrap();
    for client in CLIENTS {
        let played = install(home.path(), &[client]);
        assert_eq!(played.status, Some(0), "{client}: {}", played.stderr);
        assert!(played.lines.concat().contains("hook"), "{client}: {:?}", played.lines);
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    assert_eq!(install(home.path(), &["emacs"]).status, Some(2));
}

/// The limit and the switch with which a failed hook blocks the call, of each harness that has them.
#[test]
fn settings_have_the_limit_and_fail_closed() {
    let home = tempfile::tempdir().unwrap();
    let printed =
        |client: &str| -> Value { serde_json::from_str(&install(home.path(), &[client]).lines.join("\n")).unwrap() };
    let claude = &printed("claude")["hooks"]["PreToolUse"][0];
    assert_eq!(claude["matcher"], "*");
    let hook = &claude["hooks"][0];
    assert_eq!((&hook["timeout"], &hook["onFailure"], &hook["args"]), (&json!(600), &json!("block"), &json!(["hook"])));
    for (client, event, timeout) in
        [("codex", "PreToolUse", 600), ("gemini", "BeforeTool", 600_000), ("qwen", "PreToolUse", 600)]
    {
        let hook = &printed(client)["hooks"][event][0]["hooks"][0];
        assert_eq!(hook["timeout"], timeout, "{client}");
        let command = hook["command"].as_str().unwrap();
        assert!(command.contains(&format!("hook --for {client} || ")) && command.contains("exit 2"), "{command}");
    }
    let copilot = printed("copilot");
    assert_eq!((&copilot["version"], &copilot["hooks"]["preToolUse"][0]["timeoutSec"]), (&json!(1), &json!(600)));
    let cursor = printed("cursor");
    for event in ["preToolUse", "beforeShellExecution", "beforeMCPExecution"] {
        let hook = &cursor["hooks"][event][0];
        assert_eq!((&hook["failClosed"], &hook["timeout"]), (&json!(true), &json!(600)), "{event}");
    }
}

#[test]
fn settings_are_merged_once_and_the_former_file_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".qwen/settings.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    let former = r#"{"z":1,"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"other"}]}],"Stop":[]},"a":2}"#;
    std::fs::write(&file, former).unwrap();
    assert_eq!(install(home.path(), &["qwen", "--write"]).status, Some(0));
    let backup = file.with_file_name("settings.json.bak");
    assert_eq!(std::fs::read_to_string(&backup).unwrap(), former);
    let settings = json_of(&file);
    let keys: Vec<&String> = settings.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["z", "hooks", "a"]);
    let groups = settings["hooks"]["PreToolUse"].as_array().unwrap();
    assert_eq!((groups.len(), &groups[0]["hooks"][0]["command"]), (2, &json!("other")));
    // The second time nothing changes; an older hook of ours is replaced, and another copy kept.
    assert_eq!(install(home.path(), &["qwen", "--write"]).status, Some(0));
    assert_eq!((json_of(&file), std::fs::read_dir(file.parent().unwrap()).unwrap().count()), (settings.clone(), 2));
    let older = settings.to_string().replace("\"timeout\":600", "\"timeout\":5");
    std::fs::write(&file, &older).unwrap();
    assert_eq!(install(home.path(), &["qwen", "--write"]).status, Some(0));
    assert_eq!(json_of(&file), settings);
    assert_eq!(std::fs::read_to_string(file.with_file_name("settings.json.bak1")).unwrap(), older);
}

#[test]
fn a_file_that_cannot_be_merged_is_left_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".gemini/settings.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    for text in ["{ // a comment\n}", "[]", r#"{"hooks":7}"#, r#"{"hooks":{"BeforeTool":{}}}"#] {
        std::fs::write(&file, text).unwrap();
        let played = install(home.path(), &["gemini", "--write"]);
        assert_eq!((played.status, std::fs::read_to_string(&file).unwrap()), (Some(2), text.to_owned()));
        assert!(played.stderr.contains("settings.json"), "{}", played.stderr);
    }
    let foreign = home.path().join(".cline/hooks/PreToolUse");
    std::fs::create_dir_all(foreign.parent().unwrap()).unwrap();
    std::fs::write(&foreign, "#!/bin/sh\n").unwrap();
    assert_eq!(install(home.path(), &["cline", "--write"]).status, Some(2));
    assert_eq!(std::fs::read_to_string(&foreign).unwrap(), "#!/bin/sh\n");
}

#[cfg(unix)]
#[test]
fn doctor_tries_the_hooks_that_are_installed() {
    let home = tempfile::tempdir().unwrap();
    let line = |played: &Played, client: &str| {
        let mut own = played.lines.iter().filter(|line| line.split(' ').next() == Some(client));
        own.next().unwrap_or_else(|| panic!("{client}: {:?}", played.lines)).clone()
    };
    let before = run(home.path(), &["doctor"]);
    for client in CLIENTS {
        assert!(line(&before, client).contains("not guarded"), "{client}");
        assert_eq!(install(home.path(), &[client, "--write"]).status, Some(0));
    }
    let after = run(home.path(), &["doctor"]);
    assert_eq!(after.status, Some(0), "{:?} {}", after.lines, after.stderr);
    for client in CLIENTS {
        let line = line(&after, client);
        assert!(line.contains(" guarded ") && line.contains("`ls` passes"), "{line}");
    }
    assert!(
        after.lines.iter().filter(|line| line.contains("not seen: ")).count() == CLIENTS.len(),
        "{:?}",
        after.lines
    );
    // A hook that is missing or lets everything pass, a switch that is off, and another hook that decides.
    let change = |file: &str, from: &str, to: &str| {
        let path = home.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(path, text.replace(from, to)).unwrap();
    };
    change(".claude/settings.json", "\"onFailure\": \"block\"", "\"onFailure\": \"allow\"");
    change(".gemini/settings.json", "hook --for gemini", "hook --for claude");
    change(".codex/hooks.json", " hook --for", " hook --no-such --for");
    let faulty = run(home.path(), &["doctor"]);
    assert_eq!(faulty.status, Some(1), "{:?}", faulty.lines);
    for client in ["claude", "gemini", "codex"] {
        assert!(line(&faulty, client).contains("faulty"), "{}", line(&faulty, client));
    }
}
