//! Programs of the same user that connect to `hitl-gate attach` and ask false questions, to hide the real one from the person.

use super::approvers::{Place, decided, decision, hold};
use super::{MARKED, PROMPT};
use crate::process::{Talk, eventually};
use rexpect::session::PtySession;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// The socket of the only `attach` in a place.
fn socket(place: &Place) -> PathBuf {
    let folders = std::fs::read_dir(place.folder.path().join("pipewright")).unwrap();
    let mut sockets = folders.map(|folder| folder.unwrap().path().join("socket"));
    sockets.next().unwrap()
}

/// A part of the real question on the screen.
const REAL: &str = "id 1, waiting";

/// A question that imitates one of a gate of Claude's.
fn question(nonce: &str) -> String {
    let fields =
        r#""status":"waiting_human","call_id":"false","tool_name":"look","arguments":{},"arguments_sha256":"00""#;
    format!("{{\"type\":\"status\",{fields},\"nonce\":\"{nonce}\",\"caller\":\"claude (process 1)\"}}\n")
}

/// Asks question after question, until `attach` closes the connection.
fn ask_at_once(attach: &mut UnixStream) {
    let questions: String = (0..300).map(|number| question(&format!("many {number}"))).collect();
    // Not all of it is read.
    let _ = attach.write_all(questions.as_bytes());
    let _ = attach.read_to_end(&mut Vec::new());
}

/// Asks one question after the other, each when the person has answered the last.
fn ask_again_and_again(mut attach: UnixStream, name: &'static str) {
    thread::spawn(move || {
        for number in 0.. {
            let nonce = format!("{name} {number}");
            let settled = format!("{{\"type\":\"policy_result\",\"nonce\":\"{nonce}\",\"verdict\":\"rejected\"}}\n");
            let is_over = attach.write_all(question(&nonce).as_bytes()).is_err()
                || !matches!(attach.read(&mut [0; 4096]), Ok(1..))
                || attach.write_all(settled.as_bytes()).is_err();
            if is_over {
                return;
            }
        }
    });
}

/// The text of the question on the terminal, from its heading on, and the number of open questions.
fn shown(person: &mut PtySession, heading: &str) -> (String, usize) {
    let shown = person.exp_string(PROMPT).unwrap();
    (shown, heading.rsplit(' ').next().unwrap().parse().unwrap())
}

/// Types a line that leads to another question, until it takes effect: it does not just after a question has replaced another.
fn answer_until_next(person: &mut PtySession, line: &str) -> (String, usize) {
    loop {
        person.send_line(line).unwrap();
        let (_, said) = person.exp_regex("question \\d+ of \\d+|ignored|no other question").unwrap();
        if said.starts_with("question") {
            return shown(person, &said);
        }
        person.exp_string("> ").unwrap();
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn hundreds_of_false_questions_do_not_hide_the_real_one() {
    let place = Place::new();
    let mut person = place.attach();
    let path = socket(&place);
    let connect = || UnixStream::connect(&path).unwrap();
    let own = format!("process {} (", std::process::id());
    for _ in 0..3 {
        ask_at_once(&mut connect());
        person.exp_string(&own).unwrap();
        person.exp_string("it asks a second question while its first is open; its connection is closed").unwrap();
        person.exp_string("waiting for questions").unwrap();
    }
    ask_again_and_again(connect(), "one");
    ask_again_and_again(connect(), "other");
    eventually("no third connection is accepted", || connect().read(&mut [0]).is_ok_and(|read| read == 0));
    let (_, first) = person.exp_regex("question \\d+ of \\d+").unwrap();
    shown(&mut person, &first);

    let mut gate = Talk::start(&mut place.gate(&["--approver"]));
    hold(&mut gate, MARKED);
    let mut screen = String::new();
    eventually("all three wait, and a false one is shown", || {
        let open;
        (screen, open) = answer_until_next(&mut person, "s");
        open == 3 && !screen.contains(REAL)
    });
    let mut answered = 0;
    while !screen.contains(REAL) {
        let asker = format!("asked by {own}");
        assert!(screen.contains(&asker) && screen.contains("says that the caller is claude (process 1)"), "{screen}");
        answered += 1;
        assert!(answered <= 2, "{answered} false ones come before the real one");
        (screen, _) = answer_until_next(&mut person, "n");
    }
    assert!(screen.contains(" (hitl-gate), which says that the caller is timeout (process "), "{screen}");
    assert!(!screen.contains(&own), "{screen}");
    person.send_line("y").unwrap();
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
}
