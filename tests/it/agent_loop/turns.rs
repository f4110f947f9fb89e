//! Turns with several calls.

use super::{Place, Run, call, done, read, said, until};
use serde_json::Value;

/// A turn that makes these calls.
fn turn(calls: &[(&str, &str)]) -> String {
    let calls: Vec<String> =
        calls.iter().map(|(tool, arguments)| format!(r#"{{"tool_name":"{tool}","arguments":{arguments}}}"#)).collect();
    format!(r#"{{"text":"I go on.","calls":[{}]}}"#, calls.join(","))
}

/// The results in the last request: the id of the call, whether it is an error, and the text.
fn results(place: &Place) -> Vec<(String, bool, String)> {
    let request = place.requests().pop().unwrap();
    let messages = request["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    results.map(|message| (text(&message["call_id"]), message["is_error"] == true, said(message))).collect()
}

fn made(run: &Run) -> Vec<&str> {
    run.of_type("tool_call").iter().map(|call| call["tool_name"].as_str().unwrap()).collect()
}

#[test]
fn reads_of_one_turn_are_carried_out_in_order() {
    let place =
        Place::new(&[&turn(&[("echo", r#"{"n":1}"#), ("echo", r#"{"n":2}"#), ("echo", r#"{"n":3}"#)]), &done("")]);
    let steps = place.path("steps");
    let run = place.run(&["--goal", "g", "--steps", steps.to_str().unwrap()], "");
    assert_eq!((run.status, &run.last()["steps"]), (Some(0), &2.into()), "{}", run.stderr);
    let results = results(&place);
    for (place, (call_id, is_error, text)) in results.iter().enumerate() {
        let shows = format!("{{\"n\":{}}}", place + 1);
        assert!(*call_id == format!("call_0_{place}") && !is_error && text.contains(&shows), "{results:?}");
    }
    assert_eq!(results.len(), 3);
    // The log has an event for each call.
    let steps = read(&steps);
    let events = steps.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let events: Vec<(Value, Value)> =
        events.map(|event| (event["step"].clone(), event["call"]["args"]["n"].clone())).collect();
    let expected = [(1, 1.into()), (1, 2.into()), (1, 3.into()), (2, Value::Null)];
    assert_eq!(events, expected.map(|(step, n)| (Value::from(step), n)));
}

#[test]
fn of_two_actions_the_first_is_carried_out_and_notes_are_no_actions() {
    let plan = ("assistant_plan", r#"{"steps":[{"id":"1","desc":"Look"}]}"#);
    let progress = ("assistant_progress", r#"{"step_id":"1","status":"done"}"#);
    let (look, act) = (("echo", "{}"), ("say", r#"{"line":"one"}"#));
    let place = Place::new(&[&turn(&[plan, look, act, ("say", r#"{"line":"two"}"#), look, progress]), &done("")]);
    let run = place.run(&["--goal", "g"], "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    assert_eq!(made(&run), ["echo", "say"]);
    let results = results(&place);
    let ids: Vec<&str> = results.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["call_0_0", "call_0_1", "call_0_2", "call_0_3", "call_0_4", "call_0_5"]);
    let errors: Vec<bool> = results.iter().map(|(_, is_error, _)| *is_error).collect();
    assert_eq!(errors, [false, false, false, true, true, false], "{results:?}");
    assert!(results[3].2.contains("only the first action of a turn is"), "{results:?}");
    assert_eq!(run.of_type("plan_progress").len(), 1);
}

#[test]
fn an_end_behind_a_read_waits_for_what_was_read() {
    let end = ("assistant_done", r#"{"reason":"It is there.","evidence":"x"}"#);
    let place = Place::new(&[&turn(&[("echo", "{}"), end]), &call("fail", "{}"), &done("")]);
    let run = place.run(&["--goal", "g"], "");
    assert_eq!(made(&run), ["echo", "fail"], "{}", run.stderr);
    assert!(results(&place)[1].2.contains("the results of the other calls come first"), "{:?}", results(&place));
}

#[test]
fn an_unreadable_call_stops_the_calls_behind_it_only() {
    let place = Place::new(&[&turn(&[("echo", "{}"), ("nothing", "{}"), ("echo", "{}")]), &done("")]);
    let run = place.run(&["--goal", "g"], "");
    assert_eq!((run.status, made(&run)), (Some(0), vec!["echo"]), "{}", run.stderr);
    let results = results(&place);
    assert!(results[1].2.contains("there is no tool \"nothing\""), "{results:?}");
    assert!(results[2].2.contains("a call before it has an error"), "{results:?}");
}

#[test]
fn calls_that_a_cancelled_turn_did_not_make_have_a_result() {
    let place = Place::new(&[&turn(&[("wait", "{}"), ("echo", "{}"), ("echo", "{}")]), r#"{"text":"Stopped."}"#]);
    let profile = place.path("profile.toml");
    std::fs::write(&profile, "looks = [\"wait\"]\n").unwrap();
    let mut talk = place.talk(&["--profile", profile.to_str().unwrap()]);
    talk.say(r#"{"type":"user_message","content":"Look"}"#);
    until(&mut talk, |record| record["type"] == "tool_call");
    talk.say(r#"{"type":"cancel"}"#);
    until(&mut talk, |record| record["type"] == "final");
    talk.say(r#"{"type":"user_message","content":"Why?"}"#);
    until(&mut talk, |record| record["type"] == "final" && record["content"] == "Stopped.");
    let run = Run::of_talk(&talk.end_after_close());
    assert!(made(&run).len() <= 1, "{:?}", run.records);
    let results = results(&place);
    assert_eq!(results.len(), 3, "{results:?}");
    assert!(results[0].2.contains("cancelled") && results[2].2.contains("interrupted"), "{results:?}");
}

#[test]
fn an_argument_that_is_given_twice_is_no_call() {
    // The script is JSON, in which a key could not be repeated.
    let twice = r#"{"text":"function_call: name=echo args={\"to\":\"a\",\"to\":\"b\"}"}"#;
    let place = Place::new(&[twice, &done("")]);
    let run = place.run(&["--goal", "g"], "");
    assert_eq!(made(&run), Vec::<&str>::new(), "{}", run.stderr);
    let said = said(place.requests()[1]["messages"].as_array().unwrap().last().unwrap());
    assert!(said.contains("\"to\"") && said.contains("appears twice"), "{said}");
}
