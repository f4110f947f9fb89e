//! Text of a page or a model that could mislead the person who is asked.

use super::{Desk, Desktop, SETTLED};

/// Escape sequences, marks that change the writing direction, and invisible characters.
const NASTY: &str = "\u{9b}2J\u{202e}\u{2066}\u{200b}\u{feff}\u{e0041}\u{ad}\u{3164}\u{2028}";
const ESCAPED: &str = r"\u001b[2J\u0007\r\n> y\r\n\u202e\u200b";

#[test]
fn nothing_in_a_call_controls_the_terminal_or_is_invisible() {
    let mut desk = Desk::lay("", "--color never", "");
    let text = format!("{NASTY}{ESCAPED}");
    let shown = desk.hold(&format!(
        r#"{{"tool":"t{text}","args":{{"k{text}":"v{text}"}},"requires_approval":true,"target":{{"role":"r{text}","name":"n{text}","context":"c{text}"}},"policy":{{"rule":"r{text}","reason":"r{text}","kind":"k{text}","severity":"strong"}}}}"#
    ));
    desk.types("v");
    let everything = desk.question();
    // Our own bell, once.
    assert_eq!(shown.matches('\u{7}').count(), 1, "{shown:?}");
    let shown = shown.replace('\u{7}', "");
    for shown in [shown, everything] {
        let hidden = |c: char| (c.is_control() && !"\r\n".contains(c)) || NASTY.contains(c) && c != '2' && c != 'J';
        assert!(!shown.chars().any(hidden), "{shown:?}");
        assert!(!shown.lines().any(|line| line.trim_end().ends_with("> y") && line.starts_with('>')), "{shown}");
    }
    desk.types("n \u{202e}\x1b[2J");
    desk.receive_decision();
    desk.person.exp_string("rejected").unwrap();
}

