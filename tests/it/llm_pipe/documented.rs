//! The README's commands, run as they are written, except for the server: a stand-in, or aimock.

use super::aimock::Aimock;
use super::server::{Reply, Server};
use crate::documents::{has_jq, path_with_our_programs};
use crate::process::{Talk, binary, text};
use crate::samples::SPIRE;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The README's line with this beginning, in a shell whose `llm-pipe` uses the server at this address.
fn readme(beginning: &str, url: &str, place: &Path) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("README.md")).unwrap();
    let line = text.lines().find(|line| line.starts_with(beginning)).unwrap();
    let wrapper = place.join("llm-pipe");
    let script = format!("#!/bin/sh\nexec {} \"$@\" --base-url {}\n", binary("llm-pipe").display(), url);
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(root.join("examples"), place.join("examples")).unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-c", line]).current_dir(place).env("GEMINI_API_KEY", "k3y-of-all").env("AI_STS_PROXY_NO_RECORD", "1");
    shell.env("PATH", format!("{}:{}", place.display(), path_with_our_programs()));
    shell
}

/// The topics of two articles, as in the README.
fn batch(url: &str, place: &Path) -> String {
    std::fs::write(place.join("articles.jsonl"), "{\"title\":\"A vote\"}\n{\"title\":\"A goal\"}\n").unwrap();
    let output = readme("jq -c '{prompt", url, place).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout)
}

/// A model's moves in a game, as in the README.
fn spire(url: &str, place: &Path) -> String {
    let mut talk = Talk::start(&mut readme("sts-proxy -- llm-pipe", url, place));
    assert_eq!(talk.hear(), "ready");
    talk.ask(SPIRE)
}

#[test]
fn the_batch_of_the_readme() {
    if !has_jq() {
        return;
    }
    let server = Server::start(|request, _| {
        assert!(request.path.contains("gemini-3-flash") && request.body.contains("Answer with one word"));
        Reply::gemini(if request.body.contains("vote") { "politics" } else { "sport" })
    });
    assert_eq!(batch(&server.url, tempfile::tempdir().unwrap().path()), "politics\nsport\n");
}

#[test]
fn a_model_plays_slay_the_spire() {
    let server = Server::start(|request, _| {
        assert!(request.body.contains("You play Slay the Spire") && request.body.contains("valid_actions"));
        Reply::gemini("```json\n{\"action_id\":110}\n```")
    });
    assert!(spire(&server.url, tempfile::tempdir().unwrap().path()).starts_with("choose"));
    assert_eq!(server.requests().len(), 1);
}

#[test]
#[ignore = "needs aimock"]
fn the_commands_of_the_readme_before_aimock() {
    let aimock = Aimock::start();
    let url = aimock.url("/v1beta");
    assert_eq!(batch(&url, tempfile::tempdir().unwrap().path()), "politics\nsport\n");
    assert!(spire(&url, tempfile::tempdir().unwrap().path()).starts_with("choose"));
}
