//! Much data at once, and slow readers and games.

use super::{Bridge, bridge, lines};
use crate::process::{eventually, pipe, text};
use crate::recorded::peak;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

#[test]
fn a_flood_of_commands_is_answered_in_order_with_little_memory() {
    for (transport, commands) in [("file", 200_000), ("unix", 20_000)] {
        let (mut bridge, home) = bridge("echo", &["--transport", transport]);
        let mut child = bridge.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        let writer = thread::spawn(move || {
            for id in 0..commands {
                writeln!(stdin, r#"{{"cmd":"x","id":{id}}}"#).unwrap();
            }
            stdin
        });
        for (id, line) in answers.take(commands).enumerate() {
            let line = line.unwrap();
            assert!(line.starts_with(&format!(r#"{{"ok":true,"id":{id},"#)), "{line}");
        }
        let peak = peak(child.id() as i32).unwrap();
        assert!(peak < 30 << 10, "{transport}: {peak} KiB");
        drop(writer.join().unwrap());
        assert!(child.wait().unwrap().success());
        super::assert_nothing_is_left(home.path());
    }
}

#[test]
fn a_slow_game_pauses_reading_from_stdin() {
    let (mut bridge, _home) = bridge("echo", &[]);
    let mut child = bridge.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, r#"{{"cmd":"sleep","args":{{"seconds":3}}}}"#).unwrap();
    let written = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&written);
    let line = format!("{{\"cmd\":\"x\",\"args\":{{\"pad\":\"{}\"}}}}\n", "x".repeat(1000));
    let writer = thread::spawn(move || {
        for _ in 0..10_000 {
            stdin.write_all(line.as_bytes()).unwrap();
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    let reader = thread::spawn({
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        move || answers.count()
    });
    eventually("commands are taken while the game sleeps", || written.load(Ordering::Relaxed) >= 500);
    thread::sleep(Duration::from_millis(300));
    let taken = written.load(Ordering::Relaxed);
    assert!(taken < 2000, "{taken} commands were taken while the game slept");
    writer.join().unwrap();
    assert_eq!(reader.join().unwrap(), 10_001);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_slow_reader_receives_everything_and_the_game_survives() {
    let (mut bridge, _home) = bridge("echo", &["--timeout", "0.1"]);
    let mut child = bridge.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for id in 0..8 {
        writeln!(stdin, r#"{{"cmd":"long","id":{id},"args":{{"bytes":300000}}}}"#).unwrap();
    }
    // Longer than the game may take for an answer.
    thread::sleep(Duration::from_millis(2800));
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in 0..8 {
        assert!(answers.next().unwrap().unwrap().starts_with(&format!(r#"{{"ok":true,"id":{id},"#)));
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn stdin_may_end_before_the_handshake() {
    let (mut bridge, _home) = bridge("half-lines", &[]);
    let output = pipe(&mut bridge, b"{\"cmd\":\"x\",\"id\":1}\n{\"cmd\":\"x\",\"id\":2}");
    assert_eq!((output.status.code(), lines(&output).len()), (Some(0), 2), "{}", text(&output.stderr));
    let (mut bridge, _home) = super::bridge("echo", &[]);
    assert_eq!(pipe(&mut bridge, b"").status.code(), Some(0));
}

#[test]
fn commands_are_sent_without_waiting_for_answers() {
    let mut bridge = Bridge::start("echo", &[]);
    for id in 0..100 {
        bridge.talk.say(&format!(r#"{{"cmd":"x","id":{id}}}"#));
    }
    for id in 0..100 {
        assert!(bridge.talk.receive().starts_with(&format!(r#"{{"ok":true,"id":{id},"#)));
    }
    assert_eq!(bridge.end_after_close().status.code(), Some(0));
}
