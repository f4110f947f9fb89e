//! Paid turns are not paid for again.

use super::server::{Reply, Server};
use super::{gemini, records};
use crate::process::{Talk, pipe, text};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;

fn ask(server: &Server, folder: &Path, prompts: &[&str]) -> Output {
    let lines: String = prompts.iter().map(|prompt| format!("{{\"prompt\":\"{prompt}\"}}\n")).collect();
    pipe(gemini(server).arg("--cache").arg(folder), lines.as_bytes())
}

fn answers() -> Server {
    Server::start(|_, before| Reply::gemini(&format!("answer {before}")))
}

#[test]
fn an_interrupted_batch_continues_where_it_was() {
    let (server, place) = (answers(), tempfile::tempdir().unwrap());
    let folder = place.path().join("new/cache");
    let mut talk = Talk::start(gemini(&server).arg("--cache").arg(&folder));
    let first = talk.ask("{\"prompt\":\"a\"}");
    talk.signal(nix::sys::signal::Signal::SIGKILL);

    let turns = records(&ask(&server, &folder, &["a", "b"]));
    let first: serde_json::Value = serde_json::from_str(&first).unwrap();
    assert_eq!((&turns[0]["text"], &turns[1]["text"]), (&"answer 0".into(), &"answer 1".into()));
    assert_eq!((&turns[0]["raw"], &turns[0]["usage"]), (&first["raw"], &serde_json::json!({})));
    assert_eq!((&turns[0]["from_cache"], turns[1].get("from_cache")), (&true.into(), None));
    assert_eq!(server.requests().len(), 2);

    for entry in std::fs::read_dir(&folder).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!std::fs::read_to_string(entry.path()).unwrap().contains("k3y-of-all"));
    }
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn only_the_same_request_is_answered_from_the_cache() {
    let (server, place) = (answers(), tempfile::tempdir().unwrap());
    ask(&server, place.path(), &["a"]);
    for option in [["--system", "s"], ["--max-output-tokens", "7"], ["--model", "gemini/h"]] {
        let mut other = gemini(&server);
        if option[0] == "--model" {
            other = crate::process::command("llm-pipe");
            other.args(["--base-url", &server.url]);
        }
        let output = pipe(other.args(option).arg("--cache").arg(place.path()), b"{\"prompt\":\"a\"}\n");
        assert_eq!(records(&output)[0].get("from_cache"), None, "{option:?}");
    }
    assert_eq!(server.requests().len(), 4);
}

#[test]
fn failed_and_cut_turns_are_asked_again() {
    let place = tempfile::tempdir().unwrap();
    let cut = r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"MAX_TOKENS"}]}"#;
    let server = Server::start(move |_, before| match before {
        0 => Reply::error(400, "{}"),
        1 => Reply::stream(&[cut]),
        _ => Reply::gemini("whole"),
    });
    let texts = [(); 3].map(|()| records(&ask(&server, place.path(), &["a"]))[0]["text"].clone());
    assert_eq!(texts, [serde_json::Value::Null, "a".into(), "whole".into()]);
}

#[test]
fn a_damaged_file_is_replaced() {
    let (server, place) = (answers(), tempfile::tempdir().unwrap());
    ask(&server, place.path(), &["a"]);
    let path = std::fs::read_dir(place.path()).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&path, "{\"type\":\"model_turn\",").unwrap();
    let output = ask(&server, place.path(), &["a"]);
    assert_eq!(records(&output)[0]["text"], "answer 1");
    assert!(output.status.success() && text(&output.stderr).contains("asking the model instead"), "{output:?}");
    assert_eq!(records(&ask(&server, place.path(), &["a"]))[0]["text"], "answer 1");
}

#[test]
fn a_cache_that_cannot_be_written_is_a_fault_and_loses_no_turn() {
    let (server, place) = (answers(), tempfile::tempdir().unwrap());
    let file = place.path().join("file");
    std::fs::write(&file, "").unwrap();
    let output = ask(&server, &file, &["a"]);
    assert_eq!((output.status.code(), server.requests().len()), (Some(2), 0));
    assert!(text(&output.stderr).contains("--cache: "), "{output:?}");

    let folder = place.path().join("folder");
    let mut talk = Talk::start(gemini(&server).arg("--cache").arg(&folder));
    assert!(talk.ask("{\"prompt\":\"a\"}").contains("answer 0"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(talk.ask("{\"prompt\":\"b\"}").contains("answer 1"));
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.stderr.contains("stdin:2: --cache: "), "{}", ended.stderr);
}

#[test]
fn a_repaired_turn_is_stored_and_an_unrepairable_one_is_not() {
    let place = tempfile::tempdir().unwrap();
    let server = Server::start(|_, before| Reply::gemini(if before == 4 { "{}" } else { "no" }));
    let ask = || {
        let mut llm = gemini(&server);
        llm.args(["--schema", r#"{"type":"object"}"#, "--cache"]).arg(place.path());
        records(&pipe(&mut llm, b"{\"prompt\":\"a\"}\n")).remove(0)
    };
    assert_eq!((&ask()["kind"], server.requests().len()), (&"protocol".into(), 3));
    assert_eq!((&ask()["text"], server.requests().len()), (&"{}".into(), 5));
    assert_eq!((&ask()["text"], server.requests().len()), (&"{}".into(), 5));
}

#[test]
fn other_users_cannot_write_to_the_cache() {
    let (server, place) = (answers(), tempfile::tempdir().unwrap());
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let output = ask(&server, place.path(), &["a"]);
    assert_eq!((output.status.code(), server.requests().len()), (Some(2), 0));
    assert!(text(&output.stderr).contains("chmod go-w"), "{output:?}");

    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    ask(&server, place.path(), &["a"]);
    let path = std::fs::read_dir(place.path()).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(&path).unwrap();
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let output = ask(&server, place.path(), &["a"]);
    assert_eq!(records(&output)[0]["text"], "answer 1");
    assert!(text(&output.stderr).contains("it is not a regular file"), "{output:?}");
}

#[test]
fn an_answer_that_contains_the_key_is_not_stored() {
    let place = tempfile::tempdir().unwrap();
    let server = Server::start(|request, _| Reply::gemini(request.header("x-goog-api-key").unwrap()));
    let output = ask(&server, place.path(), &["a"]);
    assert!(output.status.success() && text(&output.stderr).contains("is not stored"), "{output:?}");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn with_stream_a_cached_turn_is_also_printed_as_a_token() {
    let (server, place) = (answers(), tempfile::tempdir().unwrap());
    ask(&server, place.path(), &["a"]);
    let output = pipe(gemini(&server).arg("--stream").arg("--cache").arg(place.path()), b"{\"prompt\":\"a\"}\n");
    assert_eq!((&records(&output)[0]["token"], &records(&output)[1]["text"]), (&"answer 0".into(), &"answer 0".into()));
}
