//! Approvers: `hitl-gate attach` in other terminals, and a client that gates find by PIPEWRIGHT_APPROVALS.

use super::{MARKED, PROMPT, SETTLED, json, marked};
use crate::process::{Talk, binary, with_a_person};
use nix::sys::signal::{Signal, killpg};
use nix::sys::socket::{Backlog, listen};
use rexpect::session::PtySession;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// A folder in which gates and approvers find each other.
pub struct Place {
    pub folder: TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    /// `hitl-gate OPTIONS`, started by a program without a terminal, which is therefore the caller.
    pub fn gate(&self, options: &[&str]) -> Command {
        let mut caller = self.command(&binary("hitl-gate"));
        caller.args(options);
        caller
    }

    /// The same for another program.
    pub fn command(&self, program: &Path) -> Command {
        let mut caller = Command::new("setsid");
        caller.args(["timeout", "600"]).arg(program);
        self.around(&mut caller);
        caller
    }

    pub fn around(&self, command: &mut Command) {
        let folder = self.folder.path();
        command.env("XDG_RUNTIME_DIR", folder).env("TMPDIR", folder).env("TERM", "xterm").env("COLUMNS", "80");
        for variable in ["NO_COLOR", "PIPEWRIGHT_FOREGROUND", "PIPEWRIGHT_APPROVALS", "VISUAL", "EDITOR"] {
            command.env_remove(variable);
        }
    }

    /// A person in another window.
    pub fn attach(&self) -> PtySession {
        let mut attach = Command::new("sh");
        let script = format!("{} attach --color never; echo status $?", binary("hitl-gate").display());
        attach.args(["-c", &script]);
        self.around(&mut attach);
        let mut person = with_a_person(attach);
        person.exp_string("waiting for questions").unwrap();
        person
    }
}

/// Makes a call that is held.
pub fn hold(gate: &mut Talk, line: &str) {
    let asked = json(&gate.ask(line));
    assert_eq!(asked["status"], "waiting_human", "{asked}");
}

/// The status of a decision, and who made it.
pub fn decision(gate: &mut Talk) -> (Value, Value) {
    let (status, result) = (json(&gate.receive()), json(&gate.receive()));
    (status["status"].clone(), result["by"].clone())
}

pub fn decided(status: &str, by: &str) -> (Value, Value) {
    (status.into(), by.into())
}

#[test]
fn a_held_call_waits_for_a_person_who_attaches_later() {
    let place = Place::new();
    let mut gate = Talk::start(&mut place.gate(&["--approver"]));
    hold(&mut gate, MARKED);
    let mut person = place.attach();
    let shown = person.exp_string(PROMPT).unwrap();
    for part in [
        "question 1 of 1: id 1, waiting ",
        "asked by process ",
        " (hitl-gate), which says that the caller is timeout (process ",
        "tool  rm",
        ".path: \"a.txt\"",
        "rejected in ",
    ] {
        assert!(shown.contains(part), "{part} is missing from\n{shown}");
    }
    person.send_line("y").unwrap();
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
    assert_eq!(gate.receive(), SETTLED);
    person.exp_string("approved").unwrap();
    // The next one is asked over the same connection.
    hold(&mut gate, &marked(2));
    person.exp_string("question 1 of 1: id 2").unwrap();
    person.exp_string(PROMPT).unwrap();
    person.send_line("n not now").unwrap();
    assert_eq!(decision(&mut gate), decided("rejected", "approver"));
    assert_eq!(json(&gate.receive())["error"], "a person rejected it: not now");
    gate.close();
    let ended = gate.end();
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(ended.stderr.matches("run `hitl-gate attach`").count(), 1, "{}", ended.stderr);
}

#[test]
fn fields_besides_the_arguments_are_shown() {
    let place = Place::new();
    let mut person = place.attach();
    let mut gate = Talk::start(&mut place.gate(&["--approver"]));
    hold(&mut gate, &MARKED.replace("\"args\"", "\"force\":true,\"args\""));
    let shown = person.exp_string(PROMPT).unwrap();
    assert!(shown.contains("besides the arguments") && shown.contains("  .force: true"), "{shown}");
}

