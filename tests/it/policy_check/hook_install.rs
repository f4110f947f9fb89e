//! `policy-check hooks install` and `policy-check doctor`.

use super::Played;
use crate::process::{command, pipe, text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const CLIENTS: [&str; 8] = ["claude", "codex", "gemini", "qwen", "copilot", "opencode", "cline", "cursor"];

fn run(home: &Path, options: &[&str]) -> Played {
    let mut own = command("policy-check");
    own.args(options).env("HOME", home).current_dir(home);
    own.env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
    played(own)
}

fn played(mut own: Command) -> Played {
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
    assert_eq!((&hook["timeout"], &hook["onFailure"], &hook["args"]), (&json!(600), &json!("block"), &Value::Null));
    assert!(hook["command"].as_str().unwrap().ends_with("policy-check hook"), "{hook}");
    // The dialog stays open beside this one, also if it fails.
    let asks = &printed("claude")["hooks"]["PermissionRequest"][0]["hooks"][0];
    assert_eq!((&asks["timeout"], &asks["onFailure"]), (&json!(600), &Value::Null));
    assert!(asks["command"].as_str().unwrap().ends_with("hitl-gate hook --timeout 590s"), "{asks}");
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
    change(".gemini/settings.json", "\"timeout\": 600000", "\"timeout\": 600");
    change(".codex/hooks.json", "\"matcher\": \"*\"", "\"matcher\": \"Bash\"");
    let faulty = run(home.path(), &["doctor"]);
    assert_eq!(faulty.status, Some(1), "{:?}", faulty.lines);
    for client in ["claude", "gemini", "codex"] {
        assert!(line(&faulty, client).contains("faulty"), "{}", line(&faulty, client));
    }
}

fn doctor_lines(home: &Path, client: &str) -> (Option<i32>, String) {
    let played = run(home, &["doctor"]);
    let own: Vec<String> = played.lines.iter().filter(|line| line.starts_with(client)).cloned().collect();
    (played.status, own.join("\n"))
}

/// Settings of a project may be somebody else's.
#[cfg(unix)]
#[test]
fn doctor_runs_only_what_install_writes() {
    let home = tempfile::tempdir().unwrap();
    let ran = home.path().join("ran");
    let file = home.path().join(".claude/settings.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    let touch = format!("touch {}", ran.display());
    std::fs::write(home.path().join("policy-check"), format!("#!/bin/sh\n{touch}\n")).unwrap();
    pipewright_sys::file::make_executable(&home.path().join("policy-check")).unwrap();
    for command in [
        format!("{touch}; policy-check hook"),
        format!("policy-check hook; {touch}"),
        format!("policy-check hook $({touch})"),
        format!("{}/policy-check hook", home.path().display()),
        "./policy-check hook".to_owned(),
    ] {
        let hook = json!({"type": "command", "command": command, "onFailure": "block"});
        let group = json!([{"matcher": "*", "hooks": [hook]}]);
        std::fs::write(&file, json!({"hooks": {"PreToolUse": group, "PostToolUse": group}}).to_string()).unwrap();
        let (_, lines) = doctor_lines(home.path(), "claude");
        assert!(lines.contains("not tried") && !lines.contains("claude    guarded"), "{lines}");
        assert!(!ran.exists(), "{command}");
    }
    let script = home.path().join(".clinerules/hooks/PreToolUse");
    std::fs::create_dir_all(script.parent().unwrap()).unwrap();
    std::fs::write(&script, format!("#!/bin/sh\n{touch}\npolicy-check hook\n")).unwrap();
    pipewright_sys::file::make_executable(&script).unwrap();
    let (_, lines) = doctor_lines(home.path(), "cline");
    assert!(lines.contains("not tried") && !ran.exists(), "{lines}");
}

#[cfg(unix)]
#[test]
fn doctor_finds_settings_with_which_a_hook_does_not_run() {
    for (client, file, from, to) in [
        ("claude", ".claude/settings.json", "\"matcher\": \"*\"", "\"matcher\": \"Bash\""),
        ("claude", ".claude/settings.json", "\"timeout\": 600", "\"timeout\": 600, \"async\": true"),
        ("claude", ".claude/settings.json", "\"timeout\": 600", "\"timeout\": 600, \"if\": \"Bash(rm *)\""),
        ("claude", ".claude/settings.json", "\"timeout\": 600", "\"timeout\": 1"),
        ("claude", ".claude/settings.local.json", "", "{\"disableAllHooks\": true}"),
        ("codex", ".codex/config.toml", "", "[features]\nhooks = false\n"),
        (
            "gemini",
            ".gemini/settings.json",
            "\"hooks\"",
            "\"hooksConfig\": {\"disabled\": [\"policy-check\"]}, \"hooks\"",
        ),
        ("gemini", ".gemini/settings.json", "\"timeout\": 600000", "\"timeout\": 600"),
        ("copilot", ".copilot/settings.json", "\"timeoutSec\": 600", "\"timeoutSec\": 2"),
        ("cursor", ".cursor/hooks.json", "\"timeout\": 600", "\"timeout\": 600, \"matcher\": \"Shell\""),
    ] {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(install(home.path(), &[client, "--write"]).status, Some(0));
        assert_eq!(doctor_lines(home.path(), client).0, Some(0), "{client}");
        let path = home.path().join(file);
        let former = if from.is_empty() { String::new() } else { std::fs::read_to_string(&path).unwrap() };
        assert!(former.contains(from), "{former}");
        let changed = if from.is_empty() { to.to_owned() } else { former.replacen(from, to, 1) };
        std::fs::write(&path, changed).unwrap();
        let (status, lines) = doctor_lines(home.path(), client);
        assert!(status == Some(1) && lines.contains("faulty"), "{client} {to}: {lines}");
    }
    // The switch of a project is one for the user's hooks as well.
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(install(home.path(), &["claude", "--write"]).status, Some(0));
    std::fs::create_dir(project.path().join(".claude")).unwrap();
    std::fs::write(project.path().join(".claude/settings.json"), "{\"disableAllHooks\": true}").unwrap();
    let played = run(home.path(), &["doctor", "--project", project.path().to_str().unwrap()]);
    assert!(played.status == Some(1) && played.lines[0].contains("faulty"), "{:?}", played.lines);
}

#[test]
fn hooks_that_install_did_not_write_stay() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".claude/settings.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    for hook in [
        json!({"type": "command", "command": "policy-check hook --rules mine.toml --audit a.jsonl"}),
        json!({"type": "command", "command": "policy-check", "args": ["hook", "--allow-reads"]}),
        json!({"type": "command", "command": "log-it; policy-check hook"}),
    ] {
        let former = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}}).to_string();
        std::fs::write(&file, &former).unwrap();
        let played = install(home.path(), &["claude", "--write"]);
        assert_eq!((played.status, std::fs::read_to_string(&file).unwrap()), (Some(2), former), "{hook}");
        assert!(played.stderr.contains(hook["command"].as_str().unwrap()), "{}", played.stderr);
    }
    // Groups that were empty before stay, and hooks beside ours.
    let other = json!({"type": "command", "command": "other"});
    let ours = json!({"type": "command", "command": "/opt/policy-check hook"});
    let former =
        json!({"hooks": {"PreToolUse": [{"matcher": "x", "hooks": []}, {"matcher": "y", "hooks": [ours, other]}]}});
    std::fs::write(&file, former.to_string()).unwrap();
    assert_eq!(install(home.path(), &["claude", "--write"]).status, Some(0));
    let groups = &json_of(&file)["hooks"]["PreToolUse"];
    assert_eq!((groups.as_array().unwrap().len(), &groups[1]["hooks"]), (3, &json!([other])), "{groups}");
    let script = home.path().join(".cline/hooks/PreToolUse");
    std::fs::create_dir_all(script.parent().unwrap()).unwrap();
    let text = "#!/bin/sh\npolicy-check hook --for cline --rules mine.toml\n";
    std::fs::write(&script, text).unwrap();
    assert_eq!(install(home.path(), &["cline", "--write"]).status, Some(2));
    assert_eq!(std::fs::read_to_string(&script).unwrap(), text);
}

