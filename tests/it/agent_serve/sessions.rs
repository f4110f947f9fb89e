//! Sessions: their start, the records for clients, their end and continuation.

use super::{Server, agent};
use crate::agent_acp::{DONE, ECHO, IDLE, Place, RUNNING};
use crate::process::{command, eventually};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

#[test]
fn a_message_starts_a_session_and_every_client_gets_the_same_records() {
    let place = Place::new();
    let server = Server::start(&agent(&place, &[ECHO, DONE]), &[]);
    let mut socket = server.socket("s-1");
    socket.message("Echo.");
    let held = socket.held();
    // A second window, and an observer, get the earlier records.
    let (mut window, mut observer) = (server.socket("s-1"), server.events("s-1", &[]));
    assert_eq!(window.held(), held);
    window.say(json!({"type": "hitl_response", "call_id": held["call_id"], "action": "approve"}));
    let last = socket.until_type("final");
    assert_eq!(window.until_type("final"), last);
    let seen = observer.until_type("final");
    socket.passed.push(held);
    let records: Vec<u64> = seen.iter().map(|(id, _)| *id).collect();
    assert!(records.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{records:?}");
    assert_eq!(records.last(), last["seq"].as_u64().as_ref());
    assert_eq!(seen.len(), socket.passed.len() + 1);
    assert!(seen.iter().all(|(_, record)| record["session_id"] == "s-1"), "{seen:?}");
    // The records after one that was received.
    let after = format!("Last-Event-ID: {}", records[records.len() - 3]);
    assert_eq!(server.events("s-1", &[&after]).until_type("final").len(), 2);
    let mut again = server.socket_at(&format!("/sessions/s-1/ws?after={}", records[records.len() - 2]));
    assert_eq!(again.next().unwrap(), last);
    server.end();
}

#[test]
fn sessions_are_started_listed_and_limited() {
    let place = Place::new();
    let server = Server::start(&agent(&place, &[ECHO]), &["--max-sessions", "2"]);
    let (status, begun) = server.json("POST", "/sessions", "{}");
    let id = begun["session_id"].as_str().unwrap().to_owned();
    assert_eq!((status, server.json("POST", "/sessions", &begun.to_string()).0), (201, 200));
    assert_eq!(server.json("POST", "/sessions", r#"{"session_id":"../x"}"#).0, 400);
    assert_eq!(server.json("POST", "/sessions", r#"{"session_id":"x"}"#).0, 201);
    let (status, refused) = server.json("POST", "/sessions", r#"{"session_id":"y"}"#);
    assert_eq!(status, 503);
    assert!(refused["error"].as_str().unwrap().contains("--max-sessions"), "{refused}");
    let mut socket = server.socket(&id);
    socket.message("Echo.");
    socket.held();
    let listed = server.sessions();
    let own = listed.iter().find(|session| session["session_id"] == *id).unwrap();
    assert_eq!((&own["held"], &own["clients"], &own["goal"]), (&1.into(), &1.into(), &"Echo.".into()));
    assert_eq!(server.ask("GET", "/sessions/none/events", &[super::AUTHORIZATION], "").0, 404);
}

#[test]
fn invalid_messages_are_refused_to_their_sender_only() {
    let place = Place::new();
    let server = Server::start(&place.scripted(&[RUNNING, IDLE]), &[]);
    let (mut socket, mut other) = (server.socket("s"), server.socket("s"));
    for (text, why) in [
        ("no JSON", "it is not a JSON object"),
        (r#"{"type":"final"}"#, "final is not a message to an agent"),
        (r#"{"type":"user_message"}"#, "its content is not a string"),
        (r#"{"type":"user_message","content":"x","session_id":"t"}"#, "not \"t\""),
        (r#"{"type":"cancel"}"#, "the session does not exist yet"),
        (r#"{"type":"hitl_response","call_id":"a1","action":"approve"}"#, "the session does not exist yet"),
    ] {
        socket.socket.send(tungstenite::Message::text(text)).unwrap();
        let refused = socket.next().unwrap();
        assert_eq!((&refused["type"], refused.get("seq")), (&"error".into(), None), "{refused}");
        assert!(refused["content"].as_str().unwrap().contains(why), "{refused}");
    }
    socket.message("Go.");
    assert_eq!(other.next().unwrap()["type"], "user_message");
    other.until(|record| record["status"] == "running");
}

#[test]
fn an_ended_agent_is_reported_and_continues_from_its_file() {
    let place = Place::new();
    let session = place.path().join("{session}.session").display().to_string();
    let server = Server::start(&place.agent(&[ECHO, DONE, ECHO, DONE], &["--session", &session]), &[]);
    let mut socket = server.socket("kept");
    socket.message("Echo.");
    let held = socket.held();
    assert!(std::fs::metadata(place.path().join("kept.session")).is_ok());
    // The agent is killed while a call is held.
    let agent = format!("agent-loop .*{}", place.path().join("kept.session").display());
    Command::new("pkill").args(["-KILL", "-f", &agent]).status().unwrap();
    let settled = socket.until_type("policy_result");
    assert_eq!((&settled["verdict"], &settled["call_id"]), (&"rejected".into(), &held["call_id"]));
    let ended = socket.until(|record| record.get("ended").is_some());
    assert_eq!(ended["status"], "error");
    assert_eq!(server.sessions()[0]["state"], "ended");
    assert_eq!(server.json("POST", "/sessions", r#"{"session_id":"kept"}"#).0, 200);
    // It continues by itself: the call was never made.
    socket.until(|record| record["type"] == "status" && record["status"] != "error" && record.get("call_id").is_none());
    drop(server);
    // Until its agent has noticed the end of its server, the session is open.
    let is_gone = || !Command::new("pgrep").args(["-f", &agent]).stdout(Stdio::null()).status().unwrap().success();
    eventually("the agent of the first server ends", is_gone);

    // Another server shows the earlier records.
    let server = Server::start(&place.agent(&[DONE], &["--session", &session]), &[]);
    assert_eq!(server.json("POST", "/sessions", r#"{"session_id":"kept"}"#).0, 201);
    let mut socket = server.socket("kept");
    let first = socket.until_type("user_message");
    assert_eq!(first["content"], "Echo.");
    socket.until_type("tool_call");
}

#[test]
fn a_resumed_agent_may_name_its_earlier_plan_and_call() {
    let place = Place::new();
    let plan = r#"{"type":"plan_update","plan_id":"plan-1","steps":[{"id":"1","desc":"Look","status":"running"}],"current_step":"1"}"#;
    let call = r#"{"type":"tool_call","call_id":"a1","tool_name":"look","arguments":{}}"#;
    let result = r#"{"type":"tool_result","call_id":"a1","status":"error","error":"the agent ended","kind":"lost","plan_id":"plan-1"}"#;
    let progress = r#"{"type":"plan_progress","plan_id":"plan-1","step_id":"1","result":"seen","status":"done"}"#;
    let script = format!(
        "read -r line; echo '{RUNNING}'; if [ -e \"$0\" ]; then echo '{result}'; echo '{progress}'; cat >/dev/null; else : >\"$0\"; echo '{plan}'; echo '{call}'; fi"
    );
    let mut agent = Command::new("sh");
    agent.arg("-c").arg(script).arg(place.path().join("{session}.session"));
    let server = Server::start(&agent, &[]);
    let mut socket = server.socket("kept");
    socket.message("Go.");
    socket.until(|record| record.get("ended").is_some());
    socket.message("Go on.");
    socket.until_type("plan_progress");
    let printed = server.end();
    assert!(!printed.contains("no plan") && !printed.contains("no call"), "{printed}");
}

#[test]
fn the_history_of_an_agent_has_its_state_and_plan() {
    let place = Place::new();
    place.file("kept.session", "");
    let history = [
        r#"{"type":"plan_update","plan_id":"plan-1","steps":[{"id":"1","desc":"Look","status":"running"}],"current_step":"1"}"#,
        r#"{"type":"status","status":"running","pending_kind":"none","current_goal":"Look.","plan_id":"plan-1","step_id":"1"}"#,
        r#"{"type":"tool_call","call_id":"a1","tool_name":"look","arguments":{},"plan_id":"plan-1","step_id":"1"}"#,
    ];
    let history: String =
        history.iter().map(|record| format!("echo '{{\"type\":\"history\",\"record\":{record}}}'; ")).collect();
    let result = r#"{"type":"tool_result","call_id":"a1","status":"ok","result":1,"plan_id":"plan-1","step_id":"1"}"#;
    let script = format!(
        "read -r line; {history}echo '{{\"type\":\"history\",\"is_final\":true}}'; echo '{result}'; cat >/dev/null"
    );
    let mut agent = Command::new("sh");
    agent.arg("-c").arg(script).arg(place.path().join("{session}.session"));
    let server = Server::start(&agent, &[]);
    server.json("POST", "/sessions", r#"{"session_id":"kept"}"#);
    server.socket("kept").until_type("tool_result");
    let listed = &server.sessions()[0];
    assert_eq!((&listed["state"], &listed["goal"]), (&"running".into(), &"Look.".into()), "{listed}");
    let printed = server.end();
    assert!(!printed.contains("no plan") && !printed.contains("no call"), "{printed}");
}

#[test]
fn an_agent_without_a_session_file_does_not_continue() {
    let place = Place::new();
    let mut agent = Command::new("sh");
    agent.args(["-c", "read -r line; echo '{\"type\":\"status\",\"status\":\"running\"}'; exit 3"]);
    let server = Server::start(&agent, &[]);
    let mut socket = server.socket("s");
    socket.message("Go.");
    let error = socket.until_type("error");
    assert!(error["content"].as_str().unwrap().contains("exit status 3"), "{error}");
    socket.until(|record| record.get("ended").is_some());
    socket.message("Again.");
    let refused = socket.until_type("error");
    assert!(refused["content"].as_str().unwrap().contains("Start a new session"), "{refused}");
    assert_eq!(server.json("POST", "/sessions", r#"{"session_id":"s"}"#).0, 409);
    drop(place);
}

#[test]
fn an_unused_session_is_closed() {
    let place = Place::new();
    let agent = place.scripted(&[RUNNING, IDLE]);
    let mut serve = command("agent-serve");
    serve
        .args(["--listen", "127.0.0.1:0", "--idle-timeout", "300ms", "--"])
        .arg(agent.get_program())
        .args(agent.get_args());
    let server = Server::of(serve.env("XDG_RUNTIME_DIR", place.path()));
    let sockets = || {
        let folders = std::fs::read_dir(place.path().join("pipewright")).unwrap();
        folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap()).count()
    };
    let mut socket = server.socket("s");
    socket.message("Go.");
    socket.until(|record| record["status"] == "running");
    // On a slow machine, it is looked at after a longer time.
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert_eq!(server.sessions().len(), 1, "a client shows it");
    assert_eq!(sockets(), 1);
    drop(socket);
    eventually("the session is closed", || server.sessions().is_empty());
    eventually("its gates' socket is removed", || sockets() == 0);
    assert!(server.end().is_empty());
}

#[test]
fn a_recorded_session_is_shown_without_an_agent() {
    let place = Place::new();
    let log = place.path().join("run.jsonl").display().to_string();
    let recorded = place.agent(&[ECHO, DONE], &[]);
    let mut agent = Command::new(crate::process::binary("jsonl-record"));
    agent.args([&log, "--"]).arg(recorded.get_program()).args(recorded.get_args());
    let server = Server::start(&agent, &[]);
    let mut socket = server.socket("s");
    socket.message("Echo.");
    let held = socket.held();
    socket.say(json!({"type": "hitl_response", "call_id": held["call_id"], "action": "approve"}));
    socket.until_type("final");
    server.end();

    let server = Server::of(command("agent-serve").args(["--listen", "127.0.0.1:0", "--replay", &log]));
    let listed = server.sessions();
    assert_eq!((&listed[0]["session_id"], &listed[0]["replay"]), (&"recorded".into(), &true.into()));
    let mut socket = server.socket("recorded");
    let last = socket.until_type("final");
    assert_eq!(last["content"], "It is done.");
    let kinds: Vec<&Value> = socket.passed.iter().map(|record| &record["type"]).collect();
    assert!(kinds.contains(&&"user_message".into()) && kinds.contains(&&"tool_result".into()), "{kinds:?}");
    socket.message("Go on.");
    let refused = socket.until_type("error");
    assert!(refused["content"].as_str().unwrap().contains("this is a recorded session"), "{refused}");
    assert_eq!(server.json("POST", "/sessions", "{}").0, 409);
}

#[test]
fn only_pictures_named_in_a_result_are_served() {
    let place = Place::new();
    let picture = place.path().join("shot.png");
    std::fs::write(&picture, b"\x89PNG\r\n\x1a\nrest").unwrap();
    let text = place.file("secret.txt", "secret");
    let result = |path: &std::path::Path| {
        json!({"type": "tool_result", "call_id": "a1", "status": "ok", "result": {"path": path}}).to_string()
    };
    let server = Server::start(&place.scripted(&[RUNNING, &result(&picture), &result(&text), IDLE]), &[]);
    let mut socket = server.socket("s");
    socket.message("Go.");
    socket.until_type("tool_result");
    socket.until_type("tool_result");
    let image = |path: &str| server.ask("GET", &format!("/sessions/s/image?path={path}"), &[super::AUTHORIZATION], "");
    let (status, answer) = image(&picture.display().to_string());
    assert_eq!(status, 200);
    assert!(answer.contains("content-type: image/png") && answer.ends_with("rest"), "{answer}");
    for path in
        [text.display().to_string(), "/etc/passwd".to_owned(), place.path().join("other.png").display().to_string()]
    {
        assert_eq!(image(&path).0, 404, "{path}");
    }
}
