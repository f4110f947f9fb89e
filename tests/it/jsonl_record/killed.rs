//! After a kill of any process at any time, no line that the other side has received is missing from the log, and the log can be continued.

use super::{new_log, read_with_rotated, record};
use crate::log::Log;
use crate::process::{eventually, is_running, pipe, text};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use pipewright_log::Direction;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Victim {
    Recorder,
    Reader,
    Child,
}

#[test]
fn a_hundred_kills_lose_nothing_that_was_passed_on() {
    kill_often(100);
}

#[test]
#[ignore = "takes a while: scripts/test runs it"]
fn a_thousand_kills_lose_nothing_that_was_passed_on() {
    kill_often(1000);
}

/// Several at a time: a busier machine gives more different moments.
fn kill_often(times: usize) {
    let next = AtomicUsize::new(0);
    let torn = AtomicUsize::new(0);
    let started = Instant::now();
    let lines: usize = thread::scope(|scope| {
        let in_turn = || {
            let mut lines = 0;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= times {
                    return lines;
                }
                lines += kill_once(number, &torn);
            }
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(in_turn)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let torn = torn.into_inner();
    eprintln!("{times} kills in {:?}: {lines} lines were seen, {torn} torn tails set aside", started.elapsed());
    assert!(lines > 5 * times, "it was mostly killed before it had begun: {lines} lines were seen");
}

/// Returns the number of lines that the other side had received.
fn kill_once(number: usize, torn: &AtomicUsize) -> usize {
    let (folder, file) = new_log();
    let victim = [Victim::Recorder, Victim::Recorder, Victim::Reader, Victim::Child][number % 4];
    let wraps = victim == Victim::Child || number % 8 < 3;
    let rotates = number.is_multiple_of(3);
    let seen_by_child = folder.path().join("seen");
    let mut recorder = record(&file);
    recorder.args(["--sync", "never"]);
    if rotates {
        recorder.args(["--rotate", "100K", "--keep", "10000"]);
    }
    if wraps {
        recorder.arg("--").arg("tee").arg(&seen_by_child);
    }
    let mut recorder = recorder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (seen, child) = run_until_killed(&mut recorder, victim, wraps, number);
    let output = recorder.wait_with_output().unwrap();
    let context = format!("kill {number} of the {victim:?}, wraps: {wraps}, rotates: {rotates}");
    if let Some(child) = child {
        eventually("the child has ended with the recorder", || !is_running(child));
    }
    check_before_restart(&output, victim, &context);
    check_log(&record_again(&file, rotates, torn), &seen, &std::fs::read(seen_by_child).unwrap_or_default(), &context);
    seen.iter().filter(|&&byte| byte == b'\n').count()
}

/// Floods it with lines, kills at a random moment, and returns the output and the child's process id.
fn run_until_killed(recorder: &mut Child, victim: Victim, wraps: bool, number: usize) -> (Vec<u8>, Option<i32>) {
    let pid = recorder.id() as i32;
    let mut stdin = recorder.stdin.take().unwrap();
    let mut stdout = recorder.stdout.take().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || (0..).try_for_each(|line| stdin.write_all(&numbered(line))));
        let (first_line, has_begun) = channel();
        let reader = scope.spawn(move || {
            // A killed reader has read this much.
            let most = if victim == Victim::Reader { 1000 + (number as u64 * 7919) % 500_000 } else { u64::MAX };
            let mut seen = vec![0];
            let begun = stdout.read(&mut seen).unwrap_or(0);
            seen.truncate(begun);
            let _ = first_line.send(());
            let _ = stdout.take(most).read_to_end(&mut seen);
            seen
        });
        let mut child = None;
        if wraps {
            let children = format!("/proc/{pid}/task/{pid}/children");
            // It may have ended already if the reader was killed early.
            eventually("the child is started", || {
                let list = std::fs::read_to_string(&children).unwrap_or_default();
                child = list.split_whitespace().next().map(|pid| pid.parse().unwrap());
                child.is_some() || !is_running(pid)
            });
        }
        // Usually during the flood, sometimes during the start.
        if !number.is_multiple_of(5) {
            let _ = has_begun.recv();
        }
        let nearly_random = (number * 2_654_435_761) % 6000;
        thread::sleep(Duration::from_micros(nearly_random as u64));
        match (victim, child) {
            (Victim::Recorder, _) => kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap(),
            (Victim::Child, Some(child)) => kill(Pid::from_raw(child), Signal::SIGKILL).unwrap(),
            _ => {}
        }
        (reader.join().unwrap(), child)
    })
}

/// A line of the flood; some are long, so that a kill can tear them.
fn numbered(number: usize) -> Vec<u8> {
    let pad = if number % 50 == 49 { 100_000 } else { number * 37 % 1000 };
    format!("{{\"number\":{number},\"pad\":\"{}\"}}\n", "x".repeat(pad)).into_bytes()
}

fn check_before_restart(output: &std::process::Output, victim: Victim, context: &str) {
    match victim {
        Victim::Recorder => assert_eq!(output.status.code(), None, "{context}"),
        Victim::Reader => assert_eq!(output.status.code(), Some(0), "{context}: {}", text(&output.stderr)),
        Victim::Child => assert_eq!(output.status.code(), Some(137), "{context}: {}", text(&output.stderr)),
    }
    assert_eq!(text(&output.stderr), "", "{context}");
}

/// Starts another recorder on the log, and reads the complete log.
fn record_again(file: &std::path::Path, rotates: bool, torn: &AtomicUsize) -> Log {
    let mut again = record(file);
    if rotates {
        again.args(["--rotate", "100K", "--keep", "10000"]);
    }
    let output = pipe(&mut again, b"{\"again\":true}\n");
    assert_eq!(text(&output.stdout), "{\"again\":true}\n", "{}", text(&output.stderr));
    if text(&output.stderr).contains("bytes of a torn last line were set aside") {
        torn.fetch_add(1, Ordering::Relaxed);
    } else {
        assert_eq!((text(&output.stderr).as_str(), output.status.code()), ("", Some(0)));
    }
    read_with_rotated(file)
}

fn check_log(log: &Log, seen: &[u8], seen_by_child: &[u8], context: &str) {
    assert_eq!(log.problems, Vec::<String>::new(), "{context}");
    let (recorded, relayed) = (log.stream(Direction::In), log.stream(Direction::Out));
    let recorded = recorded.strip_suffix(b"{\"again\":true}\n").expect(context);
    let mut sent = Vec::new();
    (0..)
        .map(numbered)
        .take_while(|line| {
            sent.extend_from_slice(line);
            sent.len() < recorded.len()
        })
        .for_each(drop);
    assert!(sent.starts_with(recorded), "{context}: the recorded lines differ from the sent ones");
    assert!(recorded.starts_with(seen_by_child), "{context}: the child received unrecorded lines");
    let passed_on = if seen_by_child.is_empty() && relayed.is_empty() { recorded } else { &relayed };
    assert!(passed_on.starts_with(seen), "{context}: unrecorded lines were passed on");
}
