//! The gates around a file server, started as `docs/gates.md` shows it for the configuration of clients, by clients on the official SDKs
//! (`tests/sdk`), in a session without a terminal.

use super::path;
use crate::mcp_servers::{folder, server};
use crate::process::{command, eventually, pipe, text};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The folder that the configurations of the page serve.
const PLACE: &str = "/home/me/project";

/// The servers' entries in the configurations of the page.
fn shown() -> Vec<Value> {
    let page = include_str!("../../../docs/gates.md");
    let blocks = page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    let entries = blocks.filter_map(|block| {
        let file: Value = serde_json::from_str(block).ok()?;
        file.get("mcpServers").or(file.get("servers"))?.get("files").cloned()
    });
    entries.collect()
}

/// A client's program, with its arguments besides those of `tests/sdk`.
fn typescript() -> Command {
    let mut client = Command::new("setsid");
    client.arg(folder().join("node_modules/node/bin/node")).arg(script("guarded.mjs")).arg(folder());
    client
}

fn python() -> Command {
    let mut client = Command::new("setsid");
    client.arg(folder().join("clients/bin/python")).arg(script("guarded.py"));
    client
}

fn script(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk").join(name)
}

/// A folder with a file in it, which a client lists and writes.
struct Project(TempDir);

impl Project {
    fn new() -> Project {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        let project = Project(folder);
        fs::write(project.file(), "old").unwrap();
        // The package that npx would install is already there.
        let npx = format!("#!/bin/sh\nshift 2\nexec {} \"$@\"\n", server("mcp-server-filesystem").display());
        fs::write(project.0.path().join("npx"), npx).unwrap();
        fs::set_permissions(project.0.path().join("npx"), fs::Permissions::from_mode(0o755)).unwrap();
        project
    }

    fn place(&self) -> String {
        self.0.path().join("project").canonicalize().unwrap().display().to_string()
    }

    fn file(&self) -> std::path::PathBuf {
        self.0.path().join("project/old.txt")
    }

    /// Starts the client with a configuration; `user` is the decision of its user.
    fn start(&self, mut client: Command, entry: &Value, user: &[&str]) -> Child {
        let entry =
            json!({"command": entry["command"], "args": entry["args"]}).to_string().replace(PLACE, &self.place());
        client.args([&entry, &self.place()]).args(user).current_dir(self.0.path());
        client.env("PATH", format!("{}:{}", self.0.path().display(), path())).env_remove("PIPEWRIGHT_FOREGROUND");
        client.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

/// The text of each answer that the client read, and whether it was an error.
fn read(client: Child) -> Vec<(String, bool)> {
    let output = client.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let got: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    got.iter().map(|got| (got["text"].as_str().unwrap().to_owned(), got["isError"] == true)).collect()
}

fn is_guarded(client: fn() -> Command) {
    let shown = shown();
    assert_eq!(shown.len(), 4, "Claude Desktop, Claude Code, VS Code and Cursor");
    for entry in &shown {
        assert_eq!((&entry["command"], &entry["args"]), (&shown[0]["command"], &shown[0]["args"]));
    }
    let project = Project::new();
    let nobody = read(project.start(client(), &shown[0], &[]));
    assert!(nobody[0].0.contains("old.txt") && !nobody[0].1, "{nobody:?}");
    let (refused, is_error) = &nobody[1];
    assert!(*is_error && refused.starts_with("write_file was not carried out: "), "{refused}");
    assert!(refused.contains("nobody can be asked here"), "{refused}");
    assert_eq!(fs::read_to_string(project.file()).unwrap(), "old");

    let rejected = read(project.start(client(), &shown[0], &["reject"]));
    assert!(rejected[1].1 && rejected[1].0.contains("it was rejected. Do not repeat"), "{rejected:?}");
    assert_eq!(fs::read_to_string(project.file()).unwrap(), "old");
    let approved = read(project.start(client(), &shown[0], &["approve"]));
    assert_eq!((approved.len(), approved[1].1), (2, false), "{approved:?}");
    assert_eq!(fs::read_to_string(project.file()).unwrap(), "new");
    is_held(client, &shown[0]);
}

/// A program answers on a FIFO, after the call has been held for too long.
fn is_held(client: fn() -> Command, entry: &Value) {
    let project = Project::new();
    let at = |name: &str| project.0.path().join(name);
    mkfifo(&at("answers"), Mode::S_IRWXU).unwrap();
    let [judged, asked] = ["judged", "asked"].map(at);
    let options = json!(["--answers", at("answers"), "--events", at("events"), "--hold-limit", "1s", "--audit", asked]);
    let mut entry = entry.clone();
    let arguments = entry["args"].as_array_mut().unwrap();
    arguments.splice(0..0, [json!("--audit"), json!(judged)]);
    let ask = arguments.iter().position(|argument| argument == "--ask").unwrap();
    arguments.splice(ask..ask + 2, options.as_array().unwrap().clone());
    let client = project.start(client(), &entry, &[]);
    let mut question = Value::Null;
    eventually("it is asked", || {
        let events = fs::read_to_string(at("events")).unwrap_or_default();
        question = events.lines().next().map_or(Value::Null, |line| serde_json::from_str(line).unwrap_or_default());
        !question.is_null()
    });
    std::thread::sleep(Duration::from_millis(1500));
    let (id, nonce) = (&question["call_id"], &question["nonce"]);
    let answer = json!({"type": "hitl_response", "call_id": id, "nonce": nonce, "action": "approve"});
    fs::write(at("answers"), format!("{answer}\n")).unwrap();
    let got = read(client);
    assert!(got[1].1 && got[1].0.contains("a person is still being asked"), "{got:?}");
    assert!(got.last().is_some_and(|(_, is_error)| !is_error), "{got:?}");
    assert_eq!(fs::read_to_string(project.file()).unwrap(), "new");
    // Each time that the call was made, it was marked, and is settled.
    let verified = pipe(command("policy-check").arg("verify").args([judged, asked]), b"");
    assert_eq!(verified.status.code(), Some(0), "{}{}", text(&verified.stdout), text(&verified.stderr));
}

#[test]
#[ignore = "needs the SDKs: scripts/test installs them"]
fn a_guard_before_a_server_for_a_client_on_the_typescript_sdk() {
    is_guarded(typescript);
}

#[test]
#[ignore = "needs the SDKs: scripts/test installs them"]
fn a_guard_before_a_server_for_a_client_on_the_python_sdk() {
    is_guarded(python);
}