#[test]
fn a_hook_that_asks_an_approver_in_another_way_stays_alone() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".claude/settings.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    let installed = |command: &str| {
        let hook = json!({"type": "command", "command": command});
        let former = json!({"hooks": {"PermissionRequest": [{"matcher": "x", "hooks": [hook]}]}});
        std::fs::write(&file, former.to_string()).unwrap();
        assert_eq!(install(home.path(), &["claude", "--write"]).status, Some(0));
        let groups = json_of(&file)["hooks"]["PermissionRequest"].as_array().unwrap().clone();
        groups.iter().map(|group| group["hooks"][0]["command"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(installed("hitl-gate hook --required"), ["hitl-gate hook --required"]);
    let replaced = installed("/old/hitl-gate hook --timeout 590s");
    assert!(replaced.len() == 1 && !replaced[0].starts_with("/old"), "{replaced:?}");
    assert_eq!(installed("other").len(), 2);
}

#[test]
fn the_folders_that_variables_name_are_used() {
    let (home, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (client, variable, file) in
        [("claude", "CLAUDE_CONFIG_DIR", "settings.json"), ("codex", "CODEX_HOME", "hooks.json")]
    {
        let run = |options: &[&str]| {
            let mut command = command("policy-check");
            command.args(options).env("HOME", home.path()).current_dir(home.path());
            command.env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME").env(variable, own.path());
            played(command)
        };
        assert_eq!(run(&["hooks", "install", client, "--write"]).status, Some(0));
        assert!(own.path().join(file).exists());
        let lines = run(&["doctor"]).lines;
        let guarded = |line: &String| line.starts_with(client) && line.contains(" guarded ") && line.contains(file);
        assert!(lines.iter().any(guarded) || cfg!(not(unix)), "{lines:?}");
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_file_that_would_be_changed_elsewhere_is_left_as_it_is() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".gemini/settings.json");
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    for text in ["{\"a\":1,\"a\":2}", "{\"a\":123456789012345678901234567890}", "{\"a\":1E5}", "{\"a\":{\"b\":0.10}}"] {
        std::fs::write(&file, text).unwrap();
        let played = install(home.path(), &["gemini", "--write"]);
        assert_eq!((played.status, std::fs::read_to_string(&file).unwrap()), (Some(2), text.to_owned()), "{text}");
    }
    std::fs::write(&file, "{ \"a\" : \"1E5 \\u00e9 \\\"\" }").unwrap();
    assert_eq!(install(home.path(), &["gemini", "--write"]).status, Some(0));
    let mut permissions = std::fs::metadata(&file).unwrap().permissions();
    std::fs::write(&file, "{}").unwrap();
    permissions.set_readonly(true);
    std::fs::set_permissions(&file, permissions).unwrap();
    assert_eq!(install(home.path(), &["gemini", "--write"]).status, Some(2));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{}");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("nowhere", &file).unwrap();
    assert_eq!(install(home.path(), &["gemini", "--write"]).status, Some(2));
    assert!(file.is_symlink() && !file.exists());
}
