//! The profile `playwright`, with @playwright/mcp and Chromium (`scripts/install-mcp-servers` installs the server).

use super::{calls, newest, reach};
use crate::agent_loop::{call, done};
use crate::browser_bridge::serve_with;
use crate::mcp_servers::{BROWSER, server};
use crate::process::binary;
use std::process::Command;

fn page(title: &str, body: &str) -> Option<String> {
    let body = format!("<!doctype html><title>{title}</title>{body}");
    Some(format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len()))
}

fn shop() -> String {
    serve_with(|path| match path {
        "/" => page(
            "Shop",
            "<form action=/kettles><input type=search name=q aria-label=Search>
             <select name=size aria-label=Size><option>Small<option>Large</select><button>Find</button></form>",
        ),
        "/kettles?q=kettle&size=Large" => page(
            "Kettles",
            "<button onclick='setTimeout(() => { document.title = `In the cart`; document.body.append(`1 kettle`); }, 300)'>Add \"Blue\"</button>",
        ),
        _ => None,
    })
}

/// The server, behind mcp-pipe, with its files in this folder.
fn world(folder: &tempfile::TempDir) -> impl FnOnce(&mut Command) {
    move |agent| {
        agent.arg(binary("mcp-pipe")).arg("--").arg(server("playwright-mcp")).args(BROWSER);
        agent.arg("--output-dir").arg(folder.path()).current_dir(folder.path());
    }
}

fn act(tool: &str, element: &str, more: &str) -> String {
    call(tool, &format!(r#"{{"target":"@{element}","element":"{element}"{more}}}"#))
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn a_form_is_filled_in_by_refs_and_a_late_change_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let script = [
        call("browser_navigate", &format!(r#"{{"url":"{}/"}}"#, shop())),
        act("browser_type", "searchbox Search", r#","text":"kettle""#),
        act("browser_select_option", "combobox Size", r#","values":["Large"]"#),
        act("browser_click", "button Find", ""),
        act("browser_click", r#"button Add \\\"Blue\\\""#, ""),
        done("1 kettle"),
    ];
    let (run, place) = reach("playwright", &script, world(&folder));
    assert_eq!(run.status, Some(0), "{:?} {}", run.records, run.stderr);
    // Each decision is preceded by the complete page, once.
    for (number, request) in place.requests().iter().enumerate().skip(1) {
        let newest = newest(request);
        assert_eq!(newest.matches("```yaml").count(), 1, "{number}: {newest}");
        assert!(newest.contains("[ref="), "{number}: {newest}");
    }
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn what_only_looks_costs_no_snapshot_and_what_fails_brings_one_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let script = [
        call("browser_navigate", &format!(r#"{{"url":"{}/"}}"#, shop())),
        call("browser_console_messages", r#"{"level":"error"}"#),
        call("browser_find", r#"{"text":"Find"}"#),
        call("browser_click", r#"{"target":"e999","element":"a button of yesterday"}"#),
        done("Thank you for your order"),
        done("Page Title: Shop"),
    ];
    let (run, place) = reach("playwright", &script, world(&folder));
    assert_eq!(
        calls(&run),
        [
            ("browser_navigate", "ok"),
            ("browser_console_messages", "ok"),
            ("browser_find", "ok"),
            ("browser_click", "tool_error")
        ]
    );
    let requests = place.requests();
    for request in &requests[2..=3] {
        let newest = newest(request);
        assert!(!newest.contains("```yaml"), "{newest}");
    }
    let failed = newest(&requests[4]);
    assert!(failed.contains("The action failed") && failed.contains("button \"Find\" [ref="), "{failed}");
    // Evidence that is not on the page is asked for again.
    assert!(requests[5]["messages"].to_string().contains("does not stand in the last observation"));
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn a_dialog_is_shown_to_the_model_and_answered() {
    let folder = tempfile::tempdir().unwrap();
    let site = serve_with(|path| match path {
        "/" => page("Asking", "<button onclick='document.title = confirm(`Really?`) ? `Sure` : `No`'>Ask</button>"),
        _ => None,
    });
    let script = [
        call("browser_navigate", &format!(r#"{{"url":"{site}/"}}"#)),
        act("browser_click", "button Ask", ""),
        call("browser_handle_dialog", r#"{"accept":true}"#),
        done("Page Title: Sure"),
    ];
    let (run, place) = reach("playwright", &script, world(&folder));
    assert_eq!(run.status, Some(0), "{:?} {}", run.records, run.stderr);
    assert!(newest(&place.requests()[2]).contains("Really?"), "{}", newest(&place.requests()[2]));
}
