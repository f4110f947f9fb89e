//! `mcp-pipe` with real servers (which `scripts/install-mcp-servers` installs; PIPEWRIGHT_MCP_SERVERS names the
//! folder): each is started, listed and called, and leaves no process behind.

use crate::process::{Talk, command, eventually, pipe, text};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the servers and the SDKs.
pub fn folder() -> PathBuf {
    std::env::var("PIPEWRIGHT_MCP_SERVERS").expect("PIPEWRIGHT_MCP_SERVERS names no folder: run scripts/test").into()
}

pub fn server(name: &str) -> PathBuf {
    folder().join("bin").join(name)
}

fn mcp_pipe(options: &[&str], name: &str, arguments: &[&str]) -> Command {
    let mut command = command("mcp-pipe");
    command.args(options).arg("--").arg(server(name)).args(arguments);
    command
}

fn tools(name: &str, arguments: &[&str]) -> Vec<String> {
    let output = pipe(&mut mcp_pipe(&["--list"], name, arguments), b"");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let listed = text(&output.stdout);
    let tool = |line: &str| {
        let tool: Value = serde_json::from_str(line).unwrap();
        assert!(tool["inputSchema"].is_object(), "{line}");
        tool["name"].as_str().unwrap().to_owned()
    };
    listed.lines().map(tool).collect()
}

