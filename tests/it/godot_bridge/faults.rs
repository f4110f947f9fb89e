//! A game that fails: everybody who waits is answered, in order and in the form of the call, with why.

use super::{lines, play};
use crate::process::text;
use serde_json::Value;
use std::process::Output;
use std::time::{Duration, Instant};

/// A call in each form, and ids of each JSON type; as the answers have to begin.
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

/// Where the answer in each form has the code.
fn code(answer: &Value) -> &Value {
    if answer["jsonrpc"].is_null() { &answer["code"] } else { &answer["error"]["data"]["code"] }
}

struct Fault<'a> {
    code: &'a str,
    status: i32,
    /// What is said on stderr.
    told: &'a [&'a str],
}

/// Plays a game that fails at once, or in `command`; gives what the first answer says about it.
fn check(fault: &str, options: &[&str], command: Option<&str>, expected: &Fault<'_>) -> Value {
    let calls: Vec<&str> = command.into_iter().chain(CALLS.iter().map(|(call, _)| *call)).collect();
    let output = play(fault, options, &calls);
    let (said, stderr) = (lines(&output), text(&output.stderr));
    assert_eq!(said.len(), calls.len(), "{said:?} {stderr}");
    let beginnings =
        command.map(|_| r#"{"ok":false,"error":"#).into_iter().chain(CALLS.iter().map(|(_, begins)| *begins));
    for (line, begins) in said.iter().zip(beginnings) {
        assert!(line.starts_with(begins), "{line}");
        assert_eq!(code(&serde_json::from_str(line).unwrap()), expected.code, "{line}");
    }
    assert_eq!(output.status.code(), Some(expected.status), "{stderr}");
    for told in expected.told {
        assert!(stderr.contains(told), "{told} in {stderr}");
    }
    serde_json::from_str(&said[0]).unwrap()
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
        check(fault, &[], None, &Fault { code: "VERSION_MISMATCH", status: 3, told: &[says, install] });
    }
    let long = Fault { code: "VERSION_MISMATCH", status: 3, told: &["greeting is longer than --max-line"] };
    check("long-hello", &[], None, &long);
}

#[test]
fn a_game_that_ends_before_it_greets() {
    let told = &["  | Error: the main scene is missing", "ended before it greeted: exit status 7 (GAME_START_FAILED)"];
    for transport in ["file", "unix", "tcp"] {
        let fault = Fault { code: "GAME_START_FAILED", status: 3, told };
        let answer = check("exits", &["--transport", transport], None, &fault);
        assert_eq!(answer["data"]["status"], 7);
        assert!(answer["data"]["stderr"].as_str().unwrap().ends_with("Error: the main scene is missing"));
    }
}

#[test]
fn a_game_that_never_greets() {
    for transport in ["file", "unix", "tcp"] {
        let told = &["not completed the handshake within 0.5 s (--start-timeout): ", "addon may be missing or older"];
        let fault = Fault { code: "GAME_START_FAILED", status: 3, told };
        check("silent", &["--start-timeout", "0.5", "--transport", transport], None, &fault);
    }
}

