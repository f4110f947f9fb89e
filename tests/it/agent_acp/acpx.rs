//! acpx, an editor without a screen (which `scripts/install-acpx` installs; PIPEWRIGHT_ACPX names it), drives `agent-acp`.

use super::{DONE, ECHO, Place};
use crate::process::{binary, eventually};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// acpx with an agent that keeps its sessions; `words` are acpx's own arguments.
fn acpx(place: &Place, script: &[&str], words: &[&str]) -> Command {
    let agent = place.agent(script, &["--session", place.path().join("{session}.session").to_str().unwrap()]);
    let words_of_agent = [agent.get_program()].into_iter().chain(agent.get_args()).map(|word| word.to_str().unwrap());
    let agent = shlex::try_join(words_of_agent).unwrap();
    // The process that acpx leaves running for a session ends soon.
    let mut acpx = command(&agent, place.path(), "1");
    acpx.args(words);
    acpx
}

/// acpx with an agent's command line, in a folder that is also its home. It keeps a session's process running for `ttl` seconds after a prompt.
pub fn command(agent: &str, folder: &Path, kept: &str) -> Command {
    let program = std::env::var("PIPEWRIGHT_ACPX").expect("PIPEWRIGHT_ACPX names no program: run scripts/test");
    let mut acpx = Command::new(program);
    acpx.arg("--agent").arg(format!("{} -- {agent}", binary("agent-acp").display())).arg("--cwd").arg(folder);
    acpx.args(["--ttl", kept]).env("HOME", folder).stdin(Stdio::null());
    acpx.env_remove("PIPEWRIGHT_FOREGROUND").env_remove("PIPEWRIGHT_APPROVALS");
    acpx
}

#[track_caller]
fn run(place: &Place, script: &[&str], words: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = acpx(place, script, words).output().unwrap();
    (status.code(), format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr)))
}

#[test]
#[ignore = "needs acpx: run scripts/test"]
fn acpx_approves_and_rejects() {
    let place = Place::new();
    let (status, said) = run(&place, &[ECHO, DONE], &["--approve-all", "exec", "Echo."]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("echo: hi (completed)") && said.contains("It is done."), "{said}");
    let (status, said) = run(&place, &[ECHO, DONE], &["--deny-all", "exec", "Echo."]);
    assert_eq!(status, Some(5), "it says so where a permission was denied: {said}");
    assert!(said.contains("echo: hi (failed)") && said.contains("a person rejected it"), "{said}");
}

#[test]
#[ignore = "needs acpx: run scripts/test"]
fn acpx_loads_a_session_again() {
    let place = Place::new();
    let script = [ECHO, DONE];
    let (status, said) = run(&place, &script, &["sessions", "new"]);
    assert_eq!(status, Some(0), "{said}");
    // Each prompt has its own agent, which loads the session.
    for prompt in ["Echo.", "And now?"] {
        let (status, said) = run(&place, &script, &["--approve-all", "--format", "json", "prompt", prompt]);
        assert_eq!(status, Some(0), "{said}");
        let messages: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let loads =
            messages.iter().find(|message| message["method"] == "session/load").unwrap_or_else(|| panic!("{said}"));
        let answer = messages.iter().find(|message| message["id"] == loads["id"] && message.get("method").is_none());
        assert!(answer.unwrap()["result"]["modes"].is_object(), "{said}");
        assert!(said.contains("It is done."), "{said}");
        let gone =
            || !Command::new("pgrep").arg("-f").arg(place.path()).stdout(Stdio::null()).status().unwrap().success();
        eventually("the agent of the session has ended", gone);
    }
}

#[test]
#[ignore = "needs acpx: run scripts/test"]
fn acpx_cancels_a_turn() {
    let place = Place::new();
    let wait = r#"{"calls":[{"tool_name":"wait","arguments":{}}]}"#;
    let (status, said) = run(&place, &[wait, DONE], &["sessions", "new"]);
    assert_eq!(status, Some(0), "{said}");
    let mut prompt = acpx(&place, &[wait, DONE], &["--approve-all", "prompt", "Wait."]);
    let log = place.path().join("log");
    let file = std::fs::File::create(&log).unwrap();
    let mut prompt = prompt.stdout(file).stderr(Stdio::null()).spawn().unwrap();
    eventually("the call waits", || std::fs::read_to_string(&log).unwrap().contains("session/request_permission"));
    let (status, said) = run(&place, &[wait, DONE], &["cancel"]);
    assert_eq!(status, Some(0), "{said}");
    prompt.wait().unwrap();
    let said = std::fs::read_to_string(&log).unwrap();
    assert!(said.contains("[done] cancelled"), "{said}");
}