/// The results of calls, which must all succeed.
fn results(mut pipe_to: Command, calls: &[Value]) -> Vec<Value> {
    let lines: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let output = pipe(&mut pipe_to, lines.as_bytes());
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({"tool": tool, "args": arguments})
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn everything() {
    let listed = tools("mcp-server-everything", &[]);
    assert!(listed.contains(&"echo".to_owned()) && listed.len() > 8, "{listed:?}");
    let calls = [
        call("echo", json!({"message": "pipewright"})),
        call("get-sum", json!({"a": 1.5, "b": 2})),
        call("get-structured-content", json!({"location": "New York"})),
        call("get-tiny-image", json!({})),
        call("trigger-long-running-operation", json!({"duration": 0.2, "steps": 2})),
    ];
    let answers = results(mcp_pipe(&[], "mcp-server-everything", &[]), &calls);
    assert_eq!(answers[0]["data"]["content"][0]["text"], "Echo: pipewright");
    assert!(answers[1]["data"]["content"][0]["text"].as_str().unwrap().contains("3.5"));
    assert!(answers[2]["data"]["structuredContent"]["temperature"].is_number(), "{}", answers[2]);
    assert!(answers[3]["data"]["content"].as_array().unwrap().iter().any(|block| block["type"] == "image"));
    assert!(answers[4]["data"]["content"][0]["text"].as_str().unwrap().contains("completed"), "{}", answers[4]);
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn everything_answers_concurrent_calls() {
    let calls: Vec<Value> = (0..2000).map(|number| call("echo", json!({"message": number.to_string()}))).collect();
    let answers = results(mcp_pipe(&["-j", "32"], "mcp-server-everything", &[]), &calls);
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer["data"]["content"][0]["text"], format!("Echo: {number}"));
    }
    assert_eq!(answers.len(), calls.len());
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn everything_asks_a_person() {
    let mut pipe = Talk::start(&mut mcp_pipe(&["--interactive"], "mcp-server-everything", &[]));
    let asked: Value = serde_json::from_str(&pipe.ask(r#"{"tool":"trigger-elicitation-request","id":1}"#)).unwrap();
    assert_eq!((&asked["method"], &asked["call_id"]), (&json!("elicitation/create"), &json!(1)));
    assert!(asked["params"]["requestedSchema"]["properties"]["email"].is_object(), "{asked}");
    let content = json!({"name": "Ann", "integer": 7});
    let answer = json!({"type":"input_response","request_id":asked["request_id"],"action":"accept","content":content});
    let result = pipe.ask(&answer.to_string());
    assert!(result.contains("Ann") && result.contains(r#""status":"ok""#), "{result}");
    assert_eq!(pipe.end_after_close().status.code(), Some(0));
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn filesystem() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().canonicalize().unwrap();
    let (root, file) = (place.to_str().unwrap(), place.join("a.txt"));
    assert!(tools("mcp-server-filesystem", &[root]).contains(&"read_text_file".to_owned()));
    let calls = [
        call("write_file", json!({"path": file, "content": "one\ntwo\n"})),
        call("read_text_file", json!({"path": file})),
        call("list_directory", json!({"path": root})),
    ];
    let answers = results(mcp_pipe(&[], "mcp-server-filesystem", &[root]), &calls);
    assert_eq!(answers[1]["data"]["content"][0]["text"], "one\ntwo\n");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");
    // A refusal is an error that keeps the server's text; read-only access is set by tool names.
    let line = format!("{}\n", call("read_text_file", json!({"path": "/etc/passwd"})));
    let output = pipe(&mut mcp_pipe(&[], "mcp-server-filesystem", &[root]), line.as_bytes());
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &answer["kind"], &answer["data"]["isError"]),
        (Some(1), &json!("tool_error"), &json!(true))
    );
    let line = format!("{}\n", call("write_file", json!({"path": file, "content": "x"})));
    let output = pipe(&mut mcp_pipe(&["--allow", "read_*"], "mcp-server-filesystem", &[root]), line.as_bytes());
    assert!(text(&output.stdout).contains("\"kind\":\"denied\"") && std::fs::read_to_string(file).unwrap() != "x");
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn the_time_server_works_in_both_eras() {
    let convert = call(
        "convert_time",
        json!({"source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
    );
    for options in [&[][..], &["--protocol", "2025-11-25"], &["--protocol", "2026-07-28"]] {
        let answers = results(mcp_pipe(options, "mcp-server-time", &[]), std::slice::from_ref(&convert));
        assert!(answers[0].to_string().contains("Asia/Tokyo"), "{options:?} {}", answers[0]);
    }
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn git() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    assert!(Command::new("git").args(["init", "-q", place]).status().unwrap().success());
    std::fs::write(folder.path().join("a.txt"), "new").unwrap();
    assert!(tools("mcp-server-git", &[]).contains(&"git_status".to_owned()));
    let answers = results(mcp_pipe(&[], "mcp-server-git", &[]), &[call("git_status", json!({"repo_path": place}))]);
    assert!(answers[0].to_string().contains("a.txt"), "{}", answers[0]);
}

/// Serves a page on a port of this machine, for any number of requests.
pub fn page(html: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length:";
            let _ = write!(stream, "{head} {}\r\n\r\n{html}", html.len());
        }
    });
    address
}

pub const BROWSER: &[&str] = &["--headless", "--no-sandbox", "--isolated", "--executable-path", "/usr/bin/chromium"];

/// Processes whose command line contains `needle`.
pub fn running_with(needle: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| text(line).contains(needle)).count()
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn playwright_uses_a_real_page_and_survives_its_death() {
    let url = page("<title>Shop</title><h1>Basket</h1><button onclick=\"document.title='Paid'\">Pay now</button>");
    let profile = tempfile::tempdir().unwrap();
    let needle = profile.path().to_str().unwrap().to_owned();
    // Part of every command line, so that remaining processes can be found.
    let arguments: Vec<&str> = BROWSER.iter().copied().chain(["--output-dir", &needle]).collect();
    let mut talk = Talk::start(&mut mcp_pipe(&["--verbose"], "playwright-mcp", &arguments));
    let ask = |talk: &mut Talk, tool: &str, arguments: Value| -> Value {
        serde_json::from_str(&talk.ask(&call(tool, arguments).to_string())).unwrap()
    };
    assert_eq!(ask(&mut talk, "browser_navigate", json!({"url": url}))["status"], "ok");
    let snapshot = ask(&mut talk, "browser_snapshot", json!({}));
    let seen = snapshot["data"]["content"][0]["text"].as_str().unwrap();
    assert!(seen.contains("button \"Pay now\"") && seen.contains("Basket"), "{seen}");
    assert_eq!(snapshot["epoch"], 0);
    // The server dies during the run: the next call is answered by a new server, which has no page.
    let status = Command::new("pkill").args(["-KILL", "-f", "--", &format!("^[^ ]*node .*{needle}")]).status().unwrap();
    assert!(status.success());
    let mut after = ask(&mut talk, "browser_snapshot", json!({}));
    if after["kind"] == "lost" {
        // It was sent before the death was detected.
        after = ask(&mut talk, "browser_snapshot", json!({}));
    }
    assert_eq!(after["epoch"], 1, "{after}");
    assert!(!after["data"].to_string().contains("Basket"), "{after}");
    let ended = talk.end_after_close();
    assert!(matches!(ended.status.code(), Some(0 | 1)), "{}", ended.stderr);
    eventually("no server and no browser is left", || running_with(&needle) == 0);
}

/// A PATH on which `npx` always runs Playwright's server: it asks no registry, and uses this machine's browser.
/// `before` precedes the server in the command.
pub fn path_with_npx(folder: &Path, before: &str) -> String {
    let (server, place) = (server("playwright-mcp"), folder.display());
    let npx = format!("#!/bin/sh\nexec {before} {} {} --output-dir {place}\n", server.display(), BROWSER.join(" "));
    std::fs::write(folder.join("npx"), npx).unwrap();
    std::fs::set_permissions(folder.join("npx"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let ours = crate::process::binary("mcp-pipe").parent().unwrap().display().to_string();
    format!("{place}:{ours}:{}", std::env::var("PATH").unwrap())
}

/// The commands in the documentation page that contain `needle`, for another page and with the installed servers.
fn shown_commands(needle: &str, url: &str, folder: &Path) -> Command {
    let page = include_str!("../../docs/mcp.md");
    let blocks = page.split("```sh\n").skip(1).filter_map(|block| block.split("\n```").next());
    let block = blocks.into_iter().find(|block| block.contains(needle)).expect("the page shows it");
    let block =
        block.split_once("@modelcontextprotocol").map_or(block, |(_, after)| &after[after.find('\n').unwrap()..]);
    let (path, place) = (path_with_npx(folder, ""), folder.display());
    // It would also find the Playwright processes of other programs.
    let script = block.replace("http://127.0.0.1:8000/", url).replace("playwright\n", &format!("'node .*{place}'\n"));
    std::fs::write(folder.join("script"), script).unwrap();
    let mut shell = Command::new("bash");
    // The server writes its snapshots to its working directory.
    shell.arg(folder.join("script")).env("PATH", path).current_dir(folder);
    shell
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn the_pages_browser() {
    let url = page("<title>Shop</title><h1>Basket</h1>");
    let folder = tempfile::tempdir().unwrap();
    let answers = results(
        shown_commands("browser_navigate\",\"args\":{\"url\":\"http://127.0.0.1:8000/\"}}' '{", &url, folder.path()),
        &[],
    );
    assert!(answers[1].to_string().contains("Basket"), "{}", answers[1]);
}

#[test]
#[ignore = "needs the MCP servers: scripts/test installs them"]
fn the_death_of_the_browser_is_reported() {
    let url = page("<title>Shop</title><h1>Basket</h1>");
    let folder = tempfile::tempdir().unwrap();
    let answers = results(shown_commands("open-page.jsonl", &url, folder.path()), &[]);
    for (epoch, answer) in answers.iter().enumerate() {
        assert!(answer.to_string().contains("Basket"), "{answer}");
        assert_eq!(answer["epoch"], epoch);
    }
    assert_eq!(answers.len(), 2);
}
