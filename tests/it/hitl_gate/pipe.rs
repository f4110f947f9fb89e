//! Large amounts of input while a call is held.

use super::{Desktop, MARKED, SETTLED, json, marked};
use crate::process::{eventually, is_idle};
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Peak memory in KiB.
fn peak(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_flood_behind_a_question_is_not_read_and_the_answer_gets_through() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("answers");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut command = super::gate(&["--answers", fifo.to_str().unwrap()]);
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut stdin, mut said) =
        (child.stdin.take().unwrap(), std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap())));
    stdin.write_all(format!("{MARKED}\n").as_bytes()).unwrap();
    let asked = json(&said.next().unwrap().unwrap());
    let line = format!("{{\"tool\":\"look\",\"args\":{{\"pad\":\"{}\"}}}}\n", "x".repeat(10_000));
    let written = Arc::new(AtomicUsize::new(0));
    let writer = std::thread::spawn({
        let (written, line) = (Arc::clone(&written), line.clone());
        move || {
            for _ in 0..6000 {
                stdin.write_all(line.as_bytes()).unwrap();
                written.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let mut before = 0;
    eventually("no more is taken", || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        let now = written.load(Ordering::Relaxed);
        std::mem::replace(&mut before, now) == now && now > 0 && is_idle(child.id() as i32)
    });
    assert!(before < 6000, "it read all of the 60 MB");
    assert!(peak(child.id() as i32) < 30 << 10, "{} KiB", peak(child.id() as i32));
    let mut answers = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
    let answer = format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{},"action":"approve"}}"#, asked["nonce"]);
    answers.write_all(format!("{answer}\n").as_bytes()).unwrap();
    said.next();
    said.next();
    assert_eq!(said.next().unwrap().unwrap(), SETTLED);
    assert_eq!(said.map(Result::unwrap).inspect(|said| assert!(*said == line.trim_end())).count(), 6000);
    writer.join().unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_flood_of_other_records_passes_during_a_question() {
    let mut desk = Desktop::start(&[]);
    let asked = desk.hold(MARKED);
    for number in 0..20_000 {
        desk.talk.say(&format!(r#"{{"type":"observation","n":{number}}}"#));
    }
    for number in 0..20_000 {
        assert_eq!(desk.talk.receive(), format!(r#"{{"type":"observation","n":{number}}}"#));
    }
    assert!(peak(desk.talk.pid().as_raw()) < 20 << 10);
    desk.answer_to(&asked, r#""action":"approve""#);
    desk.receive();
    desk.receive();
    assert_eq!(desk.talk.receive(), SETTLED);
}

#[test]
fn a_full_queue_is_not_a_deadlock_if_only_the_caller_may_answer() {
    let mut talk = crate::process::Talk::start(&mut super::gate(&["--answers", "stdin"]));
    talk.ask(MARKED);
    for id in 0..2000 {
        talk.say(&format!(r#"{{"tool":"look","id":{id}}}"#));
    }
    assert_eq!(json(&talk.receive())["status"], "rejected");
    talk.receive();
    assert!(talk.receive().contains("a thousand more lines"));
    for id in 0..2000 {
        assert_eq!(json(&talk.receive())["id"], id);
    }
    talk.ask(&marked(3));
    talk.close();
    assert_eq!(json(&talk.receive())["status"], "rejected");
    assert_eq!(json(&talk.receive())["by"], "end");
    assert!(talk.receive().contains("the answer was to come from there"));
    assert_eq!(talk.end().status.code(), Some(1));
}
