//! Faults that a real browser cannot be made to have.

use crate::process::{Talk, command, example, pipe, text};
use serde_json::Value;
use std::process::Command;

const TABS: &[u8] = b"{\"tool\":\"browser_tabs\",\"id\":1}\n";

fn with(fault: &str, arguments: &[&str]) -> Command {
    let mut bridge = command("browser-bridge");
    bridge.args(["--headless", "--browser", example("stand-in-browser").to_str().unwrap()]).args(arguments);
    bridge.env("STAND_IN_BROWSER", fault);
    bridge
}

fn answers(stdout: &[u8]) -> Vec<Value> {
    text(stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_browser_that_does_not_start_gives_status_3_and_its_output() {
    let output = pipe(&mut with("start", &[]), TABS);
    assert_eq!(output.status.code(), Some(3));
    let answers = answers(&output.stdout);
    assert_eq!(answers[0]["kind"], "start_failed", "{answers:?}");
    assert!(text(&output.stderr).contains("no display"), "{}", text(&output.stderr));
}

#[test]
fn a_missing_program_is_named() {
    let mut bridge = command("browser-bridge");
    let output = pipe(bridge.args(["--headless", "--browser", "/none/chromium"]), TABS);
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("/none/chromium"), "{}", text(&output.stderr));
}

#[test]
fn a_crashed_browser_is_restarted_and_the_call_may_have_been_executed() {
    let mut input = TABS.to_vec();
    input.extend_from_slice(b"{\"tool\":\"browser_back\",\"id\":2}\n");
    let output = pipe(&mut with("crash", &[]), &input);
    let answers = answers(&output.stdout);
    assert_eq!((&answers[0]["kind"], &answers[0]["maybe_executed"]), (&"lost".into(), &true.into()), "{answers:?}");
    assert_eq!((&answers[1]["id"], &answers[1]["epoch"]), (&2.into(), &1.into()), "{answers:?}");
    assert!(text(&output.stderr).contains("starting it again (epoch 1)"), "{}", text(&output.stderr));
}

#[test]
fn a_browser_that_crashes_too_often_gives_status_4() {
    let output = pipe(&mut with("crash", &["--restart", "1"]), &TABS.repeat(3));
    assert_eq!(output.status.code(), Some(4));
    let kinds: Vec<Value> = answers(&output.stdout).iter().map(|answer| answer["kind"].clone()).collect();
    assert_eq!(kinds, ["lost", "lost", "lost"]);
    assert!(text(&output.stderr).contains("--restart"), "{}", text(&output.stderr));
}

#[test]
fn a_call_without_an_answer_times_out_and_the_next_one_is_carried_out() {
    let mut input = b"{\"tool\":\"browser_tabs\",\"id\":1,\"timeout\":\"200ms\"}\n".to_vec();
    input.extend_from_slice(b"{\"tool\":\"browser_dialog\",\"args\":{\"accept\":true},\"id\":2}\n");
    let output = pipe(&mut with("silence", &[]), &input);
    let answers = answers(&output.stdout);
    assert_eq!((&answers[0]["kind"], &answers[1]["kind"]), (&"timeout".into(), &"not_found".into()), "{answers:?}");
}

#[test]
fn a_failure_of_our_own_script_is_not_the_browsers() {
    let input =
        b"{\"tool\":\"browser_extract\",\"id\":1}\n{\"tool\":\"browser_scroll\",\"args\":{\"by_y\":9},\"id\":2}\n";
    let output = pipe(&mut with("exception", &[]), input);
    for answer in answers(&output.stdout) {
        assert_eq!(answer["kind"], "internal", "{answer}");
        let error = answer["error"].as_str().unwrap();
        assert!(error.ends_with("please report this: TypeError: one.two is not a function"), "{error}");
    }
}

#[test]
fn a_cancelled_call_ends_at_once() {
    let mut talk = Talk::start(&mut with("silence", &[]));
    talk.say(r#"{"type":"tool_call","call_id":"c1","tool_name":"browser_tabs"}"#);
    talk.say(r#"{"type":"cancel","call_id":"c1"}"#);
    assert!(talk.receive().contains(r#""kind":"cancelled""#));
    let next =
        talk.ask(r#"{"type":"tool_call","call_id":"c2","tool_name":"browser_dialog","arguments":{"accept":true}}"#);
    assert!(next.contains("no_dialog"), "{next}");
}

#[test]
fn a_signal_ends_the_browser_and_removes_its_profile() {
    let temporary = tempfile::tempdir().unwrap();
    let mut bridge = with("silence", &[]);
    let mut talk = Talk::start(bridge.env("TMPDIR", temporary.path()));
    talk.ask(r#"{"tool":"browser_dialog","args":{"accept":true},"id":1}"#);
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 1);
    talk.say(r#"{"tool":"browser_tabs","id":2}"#);
    talk.signal(nix::sys::signal::Signal::SIGTERM);
    let ended = talk.end();
    assert_eq!(ended.status.code(), None);
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}
