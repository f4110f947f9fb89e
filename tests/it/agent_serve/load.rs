//! Many clients, and slow ones.

use super::Server;
use crate::agent_acp::{IDLE, Place};
use crate::process::eventually;
use std::process::Command;
use std::thread;

/// An agent that prints numbered records of this number and length after the first message.
fn talkative(place: &Place, count: usize, length: usize, pause: &str) -> Command {
    let script = format!(
        "import sys, time\nprint('{IDLE}', flush=True)\nsys.stdin.readline()\nfor i in range({count}):\n    print('{{\"type\":\"observation\",\"source\":\"test\",\"data\":{{\"n\":%d,\"text\":\"%s\"}}}}' % (i, 'x' * {length}), flush=True)\n    {pause}\nprint('{{\"type\":\"final\",\"outcome\":\"done\",\"content\":\"\",\"usage\":{{}},\"steps\":0,\"denied\":0,\"exit_status\":0}}', flush=True)\nsys.stdin.read()\n"
    );
    let script = place.file("talkative.py", &script);
    let mut agent = Command::new("python3");
    agent.arg(script);
    agent
}

/// The peak memory of a process, in KiB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn two_hundred_observers_and_fifty_chats_lose_nothing() {
    const RECORDS: usize = 200;
    let place = Place::new();
    let server = Server::start(&talkative(&place, RECORDS, 100, "time.sleep(0.01)"), &[]);
    assert_eq!(server.json("POST", "/sessions", r#"{"session_id":"s"}"#).0, 201);
    let chats: Vec<_> = (0..50).map(|_| server.socket("s")).collect();
    let observers: Vec<_> = (0..200).map(|_| server.events("s", &[])).collect();
    server.socket("s").message("Go.");
    thread::scope(|scope| {
        for mut chat in chats {
            scope.spawn(move || {
                chat.until_type("final");
                let said = chat.passed.iter().filter(|record| record["type"] == "observation");
                assert!(said.map(|record| record["data"]["n"].as_u64().unwrap()).eq(0..RECORDS as u64));
            });
        }
        for mut observer in observers {
            scope.spawn(move || {
                let seen = observer.until_type("final");
                let said = seen.iter().filter(|(_, record)| record["type"] == "observation");
                assert!(said.map(|(_, record)| record["data"]["n"].as_u64().unwrap()).eq(0..RECORDS as u64));
            });
        }
    });
}

#[test]
fn a_slow_client_misses_records_and_knows_which() {
    let place = Place::new();
    let server = Server::start(&talkative(&place, 3000, 10_000, "pass"), &["--buffer", "1M"]);
    let mut slow = server.socket("s");
    slow.message("Go.");
    eventually("the agent has said everything", || {
        server.sessions().first().is_some_and(|session| session["state"] == "idle" && session["goal"].is_null())
            && server.events("s", &[]).next().1["data"]["n"].as_u64().is_some_and(|n| n > 2000)
    });
    let mut expected = None;
    let mut missed = 0;
    loop {
        let record = slow.next().unwrap();
        let seq = record["seq"].as_u64().unwrap();
        let first = if record["type"] == "gap" { record["first"].as_u64().unwrap() } else { seq };
        assert!(expected.is_none_or(|expected| expected == first), "{expected:?} {record}");
        expected = Some(seq + 1);
        if record["type"] == "gap" {
            missed += seq + 1 - first;
        }
        if record["type"] == "final" {
            break;
        }
    }
    assert!(missed > 500, "{missed}");
    assert!(peak(server.child.id()) < 40 << 10, "{} KiB", peak(server.child.id()));
}

#[test]
fn a_slow_client_is_disconnected_with_slow_disconnect() {
    let place = Place::new();
    let server = Server::start(&talkative(&place, 3000, 10_000, "pass"), &["--buffer", "1M", "--slow", "disconnect"]);
    let mut slow = server.socket("s");
    slow.message("Go.");
    eventually("the agent has said everything", || {
        server.sessions().first().is_some_and(|session| session["state"] == "idle")
            && server.events("s", &[]).next().1["data"]["n"].as_u64().is_some_and(|n| n > 2000)
    });
    let mut last = None;
    while let Some(record) = slow.next() {
        last = Some(record);
    }
    assert_eq!(last.unwrap()["type"], "gap");
}

#[test]
fn a_closed_session_leaves_no_memory() {
    let mut agent = Command::new("sh");
    agent.args(["-c", ":", &"x".repeat(100_000)]);
    let server = Server::start(&agent, &["--max-sessions", "1"]);
    let mut first = 0;
    for number in 0..150 {
        // Each session takes the place of the one before, whose agent has ended.
        let begun = server.json("POST", "/sessions", &format!(r#"{{"session_id":"s{number}"}}"#));
        assert_eq!(begun.0, 201, "{}", begun.1);
        eventually("the agent has ended", || server.sessions()[0]["state"] == "ended");
        if number == 20 {
            first = peak(server.child.id());
        }
    }
    let last = peak(server.child.id());
    assert!(last < first + (4 << 10), "{first} KiB, then {last} KiB");
}
