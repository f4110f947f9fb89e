//! Ways to end: in each of them the server ends with the pipe, and so do the server's children.

use super::{Pipe, assert_nothing_is_left, is_known_to_anybody, mcp_pipe, play};
use crate::process::{PATIENCE, Talk, assert_all_end, eventually, is_running, pipe, text};
use nix::sys::signal::Signal;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn the_end_of_stdin_ends_the_server_and_its_children() {
    for server in ["echo", "stubborn", "leaves"] {
        let mut pipe = Pipe::start(server, &[]);
        let processes = pipe.processes();
        assert_eq!(processes.len(), if server == "echo" { 1 } else { 2 });
        let ended = pipe.end_after_close();
        assert_eq!((ended.status.code(), ended.stderr.as_str()), (Some(0), ""));
        assert_all_end(&processes, server);
    }
}

#[test]
fn stdin_may_end_before_the_first_answer() {
    let (mut command, home) = mcp_pipe("slow seconds=0.3", &["-j", "2"]);
    let output = pipe(&mut command, b"{\"tool\":\"sleep\",\"args\":{\"seconds\":0.3},\"id\":1}\n{\"tool\":\"echo\",\"id\":2}\n{\"tool\":\"echo\",\"id\":3}");
    assert_eq!((output.status.code(), text(&output.stdout).lines().count()), (Some(0), 3), "{}", text(&output.stderr));
    assert_nothing_is_left(home.path());
    play("echo", &[], &[]).assert_well();
}

#[test]
fn a_signal_ends_the_run_gracefully() {
    for server in ["echo", "stubborn", "leaves"] {
        for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
            let mut pipe = Pipe::start_logged(server, &[]);
            let processes = pipe.processes();
            pipe.talk.say(r#"{"tool":"forget","id":1}"#);
            pipe.reaches_server("\"forget\"", 1);
            pipe.talk.signal(signal);
            let ended = pipe.end();
            assert_eq!((ended.status.signal(), ended.stderr.as_str()), (Some(signal as i32), ""));
            assert_all_end(&processes, &format!("{server} {signal}"));
        }
    }
}

#[test]
fn an_interrupted_run_reports_calls_that_may_have_been_executed() {
    let mut pipe = Pipe::start_logged("echo", &[]);
    pipe.ask(r#"{"tool":"echo"}"#);
    pipe.talk.say(r#"{"tool":"forget","id":1}"#);
    pipe.talk.say(r#"{"tool":"echo","id":2}"#);
    pipe.reaches_server("\"forget\"", 1);
    pipe.talk.settles();
    pipe.talk.signal(Signal::SIGTERM);
    let ended = pipe.end();
    let answers: Vec<serde_json::Value> = ended.lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2, "{}", ended.stderr);
    assert_eq!(
        (&answers[0]["id"], &answers[0]["kind"], &answers[0]["maybe_executed"]),
        (&1.into(), &"cancelled".into(), &true.into())
    );
    assert_eq!(
        (&answers[1]["id"], &answers[1]["kind"], answers[1].get("maybe_executed")),
        (&2.into(), &"cancelled".into(), None)
    );
}

#[test]
fn a_signal_ends_the_run_while_the_server_is_silent_or_restarting() {
    for server in ["silent", "slow seconds=30", "exits"] {
        let mut pipe = Pipe::start(server, &[]);
        pipe.talk.say(r#"{"tool":"echo"}"#);
        if server == "exits" {
            continue;
        }
        eventually("the server has started", || is_known_to_anybody(pipe.home.path()));
        pipe.talk.receive_nothing_for(200);
        pipe.talk.signal(Signal::SIGTERM);
        let ended = pipe.end();
        assert_eq!(ended.status.signal(), Some(15), "{}", ended.stderr);
    }
    // While it waits before a restart of the server.
    let (mut command, home) = mcp_pipe("once", &["--restart", "1000"]);
    let mut talk = Talk::start(&mut command);
    talk.ask(r#"{"tool":"die","args":{"code":3}}"#);
    talk.complains("exit status 8", 3);
    talk.signal(Signal::SIGTERM);
    let ended = talk.end();
    assert_eq!(ended.status.signal(), Some(15), "{}", ended.stderr);
    assert_nothing_is_left(home.path());
}

#[test]
fn a_killed_pipe_leaves_no_server_that_listens() {
    let mut pipe = Pipe::start("echo", &[]);
    let server = pipe.processes()[0];
    pipe.talk.signal(Signal::SIGKILL);
    let ended = pipe.end();
    assert_eq!(ended.status.signal(), Some(9));
    eventually("the server has ended", || !is_running(server));
}

#[test]
fn a_closed_reader_is_a_quiet_end() {
    for server in ["echo", "stubborn"] {
        let (mut command, home) = mcp_pipe(server, &[]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        writeln!(stdin, r#"{{"tool":"echo"}}"#).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let started = Instant::now();
        // Its stdin stays open, as in `tail -f calls | mcp-pipe ... | head -1`.
        while child.try_wait().unwrap().is_none() {
            let _ = writeln!(stdin, r#"{{"tool":"echo"}}"#);
            std::thread::sleep(Duration::from_millis(20));
            assert!(started.elapsed() < PATIENCE, "it doesn't end");
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
        assert_nothing_is_left(home.path());
    }
}

#[test]
fn a_list_may_be_read_only_in_part() {
    let (mut command, home) = mcp_pipe("echo", &["--list"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut one = [0; 1];
    child.stdout.take().unwrap().read_exact(&mut one).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
    assert_nothing_is_left(home.path());
}

#[test]
fn a_full_disk_is_reported_and_ends_the_server() {
    let (mut command, home) = mcp_pipe("stubborn", &[]);
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut child = command.stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, r#"{{"tool":"echo"}}"#).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("stdout: No space left on device"), "{}", text(&output.stderr));
    drop(stdin);
    assert_nothing_is_left(home.path());
}

#[test]
fn a_server_that_ignores_the_end_of_stdin_is_ended_soon() {
    for server in ["stubborn", "silent"] {
        let (mut command, home) = mcp_pipe(server, &["--start-timeout", "1", "--timeout", "1"]);
        pipe(&mut command, b"{\"tool\":\"hangs_in\"}\n");
        assert_nothing_is_left(home.path());
    }
}