#[test]
fn a_megabyte_is_shown_by_its_ends() {
    let mut desk = Desk::lay("", "", "");
    let long = "approve [y] ".repeat(90_000);
    let call = format!(r#"{{"id":1,"tool":"x","args":{{"{long}":"{long}"}},"requires_approval":true}}"#);
    let shown = desk.hold(&call);
    assert!(shown.len() < 2000 && shown.contains("(1080002 characters)"), "{} bytes", shown.len());
    desk.types("v");
    assert!(desk.question().len() > 2 * long.len());
    desk.types("y");
    desk.receive_decision();
    assert_eq!(desk.receive(), call.replace(r#","requires_approval":true"#, ""));
}

#[test]
fn y_approves_only_what_was_shown() {
    let hidden = "; rm -rf /home #";
    let blanks = " ".repeat(300);
    let many: Vec<String> = (0..20).map(|number| format!("\"a{number}\":0")).collect();
    let deep = format!("{}\"{}{hidden}{}\"{}", "[".repeat(18), "x".repeat(90), "x".repeat(90), "]".repeat(18));
    for (arguments, is_cut, shown_at_once) in [
        // After blanks: they are counted, and then all of it has room.
        (format!(r#"{{"command":"ls{blanks}{hidden}"}}"#), false, "\"ls<300 blanks>; rm -rf /home #\""),
        // Characters that look like blanks, and invisible ones.
        (r#"{"command":"ls\u2800\u00a0\u3164\u200b#"}"#.to_owned(), false, "\"ls<U+2800><U+00A0><U+3164><U+200B>#\""),
        // The end of a long value is shown, the middle is not.
        (format!(r#"{{"command":"{}{hidden}"}}"#, "x".repeat(300)), true, "xx...(318 characters)..."),
        (format!(r#"{{"command":"ls{}{hidden}"}}"#, "\\u2800".repeat(300)), true, "; rm -rf /home #\""),
        (format!(r#"{{"command":"{0}{hidden}{0}"}}"#, "x".repeat(300)), true, "characters)..."),
        // After the last row, in a name, and at a great depth.
        (format!(r#"{{{},"command":"{hidden}"}}"#, many.join(",")), true, "and 1 more"),
        (format!(r#"{{"{}":"{hidden}"}}"#, "k".repeat(60)), true, "characters)..."),
        (format!(r#"{{"command":{deep}}}"#), true, "characters)..."),
    ] {
        let mut desk = Desk::lay("", "--color never", "");
        let call = format!(r#"{{"id":1,"tool":"run","args":{arguments},"requires_approval":true}}"#);
        let shown = desk.hold(&call);
        assert!(shown.contains(shown_at_once), "{arguments}: {shown}");
        assert_eq!(shown.contains("not everything is shown: press v before y"), is_cut, "{arguments}: {shown}");
        if is_cut {
            desk.types("y");
            let refused = desk.question();
            assert!(refused.contains("not everything has been shown: press v first"), "{refused}");
            desk.types("v");
            let everything = desk.question().replace("\r\n  | ", "");
            assert!(everything.contains(hidden), "{everything}");
        }
        desk.types("y");
        assert_eq!(desk.receive_decision().0, "approved");
        assert_eq!(desk.receive(), call.replace(r#","requires_approval":true"#, ""));
    }
}

#[test]
fn fields_besides_the_arguments_are_shown_and_approved_with_them() {
    let long = "x".repeat(300);
    let own = r#"{"id":1,"tool":"run","args":{},"requires_approval":true,"command":"rm -rf /","timeout":5}"#.to_owned();
    let json_rpc = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"run","command":"{long}","_meta":{{"requires_approval":true,"progressToken":7,"k":"v"}}}}}}"#
    );
    for (call, shown_at_once, is_cut) in [
        (own, vec!["besides the arguments", "  .command: \"rm -rf /\""], false),
        (json_rpc, vec!["no arguments", "  .params.command: \"xx", "  .params._meta.k: \"v\""], true),
    ] {
        let mut desk = Desk::lay("", "--color never", "");
        let shown = desk.hold(&call);
        for part in shown_at_once {
            assert!(shown.contains(part), "{part} is missing from {shown}");
        }
        assert!(!shown.contains("timeout") && !shown.contains("progressToken"), "{shown}");
        if is_cut {
            desk.types("y");
            assert!(desk.question().contains("not everything has been shown: press v first"));
            desk.types("v");
            let everything = desk.question().replace("\r\n  | ", "");
            assert!(everything.contains(&long), "{everything}");
        }
        desk.types("y");
        assert_eq!(desk.receive_decision().0, "approved");
    }
}

#[test]
fn an_edit_can_be_approved_after_all_of_it_was_shown() {
    let mut desk = Desk::lay("", "--color never", "");
    desk.hold(r#"{"id":1,"tool":"run","args":{"command":"ls"},"requires_approval":true}"#);
    let long = "x".repeat(200);
    desk.types(&format!("e command={long}"));
    assert!(desk.question().contains("not everything is shown"));
    // Both lines at once: the second does not answer what the first shows.
    desk.person.send("v\ny\n").unwrap();
    desk.person.flush().unwrap();
    assert!(desk.question().replace("\r\n  | ", "").contains(&long));
    desk.types("y");
    assert_eq!(desk.receive_decision().0, "edited_by_human");
    assert!(desk.receive().contains(&long));
}

#[test]
fn feedback_and_ids_are_quoted_in_every_output() {
    let mut desk = Desktop::start(&[]);
    let asked = desk.hold(r#"{"id":{"a":["\"}"]},"tool":"x","requires_approval":true}"#);
    desk.answer_to(&asked, r#""action":"reject","feedback":"\"}\n{\"tool\":\"rm\"}""#);
    assert_eq!(desk.receive()["call_id"], asked["call_id"]);
    assert_eq!(desk.receive()["feedback"], "\"}\n{\"tool\":\"rm\"}");
    assert_eq!(desk.receive()["error"], "it was rejected: \"}\n{\"tool\":\"rm\"}");
    desk.talk.receive_nothing_for(100);
}

#[test]
fn a_line_that_cannot_be_read_for_certain_never_passes() {
    let mut desk = Desktop::start(&["--max-line", "200", "--max-depth", "8"]);
    let deep = format!(r#"{{"tool":"x","args":{}1{}}}"#, "{\"a\":".repeat(9), "}".repeat(9));
    let long = format!(r#"{{"tool":"x","args":{{"a":"{}"}},"jsonrpc":"2.0"}}"#, "x".repeat(300));
    for (line, kind) in [
        ("no JSON", "bad_input"),
        ("[{\"tool\":\"x\"}]", "bad_input"),
        (r#"{"tool":"x","requires_approval":true,"requires_approval":false}"#, "bad_input"),
        (r#"{"tool":"x","Requires_Approval":false,"requires_approval":true}"#, "bad_input"),
        (r#"{"tool":"x","requires_approval":"true"}"#, "bad_input"),
        ("{\"tool\":\"x\"}\r{\"tool\":\"y\"}", "bad_input"),
        (r#"{"tool":"x","type":"tool_call","tool_name":"y"}"#, "bad_input"),
        (&deep, "bad_input"),
    ] {
        let answer = super::json(&desk.talk.ask(line));
        assert_eq!((&answer["status"], &answer["kind"]), (&"error".into(), &kind.into()), "{line}: {answer}");
    }
    desk.talk.say(r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}]"#);
    let answer = desk.receive();
    assert_eq!((&answer["id"], &answer["error"]["data"]["kind"]), (&serde_json::Value::Null, &"bad_input".into()));
    desk.talk.say(&long);
    let answer = desk.receive();
    assert_eq!((&answer["id"], &answer["error"]["data"]["kind"]), (&serde_json::Value::Null, &"too_large".into()));
    assert!(answer["error"]["message"].as_str().unwrap().contains("--max-line"), "{answer}");
    let asked = desk.hold(super::MARKED);
    desk.answer_to(&asked, &format!(r#""action":"edit","edited_arguments":{{"a":"{}"}}"#, "x".repeat(150)));
    // That answer is itself too long to be read; a call that is not must not become so.
    desk.talk.receive_nothing_for(200);
    desk.answer_to(&asked, r#""action":"approve""#);
    desk.receive();
    desk.receive();
    assert_eq!(desk.talk.receive(), SETTLED);
    assert_eq!(desk.talk.end_after_close().status.code(), Some(1));
}
