//! The destinations of events: the answers, and the one given with `--events`.

use super::{Bridge, lines, play};
use crate::process::{command, pipe, text};

const EMIT: &str = r#"{"cmd":"emit","id":1,"args":{"events":3}}"#;
const ANSWER: &str = r#"{"ok":true,"id":1,"data":{},"events":[{"type":"done","seq":0}],"frame":4}"#;

fn observations() -> Vec<String> {
    let data = ["tick\",\"seq\":1", "tick\",\"seq\":2", "tick\",\"seq\":3", "done\",\"seq\":0"];
    data.map(|data| format!(r#"{{"type":"observation","source":"godot","data":{{"type":"{data}}}}}"#)).to_vec()
}

#[test]
fn without_the_option_events_come_only_with_the_answers() {
    let output = play("echo", &[], &[EMIT]);
    assert_eq!((lines(&output), text(&output.stderr).as_str()), (vec![ANSWER.to_owned()], ""));
}

#[test]
fn events_go_to_stdout_before_the_answer_that_they_belong_to() {
    let output = play("echo", &["--events", "-"], &[EMIT]);
    assert_eq!(lines(&output), [observations(), vec![ANSWER.to_owned()]].concat());
}

#[test]
fn events_go_to_stderr() {
    let output = play("echo", &["--events", "stderr"], &[EMIT]);
    assert_eq!(lines(&output), [ANSWER]);
    assert_eq!(text(&output.stderr).lines().collect::<Vec<_>>(), observations());
}

#[test]
fn events_are_appended_to_a_file_as_they_come() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("events.jsonl");
    std::fs::write(&file, "before\n").unwrap();
    let mut bridge = Bridge::start("echo", &["--events", file.to_str().unwrap()]);
    assert_eq!(bridge.talk.ask(EMIT), ANSWER);
    let written = crate::schemas::written(&file);
    assert_eq!(written.lines().collect::<Vec<_>>(), [vec!["before".to_owned()], observations()].concat());
    assert_eq!(bridge.end_after_close().status.code(), Some(0));
}

#[test]
fn a_full_event_file_is_reported_once_and_the_game_continues() {
    let output = play("echo", &["--events", "/dev/full"], &[EMIT, EMIT]);
    assert_eq!(lines(&output), [ANSWER, ANSWER]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr).matches("No space left on device").count(), 1, "{}", text(&output.stderr));
}

#[test]
fn an_event_file_that_cannot_be_opened_exits_2() {
    let output = pipe(command("godot-bridge").args(["--events", "/dev/null/x", "--", "true"]), b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--events: /dev/null/x: "), "{}", text(&output.stderr));
}

#[test]
fn a_flood_of_events_delays_nothing_and_none_is_lost() {
    let emit = r#"{"cmd":"emit","args":{"events":100000}}"#;
    for events in ["-", "/dev/null"] {
        let output = play("echo", &["--events", events], &[emit, r#"{"cmd":"x"}"#]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(lines(&output).len(), if events == "-" { 100_003 } else { 2 });
    }
}
