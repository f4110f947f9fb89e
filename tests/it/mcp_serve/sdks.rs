//! The official SDKs and fastmcp as clients (`tests/sdk`; `scripts/install-mcp-servers` installs them).

use crate::mcp_servers::folder;
use crate::process::{binary, example, text};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Runs a client of `tests/sdk` with mcp-serve; its output must have the parts common to all clients.
fn run(program: &str, script: &str, before: &[&Path]) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sdk").join(script);
    let mut client = Command::new(folder().join(program));
    client.arg(script).args(before).arg(binary("mcp-serve")).arg("--").arg(example("stand-in-world"));
    let output = client.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let got: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(got["tools"].as_array().unwrap().len(), 21, "{got}");
    assert_eq!(got["echo"], json!({"message": "hi"}));
    assert_eq!(got["image"], "image/png");
    assert_eq!(got["failed"]["isError"], true);
    let failed = got["failed"]["content"][0]["text"].as_str().unwrap();
    assert!(failed.starts_with("no such thing\nkind: not_found"), "{failed}");
    got
}

#[test]
#[ignore = "needs the SDKs: scripts/test installs them"]
fn the_typescript_sdk() {
    let got = run("node_modules/node/bin/node", "typescript.mjs", &[&folder()]);
    assert_eq!((&got["unknown"], &got["progress"]), (&json!(-32602), &json!([0, 50, 100])));
    assert_eq!((&got["cancelled"], &got["seen"], &got["changed"]), (&json!(true), &json!(1), &json!(true)));
}

#[test]
#[ignore = "needs the SDKs: scripts/test installs them"]
fn the_python_sdk() {
    let got = run("clients/bin/python", "python_mcp.py", &[]);
    assert_eq!((&got["unknown"], &got["progress"]), (&json!(-32602), &json!([0.0, 50.0, 100.0])));
}

#[test]
#[ignore = "needs the SDKs: scripts/test installs them"]
fn fastmcp() {
    run("clients/bin/python", "fastmcp_client.py", &[]);
}
