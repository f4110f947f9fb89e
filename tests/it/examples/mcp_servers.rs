//! Those that call the MCP servers that people use.

use super::{at_a_terminal, run_with};
use crate::documents::{has_jq, path_with_our_programs};
use crate::mcp_servers::{BROWSER, running_with, server};
use crate::process::eventually;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

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
    for (typed, becomes, status) in
        [("y", "Pay now: - Page Title: Paid", 0), ("n too dear", "Pay now: a person rejected it: too dear", 1)]
    {
        let place = tempfile::tempdir().unwrap();
        let mut person = at_a_terminal("browse-with-a-gate.sh", &[], &path_with_npx(place.path()), place.path());
        person.exp_string("Next page: - Page Title: Delivery").unwrap();
        let shown = person.exp_string("help [?]\r\n> ").unwrap();
        assert!(shown.contains("button \"Pay now\"") && shown.contains("PAY: it may spend money"), "{shown}");
        person.send_line(typed).unwrap();
        person.exp_string(becomes).unwrap();
        person.exp_string(&format!("status {status}")).unwrap();
        let place = place.path().to_str().unwrap();
        eventually("no server and no browser is left", || running_with(place) == 0);
    }
}
