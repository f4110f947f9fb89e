//! Those that call the MCP servers that people use.

use super::{at_a_terminal, run_with};
use crate::documents::{has_jq, path_with_our_programs};
use crate::mcp_servers::{BROWSER, running_with, server};
use crate::process::{eventually, text};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A PATH on which `npx -y PACKAGE` is what was installed, with this machine's browser; no registry is asked.
fn path_with_npx(place: &Path) -> String {
    let npx = format!(
        "#!/bin/sh\nshift\ncase \"$1\" in\n@modelcontextprotocol/server-everything) exec {} ;;\n\
         @playwright/mcp) shift; exec {} {} --output-dir {} \"$@\" ;;\nesac\nexit 1\n",
        server("mcp-server-everything").display(),
        server("playwright-mcp").display(),
        BROWSER.join(" "),
        place.display(),
    );
    fs::write(place.join("npx"), npx).unwrap();
    fs::set_permissions(place.join("npx"), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", place.display(), path_with_our_programs())
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn a_recorded_server_answers_as_the_real_one() {
    let place = tempfile::tempdir().unwrap();
    let ran = run_with("recorded-mcp-server.sh", &[], &path_with_npx(place.path()));
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("Echo: hello") && ran.stdout.contains("42"), "{}", ran.stdout);
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn a_person_has_the_last_word_in_a_browser() {
    if !has_jq() {
        return;
    }
    for (typed, becomes, status) in [
        ("y", "pressed \"Pay now\": Page Title: Paid", 0),
        ("n too dear", "pressed \"Pay now\": a person rejected it: too dear", 1),
    ] {
        let place = tempfile::tempdir().unwrap();
        let mut person = at_a_terminal("browse-with-a-gate.sh", &[], &path_with_npx(place.path()), place.path());
        person.exp_string("pressed \"Next page\": Page Title: Delivery").unwrap();
        let shown = person.exp_string("help [?]\r\n> ").unwrap();
        assert!(shown.contains("button \"Pay now\"") && shown.contains("PAY: it may spend money"), "{shown}");
        person.send_line(typed).unwrap();
        person.exp_string(becomes).unwrap();
        person.exp_string(&format!("status {status}")).unwrap();
        let place = place.path().to_str().unwrap();
        eventually("no server and no browser is left", || running_with(place) == 0);
    }
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn the_picture_is_what_happens() {
    let place = tempfile::tempdir().unwrap();
    let drawn = place.path().join("picture.svg");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut picture = Command::new(repository.join("scripts/picture"));
    let output = picture.arg(&drawn).env("PATH", path_with_our_programs()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let committed = fs::read_to_string(repository.join("docs/picture.svg")).unwrap();
    assert!(fs::read_to_string(drawn).unwrap() == committed, "docs/picture.svg is another: run scripts/picture");
}
