//! Actions of a person during a run: approving, cancelling, answering, calling a tool, ending the process.

use super::{Place, Run, read, said, until};
use crate::process::{Talk, binary, example};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

const DONE: &str = r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#;
const WAIT: &str = r#"{"calls":[{"tool_name":"wait","arguments":{}}]}"#;

/// A run behind gates; the person answers the question about each call late, with this answer.
fn held(place: &Place, answer: &'static str) -> Run {
    let rules = place.path("rules.toml");
    std::fs::write(&rules, "[[rule]]\nid = \"ask\"\nverdict = \"confirm\"\ntool = \"*\"\n").unwrap();
    let [questions, answers] = ["questions", "answers"].map(|name| place.path(name));
    for fifo in [&questions, &answers] {
        nix::unistd::mkfifo(fifo, Mode::S_IRWXU).unwrap();
    }
    let mut agent = place.agent(&["--goal", "g", "--deadline", "4", "--"]);
    agent.arg(binary("policy-check")).args(["--confirm", "mark", "--rules"]).arg(&rules).arg("--");
    agent.arg(binary("hitl-gate")).arg("--answers").arg(&answers).arg("--events").arg(&questions).arg("--");
    agent.arg(example("stand-in-world"));
    let approver = std::thread::spawn(move || {
        let questions = BufReader::new(std::fs::File::open(questions).unwrap());
        let mut answers = std::fs::File::options().write(true).open(answers).unwrap();
        let questions = questions.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        for question in questions.filter(|question| question["status"] == "waiting_human") {
            // Longer than the loop's deadline.
            std::thread::sleep(Duration::from_millis(4500));
            let (id, nonce) = (&question["call_id"], &question["nonce"]);
            let line = format!(r#"{{"type":"hitl_response","call_id":{id},"nonce":{nonce},{answer}}}"#);
            writeln!(answers, "{line}").unwrap();
        }
    });
    let run = Run::of(crate::process::pipe(&mut agent, b""));
    approver.join().unwrap();
    run
}

#[test]
fn the_first_question_that_nobody_can_answer_is_answered_and_the_second_ends_the_run() {
    const ASK: &str = r#"{"calls":[{"tool_name":"assistant_ask","arguments":{"question":"Red or blue?"}}]}"#;
    for (script, outcome) in [([ASK, DONE], "done"), ([ASK, ASK], "failed")] {
        let place = Place::new(&script);
        let run = place.run(&["--goal", "g"], "");
        assert_eq!((place.requests().len(), &run.last()["outcome"]), (2, &outcome.into()), "{}", run.stderr);
        let second = place.requests()[1]["messages"].to_string();
        assert!(second.contains("Nobody is there to answer"), "{second}");
    }
}

#[test]
fn the_clock_stops_while_a_call_is_held_and_the_model_gets_the_changed_result() {
    let place = Place::new(&[r#"{"calls":[{"tool_name":"echo","arguments":{"n":1}}]}"#, DONE]);
    let run = held(&place, r#""action":"edit","edited_arguments":{"n":2}"#);
    assert_eq!((run.status, &run.last()["outcome"]), (Some(0), &"done".into()), "{}", run.stderr);
    let statuses = run.of_type("status");
    let held = statuses.iter().position(|status| status["pending_kind"] == "confirm").unwrap();
    assert_eq!(statuses[held]["pending_action"]["tool_name"], "echo");
    assert_eq!(
        (&statuses[held + 1]["status"], &statuses[held + 2]["status"]),
        (&"edited_by_human".into(), &"running".into())
    );
    let request = place.requests()[1]["messages"].to_string();
    assert!(request.contains("changed arguments of this call: n."), "{request}");
}

#[test]
fn the_person_gets_the_tools_of_the_world_and_the_reasoning_of_the_model() {
    let thinking = DONE.replacen('{', r#"{"reasoning":"It is easy.","#, 1);
    let place = Place::new(&[&thinking]);
    // The first request precedes the world's list.
    let mut talk = place.talk(&[]);
    talk.say(r#"{"type":"list_tools","request_id":7}"#);
    let list = until(&mut talk, |record| record["type"] == "tool_list");
    let names: Vec<&Value> = list["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert!(list["request_id"] == 7 && names.contains(&&"echo".into()), "{list}");
    assert!(!names.contains(&&"assistant_done".into()), "what only the model can call: {list}");
    talk.say(r#"{"type":"list_tools"}"#);
    assert_eq!(until(&mut talk, |record| record["type"] == "tool_list")["tools"], list["tools"]);
    talk.say(r#"{"type":"user_message","content":"g"}"#);
    let thought = until(&mut talk, |record| record["kind"] == "thought");
    assert_eq!((&thought["token"], &thought["is_final"]), (&"It is easy.".into(), &true.into()));
    talk.close();
    assert_eq!(talk.end().status.code(), Some(0));
}

#[test]
fn the_clock_continues_after_an_approval() {
    let run = held(&Place::new(&[WAIT]), r#""action":"approve""#);
    assert_eq!((run.status, &run.last()["outcome"]), (Some(124), &"limit".into()), "{}", run.stderr);
}

#[test]
fn a_call_is_cancelled_and_the_session_continues() {
    let place = Place::new(&[WAIT, DONE]);
    let mut talk = place.talk(&[]);
    talk.say(r#"{"type":"user_message","content":"first"}"#);
    until(&mut talk, |record| record["type"] == "tool_call");
    talk.say(r#"{"type":"cancel"}"#);
    let last = until(&mut talk, |record| record["type"] == "final");
    assert_eq!((&last["outcome"], &last["exit_status"]), (&"cancelled".into(), &1.into()));
    talk.say(r#"{"type":"user_message","content":"second"}"#);
    let last = until(&mut talk, |record| record["type"] == "final");
    assert_eq!((&last["outcome"], &last["exit_status"]), (&"done".into(), &0.into()));
    assert_eq!(talk.end_after_close().status.code(), Some(1), "a goal was not reached");
    let request = place.requests()[1]["messages"].to_string();
    assert!(request.contains("the call was cancelled, and may have been executed"), "{request}");
}

#[test]
fn a_request_is_cancelled_and_its_late_turn_is_dropped() {
    let place =
        Place::new(&[r#"{"calls":[{"tool_name":"echo","arguments":{"n":1}}],"sleep_ms":400}"#, r#"{"text":"."}"#]);
    let mut talk = place.talk(&[]);
    talk.say(r#"{"type":"user_message","content":"first"}"#);
    crate::process::eventually("the model is asked", || !place.requests().is_empty());
    talk.say(r#"{"type":"cancel"}"#);
    until(&mut talk, |record| record["type"] == "final" && record["outcome"] == "cancelled");
    talk.receive();
    talk.receive_nothing_for(600);
    assert_eq!(talk.end_after_close().status.code(), Some(1));
}

#[test]
fn replies_are_masked_in_the_events_of_steps() {
    let place = Place::new(&[
        r#"{"calls":[{"tool_name":"assistant_ask","arguments":{"question":"Is it ann@example.com?"}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_ask","arguments":{"question":"Which one-time code did you get?"}}]}"#,
        DONE,
    ]);
    let steps = place.path("steps");
    let mut talk = place.talk(&["--goal", "g", "--steps", steps.to_str().unwrap()]);
    until(&mut talk, |record| record["pending_kind"] == "question");
    talk.say(r#"{"type":"user_message","content":"no, bob@example.com"}"#);
    until(&mut talk, |record| record["pending_kind"] == "manual");
    talk.say(r#"{"type":"user_message","content":"it is 481516"}"#);
    assert_eq!(talk.end_after_close().status.code(), Some(0));
    let events: Vec<Value> = read(&steps).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(events[0]["ask"]["question"], "Is it <EMAIL_1>?");
    assert_eq!(events[0]["ask"]["user_reply"], "no, <EMAIL_2>");
    assert_eq!(events[1]["ask"]["user_reply"], "<HIDDEN>");
    assert!(!read(&steps).contains("481516"));
}

#[test]
fn the_person_can_call_while_a_call_of_the_loop_is_open() {
    let place = Place::new(&[WAIT, DONE]);
    let mut talk = place.talk(&[]);
    talk.say(r#"{"type":"user_message","content":"g"}"#);
    let call = until(&mut talk, |record| record["type"] == "tool_call");
    assert_eq!(call["call_id"], "a1");
    // The id of the loop's own call: the two results could not be distinguished.
    talk.say(r#"{"type":"tool_call","call_id":"a1","tool_name":"echo","arguments":{}}"#);
    let error = until(&mut talk, |record| record["type"] == "error");
    assert!(error["content"].as_str().unwrap().contains("\"a1\""), "{error}");
    talk.say(r#"{"type":"tool_call","call_id":"mine","tool_name":"release","arguments":{}}"#);
    // The model may be asked before the world has answered the person.
    let mut awaited = vec!["a1", "mine", "done"];
    while !awaited.is_empty() {
        let record = until(&mut talk, |record| record["type"] == "tool_result" || record["type"] == "final");
        awaited.retain(|name| record["call_id"] != *name && record["outcome"] != *name);
    }
    assert_eq!(talk.end_after_close().status.code(), Some(1), "a line was refused");
    let request = place.requests()[1]["messages"].as_array().unwrap().iter().map(said).collect::<String>();
    assert!(request.contains("The person has called release"), "{request}");
}

#[test]
fn the_final_record_of_an_interrupted_run_has_the_status_of_the_process() {
    for (signal, status) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let place = Place::new(&[WAIT]);
        let mut talk = place.talk(&["--goal", "g"]);
        until(&mut talk, |record| record["type"] == "tool_call");
        talk.signal(signal);
        let last = until(&mut talk, |record| record["type"] == "final");
        assert_eq!((&last["outcome"], &last["exit_status"]), (&"cancelled".into(), &status.into()));
        use std::os::unix::process::ExitStatusExt;
        assert_eq!(talk.end().status.signal(), Some(signal as i32));
    }
}

/// A world on another machine, behind ssh, does not get the signal.
#[test]
fn a_signal_cancels_the_call_under_way() {
    let place = Place::new(&[WAIT]);
    let mut agent = place.agent(&["--goal", "g"]);
    agent.arg("--").arg(binary("jsonl-record")).arg(place.path("log")).arg("--").arg(example("stand-in-world"));
    let mut talk = Talk::start(&mut agent);
    until(&mut talk, |record| record["type"] == "tool_call");
    talk.signal(Signal::SIGTERM);
    talk.end();
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    assert!(log.contains(r#""dir":"in","msg":{"type":"cancel","call_id":"a1"}"#), "{log}");
}
