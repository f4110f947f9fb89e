//! The key: its sources, and where it must never appear.

use super::server::{Reply, Server};
use super::{gemini, keyless, records};
use crate::process::{command, pipe, text};
use std::os::unix::fs::PermissionsExt;

const PROMPT: &[u8] = b"{\"prompt\":\"p\"}\n";
const KEY: &str = "k3y-of-all";

#[test]
fn the_key_is_sent_and_never_shown() {
    let echo = Server::start(|request, _| {
        let key = request.header("x-goog-api-key").unwrap_or("none");
        Reply::error(
            400,
            &format!(r#"{{"error":{{"code":400,"message":"bad key {key}","status":"INVALID_ARGUMENT"}}}}"#),
        )
    });
    let output = pipe(&mut gemini(&echo), PROMPT);
    assert_eq!(echo.requests()[0].header("x-goog-api-key"), Some(KEY));
    for shown in [text(&output.stdout), text(&output.stderr)] {
        assert!(!shown.contains(KEY) && shown.contains("bad key ***"), "{shown}");
    }
}

#[test]
fn parts_of_the_key_and_secrets_in_the_address_are_not_shown() {
    let echo = Server::start(|request, _| {
        let said = format!("{}{} {}", "x".repeat(190), request.header("x-goog-api-key").unwrap(), request.path);
        Reply::error(400, &said)
    });
    let url = echo.url.replace("http://", "http://me:hunter2@");
    let mut llm = command("llm-pipe");
    llm.args(["-m", "gemini/g", "--base-url", &url, "--key-env", "GEMINI_API_KEY"]).env("GEMINI_API_KEY", KEY);
    let output = pipe(&mut llm, PROMPT);
    for shown in [text(&output.stdout), text(&output.stderr)] {
        assert!(shown.contains("xxx***") && !shown.contains(&KEY[..4]) && !shown.contains("hunter2"), "{shown}");
    }
    for address in ["http://me:hunter2@192.0.2.1/", "ftp://me:hunter2@x/", "http://192.0.2.1/?k=hunter2"] {
        let mut llm = command("llm-pipe");
        let output = pipe(llm.args(["-m", "vllm/g", "--base-url", address]), PROMPT);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(!text(&output.stderr).contains("hunter2"), "{output:?}");
    }
}

#[test]
fn the_key_of_a_provider_is_not_sent_to_another_server_by_default() {
    let server = Server::start(|_, _| Reply::gemini("x"));
    assert!(pipe(&mut keyless(&server), PROMPT).status.success());
    assert_eq!(server.requests()[0].header("x-goog-api-key"), None);
}

#[test]
fn no_redirect_is_followed() {
    let other = Server::start(|_, _| Reply::gemini("x"));
    let url = other.url.clone();
    let server = Server::start(move |request, before| match before {
        0 => Reply::error(307, "").header("location", &format!("{url}{}", request.path)),
        _ => Reply::error(307, "").header("location", "/elsewhere"),
    });
    let output = pipe(gemini(&server).args(["--retries", "0"]), &PROMPT.repeat(2));
    assert!(records(&output).iter().all(|turn| turn["status"] == "error"), "{output:?}");
    assert_eq!((server.requests().len(), other.requests().len()), (2, 0));
}

#[test]
fn a_key_is_not_sent_over_plain_http_to_another_machine() {
    let mut llm = command("llm-pipe");
    llm.args(["--model", "gemini/g", "--base-url", "http://192.0.2.1", "--key-env", "GEMINI_API_KEY"]);
    llm.env("GEMINI_API_KEY", KEY);
    let output = pipe(&mut llm, PROMPT);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(2), ""));
    assert!(text(&output.stderr).contains("only sent over https") && !text(&output.stderr).contains(KEY), "{output:?}");
}

#[test]
fn a_key_file_must_be_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    std::fs::write(&path, format!("{KEY}\n")).unwrap();
    let server = Server::start(|_, _| Reply::gemini("x"));
    for (mode, code) in [(0o644, 2), (0o600, 0)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let output = pipe(keyless(&server).arg("--key-file").arg(&path), PROMPT);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
    }
    assert_eq!(server.requests()[0].header("x-goog-api-key"), Some(KEY));
}

#[test]
fn the_message_for_a_missing_key_says_what_to_do() {
    let mut llm = command("llm-pipe");
    let output = pipe(llm.args(["-m", "gemini/g"]).env_remove("GEMINI_API_KEY").env_remove("GOOGLE_API_KEY"), PROMPT);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("set GEMINI_API_KEY"), "{output:?}");
}
