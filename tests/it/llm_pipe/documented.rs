//! The batch of docs/models.md, run as it is written, except for the server: a stand-in, or aimock.

use super::aimock::Aimock;
use super::server::{Reply, Server};
use crate::documents::{has_jq, path_with_our_programs};
use crate::process::{binary, text};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// The command of docs/models.md that begins so, in a shell whose `llm-pipe` uses the server at this address.
fn documented(beginning: &str, url: &str, place: &Path) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs/models.md")).unwrap();
    let at = text.find(&format!("\n{beginning}")).expect("docs/models.md has no such command");
    let line = text[at..].split("\n```").next().unwrap();
    let wrapper = place.join("llm-pipe");
    let script = format!("#!/bin/sh\nexec {} \"$@\" --base-url {}\n", binary("llm-pipe").display(), url);
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-c", line]).current_dir(place).env("GEMINI_API_KEY", "k3y-of-all");
    shell.env("PATH", format!("{}:{}", place.display(), path_with_our_programs()));
    shell
}

/// The topics of two articles, as in docs/models.md.
fn batch(url: &str, place: &Path) -> String {
    std::fs::write(place.join("articles.jsonl"), "{\"title\":\"A vote\"}\n{\"title\":\"A goal\"}\n").unwrap();
    let output = documented("jq -c '{prompt", url, place).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout)
}

#[test]
fn the_documented_batch() {
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
#[ignore = "needs aimock"]
fn the_documented_batch_with_aimock() {
    let aimock = Aimock::start();
    let url = aimock.url("/v1beta");
    assert_eq!(batch(&url, tempfile::tempdir().unwrap().path()), "politics\nsport\n");
}
