//! Large amounts of data, and slow readers and servers.

use super::{assert_nothing_is_left, mcp_pipe, play};
use crate::process::{eventually, is_idle};
use crate::recorded::peak;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

#[test]
fn a_flood_of_calls_is_answered_in_order_in_little_memory() {
    for (options, calls) in
        [(&["-j", "1"][..], 5_000), (&["-j", "32"], 100_000), (&["-j", "32", "--unordered"], 20_000)]
    {
        let (mut command, home) = mcp_pipe("echo", options);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        let writer = thread::spawn(move || {
            for id in 0..calls {
                writeln!(stdin, r#"{{"tool":"echo","id":{id}}}"#).unwrap();
            }
            stdin
        });
        for (id, line) in answers.take(calls).enumerate() {
            let line = line.unwrap();
            assert!(line.starts_with(&format!(r#"{{"id":{id},"#)), "{line}");
        }
        let peak = peak(child.id() as i32).unwrap();
        assert!(peak < 40 << 10, "{options:?}: {peak} KiB");
        drop(writer.join().unwrap());
        assert!(child.wait().unwrap().success());
        assert_nothing_is_left(home.path());
    }
}

#[test]
fn a_slow_server_holds_back_stdin() {
    let (mut command, home) = mcp_pipe("echo", &["--no-check", "--timeout", "600"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let wakes = home.path().join("wakes");
    writeln!(stdin, r#"{{"tool":"sleep","args":{{"until":"{}"}}}}"#, wakes.display()).unwrap();
    let written = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&written);
    let line = format!("{{\"tool\":\"echo\",\"args\":{{\"pad\":\"{}\"}}}}\n", "x".repeat(1000));
    let writer = thread::spawn(move || {
        for _ in 0..5_000 {
            stdin.write_all(line.as_bytes()).unwrap();
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    let reader = thread::spawn({
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        move || answers.count()
    });
    let mut taken = 0;
    eventually("no more is taken", || {
        thread::sleep(Duration::from_millis(300));
        let before = std::mem::replace(&mut taken, written.load(Ordering::Relaxed));
        taken > 0 && taken == before && is_idle(child.id() as i32)
    });
    assert!((500..2000).contains(&taken), "{taken} calls were taken while the server slept");
    std::fs::write(wakes, "").unwrap();
    writer.join().unwrap();
    assert_eq!(reader.join().unwrap(), 5_001);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_slow_reader_gets_everything_and_causes_no_timeout() {
    let (mut command, _home) = mcp_pipe("echo", &["--timeout", "3", "-j", "4"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for id in 0..8 {
        writeln!(stdin, r#"{{"tool":"big","id":{id},"args":{{"bytes":300000}}}}"#).unwrap();
    }
    // Longer than the time limit of a call.
    thread::sleep(Duration::from_millis(6500));
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in 0..8 {
        let line = answers.next().unwrap().unwrap();
        assert!(
            line.starts_with(&format!(r#"{{"id":{id},"tool":"big","status":"ok""#)),
            "{}",
            &line[..200.min(line.len())]
        );
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

/// A server with a single thread does not read while it writes: a client that does not read while it writes deadlocks with
/// it.
#[test]
fn long_calls_and_long_results_pass_each_other() {
    let message = "x".repeat(300_000);
    let calls: Vec<String> =
        (0..12).map(|id| format!(r#"{{"tool":"echo","args":{{"message":"{message}"}},"id":{id}}}"#)).collect();
    for jobs in ["1", "2", "8"] {
        let played = play("echo", &["--timeout", "60", "-j", jobs], &Vec::from_iter(calls.iter().map(String::as_str)));
        assert_eq!((played.status, played.lines.len()), (Some(0), 12), "-j {jobs}: {}", played.stderr);
    }
    // The same while it sends notifications.
    let tell = r#"{"tool":"tell","args":{"times":20,"bytes":20000}}"#;
    let calls: Vec<&str> = (0..6).flat_map(|at| [calls[at].as_str(), tell]).collect();
    let played = play("asks", &["--timeout", "60", "-j", "3"], &calls);
    assert_eq!((played.status, played.lines.len()), (Some(0), 12), "{}", played.stderr);
}
