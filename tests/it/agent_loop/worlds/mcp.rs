//! Popular servers, through `mcp-pipe` (`scripts/install-mcp-servers` installs them).

use super::{Place, Run, calls, newest};
use crate::agent_loop::{call, done};
use crate::mcp_servers::server;
use crate::process::{binary, pipe};

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn files_are_read_and_a_write_waits_for_a_person_who_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::write(root.join("prices.txt"), "The kettle costs 40.").unwrap();
    let path = |name: &str| format!(r#"{{"path":"{}"}}"#, root.join(name).display());
    let bill = root.join("bill.txt");
    let script = [
        call("list_directory", &path("")),
        call("read_text_file", &path("price.txt")),
        call("read_text_file", &path("prices.txt")),
        call("write_file", &format!(r#"{{"path":"{}","content":"40"}}"#, bill.display())),
        done("The kettle costs 40."),
    ];
    let place = Place::new(&script.each_ref().map(String::as_str));
    let mut agent = place.agent(&["--profile", "mcp", "--start-timeout", "60s", "--goal", "Write the bill", "--"]);
    // The gate runs in a session of its own, without a terminal.
    agent
        .arg(binary("policy-check"))
        .args(["--confirm", "mark", "--", "setsid", "--wait"])
        .arg(binary("hitl-gate"))
        .arg("--");
    agent.arg(binary("mcp-pipe")).arg("--").arg(server("mcp-server-filesystem")).arg(&root);
    let run = Run::of(pipe(&mut agent, b""));
    assert_eq!(
        calls(&run),
        [
            ("list_directory", "ok"),
            ("read_text_file", "tool_error"),
            ("read_text_file", "ok"),
            ("write_file", "rejected")
        ],
        "{}",
        run.stderr
    );
    // The model reports the goal as reached; the exit status shows that a call was denied.
    let last = run.last();
    assert_eq!((run.status, &last["outcome"], &last["denied"]), (Some(1), &"done".into(), &1.into()), "{}", run.stderr);
    assert!(!bill.exists());
    let requests = place.requests();
    let said = |request: usize| requests[request]["messages"].to_string();
    assert!(said(1).contains("prices.txt"), "{}", said(1));
    assert!(said(2).contains("ENOENT") && newest(&requests[2]).contains("The call failed"), "{}", said(2));
    assert!(said(4).contains("a person's approval is needed"), "{}", said(4));
}
