//! `agent-chat` without a terminal: plain lines.

use super::{DONE, ECHO, Place};
use crate::process::{Talk, binary, command, eventually, example, pipe};
use nix::sys::signal::Signal;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

/// Its stdout and stderr, and its status.
fn of(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    // All records of the agent are in order, except in tests of disorder.
    let stderr = text(&output.stderr);
    assert!(!stderr.contains("agent-chat: agent:") || stderr.contains("nonsense"), "{stderr}");
    (text(&output.stdout), stderr, output.status.code())
}

#[test]
fn a_script_calls_sends_messages_approves_and_reads_the_status() {
    let place = Place::new(&[
        r#"{"text":"I plan.","calls":[{"tool_name":"assistant_plan","arguments":{"steps":["Look"]}}]}"#,
        ECHO,
        ECHO,
        DONE,
    ]);
    let input = "upper text=hi\n/chat\nLook, please.\n/no not this one\n/edit n=2\n/yes\n/status\n/steps\n/save saved\n/exit\n/exit\n";
    let (stdout, stderr, status) = of(&pipe(&mut place.chat(&["--log", "-"], &[]), input.as_bytes()));
    // One line was refused, and a call was rejected.
    assert_eq!(status, Some(1), "{stdout}{stderr}");
    let expected = [
        "I plan.\n",
        "[>] Look\n",
        "may this call pass?\n",
        "/yes, /always, /no, /edit or /show\n",
        "x echo n=1\n  rejected: a person rejected it: not this one\n",
        "edited:\n- .n: 1\n+ .n: 2\n",
        "+ echo n=1\n",
        "It is **done**.\n",
        "mode: chat\nagent: waiting for you\npending_kind: none\ngoal: Look, please.\nsteps: 2\n",
        "   1  echo n=1 (failed)\n   2  echo n=1\n",
        "saved: saved\n",
    ];
    let mut rest = stdout.as_str();
    for part in expected {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing from\n{rest}\nof {stdout}\n{stderr}"));
        rest = &rest[at + part.len()..];
    }
    assert!(stderr.contains("stdin:1: unknown tool \"upper\""), "{stderr}");
    assert!(stderr.contains("\"reasoning\":\"It is easy.\""), "{stderr}");
    assert!(
        place.requests().contains("not this one") && place.requests().contains("changed arguments of this call: n.")
    );
    let saved = std::fs::read_to_string(place.path("saved")).unwrap();
    assert!(saved.contains("chat> Look, please.\n") && saved.contains("It is **done**.\n"), "{saved}");
}

#[test]
fn a_call_by_the_person_is_held_too_and_always_allows_its_tool() {
    let place = Place::new(&[DONE]);
    let input = "echo n=1\n/always\necho n=2\n{\"tool\":\"echo\",\"args\":{\"n\":3}}\n";
    let (stdout, stderr, status) = of(&pipe(&mut place.chat(&[], &[]), input.as_bytes()));
    assert_eq!((status, stdout.matches("may this call pass?").count()), (Some(0), 1), "{stdout}{stderr}");
    for part in ["+ echo n=1\n{\"n\":1}\n", "+ echo n=2\n{\"n\":2}\n", "+ echo n=3\n{\"n\":3}\n"] {
        assert!(stdout.contains(part), "{part} is missing from {stdout}");
    }
}

#[test]
fn always_allows_a_command_by_its_program_only() {
    let place = Place::new(&[DONE]);
    let input = "echo command='mkdir a'\n/always\necho command='mkdir b'\necho command='rm -rf c'\n/no\n";
    let (stdout, stderr, _) = of(&pipe(&mut place.chat(&[], &[]), input.as_bytes()));
    assert_eq!(stdout.matches("may this call pass?").count(), 2, "{stdout}{stderr}");
    assert!(stdout.contains("for this session: `mkdir *` in this folder\n"), "{stdout}");
    assert!(
        stdout.contains("{\"command\":\"mkdir b\"}\n") && !stdout.contains("{\"command\":\"rm -rf c\"}"),
        "{stdout}"
    );
}

#[test]
fn held_calls_are_rejected_when_nobody_can_answer() {
    let place = Place::new(&[ECHO, DONE]);
    let (stdout, stderr, status) = of(&pipe(&mut place.chat(&["--chat"], &[]), b"Echo.\n"));
    assert!(stdout.contains("rejected: ") && stdout.contains("the input of agent-chat has ended"), "{stdout}");
    assert!(stdout.ends_with("It is **done**.\n") && status == Some(1), "{status:?} {stdout}{stderr}");
}

