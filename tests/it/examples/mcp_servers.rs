//! The examples that call popular MCP servers.

use super::run_with;
use crate::documents::path_with_our_programs;
use crate::mcp_servers::server;
use crate::process::{Talk, command, eventually};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A PATH on which `npx -y PACKAGE` runs the installed package, without a registry.
fn path_with_npx(place: &Path) -> String {
    let npx = format!(
        "#!/bin/sh\nshift\ncase \"$1\" in\n@modelcontextprotocol/server-everything) exec {} ;;\nesac\nexit 1\n",
        server("mcp-server-everything").display(),
    );
    fs::write(place.join("npx"), npx).unwrap();
    fs::set_permissions(place.join("npx"), fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", place.display(), path_with_our_programs())
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn a_recorded_server_answers_like_the_real_one() {
    let place = tempfile::tempdir().unwrap();
    let ran = run_with("recorded-mcp-server.sh", &[], &path_with_npx(place.path()));
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("Echo: hello") && ran.stdout.contains("42"), "{}", ran.stdout);
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn claude_code_gets_a_browser_behind_gates() {
    let place = tempfile::tempdir().unwrap();
    let servers = super::claude_code("mcp.json");
    let server = &servers["mcpServers"]["browser"];
    let arguments: Vec<&str> = server["args"].as_array().unwrap().iter().map(|of| of.as_str().unwrap()).collect();
    let mut client = command(server["command"].as_str().unwrap());
    client.args(arguments).current_dir(place.path());
    client.env("PATH", crate::mcp_servers::path_with_npx(place.path(), ""));
    let mut talk = Talk::start(&mut client);
    let mut ask = |id: u32, method: &str, params: &str| {
        talk.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        loop {
            let answer: Value = serde_json::from_str(&talk.receive()).unwrap();
            if answer["id"] == id {
                return answer["result"].clone();
            }
        }
    };
    let client = r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}"#;
    assert!(ask(1, "initialize", client)["serverInfo"].is_object());
    let shown = ask(2, "tools/call", r#"{"name":"browser_snapshot","arguments":{}}"#);
    assert_ne!(shown["isError"], true, "a harmless call passes: {shown}");
    let click = r#"{"name":"browser_click","arguments":{"element":"Pay now","target":"e7"}}"#;
    talk.say(&format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{click}}}"#));
    // It waits for `hitl-gate attach`.
    let is_audited = |audit: &str| fs::read_to_string(place.path().join(audit)).unwrap().contains("browser_click");
    eventually("the click is marked", || is_audited(".policy.audit"));
    talk.receive_nothing_for(500);
    talk.close();
    talk.end();
    assert!(is_audited(".approvals.audit"));
}
