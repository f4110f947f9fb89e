//! `llm-pipe check`, and the progress of a batch.

use super::records;
use super::server::{Reply, Request, Server};
use crate::process::{binary, command, text, with_a_person};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn check(server: &Server) -> Output {
    command("llm-pipe").args(["check", "-m", "gemini/g", "--base-url", &server.url]).output().unwrap()
}

fn verdicts(output: &Output) -> Vec<(String, String)> {
    let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    records(output).iter().map(|line| (word(&line["check"]), word(&line["status"]))).collect()
}

fn able(request: &Request) -> Reply {
    match &*request.body {
        body if body.contains("functionDeclarations") => Reply::gemini_call("add", r#"{"a":17,"b":25}"#, "s"),
        body if body.contains("responseJsonSchema") => Reply::gemini(r#"{"colour":"blue"}"#),
        body if body.contains("inlineData") => Reply::gemini("Red."),
        _ => Reply::stream(&[
            r#"{"candidates":[{"content":{"parts":[{"text":"one, "}]}}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"two"}]},"finishReason":"STOP"}]}"#,
        ]),
    }
}

#[test]
fn a_capable_model_passes_all_checks() {
    let output = check(&Server::start(|request, _| able(request)));
    let expected = ["text", "streaming", "tools", "schema", "images"].map(|name| (name.to_owned(), "ok".to_owned()));
    assert_eq!((verdicts(&output), output.status.code()), (expected.to_vec(), Some(0)), "{output:?}");
}

#[test]
fn missing_capabilities_are_named() {
    let output = check(&Server::start(|_, _| Reply::gemini("I am sorry.")));
    let statuses = verdicts(&output).into_iter().map(|(_, status)| status);
    assert_eq!(Vec::from_iter(statuses), ["ok", "error", "error", "error", "error"], "{output:?}");
    let whys: String = records(&output).iter().map(|line| format!("{}\n", line["error"])).collect();
    for why in [
        "in one piece",
        "the model called no tool",
        "does not match the schema",
        "the image was red, but the answer was",
    ] {
        assert!(whys.contains(why), "{why}: {whys}");
    }
    assert_eq!(output.status.code(), Some(0), "a model may have no more than text");
}

#[test]
fn a_server_that_refuses_is_asked_once() {
    let server = Server::start(|_, _| {
        Reply::error(403, r#"{"error":{"code":403,"message":"no such key","status":"PERMISSION_DENIED"}}"#)
    });
    let output = check(&server);
    assert_eq!((verdicts(&output).len(), output.status.code(), server.requests().len()), (1, Some(1), 1));
    assert!(records(&output)[0]["error"].as_str().unwrap().contains("no such key"), "{output:?}");
}

#[test]
fn what_the_server_does_not_answer_is_tried_again_and_decides_nothing() {
    let (place, failed) = (tempfile::tempdir().unwrap(), AtomicUsize::new(0));
    let server = Server::start(move |request, _| {
        let is_first_of_tools =
            request.body.contains("functionDeclarations") && failed.fetch_add(1, Ordering::Relaxed) == 0;
        match is_first_of_tools || request.body.contains("responseJsonSchema") {
            true => Reply::error(502, "{}"),
            false => able(request),
        }
    });
    let mut check = command("llm-pipe");
    check.args(["check", "--save", "-m", "gemini/g", "--base-url", &server.url]).env("XDG_CONFIG_HOME", place.path());
    let output = check.output().unwrap();
    let failed: Vec<String> =
        verdicts(&output).into_iter().filter(|(_, status)| status != "ok").map(|(name, _)| name).collect();
    assert_eq!((failed, output.status.code()), (vec!["schema".to_owned()], Some(1)), "{output:?}");
    assert!(text(&output.stderr).contains("schema: the server gave no answer, so this is not known"), "{output:?}");
    let saved = std::fs::read_to_string(place.path().join("pipewright/models.toml")).unwrap();
    assert!(saved.contains("tools = true") && !saved.contains("schema"), "{saved}");
}

#[test]
fn an_answer_that_is_shown_is_cut() {
    let output = check(&Server::start(|_, _| Reply::gemini(&format!("I am sorry.{}", "\n".repeat(1000)))));
    assert!(output.stdout.len() < 1000 && text(&output.stdout).contains("I am sorry."), "{output:?}");
}

#[test]
fn a_batch_shows_its_progress() {
    let place = tempfile::tempdir().unwrap();
    let input: String = (0..8).map(|n| format!("{{\"prompt\":\"p{n}\"}}\n")).collect();
    std::fs::write(place.path().join("input"), input).unwrap();
    std::fs::create_dir(place.path().join("pipewright")).unwrap();
    let server = Server::start(|request, _| match request.body.contains("p3") {
        true => Reply::error(400, "{}"),
        false => Reply::gemini("x").paused(Duration::from_millis(100)),
    });
    let price = "[\"gemini/g\"]\nprice = { input = 1000, output = 1000000 }\n";
    std::fs::write(place.path().join("pipewright/models.toml"), price).unwrap();
    let line = format!("{} -m gemini/g --base-url {} <input >output", binary("llm-pipe").display(), server.url);
    let mut shell = Command::new("bash");
    shell.args(["-c", &line]).current_dir(place.path()).env("XDG_CONFIG_HOME", place.path());
    let mut person = with_a_person(shell);
    person.exp_regex(r"[1-6] done, [01] failed; tokens: \d+ in, \d+ out; \$\d+\.\d+; \ds left").unwrap();
    // 7 requests of 7 and 2 tokens.
    person.exp_string("7 done, 1 failed; tokens: 49 in, 14 out; $14.0490\r\n").unwrap();
    person.exp_eof().unwrap();
    let output = std::fs::read_to_string(place.path().join("output")).unwrap();
    assert_eq!(output.matches(r#""cost":2.007"#).count(), 7, "{output}");
}