#[test]
fn a_question_and_manual_work_wait_for_a_message() {
    let place = Place::new(&[
        r#"{"calls":[{"tool_name":"assistant_ask","arguments":{"question":"Red or blue?","options":["red","blue"]}}]}"#,
        r#"{"calls":[{"tool_name":"assistant_need_user","arguments":{"what":"Log in, please."}}]}"#,
        DONE,
    ]);
    let (stdout, _, status) = of(&pipe(&mut place.chat(&["--chat"], &[]), b"Go.\nred\ndone\n"));
    assert_eq!(status, Some(0), "{stdout}");
    assert!(
        stdout.contains("Red or blue?\n  - red\n  - blue\nLog in, please.\nwrite a message when it is done\n"),
        "{stdout}"
    );
    assert!(place.requests().contains("The person says: red"));
}

#[test]
fn after_ten_steps_the_agent_sums_up_and_a_message_continues() {
    let mut script = Vec::new();
    for number in 0..10 {
        script.push(format!(r#"{{"calls":[{{"tool_name":"echo","arguments":{{"n":{number}}}}}]}}"#));
    }
    script.push(r#"{"text":"I waited ten times. Go on?"}"#.to_owned());
    script.push(DONE.to_owned());
    let script: Vec<&str> = script.iter().map(String::as_str).collect();
    let place = Place::new(&script);
    std::fs::write(place.path("rules.toml"), "[[rule]]\nid = \"go\"\nverdict = \"allow\"\ntool = \"*\"\n").unwrap();
    let (stdout, _, status) = of(&pipe(&mut place.chat(&["--chat"], &[]), b"Wait.\n/status\nGo on, but faster.\n"));
    assert_eq!((status, stdout.matches(" echo n=").count()), (Some(0), 10), "{stdout}");
    let status = stdout.split("I waited ten times. Go on?\n").nth(1).unwrap();
    assert!(status.starts_with("mode: chat\nagent: waiting for you\npending_kind: question\n"), "{stdout}");
    assert!(stdout.ends_with("It is **done**.\n") && place.requests().contains("Go on, but faster."));
}

#[test]
fn questions_of_tools_are_answered_or_declined_in_order() {
    let place = Place::new(&[DONE]);
    let over = |server: &str, options: &[&str]| {
        let mut chat = command("agent-chat");
        chat.arg("--").arg(binary("agent-loop")).arg("--llm").arg(place.model()).arg("--");
        chat.arg(binary("mcp-pipe")).args(options).arg("--").arg(example("stand-in-server")).arg(server);
        chat
    };
    let (stdout, stderr, status) =
        of(&pipe(&mut over("modern", &["--interactive"]), b"ask\n/answer name=Ann\n/no\nask\n"));
    assert_eq!(status, Some(0), "{stdout}{stderr}");
    assert!(stdout.starts_with("ask asks: Who?\n"), "{stdout}");
    for part in [r#""who":{"action":"accept","content":{"name":"Ann"}}"#, r#""who":{"action":"decline"}"#] {
        assert!(stdout.contains(part), "{stdout}");
    }
    let declined = stdout.matches(r#""why \"\"":{"action":"decline"}"#).count();
    assert_eq!(declined, 2, "nobody can answer the last any more: {stdout}");
    // A withdrawn question.
    let mut talk = Talk::start(&mut over("echo", &["--interactive", "--answer-timeout", "0.2"]));
    talk.say("ask");
    let lines: Vec<String> = std::iter::repeat_with(|| talk.receive()).take(3).collect();
    assert_eq!(lines[2], "the tool's question is withdrawn", "{lines:?}");
    talk.close();
    talk.end();
}

#[test]
fn invalid_lines_are_reported_and_the_others_are_carried_out() {
    let place = Place::new(&[DONE]);
    let input = "/stauts\necho 'n\n/yes\n/answer 5\n/save\necho n\n/plan\n/steps\n/chat\nGo.\n";
    let (stdout, stderr, status) = of(&pipe(&mut place.chat(&[], &[]), input.as_bytes()));
    for part in [
        "stdin:1: unknown command /stauts; did you mean /status?",
        "a closing quotation mark is missing",
        "no call is held",
        "/answer: no tool has asked a question",
        "/save: the file is missing: /save FILE",
        "'n' is not KEY=VALUE",
    ] {
        assert!(stderr.contains(part), "{part} is missing from {stderr}");
    }
    assert!(stdout.starts_with("no plan yet\nno calls yet\n"), "{stdout}");
    assert!(stdout.ends_with("It is **done**.\n") && status == Some(1), "{stdout}");
}

#[test]
fn a_message_is_stopped_by_slash_stop_and_the_end_of_the_agent_is_its_status() {
    let place =
        Place::new(&[r#"{"calls":[{"tool_name":"assistant_plan","arguments":{"steps":["a"]}}],"sleep_ms":600000}"#]);
    let mut talk = Talk::start(&mut place.chat(&["--chat"], &[]));
    talk.say("Think.");
    eventually("the model is asked", || place.requests().contains("Think."));
    talk.say("/stop");
    assert_eq!(talk.receive(), "cancelled: the person cancelled it");
    talk.signal(Signal::SIGTERM);
    assert_eq!(talk.end().status.signal(), Some(15));
    let mut chat = command("agent-chat");
    let output = pipe(chat.args(["--", "sh", "-c", "exit 7"]), b"");
    assert_eq!(output.status.code(), Some(7));
    let mut chat = command("agent-chat");
    let (_, stderr, status) = of(&pipe(chat.args(["--", "/no/such/agent"]), b""));
    assert!(status == Some(3) && stderr.contains("/no/such/agent"), "{status:?} {stderr}");
}

#[test]
fn a_silent_agent_is_ended_and_remaining_lines_are_faults() {
    let mut chat = command("agent-chat");
    let (_, stderr, status) =
        of(&pipe(chat.args(["--chat", "--", "sh", "-c", "read -r tools; read -r one; exit 0"]), b"one\ntwo\n"));
    assert!(
        status == Some(1) && stderr.contains("stdin:2: not carried out: the agent has ended"),
        "{status:?} {stderr}"
    );
    let mut chat = command("agent-chat");
    let (_, stderr, status) = of(&pipe(chat.args(["--", "sh", "-c", "exec >&-; sleep 600"]), b""));
    assert!(status == Some(4) && stderr.contains("does not end"), "{status:?} {stderr}");
}

#[test]
fn an_unsettled_false_question_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("path");
    let mut chat = command("agent-chat");
    let agent = format!("read -r tools; echo \"$PIPEWRIGHT_APPROVALS\" >'{}'; cat >/dev/null", path.display());
    let mut talk = Talk::start(chat.args(["--chat", "--", "sh", "-c", &agent]));
    crate::process::eventually("the agent names the socket", || {
        std::fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n'))
    });
    let socket = std::fs::read_to_string(&path).unwrap();
    let ask = |tool: &str| {
        let mut gate = UnixStream::connect(socket.trim_end()).unwrap();
        let question = format!(
            r#"{{"type":"status","status":"waiting_human","nonce":"{tool}","tool_name":"{tool}","arguments":{{}},"arguments_sha256":"x"}}"#
        );
        writeln!(gate, "{question}").unwrap();
        gate
    };
    let first = ask("scroll");
    let until = |talk: &mut Talk, text: &str| while !talk.receive().contains(text) {};
    until(&mut talk, "asked by process");
    until(&mut talk, "scroll");
    let second = ask("pay");
    talk.say("/yes");
    until(&mut talk, "pay");
    talk.say("/no");
    let mut answer = String::new();
    BufReader::new(second).read_line(&mut answer).unwrap();
    assert!(answer.contains(r#""nonce":"pay","action":"reject""#), "{answer}");
    drop(first);
    talk.close();
    talk.end();
}

#[test]
fn a_session_id_is_put_into_the_arguments() {
    let place = Place::new(&[DONE]);
    let kept = place.path("{session}.jsonl");
    let output = pipe(&mut place.chat(&["--chat"], &["--session", kept.to_str().unwrap()]), b"Go.\n");
    assert_eq!(output.status.code(), Some(0));
    let sessions = std::fs::read_dir(place.folder.path()).unwrap();
    let names: Vec<String> = sessions.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.starts_with("20") && name.ends_with(".jsonl")), "{names:?}");
}

#[test]
fn records_out_of_order_are_reported_and_the_chat_continues() {
    let mut chat = command("agent-chat");
    let agent = r#"read -r tools; echo '{"type":"tool_result","call_id":"a1","status":"ok","result":1}'; echo 'nonsense' >&2; echo 'nonsense'; echo '{"type":"assistant_message","token":"a\u001b[2Jb","is_final":true,"kind":"answer"}'; cat >/dev/null"#;
    let (stdout, stderr, status) = of(&pipe(chat.args(["--", "sh", "-c", agent]), b""));
    assert_eq!((stdout.as_str(), status), ("a?[2Jb\n", Some(0)));
    assert!(stderr.contains("agent:1: a result of \"a1\", which is not an open call"), "{stderr}");
    assert!(stderr.contains("agent:2: "), "{stderr}");
}
