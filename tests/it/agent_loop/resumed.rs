//! Sessions that are killed at any moment, and continued.

use super::{Place, Run, read};
use crate::process::{binary, command, example, pipe, text};
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::Duration;

const SCRIPT: [&str; 4] = [
    r#"{"calls":[{"tool_name":"echo","arguments":{"n":1}}],"sleep_ms":10}"#,
    r#"{"calls":[{"tool_name":"echo","arguments":{"n":2}}],"sleep_ms":10}"#,
    r#"{"calls":[{"tool_name":"echo","arguments":{"n":3}}],"sleep_ms":10}"#,
    r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"three"}}],"sleep_ms":10}"#,
];

/// The command, over a world that logs every call it gets.
fn agent(place: &Place) -> Command {
    let world = format!("tee -a '{}' | '{}'", place.path("world").display(), example("stand-in-world").display());
    let session = place.path("session");
    let mut agent = place.agent(&["--goal", "g", "--session", session.to_str().unwrap(), "--", "sh", "-c", &world]);
    agent.stdin(Stdio::null());
    agent
}

/// Kills runs of one session until it reaches its goal; gives the number of kills.
fn kill_until_done(round: u64) -> u64 {
    let place = Place::new(&SCRIPT);
    for kills in 0..200 {
        let mut child = agent(&place).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // From before the process reads its session until after it has ended.
        std::thread::sleep(Duration::from_micros((round * 7919 + kills * 104_729) % 120_000));
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        if output.status.code().is_some() {
            check(&place, &Run::of(output));
            return kills;
        }
        // A session that has reached its goal starts no further run.
        if read_session(&place).contains("\"three\"") && is_done(&place) {
            return kills;
        }
    }
    panic!("round {round}: no end")
}

fn read_session(place: &Place) -> String {
    std::fs::read_to_string(place.path("session")).unwrap_or_default()
}

fn is_done(place: &Place) -> bool {
    let shown = command("agent-loop").arg("show").arg(place.path("session")).output().unwrap();
    text(&shown.stdout).contains("three\n")
}

