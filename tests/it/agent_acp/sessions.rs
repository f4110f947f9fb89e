//! Several sessions at once, sessions with files, and the ends of sessions.

use super::{DONE, ECHO, Editor, IDLE, Place, RUNNING, no_capabilities};
use serde_json::{Value, json};
use std::process::Command;

/// An agent that keeps its sessions in the folder.
fn keeper(place: &Place, script: &[&str]) -> Command {
    let file = place.path().join("{session}.session");
    place.agent(script, &["--session", file.to_str().unwrap()])
}

#[test]
fn a_session_is_loaded_again_with_its_history() {
    let place = Place::new();
    let ask = r#"{"text":"I ask.","calls":[{"tool_name":"assistant_ask","arguments":{"question":"Which?","options":["red","blue"]}}]}"#;
    let script = [ECHO, ask, DONE];
    let mut editor = Editor::greet(keeper(&place, &script), no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Echo, then ask.");
    let permission = editor.asked("session/request_permission");
    editor.choose(&permission, "allow");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert!(editor.said().contains("Which?\n- red\n- blue"), "{}", editor.said());
    editor.end(0);

    let mut editor = Editor::start(keeper(&place, &script));
    let answer = editor.ask("initialize", json!({"protocolVersion": 1, "clientCapabilities": {}}));
    assert_eq!(answer["result"]["agentCapabilities"]["loadSession"], true);
    let params = |id: &str| json!({"sessionId": id, "cwd": place.path(), "mcpServers": []});
    for (id, code) in [("../x", -32602), ("", -32602), ("never-begun", -32002)] {
        assert_eq!(editor.ask("session/load", params(id))["error"]["code"], code, "{id}");
    }
    let answer = editor.ask("session/load", params(&session));
    assert_eq!(answer["result"]["modes"]["currentModeId"], "ask");
    let shown = editor.updates("user_message_chunk");
    assert_eq!(shown[0]["content"]["text"], "Echo, then ask.");
    assert!(editor.said().contains("I echo.") && editor.said().contains("- blue"), "{}", editor.said());
    assert_eq!(editor.updates("tool_call").len(), 1);
    assert_eq!(editor.ask("session/load", params(&session))["error"]["code"], -32602, "it is open");
    let prompt = editor.prompt(&session, "red");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert!(editor.said().ends_with("It is done."), "{}", editor.said());
    editor.end(0);
}

#[test]
fn a_session_with_a_file_continues_after_a_crash() {
    let place = Place::new();
    let mut editor = Editor::greet(keeper(&place, &[ECHO, DONE]), no_capabilities());
    let session = editor.begin(place.path());
    let prompt = editor.prompt(&session, "Echo.");
    editor.asked("session/request_permission");
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", editor.talk.pid())).unwrap();
    let agent: i32 = children.split_whitespace().next().unwrap().parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(agent), nix::sys::signal::Signal::SIGKILL).unwrap();
    let answer = editor.answer_to(prompt);
    assert!(answer["error"]["message"].as_str().unwrap().contains("SIGKILL"), "{answer}");
    let prompt = editor.prompt(&session, "Go on.");
    assert_eq!(editor.stop_reason(prompt), "end_turn");
    assert!(editor.said().contains("It is done."), "{}", editor.said());
    drop(editor);
}

#[test]
fn sessions_work_at_the_same_time_each_in_its_folder() {
    let (one, other) = (Place::new(), Place::new());
    let mut agent = Command::new("sh");
    let done = r#"{"type":"final","outcome":"done","content":"%s","usage":{},"steps":0,"denied":0,"exit_status":0}"#;
    agent.args([
        "-c",
        &format!(
            "echo '{IDLE}'; read -r line; echo '{RUNNING}'; printf '{done}\\n' \"$PWD\"; sleep 0.3; echo '{IDLE}'; cat"
        ),
    ]);
    let mut editor = Editor::greet(agent, no_capabilities());
    let sessions = [editor.begin(one.path()), editor.begin(other.path())];
    let prompts = [editor.prompt(&sessions[0], "x"), editor.prompt(&sessions[1], "x")];
    let mut answered: Vec<Value> =
        prompts.iter().map(|_| editor.until(|message| message.get("result").is_some())).collect();
    answered.sort_by_key(|answer| answer["id"].as_u64());
    assert!(answered.iter().zip(prompts).all(|(answer, prompt)| answer["id"] == prompt), "{answered:?}");
    for (session, place) in sessions.iter().zip([&one, &other]) {
        let own = editor.passed.iter().filter(|message| message["params"]["sessionId"] == **session);
        let said: Vec<&Value> = own.filter_map(|message| message["params"]["update"]["content"].get("text")).collect();
        assert_eq!(said, [&Value::from(place.path().to_str().unwrap())]);
    }
    editor.end(0);
}

#[test]
fn ignored_offers_of_the_editor_are_reported_once() {
    let place = Place::new();
    let mut editor = Editor::greet(place.scripted(&[IDLE]), no_capabilities());
    let server = json!({"name": "s", "command": "/bin/s", "args": [], "env": []});
    for _ in 0..2 {
        let answer = editor.ask("session/new", json!({"cwd": place.path(), "mcpServers": [server]}));
        assert!(answer["result"]["sessionId"].is_string(), "{answer}");
    }
    let ended = editor.talk.end_after_close();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(ended.stderr.matches("ignored 1 mcpServers").count(), 1, "{}", ended.stderr);
}
