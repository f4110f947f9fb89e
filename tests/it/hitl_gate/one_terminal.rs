//! Two gates, or two approvers, at one terminal: an answer belongs to the question that was shown last.

use super::approvers::{Place, decided, decision, hold};
use super::{Desk, MARKED, SETTLED, json, marked};
use crate::process::{Talk, binary};
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::time::Duration;

/// A gate at the terminal of a [`Desk`].
struct Second {
    calls: File,
    said: BufReader<File>,
}

impl Second {
    /// `options` are those of the second one.
    fn lay(options: &str) -> (Desk, Second) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let [calls, said] = ["calls2", "said2"].map(at);
        for fifo in [&calls, &said] {
            mkfifo(fifo, Mode::S_IRWXU).unwrap();
        }
        let gate = binary("hitl-gate");
        let before = format!("{} {options} <$FOLDER/calls2 >$FOLDER/said2 2>$FOLDER/stderr2 &", gate.display());
        let desk = Desk::lay_in(folder, &format!("{before} echo $! >$FOLDER/pid2;"), "--color never", "");
        let calls = OpenOptions::new().write(true).open(calls).unwrap();
        (desk, Second { calls, said: BufReader::new(File::open(said).unwrap()) })
    }

    fn call(&mut self, line: &str) {
        self.calls.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn receive(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Makes a call that is held.
    fn hold(&mut self, line: &str) {
        self.call(line);
        assert_eq!(json(&self.receive())["status"], "waiting_human");
    }

    fn receive_decision(&mut self) -> (String, String) {
        let [status, result] = [self.receive(), self.receive()].map(|line| json(&line));
        (super::word(&status["status"]), super::word(&result["by"]))
    }
}

/// Long enough for a question to be shown, if it were: on a slow machine, none is shown in that time either.
fn wait() {
    std::thread::sleep(Duration::from_millis(400));
}

#[test]
fn the_second_question_waits_for_the_first_and_ignores_earlier_input() {
    let (mut desk, mut second) = Second::lay("--color never");
    desk.hold(MARKED);
    second.hold(&marked(2).replace("a.txt", "second.txt"));
    wait();
    // The last line was typed before the second question was shown.
    desk.person.send("y\ny\n").unwrap();
    desk.person.flush().unwrap();
    assert_eq!(desk.receive_decision(), ("approved".into(), "terminal".into()));
    assert_eq!(desk.receive(), SETTLED);
    let shown = desk.question();
    let (before, after) = shown.split_once("approved").unwrap();
    assert!(!before.contains("second.txt") && after.contains("second.txt"), "{shown}");
    desk.types("n");
    assert_eq!(second.receive_decision(), ("rejected".into(), "terminal".into()));
    second.receive();
    // The terminal has its former settings.
    desk.hold(&marked(3));
    desk.types("y");
    assert_eq!(desk.receive_decision(), ("approved".into(), "terminal".into()));
}

#[test]
fn a_gate_that_waits_for_the_terminal_ends_at_the_timeout_when_cancelled_and_on_sigterm() {
    let (mut desk, mut second) = Second::lay("--timeout 0.5");
    desk.hold(MARKED);
    second.hold(&marked(2));
    assert_eq!(second.receive_decision(), ("rejected".into(), "timeout".into()));
    second.receive();
    drop((desk, second));

    let (mut desk, mut second) = Second::lay("");
    desk.hold(MARKED);
    second.hold(&marked(2));
    second.call(r#"{"type":"cancel","call_id":2}"#);
    assert_eq!(second.receive_decision(), ("rejected".into(), "caller".into()));
    second.receive();
    second.hold(&marked(3));
    let pid = std::fs::read_to_string(desk.folder.path().join("pid2")).unwrap().trim().parse().unwrap();
    kill(Pid::from_raw(pid), Signal::SIGTERM).unwrap();
    assert_eq!(second.receive_decision(), ("rejected".into(), "end".into()));
    second.receive();
    assert_eq!(second.receive(), "", "it has ended");
    desk.types("y");
    assert_eq!(desk.receive_decision(), ("approved".into(), "terminal".into()), "the first still asks");
}

#[test]
fn a_terminal_with_two_names_is_one_terminal() {
    let mut desk = Desk::lay("tty >$FOLDER/tty;", "--color never", "");
    desk.hold(MARKED);
    let terminal = std::fs::read_to_string(desk.folder.path().join("tty")).unwrap();
    let place = Place::new();
    let mut other = Talk::start(&mut place.gate(&["--tty", terminal.trim(), "--color", "never"]));
    hold(&mut other, &marked(2).replace("a.txt", "second.txt"));
    wait();
    desk.types("y");
    assert_eq!(desk.receive_decision(), ("approved".into(), "terminal".into()));
    let shown = desk.question();
    let (before, after) = shown.split_once("approved").unwrap();
    assert!(!before.contains("second.txt") && after.contains("second.txt"), "{shown}");
    desk.types("n");
    assert_eq!(decision(&mut other), decided("rejected", "terminal"));
}
