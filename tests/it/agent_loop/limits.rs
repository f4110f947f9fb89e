//! Runs that end without their goal.

use super::{Place, said};
use serde_json::Value;

fn echo(n: u32) -> String {
    format!(r#"{{"calls":[{{"tool_name":"echo","arguments":{{"n":{n}}}}}]}}"#)
}

#[test]
fn a_run_ends_at_its_steps_with_a_report() {
    let script = [echo(1), echo(2), r#"{"text":"I did two of three."}"#.to_owned()];
    let place = Place::new(&script.each_ref().map(String::as_str));
    let run = place.run(&["--goal", "g", "--max-steps", "2"], "");
    let last = run.last();
    assert_eq!((run.status, &last["outcome"], &last["limit"]), (Some(1), &"limit".into(), &"steps".into()));
    assert_eq!(last["content"], "stopped: the limit of 2 steps is reached\nI did two of three.");
    let requests = place.requests();
    assert_eq!((requests.len(), &requests[2]["tool_choice"]), (3, &"none".into()));
    assert!(said(requests[1]["messages"].as_array().unwrap().last().unwrap()).contains("[left: 1 steps]"));
}

#[test]
fn a_call_in_place_of_the_report_is_not_shown_to_a_person() {
    let place = Place::new(&[&echo(1), r#"{"text":"{\"mode\":\"act\",\"tool\":\"echo\",\"args\":{\"n\":2}}"}"#]);
    let last = place.run(&["--goal", "g", "--max-steps", "1"], "").last().clone();
    let content = last["content"].as_str().unwrap();
    assert!(
        content.starts_with("stopped: the limit of 1 steps is reached\n") && !content.contains("mode"),
        "{content}"
    );
    assert!(content.contains("echo {\"n\":1}"), "{content}");
}

#[test]
fn a_session_sums_up_after_ten_actions_and_asks() {
    let mut script: Vec<String> = (0..10).map(echo).collect();
    script.push(r#"{"text":"Ten echoes. Go on?"}"#.to_owned());
    script.push(r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#.to_owned());
    let script: Vec<&str> = script.iter().map(String::as_str).collect();
    let place = Place::new(&script);
    let mut talk = place.talk(&[]);
    talk.say(r#"{"type":"user_message","content":"Echo a lot"}"#);
    let mut records = Vec::new();
    while records.last().is_none_or(|record: &serde_json::Value| record["pending_kind"] != "question") {
        records.push(serde_json::from_str(&talk.receive()).unwrap());
    }
    assert!(records.iter().any(|record| record["kind"] == "summary" && record["token"] == "Ten echoes. Go on?"));
    talk.say(r#"{"type":"user_message","content":"go on"}"#);
    let run = super::Run::of_talk(&talk.end_after_close());
    assert_eq!((run.status, &run.last()["steps"]), (Some(0), &11.into()));
}

#[test]
fn a_model_that_repeats_itself_is_warned_once_and_then_stopped() {
    let place = Place::new(&[&*echo(1); 7]);
    let run = place.run(&["--goal", "g"], "");
    let last = run.last();
    assert_eq!((run.status, &last["outcome"]), (Some(1), &"limit".into()), "{last}");
    assert!(last["content"].as_str().unwrap().contains("it goes in circles"), "{last}");
    assert!(place.requests()[3]["messages"].to_string().contains("You are going in circles"));
}

#[test]
fn how_often_an_action_may_repeat_is_a_setting() {
    let repeated = |options: &[&str]| {
        let place = Place::new(&[&*echo(1); 7]);
        let run = place.run(&[&["--goal", "g", "--max-steps", "7"], options].concat(), "");
        assert_eq!(run.last()["outcome"], "limit", "{}", run.stderr);
        let first = place.requests().iter().position(|request| request["messages"].to_string().contains("in circles"));
        (first, run.last()["limit"].clone())
    };
    assert_eq!(repeated(&[]), (Some(3), "circles".into()));
    assert_eq!(repeated(&["--max-repeats", "5"]), (Some(5), "steps".into()));
    assert_eq!(repeated(&["--max-repeats", "0"]), (None, "steps".into()));
    let run = Place::new(&[]).run(&["--goal", "g", "--max-repeats", "1"], "");
    assert!(run.status == Some(2) && run.stderr.contains("0, or a number from 2"), "{}", run.stderr);
}

#[test]
fn a_poll_whose_answers_change_is_no_repetition() {
    let poll = r#"{"calls":[{"tool_name":"seen","arguments":{}}]}"#;
    let profile = "[[observe]]\ntool = \"region\"\narguments = { region = \"a\" }\n";
    // What the world shows stays the same, and the result of each `seen` has one more line.
    let place = Place::new(&[[poll; 12].as_slice(), &[&super::done("")]].concat());
    std::fs::write(place.path("profile.toml"), profile).unwrap();
    let path = place.path("profile.toml");
    let run = place.run(&["--goal", "g", "--profile", path.to_str().unwrap()], "");
    assert_eq!(run.last()["outcome"], "done", "{:?}", run.last());
    assert!(!place.requests().pop().unwrap()["messages"].to_string().contains("in circles"));
    // Different calls that change nothing are one.
    let calls: Vec<String> = (0..12).map(echo).collect();
    let place = Place::new(&calls.iter().map(String::as_str).collect::<Vec<_>>());
    std::fs::write(place.path("profile.toml"), profile).unwrap();
    let path = place.path("profile.toml");
    let run = place.run(&["--goal", "g", "--profile", path.to_str().unwrap(), "--max-unchanged", "4"], "");
    assert_eq!((&run.last()["limit"], &run.last()["steps"]), (&"circles".into(), &8.into()), "{:?}", run.last());
}

#[test]
fn an_action_that_changes_nothing_is_said() {
    let place = Place::new(&[&echo(1), r#"{"calls":[{"tool_name":"fail","arguments":{}}]}"#, &super::done("")]);
    let profile = place.path("profile.toml");
    std::fs::write(&profile, "[[observe]]\ntool = \"region\"\n").unwrap();
    let run = place.run(&["--goal", "g", "--profile", profile.to_str().unwrap()], "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let requests = place.requests();
    let news = |request: usize| {
        let last = requests[request]["messages"].as_array().unwrap().last().unwrap();
        said(last).contains("nothing that is shown has changed")
    };
    // A failure is news itself.
    assert_eq!((news(0), news(1), news(2)), (false, true, false), "{}", requests[1]);
}

#[test]
fn turns_that_decide_nothing_are_reported_to_the_model_three_times() {
    let place = Place::new(&[
        r#"{"text":"Hm."}"#,
        r#"{"calls":[{"tool_name":"nothing","arguments":{}}]}"#,
        r#"{"calls":[{"tool_name":"echo","arguments_text":"{\"a\":"}]}"#,
    ]);
    let run = place.run(&["--goal", "g"], "");
    let last = run.last();
    assert_eq!((run.status, &last["outcome"]), (Some(1), &"failed".into()));
    assert!(last["content"].as_str().unwrap().contains("3 turns of the model in a row decide nothing"), "{last}");
    assert_eq!(run.of_type("tool_call").len(), 0);
    assert!(said(&place.requests()[1]["messages"][2]).contains("the turn holds no call"));
}

#[test]
fn a_turn_of_text_alone_is_the_answer_in_a_conversation() {
    let place = Place::new(&[&*echo(1), r#"{"text":"It said 1."}"#]);
    let run = place.run(&[], "{\"type\":\"user_message\",\"content\":\"echo\"}\n");
    let last = run.last();
    assert_eq!((run.status, &last["outcome"], &last["content"]), (Some(0), &"done".into(), &"It said 1.".into()));
    assert!(place.requests().iter().all(|request| request.get("tool_choice").is_none()));
}

#[test]
fn with_a_goal_a_model_that_writes_text_alone_must_call_a_tool_next() {
    let place = Place::new(&[r#"{"text":"The goal is reached."}"#, &super::done("")]);
    let run = place.run(&["--goal", "g"], "");
    assert_eq!((run.status, run.last()["outcome"].as_str()), (Some(0), Some("done")), "{:?}", run.records);
    let requests = place.requests();
    assert_eq!((&requests[0]["tool_choice"], &requests[1]["tool_choice"]), (&Value::Null, &"any".into()));
    assert!(said(&requests[1]["messages"][2]).contains("Is the goal reached?"));
}

#[test]
fn a_refusal_and_a_failure_of_the_model_end_the_run() {
    for (turn, content) in [
        (r#"{"text":"I may not.","stop":"refusal"}"#, "the model refuses: I may not."),
        (r#"{"error":"no key","kind":"auth"}"#, "the model failed: auth: no key"),
    ] {
        let run = Place::new(&[turn]).run(&["--goal", "g"], "");
        let last = run.last();
        assert_eq!((run.status, &last["outcome"], &last["content"]), (Some(1), &"failed".into(), &content.into()));
    }
}

#[test]
fn a_deadline_ends_a_run_that_waits() {
    let place = Place::new(&[r#"{"calls":[{"tool_name":"wait","arguments":{}}]}"#]);
    let run = place.run(&["--goal", "g", "--deadline", "0.5"], "");
    let last = run.last();
    assert_eq!((run.status, &last["outcome"], &last["limit"]), (Some(124), &"limit".into(), &"time".into()));
    assert!(last["content"].as_str().unwrap().contains("the limit of 0.5 s"), "{last}");
}

#[test]
fn what_is_denied_is_counted_and_makes_the_status_1() {
    let place = Place::new(&[
        r#"{"calls":[{"tool_name":"fail","arguments":{}}]}"#,
        r#"{"calls":[{"tool_name":"echo","arguments":{}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#,
    ]);
    let rules = place.path("rules.toml");
    std::fs::write(&rules, "[[rule]]\nid = \"no\"\nverdict = \"deny\"\ntool = \"echo\"\n").unwrap();
    let mut agent = place.agent(&["--goal", "g", "--"]);
    agent.arg(crate::process::binary("policy-check")).arg("--rules").arg(&rules).arg("--");
    agent.arg(crate::process::example("stand-in-world"));
    let run = super::Run::of(crate::process::pipe(&mut agent, b""));
    let last = run.last();
    assert_eq!(
        (run.status, &last["outcome"], &last["denied"]),
        (Some(1), &"done".into(), &1.into()),
        "{:?}",
        run.records
    );
}

#[test]
fn tokens_and_cost_are_limited() {
    let turn = r#"{"calls":[{"tool_name":"echo","arguments":{}}],"usage":{"input":60,"output":40,"cost":0.1}}"#;
    let unpriced = r#"{"calls":[{"tool_name":"echo","arguments":{}}],"usage":{"input":60,"output":40}}"#;
    for (option, limit, turn, why, calls) in [
        ("--max-tokens", "150", turn, "stopped: the limit of 150 tokens is reached", 2),
        ("--max-cost", "0.25", turn, "stopped: the limit of $0.25 is reached", 3),
        (
            "--max-cost",
            "0.25",
            unpriced,
            "the cost is limited, but the model command does not report the cost of a turn",
            0,
        ),
    ] {
        let run = Place::new(&[turn, turn, turn, turn]).run(&["--goal", "g", option, limit], "");
        let last = run.last();
        assert_eq!((run.status, run.of_type("tool_call").len()), (Some(1), calls), "{last}");
        assert!(last["content"].as_str().unwrap().starts_with(why), "{last}");
        let cost = last["usage"]["cost"].as_f64();
        assert_eq!(cost, (calls > 0).then(|| calls as f64 / 10.0), "{last}");
    }
    let run = Place::new(&[]).run(&["--goal", "g", "--max-cost", "much"], "");
    assert_eq!((run.status, run.stderr.contains("such as 0.50")), (Some(2), true), "{}", run.stderr);
}

#[test]
fn an_overlong_result_is_cut_or_reported_and_the_run_continues() {
    let big = |bytes: u32| format!(r#"{{"calls":[{{"tool_name":"big","arguments":{{"bytes":{bytes}}}}}]}}"#);
    let place = Place::new(&[
        &big(20_000),
        &big(200_000),
        r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#,
    ]);
    let run = place.run(&["--goal", "g", "--max-result", "100k"], "");
    assert_eq!(run.last()["outcome"], "done", "{}", run.stderr);
    let requests = place.requests();
    let last = requests[2]["messages"].as_array().unwrap();
    assert!(said(&last[2]).contains("[cut: 4000 more bytes]"), "{}", last[2]);
    assert!(said(&last[5]).contains("too_large") && last[5]["is_error"] == true, "{}", last[5]);
}

#[test]
fn unreadable_turns_are_reported_to_the_model_and_the_third_ends_the_run() {
    for (turn, why) in [
        (r#"{"calls":[{"tool_name":"echo","arguments":null}]}"#, "arguments"),
        (r#"{"calls":{},"stop":"call"}"#, "calls"),
        (r#"{"request_id":7,"calls":[]}"#, "request_id"),
    ] {
        let place = Place::new(&[turn, turn, turn]);
        let run = place.run(&["--goal", "g", "--deadline", "20"], "");
        let last = run.last();
        assert_eq!((run.status, &last["outcome"]), (Some(1), &"failed".into()), "{turn}: {last}");
        assert!(last["content"].as_str().unwrap().contains(why), "{turn}: {last}");
        let request = place.requests().pop().unwrap()["messages"].to_string();
        assert!(request.contains("the turn cannot be read"), "{request}");
    }
    let long = format!(r#"{{"text":"{}"}}"#, "x".repeat(200_000));
    let place = Place::new(&[&long]);
    let run = place.run(&["--goal", "g", "--max-result", "100k"], "");
    assert!(run.last()["content"].as_str().unwrap().contains("longer than --max-result"), "{}", run.last());
}

#[test]
fn time_spent_waiting_for_the_person_does_not_count() {
    let ask = r#"{"calls":[{"tool_name":"assistant_ask","arguments":{"question":"Red?"}}]}"#;
    let place = Place::new(&[ask, r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#]);
    let mut talk = place.talk(&["--goal", "g", "--deadline", "4"]);
    super::until(&mut talk, |record| record["pending_kind"] == "question");
    std::thread::sleep(std::time::Duration::from_millis(4500));
    talk.say(r#"{"type":"user_message","content":"yes"}"#);
    assert_eq!(talk.end_after_close().status.code(), Some(0));
}

#[test]
fn different_calls_with_equal_results_are_not_a_repetition() {
    let row = |n: u32| format!(r#"{{"calls":[{{"tool_name":"result","arguments":{{"result":"ok","row":{n}}}}}]}}"#);
    let mut script: Vec<String> = (0..13).map(row).collect();
    script.push(r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#.to_owned());
    let place = Place::new(&script.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(place.run(&["--goal", "g"], "").last()["outcome"], "done");
}

#[test]
fn a_new_conversation_has_the_persons_messages() {
    let ask = r#"{"calls":[{"tool_name":"assistant_ask","arguments":{"question":"Which colour?"}}]}"#;
    let echo = r#"{"calls":[{"tool_name":"echo","arguments":{"n":1}}],"usage":{"input":5000,"output":1}}"#;
    let overflow = r#"{"error":"too long","kind":"overflow"}"#;
    let done = r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#;
    for script in [[ask, echo, done], [ask, overflow, done]] {
        let place = Place::new(&script);
        let mut talk = place.talk(&["--goal", "Buy a lamp", "--compact-at", "4000"]);
        super::until(&mut talk, |record| record["pending_kind"] == "question");
        talk.say(r#"{"type":"user_message","content":"BLUE, and never red"}"#);
        talk.end_after_close();
        let requests = place.requests();
        let first = said(&requests[2]["messages"][0]);
        assert!(first.contains("Goal: Buy a lamp") && first.contains("BLUE, and never red"), "{script:?}: {first}");
    }
}

#[test]
fn an_answer_to_a_summary_continues_a_run_with_a_goal() {
    let done = r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"ok"}}]}"#;
    let place = Place::new(&[&echo(1), &echo(2), r#"{"text":"Two. Go on?"}"#, &echo(3), done]);
    let mut talk = place.talk(&["--goal", "g", "--turn-steps", "2"]);
    super::until(&mut talk, |record| record["pending_kind"] == "question");
    talk.say(r#"{"type":"user_message","content":"go on"}"#);
    let last = super::until(&mut talk, |record| record["type"] == "final" || record["pending_kind"] == "question");
    assert_eq!(last["outcome"], "done");
}
