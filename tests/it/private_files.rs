//! Records may have secrets: every file that a command writes is readable only by its owner, even with a umask of 000, which would make it
//! readable by everybody.

use crate::process::{Talk, binary, example, pipe, text};
use crate::samples::SPIRE;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// `sh -c SCRIPT` in a folder, with our commands in its PATH, and no protection of files but the commands' own.
fn open_to_all(script: &str, folder: &Path) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("umask 000; {script}")]).current_dir(folder).env("XDG_RUNTIME_DIR", folder);
    let path = format!("{}:{}", binary("").display(), std::env::var("PATH").unwrap());
    shell.env("PATH", path).env("SERVER", example("stand-in-server")).env("GAME", example("stand-in-game"));
    shell
}

/// Every file and folder in it, with its mode.
fn walk(folder: &Path, below: &Path, found: &mut Vec<(String, u32)>) {
    for entry in std::fs::read_dir(below).unwrap() {
        let path = entry.unwrap().path();
        let about = path.symlink_metadata().unwrap();
        let name = path.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
        found.push((name, about.permissions().mode() & 0o777));
        if about.is_dir() {
            walk(folder, &path, found);
        }
    }
}

fn assert_private(folder: &Path, expected: &[&str]) {
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    for (name, mode) in &found {
        assert!(mode & 0o077 == 0, "{name} has the mode {mode:o}");
    }
    let names: BTreeSet<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    for name in expected {
        assert!(names.contains(name), "{name} is not among {names:?}");
    }
}

fn assert_writes_privately(script: &str, input: &str, expected: &[&str]) {
    let folder = TempDir::new().unwrap();
    let output = pipe(&mut open_to_all(script, folder.path()), input.as_bytes());
    assert!(output.status.code().is_some_and(|code| code < 2), "{script}: {}", text(&output.stderr));
    assert_private(folder.path(), expected);
}

#[test]
fn logs() {
    let lines = "{\"password\":\"x\"}\n".repeat(200);
    assert_writes_privately("jsonl-record --rotate 4K log", &lines, &["log", "log.1"]);
    let script = "printf '{\"format\":' >log && chmod 600 log && jsonl-record log";
    assert_writes_privately(script, &lines, &["log", "log.torn"]);
}

#[test]
fn records_of_games() {
    let message = format!("{SPIRE}\n");
    let folder = TempDir::new().unwrap();
    let script = "exec sts-proxy --data-dir new/records -- sh -c 'while read -r line; do echo choose 0; done'";
    let mut talk = Talk::start(&mut open_to_all(script, folder.path()));
    assert_eq!(talk.receive(), "ready");
    assert_eq!(talk.ask(message.trim_end()), "choose 0");
    talk.say(SPIRE);
    talk.close();
    talk.end();
    assert_private(folder.path(), &["new", "new/records"]);
    let records = std::fs::read_dir(folder.path().join("new/records")).unwrap().count();
    assert_eq!(records, 1);
}

#[cfg(feature = "jq")]
#[test]
fn audits_events_and_findings() {
    let call = "{\"tool\":\"rm\",\"args\":{\"path\":\"a\"},\"id\":1}\n";
    assert_writes_privately("policy-check --audit judged", call, &["judged"]);
    let script = "policy-check | hitl-gate --timeout 0.1 --audit asked --events questions -- cat";
    assert_writes_privately(script, call, &["asked", "questions"]);
    let script = "umask 077; printf '1\\n' | jsonl-record --child agent log -- cat; umask 000; \
                  replay --as world --report found log -- cat";
    assert_writes_privately(script, "", &["log", "found"]);
}

#[cfg(feature = "mcp")]
#[test]
fn media_of_an_mcp_server() {
    let calls = "{\"tool\":\"image\",\"args\":{}}\n";
    let script = "mcp-pipe --save-media new/media --events told -- \"$SERVER\" echo";
    assert_writes_privately(script, calls, &["told", "new", "new/media", "new/media/000001.png"]);
}

#[test]
fn the_session_of_a_game() {
    for transport in ["file", "unix", "tcp"] {
        let folder = TempDir::new().unwrap();
        let script = format!("exec godot-bridge --transport {transport} --events told -- \"$GAME\" echo");
        let mut talk = Talk::start(&mut open_to_all(&script, folder.path()));
        talk.ask(r#"{"cmd":"x","id":1}"#);
        let session = std::fs::read_dir(folder.path().join("pipewright")).unwrap().next().unwrap().unwrap().path();
        // Files of the game are protected by the folder.
        for kept in [folder.path().join("told"), folder.path().join("pipewright"), session] {
            let mode = kept.metadata().unwrap().permissions().mode();
            assert!(mode & 0o077 == 0, "{} has the mode {mode:o}", kept.display());
        }
        talk.close();
        assert_eq!(talk.end().status.code(), Some(0));
    }
}
