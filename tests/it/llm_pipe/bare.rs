//! Prompts and answers as text: one line each, or a single one on the command line.

use super::gemini;
use super::server::{Reply, Server};
use crate::process::{Talk, pipe, text};

#[test]
fn each_line_is_a_prompt_and_each_answer_a_line() {
    let server = Server::start(|request, _| match request.body.contains("bad") {
        true => Reply::error(400, r#"{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}"#),
        false => Reply::gemini("a\nb \"c\"\n"),
    });
    let output = pipe(gemini(&server).arg("--bare"), b"{\"prompt\":1}\nbad\n");
    assert_eq!(
        text(&output.stdout),
        "a\\nb \"c\"\n{\"error\":\"no\",\"kind\":\"bad_request\",\"code\":\"INVALID_ARGUMENT\"}\n"
    );
    assert!(server.requests()[0].body.contains(r#"{\"prompt\":1}"#), "the line is the prompt as it is");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn json_stays_json() {
    let server = Server::start(|_, _| Reply::gemini("{\n \"action\": \"end\"\n}"));
    let output = pipe(gemini(&server).arg("--bare"), b"p\n");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text(&output.stdout)).unwrap()["action"], "end");
}

#[test]
fn with_history_the_last_turns_are_repeated() {
    let server = Server::start(|_, before| Reply::gemini(&format!("answer {before}")));
    let mut talk = Talk::start(gemini(&server).args(["--bare", "--history", "2"]));
    for number in 0..4 {
        talk.say(&format!("prompt {number}"));
        assert_eq!(talk.receive(), format!("answer {number}"));
    }
    let last = server.requests().pop().unwrap().body;
    let said = ["prompt 1", "answer 1", "prompt 2", "answer 2", "prompt 3"].map(|said| last.find(said).expect(said));
    assert!(said.is_sorted() && !last.contains("prompt 0") && !last.contains("answer 0"), "{last}");
}

#[test]
fn a_prompt_of_the_command_line_is_followed_by_the_text_of_stdin() {
    let server = Server::start(|_, _| Reply::gemini("It is\nshort.\n"));
    let output = pipe(gemini(&server).arg("Summarise this"), b"line 1\nline 2\n");
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("It is\nshort.\n", Some(0)));
    assert!(server.requests()[0].body.contains(r"Summarise this\n\nline 1\nline 2\n"));
}

#[test]
fn a_failed_prompt_prints_only_its_error() {
    let server = Server::start(|_, _| Reply::error(401, r#"{"error":{"message":"no key"}}"#));
    let output = pipe(gemini(&server).arg("x"), b"");
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("", Some(1)));
    assert!(text(&output.stderr).contains("no key"), "{output:?}");
}

#[test]
fn an_empty_line_gets_an_answer_in_lockstep() {
    let server = Server::start(|_, _| Reply::gemini("x"));
    let mut talk = Talk::start(gemini(&server).args(["--bare", "--history", "9223372036854775808"]));
    assert_eq!(talk.ask("a"), "x");
    assert_eq!(talk.ask(" "), r#"{"error":"the line is empty","kind":"bad_input"}"#);
    assert_eq!(talk.ask("b"), "x");
}

#[test]
fn the_deadline_also_applies_while_stdin_is_read() {
    let server = Server::start(|_, _| Reply::gemini("x"));
    let talk = Talk::start(gemini(&server).args(["--deadline", "300ms", "p"]));
    assert_eq!(talk.end().status.code(), Some(124));
}

#[test]
fn the_name_of_a_subcommand_is_not_a_prompt() {
    let server = Server::start(|_, _| Reply::gemini("x"));
    let output = pipe(gemini(&server).arg("check"), b"");
    assert_eq!((output.status.code(), server.requests().len()), (Some(2), 0));
    assert!(text(&output.stderr).contains("options of `llm-pipe check` go after check"), "{output:?}");
}
