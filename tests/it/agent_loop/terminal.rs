//! A person at a terminal, where both the loop and a gate ask.

use super::Place;
use crate::process::{binary, example, with_a_person};

#[test]
fn a_gate_and_the_loop_ask_at_one_terminal() {
    let place = Place::new(&[
        r#"{"text":"I echo.","calls":[{"tool_name":"echo","arguments":{}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_ask","arguments":{"question":"Red or blue?","options":["red","blue"]}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"Red it is."}}]}"#,
    ]);
    let rules = place.path("rules.toml");
    std::fs::write(&rules, "[[rule]]\nid = \"ask\"\nverdict = \"confirm\"\ntool = \"echo\"\n").unwrap();
    let mut agent = place.agent(&["--goal", "g", "--"]);
    agent.arg(binary("policy-check")).args(["--confirm", "mark", "--rules"]).arg(&rules).arg("--");
    agent.arg(binary("hitl-gate")).arg("--").arg(example("stand-in-world")).env("TERM", "dumb");
    let mut person = with_a_person(agent);
    person.exp_string("I echo.").unwrap();
    person.exp_string("may this call pass?").unwrap();
    person.exp_string("> ").unwrap();
    person.send_line("y").unwrap();
    // The call has passed before the gate says so, and the loop may be faster.
    let mut shown = person.exp_string("Red or blue?\r\n  red\r\n  blue\r\nYour answer:").unwrap();
    person.send_line("red").unwrap();
    shown += &person.exp_string("Red it is.").unwrap();
    person.exp_eof().unwrap();
    assert!(shown.contains("approved"), "{shown}");
    assert!(super::read(&place.path("requests")).contains("The person says: red"));
}

#[test]
fn input_before_a_question_does_not_answer_it_and_texts_keep_their_lines() {
    let place = Place::new(&[
        r#"{"calls":[{"tool_name":"assistant_plan","arguments":{"steps":["look","act"]}}],"sleep_ms":2000}"#,
        r#"{"calls":[{"tool_name":"assistant_ask","arguments":{"question":"Delete all?"}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_done","arguments":{"reason":"First line.\nSecond line."}}]}"#,
    ]);
    let mut agent = place.agent(&["--goal", "g", "--"]);
    agent.arg(example("stand-in-world")).env("TERM", "dumb");
    let mut person = with_a_person(agent);
    person.send_line("yes").unwrap();
    person.exp_string("  [running] look\r\n  [pending] act\r\n").unwrap();
    person.exp_string("Your answer:").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    person.send_line("no").unwrap();
    person.exp_string("First line.\r\nSecond line.\r\n").unwrap();
    person.exp_eof().unwrap();
    let requests = super::read(&place.path("requests"));
    assert!(requests.contains("The person says: no") && !requests.contains("The person says: yes"), "{requests}");
}
