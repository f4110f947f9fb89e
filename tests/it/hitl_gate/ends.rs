//! How the gate ends while a call is held.

use super::{Desk, Desktop, MARKED, gate, json, marked, ran};
use crate::process::Talk;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::{OpenptyResult, openpty};
use nix::sys::signal::Signal;
use nix::unistd::ttyname;
use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

#[test]
fn a_signal_rejects_the_held_calls() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut desk = Desktop::start(&[]);
        desk.hold(MARKED);
        desk.talk.say(r#"{"tool":"look","id":2}"#);
        desk.talk.say(r#"{"type":"observation"}"#);
        desk.talk.receive();
        desk.talk.signal(signal);
        let ended = desk.talk.end();
        assert_eq!(ended.status.signal(), Some(signal as i32));
        let said: Vec<_> = ended.lines.iter().map(|line| json(line)).collect();
        assert_eq!((&said[0]["status"], &said[1]["by"]), (&"rejected".into(), &"end".into()));
        assert_eq!((&said[2]["id"], &said[2]["kind"]), (&1.into(), &"rejected".into()));
        assert_eq!((&said[3]["id"], &said[3]["kind"]), (&2.into(), &"cancelled".into()));
        assert_eq!((said.len(), ended.stderr.as_str()), (4, ""));
        assert!(desk.folder.path().exists());
    }
}

#[test]
fn ctrl_c_rejects_and_the_terminal_is_put_back() {
    let mut desk = Desk::lay("trap : INT; stty -echo;", "", "echo status $?; stty -a");
    desk.hold(MARKED);
    desk.person.send_control('c').unwrap();
    assert_eq!(desk.receive_decision(), ("rejected".into(), "end".into()));
    desk.receive();
    desk.person.exp_string("status 130").unwrap();
    assert!(desk.person.exp_eof().unwrap().contains("-echo "));
}

/// Waits for a question at the other end of a terminal.
fn is_asked(person: &mut std::fs::File) {
    let mut shown = Vec::new();
    while !shown.ends_with(b"> ") {
        let mut byte = [0];
        person.read_exact(&mut byte).unwrap();
        shown.push(byte[0]);
    }
}

#[test]
fn after_a_hangup_of_the_terminal_nobody_can_be_asked() {
    let OpenptyResult { master, slave } = openpty(None, None).unwrap();
    // Only the test uses this terminal: the gate would keep its own one open.
    fcntl(&master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).unwrap();
    let (path, mut person) = (ttyname(&slave).unwrap(), std::fs::File::from(master));
    let mut talk = Talk::start(&mut gate(&["--tty", path.to_str().unwrap()]));
    assert_eq!(json(&talk.ask(MARKED))["status"], "waiting_human");
    is_asked(&mut person);
    person.write_all(b"y\n").unwrap();
    assert_eq!(json(&talk.receive())["status"], "approved", "a terminal that it wasn't started from");
    talk.receive();
    talk.receive();
    assert_eq!(json(&talk.ask(&marked(2)))["status"], "waiting_human");
    is_asked(&mut person);
    drop((person, slave));
    assert_eq!(json(&talk.receive())["status"], "rejected");
    assert_eq!(json(&talk.receive())["by"], "nobody");
    let answer = talk.receive();
    assert!(answer.contains("nobody can be asked here"), "{answer}");
    // The next call is not even asked about.
    talk.say(&marked(3));
    talk.receive();
    talk.receive();
    assert_eq!(json(&talk.receive())["by"], "nobody");
    talk.receive();
    talk.say(r#"{"tool":"look"}"#);
    assert_eq!(talk.receive(), r#"{"tool":"look"}"#);
    assert_eq!(talk.end_after_close().status.code(), Some(1));
}

#[test]
fn a_person_is_still_asked_when_the_calls_have_ended() {
    let mut desk = Desk::lay("", "", "echo status $?");
    desk.call(MARKED);
    desk.call(&marked(2));
    desk.calls.as_mut().unwrap().write_all(br#"{"tool":"look"}"#).unwrap();
    desk.calls = None;
    for id in 1..3 {
        assert_eq!(desk.receive_json()["call_id"], id);
        desk.question();
        desk.types("y");
        assert_eq!(desk.receive_decision().0, "approved");
        assert_eq!(desk.receive_json()["id"], id);
    }
    assert_eq!((desk.receive().as_str(), desk.receive().as_str()), (r#"{"tool":"look"}"#, ""));
    desk.person.exp_string("status 0").unwrap();
}

#[test]
fn a_reader_that_leaves_ends_the_gate_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("answers");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let script = format!("{} --answers {} | head -n 1", crate::process::binary("hitl-gate").display(), fifo.display());
    let mut command = Command::new("setsid");
    command.args(["bash", "-c", &format!("{script}; echo status ${{PIPESTATUS[0]}}")]);
    let mut talk = Talk::start(&mut command);
    let asked = json(&talk.ask(MARKED));
    let answer = format!(r#"{{"type":"hitl_response","call_id":1,"nonce":{},"action":"approve"}}"#, asked["nonce"]);
    let mut answers = OpenOptions::new().write(true).open(&fifo).unwrap();
    answers.write_all(format!("{answer}\n").as_bytes()).unwrap();
    assert_eq!(talk.receive(), "status 0");
    assert_eq!(talk.end().stderr, "");
}

#[test]
fn a_full_disk_is_reported() {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut gate = gate(&[]).stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    gate.stdin.take().unwrap().write_all(format!("{MARKED}\n").as_bytes()).unwrap();
    let mut stderr = String::new();
    gate.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(gate.wait().unwrap().code(), Some(1));
    assert!(stderr.contains("stdout: No space left on device"), "{stderr}");
}

#[test]
fn events_that_cannot_be_written_are_reported_and_block_nothing() {
    let (status, lines, stderr) = ran(&mut gate(&["--events", "/dev/full"]), &format!("{MARKED}\n"));
    assert_eq!((status, lines.len()), (Some(1), 1), "{stderr}");
    assert!(stderr.contains("/dev/full: No space left"), "{stderr}");
    let (status, _, stderr) = ran(&mut gate(&["--events", "/nowhere/events"]), "");
    assert!(status == Some(2) && stderr.contains("--events: /nowhere/events"), "{stderr}");
}

#[test]
fn after_the_end_of_the_channel_nobody_can_be_asked() {
    let mut talk = Talk::start(&mut gate(&["--answers", "/dev/null"]));
    assert_eq!(talk.ask(r#"{"tool":"look"}"#), r#"{"tool":"look"}"#);
    talk.settles();
    assert_eq!(json(&talk.ask(MARKED))["status"], "rejected");
    assert_eq!(json(&talk.receive())["by"], "nobody");
    assert!(talk.receive().contains("nobody can be asked here"));
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("--answers has ended"), "{}", ended.stderr);
}
