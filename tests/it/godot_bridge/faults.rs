//! A game that fails: all waiting calls are answered with the reason, in order and in the form of the call.

use super::{lines, play};
use crate::process::text;
use serde_json::Value;
use std::process::Output;
use std::time::{Duration, Instant};

/// A call in each form, with ids of each JSON type; and the beginnings of the answers.
const CALLS: &[(&str, &str)] = &[
    (r#"{"cmd":"x","id":12345678901234567890}"#, r#"{"ok":false,"id":12345678901234567890,"error":"#),
    (
        r#"{"type":"tool_call","call_id":1.10,"tool_name":"x"}"#,
        r#"{"type":"tool_result","call_id":1.10,"status":"error""#,
    ),
    (r#"{"id":"a\u0041","tool":"x"}"#, r#"{"id":"a\u0041","tool":"x","status":"error","error":"#),
    (
        r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":"#,
    ),
    (r#"{"cmd":"x","id":[1, {"b":2}]}"#, r#"{"ok":false,"id":[1, {"b":2}],"error":"#),
    (r#"{"cmd":"x"}"#, r#"{"ok":false,"error":"#),
];

/// The path of the code in the answer of each form.
fn code(answer: &Value) -> &Value {
    if answer["jsonrpc"].is_null() { &answer["code"] } else { &answer["error"]["data"]["code"] }
}

struct Fault<'a> {
    code: &'a str,
    status: i32,
    /// The messages on stderr.
    messages: &'a [&'a str],
}

/// Plays a game that fails at once, or in `command`; returns the error of the first answer.
fn check(fault: &str, options: &[&str], command: Option<&str>, expected: &Fault<'_>) -> Value {
    let calls: Vec<&str> = command.into_iter().chain(CALLS.iter().map(|(call, _)| *call)).collect();
    let output = play(fault, options, &calls);
    let (answers, stderr) = (lines(&output), text(&output.stderr));
    assert_eq!(answers.len(), calls.len(), "{answers:?} {stderr}");
    let beginnings =
        command.map(|_| r#"{"ok":false,"error":"#).into_iter().chain(CALLS.iter().map(|(_, begins)| *begins));
    for (line, begins) in answers.iter().zip(beginnings) {
        assert!(line.starts_with(begins), "{line}");
        assert_eq!(code(&serde_json::from_str(line).unwrap()), expected.code, "{line}");
    }
    assert_eq!(output.status.code(), Some(expected.status), "{stderr}");
    for message in expected.messages {
        assert!(stderr.contains(message), "{message} in {stderr}");
    }
    serde_json::from_str(&answers[0]).unwrap()
}

fn has_ended(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn another_version_of_the_addon_is_refused() {
    let install = "run godot-bridge install on the project";
    for (fault, says) in [
        ("other-version", "the addon uses version 2.0 of the protocol, this bridge 1.0"),
        ("no-version", "the addon reported no version of the protocol"),
        ("no-hello", r#"the addon answered "Unknown command: hello""#),
    ] {
        check(fault, &[], None, &Fault { code: "VERSION_MISMATCH", status: 3, messages: &[says, install] });
    }
    let long = Fault { code: "VERSION_MISMATCH", status: 3, messages: &["answer to hello is longer than --max-line"] };
    check("long-hello", &[], None, &long);
}

#[test]
fn a_game_that_ends_before_the_handshake_fails_the_start() {
    let messages =
        &["  | Error: the main scene is missing", "ended before the handshake: exit status 7 (GAME_START_FAILED)"];
    for transport in ["file", "unix", "tcp"] {
        let fault = Fault { code: "GAME_START_FAILED", status: 3, messages };
        let answer = check("exits", &["--transport", transport], None, &fault);
        assert_eq!(answer["data"]["status"], 7);
        assert!(answer["data"]["stderr"].as_str().unwrap().ends_with("Error: the main scene is missing"));
    }
}

#[test]
fn a_game_that_never_completes_the_handshake_fails_the_start() {
    for transport in ["file", "unix", "tcp"] {
        let messages =
            &["not completed the handshake within 0.5 s (--start-timeout): ", "addon may be missing or older"];
        let fault = Fault { code: "GAME_START_FAILED", status: 3, messages };
        check("silent", &["--start-timeout", "0.5", "--transport", transport], None, &fault);
    }
}

#[test]
fn a_script_that_cannot_be_loaded_fails_the_start_early() {
    let started = Instant::now();
    let messages = &["  | SCRIPT ERROR: Parse Error: Expected an expression.", "a script of the game cannot be loaded"];
    check("broken-script", &[], None, &Fault { code: "GAME_START_FAILED", status: 3, messages });
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

#[test]
fn a_hanging_game_times_out() {
    let messages = &["the game has not answered for 2.2 s; giving it up (TIMEOUT)"];
    check("hangs", &["--timeout", "0.2"], None, &Fault { code: "TIMEOUT", status: 4, messages });
    check("echo", &["--timeout", "0.2"], Some(r#"{"cmd":"hang"}"#), &Fault { code: "TIMEOUT", status: 4, messages });
}

#[test]
fn a_timeout_of_zero_means_no_limit() {
    let options = ["--start-timeout", "0", "--timeout", "0"];
    // Longer than the grace period of a game.
    let sleep = r#"{"cmd":"sleep","id":1,"args":{"seconds":2.5}}"#;
    let output = play("echo", &options, &[sleep, r#"{"cmd":"x","id":2}"#, r#"{"cmd":"x","id":3,"timeout":5}"#]);
    has_ended(&output);
    let timeouts: Vec<Value> = lines(&output)
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["data"]["timeout"].take())
        .collect();
    assert_eq!(timeouts, [Value::Null, 864_000.into(), 5.into()], "{}", text(&output.stderr));
    // It is still ended in time.
    let started = Instant::now();
    let output = play("hangs", &options, &[]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn a_game_that_ends_during_a_command_is_lost() {
    let messages = &["  | it has had enough", "the game has ended: exit status 255 (GAME_EXITED)"];
    let exit = r#"{"cmd":"exit","args":{"code":255}}"#;
    let answer = check("echo", &[], Some(exit), &Fault { code: "GAME_EXITED", status: 4, messages });
    assert_eq!(answer["data"]["status"], 255);
    // The status that a shell around the engine gives for a signal.
    let exit = r#"{"cmd":"exit","args":{"code":139}}"#;
    check("echo", &[], Some(exit), &Fault { code: "GAME_CRASHED", status: 4, messages: &[] });
}

#[test]
fn a_crashing_game_is_reported_as_crashed() {
    let messages = &["  | handle_crash: Program crashed with signal 11", "crashed: signal 6 (SIGABRT) (GAME_CRASHED)"];
    for transport in ["file", "unix", "tcp"] {
        let fault = Fault { code: "GAME_CRASHED", status: 4, messages };
        let answer = check("echo", &["--transport", transport], Some(r#"{"cmd":"abort"}"#), &fault);
        assert_eq!(answer["data"]["status"], 134);
    }
}

#[test]
fn a_game_that_closes_its_connection_and_keeps_running_is_given_up() {
    for transport in ["unix", "tcp"] {
        let messages = &["the game has closed its connection but has not ended in time (--quit-timeout) (GAME_EXITED)"];
        let fault = Fault { code: "GAME_EXITED", status: 4, messages };
        check("echo", &["--transport", transport], Some(r#"{"cmd":"hang_up"}"#), &fault);
    }
}

#[test]
fn harmless_oddities_are_not_reported() {
    for (fault, transport) in [
        ("half-lines", "file"),
        ("half-lines", "unix"),
        ("rotates", "file"),
        ("wrong-token", "tcp"),
        ("wrong-token", "unix"),
        ("chatter", "file"),
        ("stubborn", "tcp"),
    ] {
        let calls: Vec<String> = (0..20).map(|id| format!(r#"{{"cmd":"x","id":{id}}}"#)).collect();
        let output = play(fault, &["--transport", transport], &Vec::from_iter(calls.iter().map(String::as_str)));
        has_ended(&output);
        assert_eq!(text(&output.stderr), "", "{fault}");
        for (id, line) in lines(&output).iter().enumerate() {
            let answer = r#""data":{"cmd":"x","args":{},"timeout":30},"events":[],"frame":1}"#;
            assert_eq!(*line, format!(r#"{{"ok":true,"id":{id},{answer}"#), "{fault}");
        }
        assert_eq!(lines(&output).len(), 20, "{fault}");
    }
}

#[test]
fn unmatched_lines_are_reported_and_affect_nothing_else() {
    for (fault, call) in [("stale", r#"{"cmd":"x","id":7}"#), ("echo", r#"{"cmd":"babble","id":7}"#)] {
        let output = play(fault, &[], &[call, r#"{"cmd":"x","id":8}"#]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(
            stderr.contains("an answer that matches no command") && stderr.contains("it is not a JSON object"),
            "{stderr}"
        );
        let begins = [r#"{"ok":true,"id":7,"#, r#"{"ok":true,"id":8,"#];
        assert!(
            lines(&output).iter().zip(begins).all(|(line, begins)| line.starts_with(begins)),
            "{:?}",
            lines(&output)
        );
    }
}

#[test]
fn the_number_of_reported_unmatched_answers_is_limited() {
    let output = play("echo", &[], &[r#"{"cmd":"mutter","id":1,"args":{"lines":500}}"#]);
    has_ended(&output);
    let stderr = text(&output.stderr);
    assert_eq!(stderr.matches("an answer that matches no command").count(), 20, "{stderr}");
    assert!(stderr.ends_with("godot-bridge: and 480 more notes\n"), "{stderr}");
}

#[test]
fn a_missing_answer_fails_only_its_command() {
    let unread = play("echo", &[], &[r#"{"cmd":"unread","id":1}"#, r#"{"tool":"x","id":2}"#]);
    assert_eq!(lines(&unread)[0], r#"{"ok":false,"id":1,"error":"no JSON","code":"BAD_JSON","events":[]}"#);
    assert!(lines(&unread)[1].starts_with(r#"{"id":2,"tool":"x","status":"ok""#));
    let forgotten = play("echo", &[], &[r#"{"cmd":"forget","id":1}"#, r#"{"tool":"forget"}"#, r#"{"cmd":"x","id":2}"#]);
    assert_eq!(code(&serde_json::from_str(&lines(&forgotten)[0]).unwrap()), "GAME_ERROR");
    assert_eq!(code(&serde_json::from_str(&lines(&forgotten)[1]).unwrap()), "GAME_ERROR");
    assert!(lines(&forgotten)[2].starts_with(r#"{"ok":true,"id":2,"#));
    assert_eq!((unread.status.code(), forgotten.status.code()), (Some(1), Some(1)));
}

#[test]
fn an_over_long_answer_is_reported_and_the_next_one_arrives() {
    let long = r#"{"cmd":"long","id":1,"args":{"bytes":5000000}}"#;
    let output = play("echo", &[], &[long, long, r#"{"cmd":"x","id":2}"#]);
    let answers = lines(&output);
    for line in &answers[..2] {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&answer["id"], code(&answer)), (&1.into(), &"TOO_LARGE".into()));
    }
    assert!(answers[2].starts_with(r#"{"ok":true,"id":2,"#));
    assert_eq!(output.status.code(), Some(1));
    let output = play("echo", &["--max-line", "6M"], &[long]);
    assert!(lines(&output)[0].len() > 5_000_000);
    has_ended(&output);
}

#[test]
fn without_a_game_every_line_is_still_answered() {
    let mut command = crate::process::command("godot-bridge");
    command.args(["--", "/no/such/game"]);
    let input = "{\"type\":\"tool_call\",\"call_id\":1,\"tool_name\":\"x\"}\n{\"cmd\":\"x\",\"id\":2}\n{\"type\":\"list_tools\"}\n";
    let output = crate::process::pipe(&mut command, input.as_bytes());
    let lines = lines(&output);
    assert_eq!((lines.len(), output.status.code()), (3, Some(3)), "{lines:?}");
    let [call, command, list] =
        [r#"{"type":"tool_result","call_id":1,"#, r#"{"ok":false,"id":2,"#, r#"{"type":"tool_list","#]
            .map(|begins| lines.iter().find(|line| line.starts_with(begins)).unwrap());
    assert!(call.contains("\"start_failed\"") && command.contains("GAME_START_FAILED"), "{call} {command}");
    assert!(list.contains("press_button"));
}

#[test]
fn an_unreadable_line_is_refused_in_the_form_of_its_call() {
    let output = play("echo", &[], &[r#"{"type":"tool_call","call_id":14}"#, r#"{"cmd":7,"id":15}"#]);
    let answers = lines(&output);
    assert!(answers[0].starts_with(r#"{"type":"tool_result","call_id":14,"status":"error""#), "{answers:?}");
    assert!(answers[1].starts_with(r#"{"ok":false,"id":15,"#) && answers[1].contains("BAD_JSON"), "{answers:?}");
}