/// Asserts that no call was executed twice, and that no decided call is missing.
fn check(place: &Place, run: &Run) {
    assert_eq!((run.status, &run.last()["content"]), (Some(0), &"three".into()), "{}", run.stderr);
    let world = read(&place.path("world"));
    let calls = world.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let made: Vec<i64> = calls.filter_map(|call| call["arguments"]["n"].as_i64()).collect();
    for n in 1..=3 {
        assert!(made.iter().filter(|made| **made == n).count() <= 1, "call {n} was made twice: {made:?}");
    }
    let last = place.requests().pop().unwrap();
    let turns = last["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
    assert_eq!(turns.count(), 3, "{last}");
    for n in 1..=3 {
        let is_answered = last["messages"].to_string().contains(&format!("call_{}_0", n - 1));
        assert!(is_answered, "call {n} has no result: {last}");
    }
}

#[test]
fn kills_at_any_moment_repeat_and_lose_nothing() {
    let kills: u64 = (0..4).map(kill_until_done).sum();
    assert!(kills >= 4, "it was killed {kills} times only");
}

#[test]
#[ignore = "takes a minute"]
fn two_hundred_kills_repeat_and_lose_nothing() {
    let (mut kills, mut round) = (0, 0);
    while kills < 200 {
        kills += kill_until_done(100 + round);
        round += 1;
    }
}

#[test]
fn an_interrupted_call_is_reported_and_not_repeated() {
    let place = Place::new(&[
        r#"{"calls":[{"tool_name":"wait","arguments":{"n":1}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#,
    ]);
    let mut child = agent(&place).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    crate::process::eventually("the call is there", || {
        std::fs::read_to_string(place.path("world")).is_ok_and(|world| world.contains("\"wait\""))
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let run = Run::of(pipe(&mut agent(&place), b""));
    assert_eq!(run.last()["outcome"], "done", "{}", run.stderr);
    assert_eq!(read(&place.path("world")).matches("\"wait\"").count(), 1);
    let request = place.requests().pop().unwrap()["messages"].to_string();
    assert!(request.contains("may have been executed, or not"), "{request}");
    let shown = command("agent-loop").arg("show").arg(place.path("session")).output().unwrap();
    let shown = text(&shown.stdout);
    assert!(shown.starts_with("> g\n") && shown.contains("  wait {\"n\":1}") && shown.ends_with("ok\n"), "{shown}");
}

#[test]
fn a_foreign_file_is_refused_and_left_unchanged() {
    let place = Place::new(&[]);
    for (content, why) in [
        ("hello", "not a session file"),
        ("hello\n", "line 1"),
        ("{\"format\":\"other\"}\n", "not a session file of agent-loop"),
    ] {
        std::fs::write(place.path("session"), content).unwrap();
        let run = Run::of(pipe(&mut agent(&place), b""));
        assert_eq!((run.status, run.stderr.contains(why)), (Some(2), true), "{}", run.stderr);
        assert_eq!(read(&place.path("session")), content);
    }
    assert!(binary("agent-loop").exists());
}

const ECHO: &str = r#"{"calls":[{"tool_name":"echo","arguments":{}}]}"#;
const DONE: &str = r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#;

/// Runs the command with the session in the folder.
fn resume(place: &Place, options: &[&str], input: &str) -> Run {
    let session = place.path("session");
    place.run(&[options, &["--session", session.to_str().unwrap()]].concat(), input)
}

#[test]
fn the_same_command_continues_after_any_end() {
    let place = Place::new(&[ECHO, ECHO, DONE]);
    // Continues at a limit, with a new budget.
    let run = resume(&place, &["--goal", "g", "--max-steps", "1"], "");
    assert_eq!(run.last()["outcome"], "limit");
    let run = resume(&place, &["--goal", "g"], "");
    assert_eq!((run.status, &run.last()["outcome"]), (Some(0), &"done".into()), "{}", run.stderr);
    // A reached goal is not started again.
    let requests = place.requests().len();
    let run = resume(&place, &["--goal", "g"], "");
    assert_eq!((run.status, &run.last()["content"]), (Some(0), &"ok".into()), "{}", run.stderr);
    assert_eq!(place.requests().len(), requests);
    // A new goal is started, with the earlier messages.
    let run = resume(&place, &["--goal", "another"], "");
    assert_eq!((run.status, &run.last()["outcome"]), (Some(0), &"done".into()), "{}", run.stderr);
    let last = place.requests().pop().unwrap()["messages"].to_string();
    assert!(last.contains("Goal: g") && last.contains("Goal: another"), "{last}");
    // So is a message.
    let run = resume(&place, &[], "{\"type\":\"user_message\",\"content\":\"and now?\"}\n");
    assert_eq!((run.status, run.of_type("final").len()), (Some(0), 1), "{}", run.stderr);
}

#[test]
fn a_failed_start_is_repeated() {
    let place = Place::new(&[DONE]);
    let session = place.path("session");
    let mut agent = place.agent(&["--goal", "g", "--session", session.to_str().unwrap(), "--", "true"]);
    let run = Run::of(pipe(&mut agent, b""));
    assert_eq!((run.status, &run.last()["outcome"]), (Some(3), &"failed".into()), "{}", run.stderr);
    let run = resume(&place, &["--goal", "g"], "");
    assert_eq!((run.status, &run.last()["outcome"]), (Some(0), &"done".into()), "{}", run.stderr);
    assert_eq!(place.requests().pop().unwrap()["messages"].to_string().matches("Goal: g").count(), 1);
}

#[test]
fn an_interrupted_call_is_reported_in_a_new_conversation_too() {
    let place = Place::new(&[r#"{"calls":[{"tool_name":"wait","arguments":{"pay":1}}]}"#, DONE]);
    let session = place.path("session");
    let mut talk = place.talk(&["--goal", "g", "--session", session.to_str().unwrap()]);
    super::until(&mut talk, |record| record["type"] == "tool_call");
    talk.signal(nix::sys::signal::Signal::SIGKILL);
    talk.end();
    std::fs::write(place.path("script"), DONE).unwrap();
    // Other tools start a new conversation.
    let run = resume(&place, &["--goal", "g", "--deny", "echo"], "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let first = super::said(&place.requests().pop().unwrap()["messages"][0]);
    assert!(first.contains("wait {\"pay\":1}: interrupted, may have been executed"), "{first}");
}

#[test]
fn the_options_of_the_new_command_apply() {
    let place = Place::new(&[ECHO, ECHO, DONE]);
    resume(&place, &["--goal", "g", "--max-steps", "1"], "");
    let run = resume(&place, &["--goal", "g", "--deny", "echo"], "");
    assert_eq!(run.of_type("tool_call").len(), 0, "{:?}", run.records);
    assert!(!place.requests().pop().unwrap()["tools"].to_string().contains("\"echo\""));
}

#[test]
fn an_open_question_is_asked_again() {
    let place =
        Place::new(&[r#"{"calls":[{"tool_name":"assistant_ask","arguments":{"question":"Delete all?"}}]}"#, DONE]);
    let session = place.path("session");
    let mut talk = place.talk(&["--goal", "g", "--session", session.to_str().unwrap()]);
    super::until(&mut talk, |record| record["pending_kind"] == "question");
    talk.signal(nix::sys::signal::Signal::SIGKILL);
    talk.end();
    // A failed start loses nothing.
    let mut agent = place.agent(&["--goal", "g", "--session", session.to_str().unwrap(), "--", "true"]);
    assert_eq!(Run::of(pipe(&mut agent, b"")).status, Some(3));
    let mut talk = place.talk(&["--goal", "g", "--session", session.to_str().unwrap(), "--agent-id", "x"]);
    let question = super::until(&mut talk, |record| record["kind"] == "question");
    assert_eq!((&question["token"], &question["agent_id"]), (&"Delete all?".into(), &"x".into()));
    super::until(&mut talk, |record| record["pending_kind"] == "question");
    talk.receive_nothing_for(300);
    talk.say(r#"{"type":"user_message","content":"no"}"#);
    assert_eq!(talk.end_after_close().status.code(), Some(0));
    let said = place.requests().pop().unwrap()["messages"].to_string();
    assert!(said.contains("The person says: no") && !said.contains("The person says: g"), "{said}");
}

#[test]
fn the_history_has_the_reports_of_earlier_processes() {
    let place = Place::new(&[ECHO, DONE]);
    let first = resume(&place, &[], "{\"type\":\"user_message\",\"content\":\"Look\"}\n");
    let second = resume(&place, &[], "{\"type\":\"history\"}\n");
    let history = second.of_type("history");
    let (last, records) = history.split_last().unwrap();
    assert_eq!(last["is_final"], true);
    let records: Vec<Value> = records.iter().map(|line| line["record"].clone()).collect();
    let message = serde_json::json!({"type": "user_message", "content": "Look"});
    assert!(records.contains(&message), "{records:?}");
    let expected: Vec<&Value> = first.records.iter().collect();
    let reported: Vec<&Value> = records.iter().filter(|record| record["type"] != "user_message").collect();
    assert_eq!(reported[..expected.len()], expected);
    // Without a session file there is no history.
    let run = place.run(&[], "{\"type\":\"history\"}\n");
    assert_eq!(run.of_type("history").len(), 1);
}

#[test]
fn a_session_cut_within_a_character_continues() {
    let place = Place::new(&[DONE]);
    let run = resume(&place, &["--goal", "Цель"], "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let whole = std::fs::read(place.path("session")).unwrap();
    let torn = [&whole[..], "{\"t\":1,\"in\":\"person\",\"line\":\"Ц".as_bytes()].concat();
    std::fs::write(place.path("session"), &torn[..torn.len() - 1]).unwrap();
    let run = resume(&place, &["--goal", "Цель"], "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
}

#[test]
fn a_session_must_be_a_regular_file() {
    let place = Place::new(&[DONE]);
    let fifo = place.path("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for path in ["/dev/full", "/dev/zero", "/", fifo.to_str().unwrap()] {
        let run = place.run(&["--goal", "g", "--session", path], "");
        assert_eq!((run.status, run.stderr.contains("not a regular file")), (Some(2), true), "{}", run.stderr);
        let shown = command("agent-loop").args(["show", path]).output().unwrap();
        assert_eq!(shown.status.code(), Some(2), "{}", text(&shown.stderr));
    }
}

#[test]
fn a_gate_that_holds_a_call_ends_with_the_loop() {
    let place = Place::new(&[ECHO]);
    let rules = place.path("rules.toml");
    std::fs::write(&rules, "[[rule]]\nid = \"ask\"\nverdict = \"confirm\"\ntool = \"*\"\n").unwrap();
    let [questions, answers] = ["questions", "answers"].map(|name| place.path(name));
    nix::unistd::mkfifo(&answers, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut agent = place.agent(&["--goal", "g", "--"]);
    agent.arg(binary("policy-check")).args(["--confirm", "mark", "--rules"]).arg(&rules).arg("--");
    agent.arg(binary("hitl-gate")).arg("--answers").arg(&answers).arg("--events").arg(&questions).arg("--");
    let world =
        format!("echo $PPID >'{}'; exec '{}'", place.path("gate").display(), example("stand-in-world").display());
    agent.args(["sh", "-c", &world]);
    let mut talk = crate::process::Talk::start(&mut agent);
    let _answers = std::fs::File::options().write(true).open(&answers).unwrap();
    super::until(&mut talk, |record| record["pending_kind"] == "confirm");
    let gate: i32 = read(&place.path("gate")).trim().parse().unwrap();
    assert!(crate::process::is_running(gate));
    talk.signal(nix::sys::signal::Signal::SIGKILL);
    crate::process::eventually("the gate has ended", || !crate::process::is_running(gate));
}