#[test]
fn the_parent_of_both_windows_is_not_the_caller() {
    let place = Place::new();
    let mut person = place.attach();
    let runtime = format!("XDG_RUNTIME_DIR={}", place.folder.path().display());
    let mut desk = super::Desk::lay(&runtime, "--approver", "");
    desk.call(MARKED);
    desk.receive();
    person.exp_string(PROMPT).unwrap();
    person.send_line("y").unwrap();
    assert_eq!(desk.receive_decision(), ("approved".into(), "approver".into()));
}

/// Longer than the time for which nothing is taken as an answer to a question that has replaced another.
fn read_it() {
    std::thread::sleep(std::time::Duration::from_millis(600));
}

#[test]
fn input_for_a_replaced_question_does_not_answer_the_next() {
    // On a busy machine, the input may arrive only after the time for which none is taken.
    crate::process::eventually("input just after a replacement is ignored", is_input_for_a_replaced_question_ignored);
}

fn is_input_for_a_replaced_question_ignored() -> bool {
    let place = Place::new();
    let mut person = place.attach();
    let [mut first, mut second] = [(); 2].map(|()| Talk::start(&mut place.gate(&["--approver"])));
    hold(&mut first, MARKED);
    person.exp_string(PROMPT).unwrap();
    hold(&mut second, &marked(2));
    // The second one is in the queue then.
    crate::process::eventually("both wait", || {
        person.send_line("s").unwrap();
        person.exp_regex("no other question|skipped").unwrap().1 == "skipped"
    });
    person.exp_string(PROMPT).unwrap();
    second.say(r#"{"type":"cancel","call_id":2}"#);
    person.exp_string("withdrawn").unwrap();
    person.exp_string("question 1 of 1: id 1").unwrap();
    person.exp_string(PROMPT).unwrap();
    person.send_line("y").unwrap();
    let is_ignored =
        person.exp_regex("ignored: this question has just replaced another|approved").unwrap().1 != "approved";
    if is_ignored {
        person.exp_string(PROMPT).unwrap();
        first.receive_nothing_for(100);
        read_it();
        person.send_line("y").unwrap();
    }
    assert_eq!(decision(&mut first), decided("approved", "approver"));
    is_ignored
}

#[test]
fn of_two_attaches_the_first_answer_counts_and_the_other_question_is_withdrawn() {
    let place = Place::new();
    let [mut one, mut other] = [place.attach(), place.attach()];
    let mut gate = Talk::start(&mut place.gate(&["--approver"]));
    hold(&mut gate, MARKED);
    one.exp_string(PROMPT).unwrap();
    other.exp_string(PROMPT).unwrap();
    other.send_line("y").unwrap();
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
    one.exp_string("approved").unwrap();
    one.exp_string("waiting for questions").unwrap();
}

#[test]
fn questions_of_several_gates_are_queued() {
    let place = Place::new();
    let [mut first, mut second] = [(); 2].map(|()| Talk::start(&mut place.gate(&["--approver"])));
    hold(&mut first, MARKED);
    let mut person = place.attach();
    person.exp_string("question 1 of 1: id 1").unwrap();
    person.exp_string(PROMPT).unwrap();
    hold(&mut second, &marked(2));
    crate::process::eventually("both wait", || {
        person.send_line("s").unwrap();
        person.exp_regex("no other question|skipped").unwrap().1 == "skipped"
    });
    person.exp_string("question 2 of 2: id 2").unwrap();
    person.exp_string(PROMPT).unwrap();
    person.send_line("s").unwrap();
    person.exp_string("question 1 of 2: id 1").unwrap();
    person.exp_string(PROMPT).unwrap();
    // The caller and the gate.
    killpg(first.pid(), Signal::SIGKILL).unwrap();
    person.exp_string("withdrawn: the gate has ended").unwrap();
    person.exp_string("question 1 of 1: id 2").unwrap();
    person.exp_string(PROMPT).unwrap();
    read_it();
    person.send_line("y").unwrap();
    assert_eq!(decision(&mut second), decided("approved", "approver"));
}

#[test]
fn gates_wait_for_the_next_approver_when_one_leaves() {
    let place = Place::new();
    let mut gate = Talk::start(&mut place.gate(&["--approver"]));
    let mut person = place.attach();
    hold(&mut gate, MARKED);
    person.exp_string(PROMPT).unwrap();
    person.send_control('c').unwrap();
    let said = person.exp_string("this question still waits").unwrap();
    assert!(!said.contains("withdrawn"), "{said}");
    // The shell dies of it, too.
    person.exp_eof().unwrap();
    let left: Vec<_> = std::fs::read_dir(place.folder.path().join("pipewright")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    gate.receive_nothing_for(100);
    let mut person = place.attach();
    person.exp_string(PROMPT).unwrap();
    person.send_line("y").unwrap();
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
}

#[test]
fn without_an_answer_the_question_is_withdrawn_everywhere() {
    let place = Place::new();
    let mut person = place.attach();
    let mut gate = Talk::start(&mut place.gate(&["--approver", "--timeout", "3"]));
    hold(&mut gate, MARKED);
    person.exp_string(PROMPT).unwrap();
    assert_eq!(decision(&mut gate), decided("rejected", "timeout"));
    person.exp_string("withdrawn: nobody answered in time").unwrap();
    gate.receive();
    hold(&mut gate, &marked(2));
    person.exp_string(PROMPT).unwrap();
    gate.say(r#"{"type":"cancel","call_id":2}"#);
    person.exp_string("withdrawn: the call was cancelled").unwrap();
}

#[test]
fn an_edited_call_that_does_not_pass_is_asked_about_again() {
    let place = Place::new();
    let rules = place.folder.path().join("rules.toml");
    std::fs::write(&rules, "[[rule]]\nid = \"etc\"\nverdict = \"deny\"\narguments = { \".path\" = \"/etc*\" }\n")
        .unwrap();
    let mut person = place.attach();
    let mut gate = Talk::start(&mut place.gate(&["--approver", "--rules", rules.to_str().unwrap()]));
    hold(&mut gate, MARKED);
    person.exp_string(PROMPT).unwrap();
    person.send_line("e path=/etc/passwd").unwrap();
    person.exp_string(PROMPT).unwrap();
    person.send_line("y").unwrap();
    person.exp_string("that does not pass: the policy denies this").unwrap();
    person.exp_string(PROMPT).unwrap();
    person.send_line("e path=b.txt").unwrap();
    person.exp_string(PROMPT).unwrap();
    person.send_line("y").unwrap();
    assert_eq!(decision(&mut gate), decided("edited_by_human", "approver"));
    assert!(gate.receive().contains("b.txt"));
}

#[test]
fn attaching_needs_a_terminal() {
    let place = Place::new();
    let mut attach = Command::new("setsid");
    attach.arg(binary("hitl-gate")).arg("attach");
    place.around(&mut attach);
    let output = crate::process::pipe(&mut attach, b"");
    assert_eq!(output.status.code(), Some(3), "{}", crate::process::text(&output.stderr));
}

/// A client that asks the person itself, as chats and editors do.
pub struct Client {
    listener: UnixListener,
    pub place: Place,
}

impl Client {
    pub fn listen() -> Client {
        let place = Place::new();
        let listener = UnixListener::bind(place.folder.path().join("approvals")).unwrap();
        Client { listener, place }
    }

    pub fn path(&self) -> std::path::PathBuf {
        self.place.folder.path().join("approvals")
    }

    pub fn gate(&self, options: &[&str]) -> Talk {
        let mut gate = self.place.gate(options);
        Talk::start(gate.env("PIPEWRIGHT_APPROVALS", self.path()))
    }

    pub fn accept(&self) -> (BufReader<UnixStream>, UnixStream) {
        let (gate, _) = self.listener.accept().unwrap();
        (BufReader::new(gate.try_clone().unwrap()), gate)
    }
}

pub fn read(from: &mut BufReader<UnixStream>) -> Value {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    crate::schemas::hold(line.trim_end());
    json(&line)
}

#[test]
fn a_client_is_asked_over_its_socket_and_answers_by_nonce() {
    let client = Client::listen();
    let mut gate = client.gate(&[]);
    gate.say(MARKED);
    let status = json(&gate.receive());
    let (mut from, mut to) = client.accept();
    let asked = read(&mut from);
    for field in ["call_id", "tool_name", "arguments", "arguments_sha256"] {
        assert_eq!(asked[field], status[field], "{field}");
    }
    assert_ne!(asked["nonce"], status["nonce"], "what the caller can read is not an answer here");
    assert!(asked["asked_at"].as_str().unwrap() < asked["expires_at"].as_str().unwrap(), "{asked}");
    let answer = |nonce: &Value, more: &str| {
        format!("{{\"type\":\"hitl_response\",\"call_id\":1,\"nonce\":{nonce},\"action\":\"approve\"{more}}}\n")
    };
    let wrong = [
        answer(&"0000".into(), ""),
        "\n".to_owned(),
        r#"{"type":"hitl_response","call_id":1,"action":"approve"}"#.to_owned() + "\n",
        answer(&asked["nonce"], r#","arguments_sha256":"00""#),
    ];
    to.write_all(wrong.concat().as_bytes()).unwrap();
    gate.receive_nothing_for(200);
    to.write_all(answer(&asked["nonce"], "").as_bytes()).unwrap();
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
    assert_eq!(gate.receive(), SETTLED);
    let settled = read(&mut from);
    assert_eq!((&settled["verdict"], &settled["nonce"]), (&"approved".into(), &asked["nonce"]));
    gate.close();
    let ended = gate.end();
    assert_eq!(ended.stderr.matches("not accepted as an answer").count(), 3, "{}", ended.stderr);
}

#[test]
fn nobody_is_asked_if_the_client_has_gone() {
    let client = Client::listen();
    let mut gate = client.gate(&[]);
    hold(&mut gate, MARKED);
    let connection = client.accept();
    drop(connection);
    // The gate looks for it again.
    let connection = client.accept();
    std::fs::remove_file(client.path()).unwrap();
    drop(connection);
    assert_eq!(decision(&mut gate), decided("rejected", "nobody"));
    let answer = json(&gate.receive());
    assert!(answer["error"].as_str().unwrap().contains("nobody can be asked here"), "{answer}");
    hold(&mut gate, &marked(2));
    assert_eq!(decision(&mut gate), decided("rejected", "nobody"), "at once, not after the timeout");
    gate.receive();
    gate.close();
    let stderr = gate.end().stderr;
    assert!(stderr.contains("PIPEWRIGHT_APPROVALS: "), "{stderr}");
}

#[test]
fn a_client_that_accepts_no_connection_does_not_block_the_gate() {
    let client = Client::listen();
    listen(&client.listener, Backlog::new(0).unwrap()).unwrap();
    let _waiting = UnixStream::connect(client.path()).unwrap();
    let mut gate = client.gate(&["--approver"]);
    let mut person = client.place.attach();
    hold(&mut gate, MARKED);
    person.exp_string(PROMPT).unwrap();
    person.send_line("y").unwrap();
    assert_eq!(decision(&mut gate), decided("approved", "approver"));
}

#[test]
fn a_client_that_reads_nothing_or_floods_does_not_block_the_gate() {
    let client = Client::listen();
    let mut gate = client.gate(&["--max-line", "64K", "--timeout", "0.2"]);
    for id in 1..40 {
        let line =
            format!(r#"{{"id":{id},"tool":"x","args":{{"a":"{}"}},"requires_approval":true}}"#, "b".repeat(60_000));
        hold(&mut gate, &line);
        if id == 1 {
            let (_, mut to) = client.accept();
            std::mem::forget(to.try_clone().unwrap());
            let _ = to.write_all(&vec![b'x'; 100_000]);
        }
        gate.receive();
        gate.receive();
        gate.receive();
    }
    assert!(Path::new(&client.path()).exists());
}

#[test]
fn the_notify_program_runs_when_a_call_begins_to_wait_and_once_at_a_time() {
    let client = Client::listen();
    let notes = client.place.folder.path().join("notes");
    let script =
        format!("echo 'it waits' >>{0}; until [ -e {0}.read ]; do sleep 0.05; done; echo noise", notes.display());
    let mut gate = client.gate(&["--timeout", "0.1", "--notify", &format!("sh -c \"{script}\"")]);
    let count = || std::fs::read_to_string(&notes).unwrap_or_default().matches("it waits\n").count();
    for id in 1..4 {
        hold(&mut gate, &marked(id));
        assert_eq!(decision(&mut gate), decided("rejected", "timeout"));
        gate.receive();
    }
    crate::process::eventually("it was run", || count() == 1);
    std::fs::write(notes.with_extension("read"), "").unwrap();
    crate::process::eventually("it is run again", || {
        hold(&mut gate, &marked(9));
        decision(&mut gate);
        gate.receive();
        count() > 1
    });
    gate.close();
    assert!(!gate.end().stderr.contains("noise"));
    let output = crate::process::pipe(&mut client.place.gate(&["--notify", "'"]), b"");
    assert_eq!(output.status.code(), Some(2), "{}", crate::process::text(&output.stderr));
}
