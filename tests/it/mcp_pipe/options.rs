//! The selection of the server, its tools, and its environment.

use super::{mcp_pipe, play, play_command, play_logged};
use crate::process::{command, example, pipe, text};
use serde_json::{Value, json};
use std::process::{Output, Stdio};

fn names(output: &Output) -> Vec<String> {
    text(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["name"].as_str().unwrap().to_owned())
        .collect()
}

fn list(server: &str, options: &[&str]) -> Output {
    let (mut command, home) = mcp_pipe(server, &[&["--list"], options].concat());
    // Its stdin is not used.
    let output = command.stdin(Stdio::null()).output().unwrap();
    crate::schemas::hold_all(&output.stdout, b"");
    super::assert_nothing_is_left(home.path());
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    output
}

#[test]
fn the_tools_are_listed_unchanged() {
    for server in ["echo", "echo pages=1", "modern", "noisy"] {
        let output = list(server, &[]);
        assert_eq!(names(&output).len(), 29, "{server}");
        assert!(text(&output.stdout).contains(r#""items":{"type":"string"}}}},"unknown":1.10}"#));
    }
    let some = list("echo", &["--allow", "count*", "--allow", "echo", "--deny", "*_again"]);
    assert_eq!(names(&some), ["count", "count_safe", "echo"]);
}

#[test]
fn only_permitted_tools_are_called() {
    let played = play_logged(
        "echo",
        &["--allow", "e*", "--allow", "die", "--deny", "d?e", "--no-check"],
        &[
            r#"{"tool":"echo","id":1}"#,
            r#"{"tool":"die","id":2}"#,
            r#"{"tool":"count","id":3}"#,
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"die"}}"#,
        ],
    );
    let answers = played.answers();
    assert_eq!(
        (&answers[0]["status"], &answers[1]["kind"], &answers[2]["kind"], &answers[3]["error"]["data"]["kind"]),
        (&json!("ok"), &json!("denied"), &json!("denied"), &json!("denied"))
    );
    assert_eq!(
        (played.status, played.received().iter().filter(|line| line["method"] == "tools/call").count()),
        (Some(1), 1)
    );
}

fn environment(options: &[&str]) -> Value {
    let (mut command, home) = mcp_pipe("echo", options);
    command.env("OURS", "sk-123").env("PATH", "/usr/bin:/bin");
    let played = play_command(&mut command, home, &[r#"{"tool":"env"}"#]);
    played.assert_well();
    played.answers()[0]["data"]["structuredContent"].clone()
}

#[test]
fn the_server_gets_only_the_configured_environment() {
    let all = environment(&["--env", "NEW=a=b", "--env", "EMPTY="]);
    assert_eq!((&all["OURS"], &all["NEW"], &all["EMPTY"]), (&json!("sk-123"), &json!("a=b"), &json!("")));
    let clean = environment(&["--clean-env", "--env", "NEW=1"]);
    assert_eq!(
        (&clean["OURS"], &clean["STAND_IN_HOME"], &clean["NEW"], &clean["PATH"]),
        (&Value::Null, &Value::Null, &json!("1"), &json!("/usr/bin:/bin"))
    );
    assert_eq!(environment(&["--clean-env", "--env", "OURS"])["OURS"], "sk-123");
}

#[test]
fn a_server_of_an_existing_configuration_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let server = example("stand-in-server");
    let servers = json!({"mcpServers":{
        "one":{"command":server,"args":["${FAULT:-echo}"],"env":{"KEY":"${OURS}"},"cwd":folder.path()},
        "two":{"command":"${NOT_SET}","env":{"KEY":"sk-456"}},
    }});
    std::fs::write(&file, servers.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let run = |name: &str| {
        let mut command = command("mcp-pipe");
        pipe(command.env("OURS", "sk-123").args(["--config", &format!("{file}{name}")]), b"{\"tool\":\"env\"}\n")
    };
    let output = run(":one");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&answer["data"]["structuredContent"]["KEY"], output.status.code()), (&json!("sk-123"), Some(0)));
    for (name, expected) in
        [("", "two: ${NOT_SET} is not set in the environment"), (":three", "one, two"), (":two", "NOT_SET")]
    {
        let output = run(name);
        let stderr = text(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{stderr}");
        assert!(stderr.contains(expected) && !stderr.contains("sk-"), "{stderr}");
    }
}

#[test]
fn what_is_asked_for_wrongly_is_2() {
    for (options, expected) in [
        (&["-j", "0"][..], "--jobs"),
        (&["--protocol", "2024"], "2025-11-25 or 2026-07-28"),
        (&["--env", "=x"], "--env"),
        (&["--env", "NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE"),
        (&["--setup", "/no/such"], "--setup: /no/such"),
        (&["--timeout", "soon"], "--timeout"),
    ] {
        let played = play("echo", options, &[r#"{"tool":"echo"}"#]);
        assert_eq!((played.status, played.lines.len()), (Some(2), 0), "{}", played.stderr);
        assert!(played.stderr.contains(expected), "{}", played.stderr);
    }
    let output = pipe(&mut command("mcp-pipe"), b"");
    assert_eq!(output.status.code(), Some(2));
}
