//! Independent clients (which `scripts/install-web-tests` installs; PIPEWRIGHT_WEB_TESTS names its folder): the browser with our page,
//! the client of AG-UI, and WebSocket clients for Python and Node.

use super::{Server, TOKEN, agent, refactoring};
use crate::agent_acp::{DONE, ECHO, Place};
use crate::process::{binary, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn installed() -> PathBuf {
    PathBuf::from(
        std::env::var_os("PIPEWRIGHT_WEB_TESTS").expect("PIPEWRIGHT_WEB_TESTS names no folder: run scripts/test"),
    )
}

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The output of a client, JSON text.
#[track_caller]
fn ran(client: &mut Command) -> Value {
    let output = client.output().unwrap();
    let printed = text(&output.stdout);
    serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{error}: {printed}{}", text(&output.stderr)))
}

#[test]
#[ignore = "needs the clients that scripts/install-web-tests installs"]
fn the_official_ag_ui_client_accepts_a_complete_session() {
    let place = Place::new();
    let server = refactoring::server(&place);
    let mut client = Command::new("node");
    client.arg(repository().join("tests/web/agui.mjs")).arg(format!("http://{}/ag-ui", server.address)).arg(TOKEN);
    client.args([
        "Refactor main.py and write tests.",
        r#"{"action":"approve"}"#,
        r#"{"action":"edit","edited_arguments":{"content":"pass\n"}}"#,
        r#"{"action":"reject"}"#,
    ]);
    let had = ran(&mut client);
    assert_eq!((&had["failures"], &had["pending"]), (&Value::Array(Vec::new()), &0.into()), "{had}");
    assert_eq!(had["result"]["outcome"], "done", "{had}");
    for role in ["user", "assistant", "tool", "activity"] {
        assert!(had["roles"].as_array().unwrap().contains(&role.into()), "{role}: {had}");
    }
    for event in ["STEP_STARTED", "SUBAGENT_FINISHED", "TOOL_CALL_RESULT", "policy_result"] {
        assert!(had["events"].as_array().unwrap().contains(&event.into()), "{event}: {had}");
    }
}

#[test]
#[ignore = "needs the clients that scripts/install-web-tests installs"]
fn the_websocket_client_of_node_talks_with_an_agent() {
    let place = Place::new();
    let server = Server::start(&agent(&place, &[ECHO, DONE]), &[]);
    let mut client = Command::new("node");
    client.arg(repository().join("tests/web/talk.mjs"));
    client.arg(format!("ws://{}/sessions/node/ws", server.address)).args([TOKEN, "Echo."]);
    let types = ran(&mut client);
    // The gate's policy_result comes over another connection, perhaps after the end of the goal, at which the client ends.
    for kind in ["user_message", "hitl_response", "tool_result", "final"] {
        assert!(types.as_array().unwrap().contains(&kind.into()), "{kind}: {types}");
    }
}

#[test]
#[ignore = "needs the clients that scripts/install-web-tests installs"]
fn the_documents_client_in_python_talks_with_an_agent() {
    let place = Place::new();
    let server = Server::start(&agent(&place, &[ECHO, DONE]), &[]);
    let page = std::fs::read_to_string(repository().join("docs/serve.md")).unwrap();
    let program = page.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let program = place.file("talk.py", &program.replace("127.0.0.1:7717", &server.address));
    let output = Command::new(installed().join("python/bin/python")).arg(program).env("TOKEN", TOKEN).output().unwrap();
    let printed = text(&output.stdout);
    assert!(printed.ends_with("final \n") && printed.contains("tool_call echo\n"), "{printed}{}", text(&output.stderr));
    assert!(printed.contains("hitl_response"), "{printed}");
}

#[test]
#[ignore = "needs Chromium and the clients that scripts/install-web-tests installs"]
fn the_page_is_used_in_a_browser() {
    let (home, place) = (installed(), Place::new());
    let mut agent = Command::new("python3");
    agent.arg(repository().join("tests/web/agent.py")).arg("session={session}");
    let path = format!("{}:{}", binary("agent-serve").parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut serve = crate::process::command("agent-serve");
    serve
        .args(["--listen", "127.0.0.1:0", "--max-sessions", "100", "--"])
        .arg(agent.get_program())
        .args(agent.get_args());
    let server = Server::of(serve.env("PATH", path));
    // The session is also shown as a recording.
    let mut socket = server.socket("recorded");
    socket.message("whole");
    let held = socket.held();
    socket.passed.push(held);
    let replayed =
        place.file("records.jsonl", &socket.passed.iter().map(|record| record.to_string() + "\n").collect::<String>());
    let mut replay = crate::process::command("agent-serve");
    let replay = Server::of(replay.args(["--listen", "127.0.0.1:0", "--replay"]).arg(replayed));
    let output = Command::new("node")
        .arg(home.join("node_modules/@playwright/test/cli.js"))
        .args(["test", "page.spec.mjs", "--reporter", "line", "--timeout", "90000", "--workers", "2", "--output"])
        .arg(place.path().join("results"))
        .current_dir(repository().join("tests/web"))
        .env("PIPEWRIGHT_SERVE_URL", format!("http://{}/?token={TOKEN}", server.address))
        .env("PIPEWRIGHT_REPLAY_URL", format!("http://{}/?token={TOKEN}", replay.address))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}
