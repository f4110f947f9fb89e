//! Gates without anybody to ask.

use super::{MARKED, gate, json, ran};
use crate::process::{command, pipe, text, with_a_person};

#[test]
fn a_held_call_is_rejected_at_once_with_advice() {
    let (status, lines, stderr) = ran(&mut gate(&[]), &format!("{MARKED}\n{{\"tool\":\"look\"}}\n"));
    assert_eq!(status, Some(1));
    let said: Vec<_> = lines.iter().map(|line| json(line)).collect();
    assert_eq!((&said[0]["status"], &said[1]["by"]), (&"rejected".into(), &"nobody".into()));
    assert_eq!((&said[2]["kind"], &said[2]["id"]), (&"rejected".into(), &1.into()));
    assert_eq!(said[2]["error"], "a person's approval is needed, and nobody can be asked here");
    assert_eq!((lines.len(), lines[3].as_str()), (4, r#"{"tool":"look"}"#));
    assert!(stderr.starts_with("hitl-gate: stdin:1: a person's approval is needed"), "{stderr}");
    for part in ["/dev/tty", "--tty", "--answers"] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    let (_, _, stderr) = ran(&mut gate(&[]), &format!("{MARKED}\n{MARKED}\n"));
    let count = |text: &str| stderr.matches(text).count();
    assert_eq!((count("nobody can be asked here"), count("run `hitl-gate attach`")), (2, 1), "{stderr}");
}

#[test]
fn json_rpc_is_answered_in_kind_and_a_notification_is_not() {
    let call = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0",{id}"method":"tools/call","params":{{"name":"x","_meta":{{"requires_approval":true}}}}}}"#
        )
    };
    let input = format!("{}\n{}\n", call(r#""id":"a","#), call(""));
    let (status, lines, _) = ran(&mut gate(&["--events", "/dev/null"]), &input);
    let [answer] = lines.as_slice() else { panic!("{lines:?}") };
    let answer = json(answer);
    assert_eq!((&answer["id"], &answer["result"]["_meta"]["kind"]), (&"a".into(), &"rejected".into()));
    assert_eq!(status, Some(1));
}

#[test]
fn a_named_terminal_must_be_a_terminal() {
    let (status, lines, stderr) = ran(&mut gate(&["--tty", "/dev/null"]), MARKED);
    assert_eq!((status, lines.len()), (Some(3), 0));
    assert!(stderr.contains("/dev/null: it is not a terminal"), "{stderr}");
}

#[test]
fn stdin_is_not_a_terminal() {
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("{}; echo status $?", crate::process::binary("hitl-gate").display())]);
    let mut person = with_a_person(shell);
    person.exp_string("stdin is a terminal: pipe calls in").unwrap();
    person.exp_string("status 2").unwrap();
}

#[test]
fn lines_without_a_mark_pass_byte_for_byte() {
    let input = "\u{feff}{\"tool\":\"x\",\"args\":{\"n\":1.10,  \"big\":12345678901234567890},\"requires_approval\":false}\r\n\n \t\n{\"type\":\"observation\",\"z\":1,\"a\":1}\n{\"type\":\"tool_call\",\"tool_name\":\"x\"}";
    let output = pipe(command("hitl-gate").args(["--timeout", "0.1"]), input.as_bytes());
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), (input, Some(0)), "{}", text(&output.stderr));
}