#[test]
fn a_script_that_cannot_be_loaded_is_not_waited_for_to_the_end() {
    let started = Instant::now();
    let told = &["  | SCRIPT ERROR: Parse Error: Expected an expression.", "a script of the game can't be loaded"];
    check("broken-script", &[], None, &Fault { code: "GAME_START_FAILED", status: 3, told });
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

#[test]
fn a_game_that_hangs() {
    let told = &["the game has not answered for 2.2 s; giving it up (TIMEOUT)"];
    check("hangs", &["--timeout", "0.2"], None, &Fault { code: "TIMEOUT", status: 4, told });
    check("echo", &["--timeout", "0.2"], Some(r#"{"cmd":"hang"}"#), &Fault { code: "TIMEOUT", status: 4, told });
}

#[test]
fn no_time_at_all_is_for_ever() {
    let options = ["--start-timeout", "0", "--timeout", "0"];
    // Longer than the grace that a game has.
    let sleep = r#"{"cmd":"sleep","id":1,"args":{"seconds":2.5}}"#;
    let output = play("echo", &options, &[sleep, r#"{"cmd":"x","id":2}"#, r#"{"cmd":"x","id":3,"timeout":5}"#]);
    has_ended(&output);
    let timeouts: Vec<Value> = lines(&output)
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["data"]["timeout"].take())
        .collect();
    assert_eq!(timeouts, [Value::Null, 864_000.into(), 5.into()], "{}", text(&output.stderr));
    // It is ended in time all the same.
    let started = Instant::now();
    let output = play("hangs", &options, &[]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output.stderr));
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn a_game_that_ends_in_a_command() {
    let told = &["  | it has had enough", "the game has ended: exit status 255 (GAME_EXITED)"];
    let exit = r#"{"cmd":"exit","args":{"code":255}}"#;
    let answer = check("echo", &[], Some(exit), &Fault { code: "GAME_EXITED", status: 4, told });
    assert_eq!(answer["data"]["status"], 255);
    // What a shell around the engine makes of a signal.
    let exit = r#"{"cmd":"exit","args":{"code":139}}"#;
    check("echo", &[], Some(exit), &Fault { code: "GAME_CRASHED", status: 4, told: &[] });
}

#[test]
fn a_game_that_crashes() {
    let told = &["  | handle_crash: Program crashed with signal 11", "crashed: signal 6 (SIGABRT) (GAME_CRASHED)"];
    for transport in ["file", "unix", "tcp"] {
        let fault = Fault { code: "GAME_CRASHED", status: 4, told };
        let answer = check("echo", &["--transport", transport], Some(r#"{"cmd":"abort"}"#), &fault);
        assert_eq!(answer["data"]["status"], 134);
    }
}

#[test]
fn a_game_that_hangs_up_and_runs_on() {
    for transport in ["unix", "tcp"] {
        let told = &["the game has closed its connection but has not ended in time (--quit-timeout) (GAME_EXITED)"];
        let fault = Fault { code: "GAME_EXITED", status: 4, told };
        check("echo", &["--transport", transport], Some(r#"{"cmd":"hang_up"}"#), &fault);
    }
}

#[test]
fn what_is_no_fault_is_not_noticed() {
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
fn lines_that_answer_nothing_are_told_and_hurt_only_themselves() {
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
fn not_every_answer_to_nothing_is_told() {
    let output = play("echo", &[], &[r#"{"cmd":"mutter","id":1,"args":{"lines":500}}"#]);
    has_ended(&output);
    let stderr = text(&output.stderr);
    assert_eq!(stderr.matches("an answer that matches no command").count(), 20, "{stderr}");
    assert!(stderr.ends_with("godot-bridge: and 480 more notes\n"), "{stderr}");
}

#[test]
fn an_answer_that_never_comes_costs_one_command() {
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
fn an_answer_over_the_limit_is_told_and_the_next_one_comes() {
    let long = r#"{"cmd":"long","id":1,"args":{"bytes":5000000}}"#;
    let output = play("echo", &[], &[long, long, r#"{"cmd":"x","id":2}"#]);
    let said = lines(&output);
    for line in &said[..2] {
        let answer: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&answer["id"], code(&answer)), (&1.into(), &"TOO_LARGE".into()));
    }
    assert!(said[2].starts_with(r#"{"ok":true,"id":2,"#));
    assert_eq!(output.status.code(), Some(1));
    let output = play("echo", &["--max-line", "6M"], &[long]);
    assert!(lines(&output)[0].len() > 5_000_000);
    has_ended(&output);
}

#[test]
fn a_game_that_is_not_there_is_an_answer_to_every_line() {
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
fn a_line_that_cannot_be_read_is_refused_in_the_form_of_its_call() {
    let output = play("echo", &[], &[r#"{"type":"tool_call","call_id":14}"#, r#"{"cmd":7,"id":15}"#]);
    let said = lines(&output);
    assert!(said[0].starts_with(r#"{"type":"tool_result","call_id":14,"status":"error""#), "{said:?}");
    assert!(said[1].starts_with(r#"{"ok":false,"id":15,"#) && said[1].contains("BAD_JSON"), "{said:?}");
}
