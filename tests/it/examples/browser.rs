//! The examples that drive a browser.

use super::at_a_terminal;
use crate::documents::{has_jq, path_with_our_programs};
use crate::mcp_servers::running_with;
use crate::process::{eventually, text};
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
#[ignore = "needs Chromium"]
fn a_person_decides_in_a_browser() {
    if !has_jq() {
        return;
    }
    for (typed, becomes, status) in [
        ("y", "pressed \"Pay now\": the page is now Paid", 0),
        ("n too dear", "pressed \"Pay now\": a person rejected it: too dear", 1),
    ] {
        let place = tempfile::tempdir().unwrap();
        let mut person = at_a_terminal("browse-with-a-gate.sh", &[], &path_with_our_programs(), place.path());
        person.exp_string("pressed \"Next page\": the page is now Delivery").unwrap();
        let shown = person.exp_string("help [?]\r\n> ").unwrap();
        assert!(shown.contains("button \"Pay now\"") && shown.contains("PAY: it may spend money"), "{shown}");
        person.send_line(typed).unwrap();
        person.exp_string(becomes).unwrap();
        person.exp_string(&format!("status {status}")).unwrap();
        let place = place.path().to_str().unwrap();
        eventually("no browser is left", || running_with(place) == 0);
    }
}

#[test]
#[ignore = "needs Chromium"]
fn the_picture_shows_the_real_output() {
    let place = tempfile::tempdir().unwrap();
    let drawn = place.path().join("picture.svg");
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut picture = Command::new(repository.join("scripts/picture"));
    let output = picture.arg(&drawn).env("PATH", path_with_our_programs()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let committed = fs::read_to_string(repository.join("docs/picture.svg")).unwrap();
    assert!(fs::read_to_string(drawn).unwrap() == committed, "docs/picture.svg is outdated: run scripts/picture");
}
