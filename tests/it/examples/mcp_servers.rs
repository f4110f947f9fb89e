//! The examples that call popular MCP servers.

use super::run_with;
use crate::documents::path_with_our_programs;
use crate::mcp_servers::server;
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
