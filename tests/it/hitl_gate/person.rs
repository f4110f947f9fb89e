//! A person at the terminal.

use super::{Desk, MARKED, SETTLED, marked};
use crate::process::{binary, example};

#[test]
fn a_person_is_shown_the_call_and_approves() {
    let mut desk = Desk::lay("", "--color never", "echo status $?");
    let shown = desk.hold(
        r#"{"type":"tool_call","call_id":"c1","tool_name":"browser_click","arguments":{"ref":"e12"},"session_id":"s","target":{"role":"button","name":"Delete account","context":"Settings"},"requires_approval":true,"policy":{"verdict":"confirm","rule":"builtin.delete","reason":"delete: \"Delete\" (en)","kind":"delete","severity":"ordinary"}}"#,
    );
    for part in [
        "tool  browser_click",
        "target  button \"Delete account\", in \"Settings\"",
        "kind  delete",
        "rule  builtin.delete",
        "reason  delete: \"Delete\" (en)",
        ".ref: \"e12\"",
        "rejected in 300 s",
    ] {
        assert!(shown.contains(part), "{part} is missing from\n{shown}");
    }
    desk.types("y");
    let status = desk.receive_json();
    assert_eq!(status, super::json(r#"{"type":"status","status":"approved","call_id":"c1","session_id":"s"}"#));
    let result = desk.receive_json();
    assert_eq!((&result["verdict"], &result["by"]), (&"approved".into(), &"terminal".into()));
    assert_eq!(
        desk.receive(),
        r#"{"type":"tool_call","call_id":"c1","tool_name":"browser_click","arguments":{"ref":"e12"},"session_id":"s","target":{"role":"button","name":"Delete account","context":"Settings"},"policy":{"verdict":"confirm","rule":"builtin.delete","reason":"delete: \"Delete\" (en)","kind":"delete","severity":"ordinary"}}"#
    );
    desk.person.exp_string("approved").unwrap();
    desk.calls = None;
    desk.person.exp_string("status 0").unwrap();
    assert_eq!(desk.stderr(), "");
}

#[test]
fn a_rejection_is_answered_with_the_persons_feedback() {
    for (typed, expected) in [
        ("n not this one", "a person rejected it: not this one"),
        ("/no", "a person rejected it"),
        ("NO  \"quoted\\\"", "a person rejected it: \"quoted\\\""),
    ] {
        let mut desk = Desk::lay("", "", "echo status $?");
        desk.hold(MARKED);
        desk.types(typed);
        assert_eq!(desk.receive_decision(), ("rejected".into(), "terminal".into()));
        let answer = desk.receive_json();
        assert_eq!(
            (&answer["kind"], &answer["error"], &answer["id"]),
            (&"rejected".into(), &expected.into(), &1.into())
        );
        desk.calls = None;
        desk.person.exp_string("status 1").unwrap();
    }
}

#[test]
fn every_form_of_approval_approves() {
    let mut desk = Desk::lay("", "", "");
    for typed in ["y", "yes", "/yes", " Y ", "/yes go on"] {
        desk.hold(MARKED);
        desk.types(typed);
        assert_eq!(desk.receive_decision(), ("approved".into(), "terminal".into()), "{typed}");
        assert_eq!(desk.receive(), SETTLED);
    }
}

#[test]
fn only_a_clear_yes_approves() {
    let mut desk = Desk::lay("", "", "");
    desk.hold(MARKED);
    for (typed, expected) in [
        ("", ""),
        ("yep", "unknown command"),
        ("yes!", "unknown command"),
        ("ye", "unknown command"),
        ("1", "unknown command"),
        ("?", "Ctrl-D"),
        ("e x", "e NAME=VALUE"),
        ("v", "  |   \"n\": 1.10"),
    ] {
        desk.types(typed);
        let shown = desk.question();
        assert!(shown.contains(expected), "{typed}: {shown}");
    }
    desk.person.send_control('d').unwrap();
    assert_eq!(desk.receive_decision(), ("rejected".into(), "terminal".into()));
}

#[test]
fn input_before_the_question_does_not_answer_it() {
    let mut desk = Desk::lay("stty echo;", "", "");
    desk.person.send_line("y").unwrap();
    desk.person.send("y").unwrap();
    desk.person.flush().unwrap();
    // The terminal's echo: it has arrived there.
    desk.person.exp_string("y\r\ny").unwrap();
    desk.hold(MARKED);
    // Neither a line nor half of one.
    desk.types("n");
    assert_eq!(desk.receive_decision(), ("rejected".into(), "terminal".into()));
    desk.receive();
    desk.hold(&marked(2));
    // Two lines at once: the second would answer a text that was not shown yet.
    desk.person.send("e path=b\ny\n").unwrap();
    desk.person.flush().unwrap();
    assert!(desk.question().contains("+ .path: \"b\""));
    desk.types("n");
    assert_eq!(desk.receive_decision(), ("rejected".into(), "terminal".into()));
}

#[test]
fn arguments_are_edited_shown_and_approved() {
    let mut desk = Desk::lay("", "", "echo status $?");
    desk.hold(r#"{"id":1,"tool":"rm","args":{ "path":"a.txt" ,"n":12345678901234567890123,"deep":[{"x":1.10}]},"requires_approval":true}"#);
    desk.types("e path=b c.txt");
    let shown = desk.question();
    assert!(shown.contains("- .path: \"a.txt\"") && shown.contains("+ .path: \"b c.txt\""), "{shown}");
    desk.types("e deep[0].x=[true]");
    let shown = desk.question();
    assert!(shown.contains("+ .path: ") && shown.contains("- .deep[0].x: 1.10"), "{shown}");
    desk.types("e deep[7]=1");
    assert!(desk.question().contains("the list has 1 items"));
    desk.types("y");
    assert_eq!(desk.receive_decision(), ("edited_by_human".into(), "terminal".into()));
    assert_eq!(
        desk.receive(),
        r#"{"id":1,"tool":"rm","args":{"path":"b c.txt","n":12345678901234567890123,"deep":[{"x":[true]}]}}"#
    );
    desk.calls = None;
    desk.person.exp_string("status 0").unwrap();
}

#[test]
fn later_calls_wait_in_order_behind_the_one_that_is_asked_about() {
    let mut desk = Desk::lay("", "", "");
    desk.hold(MARKED);
    desk.call(r#"{"tool":"look","id":2}"#);
    desk.call(r#"{"type":"observation","n":1.10}"#);
    assert_eq!(desk.receive(), r#"{"type":"observation","n":1.10}"#, "it is not a call, so it does not wait");
    desk.call(&marked(3));
    desk.call(r#"{"tool":"look","id":4}"#);
    desk.types("y");
    assert_eq!(desk.receive_decision().0, "approved");
    assert_eq!(desk.receive(), SETTLED);
    assert_eq!(desk.receive(), r#"{"tool":"look","id":2}"#);
    assert_eq!(desk.receive_json()["call_id"], 3);
    desk.question();
    desk.types("n");
    desk.receive_decision();
    assert_eq!(desk.receive_json()["id"], 3);
    assert_eq!(desk.receive(), r#"{"tool":"look","id":4}"#);
}

#[test]
fn an_unanswered_call_is_rejected_at_the_timeout() {
    let mut desk = Desk::lay("", "--timeout 3", "echo status $?");
    desk.hold(MARKED);
    assert_eq!(desk.receive_decision(), ("rejected".into(), "timeout".into()));
    let answer = desk.receive_json();
    assert_eq!((&answer["kind"], &answer["id"]), (&"rejected".into(), &1.into()));
    assert!(answer["error"].as_str().unwrap().contains("3 s (--timeout)"), "{answer}");
    desk.person.exp_string("this question is withdrawn: nobody has answered").unwrap();
    // The next question replaces nothing: it may be answered at once.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    desk.hold(&marked(2));
    desk.types("y");
    assert_eq!(desk.receive_decision().0, "approved");
}

#[test]
fn the_question_of_a_cancelled_call_is_withdrawn() {
    let mut desk = Desk::lay("", "", "");
    desk.hold(MARKED);
    desk.call(&marked(2));
    desk.call(r#"{"type":"cancel","call_id":9}"#);
    assert_eq!(desk.receive(), r#"{"type":"cancel","call_id":9}"#, "the cancellation of a call that is not held");
    desk.call(r#"{"type":"cancel","call_id":1}"#);
    desk.person.exp_string("withdrawn: the call was cancelled").unwrap();
    assert_eq!(desk.receive_decision(), ("rejected".into(), "caller".into()));
    let answer = desk.receive_json();
    assert_eq!((&answer["id"], &answer["kind"]), (&1.into(), &"cancelled".into()));
    assert_eq!(desk.receive_json()["call_id"], 2);
    desk.question();
    // It replaces the other one: input is not taken as an answer to it at first.
    std::thread::sleep(std::time::Duration::from_millis(600));
    desk.types("y");
    assert_eq!(desk.receive_decision().0, "approved");
}

#[test]
fn a_call_that_cannot_be_undone_is_shown_with_a_warning() {
    for (color, strong) in
        [("--color always", "\x1b[1;31mPAY: it may spend money\x1b[0m"), ("--color never", "PAY: it may")]
    {
        let mut desk = Desk::lay("", color, "");
        let shown = desk.hold(
            r#"{"tool":"click","requires_approval":true,"policy":{"verdict":"confirm","rule":"r","reason":"","kind":"pay","severity":"strong"}}"#,
        );
        assert!(shown.contains(strong), "{shown:?}");
        assert_eq!(shown.contains('\x1b'), color.ends_with("always"));
    }
}

#[test]
fn the_terminal_is_borrowed_through_wrappers_only_during_a_question() {
    let wrap = example("wrap");
    let record = binary("jsonl-record");
    let before = format!("{} -- {} $FOLDER/log -- {} --", wrap.display(), record.display(), wrap.display());
    let mut desk = Desk::lay(&before, "-- cat", "read -r word </dev/tty; echo the shell read $word");
    for id in 1..3 {
        desk.hold(&marked(id));
        desk.types("y");
        assert_eq!(desk.receive_json()["status"], "approved");
        assert!(desk.receive().starts_with(&format!("{{\"id\":{id}")));
    }
    desk.calls = None;
    desk.types("hello");
    desk.person.exp_string("the shell read hello").unwrap();
}

#[test]
fn of_two_gates_the_outer_asks_and_the_inner_passes() {
    let gate = binary("hitl-gate");
    let mut desk = Desk::lay("", &format!("-- {0} -- {0} -- cat", gate.display()), "echo status $?");
    desk.hold(MARKED);
    desk.types("y");
    assert_eq!(desk.receive_json()["status"], "approved");
    assert_eq!(desk.receive(), SETTLED);
    desk.calls = None;
    desk.person.exp_string("status 0").unwrap();
}

#[test]
fn a_terminal_without_lines_or_echo_is_put_back_as_it_was() {
    let mut desk = Desk::lay("stty -icanon -echo -icrnl -opost;", "--color never", "stty -a");
    desk.hold_raw();
    desk.types("y");
    desk.receive_decision();
    desk.calls = None;
    let shown = desk.person.exp_eof().unwrap();
    for setting in ["-icanon", "-echo ", "-icrnl", "-opost"] {
        assert!(shown.contains(setting), "{setting}: {shown}");
    }
}

impl Desk {
    /// As [`Desk::hold`], with a terminal in raw mode.
    fn hold_raw(&mut self) {
        self.call(MARKED);
        assert_eq!(self.receive_json()["status"], "waiting_human");
        let shown = self.question();
        assert!(shown.contains(".path: \"a.txt\"\r\n"), "lines end with CR LF: {shown:?}");
    }
}

#[test]
fn a_gate_in_the_background_asks_nobody_and_is_not_stopped() {
    let mut desk = Desk::lay("set -m; (", "", ") & wait $!; echo status $?");
    desk.call(MARKED);
    assert_eq!(desk.receive_json()["status"], "waiting_human");
    assert_eq!(desk.receive_decision(), ("rejected".into(), "nobody".into()));
    assert!(desk.receive().contains("nobody can be asked here"));
    desk.calls = None;
    desk.person.exp_string("status 1").unwrap();
    assert!(desk.stderr().contains("in the background of this terminal"), "{}", desk.stderr());
}

#[test]
fn every_form_is_held_and_passes_without_its_mark() {
    let mut desk = Desk::lay("", "", "");
    for (held, passes) in [
        (
            r#"{"cmd":"quit","args":{"a":1.10},"id":7,"requires_approval":true}"#,
            r#"{"cmd":"quit","args":{"a":1.10},"id":7}"#,
        ),
        (
            r#"{"type":"tool_call","tool_name":"x","requires_approval":true,"plan_id":[1]}"#,
            r#"{"type":"tool_call","tool_name":"x","plan_id":[1]}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","_meta":{"progressToken":1.0,"requires_approval":true,"policy":{"rule":"r"},"target":{"name":"Pay"}}}}"#,
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","_meta":{"progressToken":1.0}}}"#,
        ),
    ] {
        desk.hold(held);
        desk.types("y");
        desk.receive_decision();
        assert_eq!(desk.receive(), passes);
        desk.hold(held);
        desk.types("n");
        desk.receive_decision();
        let answer = desk.receive_json();
        assert!(answer.to_string().contains("\"rejected\""), "{answer}");
    }
}

#[test]
fn the_documentation_shows_the_real_screen() {
    let mut desk = Desk::lay("", "--color never", "");
    let mut shown = desk.hold(
        r#"{"tool":"browser_click","args":{"ref":"e12","count":2},"requires_approval":true,"target":{"role":"button","name":"Place order","context":"Cart: 2 items"},"policy":{"rule":"builtin.pay","reason":"pay: \"order\" (en)","kind":"pay","severity":"strong"}}"#,
    );
    shown += super::PROMPT;
    desk.types("e count=1");
    shown += &desk.question();
    shown += super::PROMPT;
    desk.types("y");
    shown += &desk.person.exp_string("edited\r\n").unwrap();
    shown += "edited\r\n";
    let page = include_str!("../../../docs/gates.md");
    let blocks = page.split("```text\n").skip(1).filter_map(|block| block.split("```").next());
    let block = blocks.into_iter().find(|block| block.contains("hitl-gate: may this call pass?"));
    // The bell rings once, before the question.
    let shown = shown.strip_prefix('\u{7}').unwrap();
    assert_eq!(block, Some(shown.replace('\r', "").as_str()));
}
