//! `mcp-pipe --url` with a server that shows faults that real servers cannot be made to show.

use crate::process::{Talk, command, eventually, example, pipe, text, without_duration};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

/// The raw results of the stand-in's calls.
const BIG: &str =
    r#"{"content":[{"type":"text","text":"hi"}],"n":12345678901234567890123,"x":1.10,"unknown":{"b":1,"a":2}}"#;

struct Server {
    child: Child,
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(manner: &str) -> Server {
        let mut run = Command::new(example("stand-in-http-server"));
        let mut child = run.args(manner.split(' ')).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.next().unwrap().unwrap();
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = Arc::clone(&asked);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                log.lock().unwrap().push(line);
            }
        });
        Server { child, url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn was_asked(&self, line: &str) {
        eventually(line, || self.asked().iter().any(|asked| asked == line));
    }

    fn pipe(&self, options: &[&str]) -> Command {
        let mut run = command("mcp-pipe");
        run.args(["--url", &self.url]).args(options);
        run
    }

    fn run(&self, options: &[&str], calls: &[&str]) -> Output {
        pipe(&mut self.pipe(options), calls_of(calls).as_bytes())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn calls_of(tools: &[&str]) -> String {
    tools.iter().map(|tool| format!("{{\"tool\":{tool:?},\"id\":{tool:?}}}\n")).collect()
}

fn lines(output: &Output) -> Vec<String> {
    text(&output.stdout).lines().map(without_duration).collect()
}

fn value(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

#[test]
fn every_byte_of_a_result_is_kept_in_both_eras_and_forms() {
    for manner in ["legacy", "legacy sse", "modern", "modern sse"] {
        let server = Server::start(manner);
        let tools = ["echo", "split", "slow", "breaks"];
        let output = server.run(&[], &tools);
        assert_eq!(output.status.code(), Some(0), "{manner}: {}", text(&output.stderr));
        let expected =
            tools.map(|tool| format!(r#"{{"id":"{tool}","tool":"{tool}","status":"ok","data":{BIG},"epoch":0}}"#));
        assert_eq!(lines(&output), expected, "{manner}");
    }
}

#[test]
fn a_session_is_used_and_ended() {
    let server = Server::start("legacy");
    assert_eq!(server.run(&[], &["echo", "breaks"]).status.code(), Some(0));
    let session = "mcp-protocol-version=2025-06-18 mcp-session-id=session-1";
    let mut asked = server.asked();
    // The stream for unsolicited messages is opened alongside the next request.
    let listening = asked.iter().position(|line| *line == format!("GET - {session}")).unwrap();
    asked.remove(listening);
    let expected = [
        "POST initialize".to_owned(),
        format!("POST notifications/initialized {session}"),
        format!("POST tools/list {session}"),
        format!("POST tools/call {session}"),
        format!("POST tools/call {session}"),
        format!("GET - {session} last-event-id=of-4"),
        format!("DELETE - {session}"),
    ];
    assert_eq!((asked, listening > 1), (expected.to_vec(), true));
}

#[test]
fn the_stateless_era_repeats_requests_in_headers() {
    let server = Server::start("modern");
    let call = br#"{"tool":"echo","args":{"n":12345678901234567890123}}"#;
    let output = pipe(&mut server.pipe(&["--protocol", "2026-07-28"]), call);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let version = "mcp-protocol-version=2026-07-28";
    let expected = [
        format!("POST server/discover {version} mcp-method=server/discover"),
        format!("POST tools/list {version} mcp-method=tools/list"),
        format!("POST tools/call {version} mcp-method=tools/call mcp-name=echo mcp-param-n=12345678901234567890123"),
    ];
    assert_eq!(server.asked(), expected);
    // Tools that cannot be called in this way are not offered.
    assert!(text(&output.stderr).contains("ignored the server's tool \"ill\""), "{}", text(&output.stderr));
    let listed = text(&server.run(&["--list"], &[]).stdout);
    assert!(listed.contains("\"echo\"") && !listed.contains("\"ill\""), "{listed}");
}

#[test]
fn a_failed_request_is_a_loss_and_the_server_is_connected_again() {
    for (tool, says) in [
        ("forget", "has dropped the session"),
        ("gateway", "HTTP 502 Bad Gateway: Bad Gateway"),
        ("redirect", "HTTP 307"),
        ("broken", "no JSON"),
        ("other", "a different request"),
        ("torn", "the connection to the server broke"),
    ] {
        let server = Server::start("legacy");
        let output = server.run(&[], &["echo", tool, "split"]);
        let lines = lines(&output);
        assert_eq!((output.status.code(), lines.len()), (Some(1), 3), "{tool}: {lines:?}");
        let lost = value(&lines[1]);
        // A call that the server did not take was sent once more, and was certainly not executed.
        let (connections, maybe) = if tool == "forget" { (2, Value::Null) } else { (1, true.into()) };
        assert_eq!((&lost["kind"], &lost["maybe_executed"]), (&"lost".into(), &maybe), "{lost}");
        assert!(lost["error"].as_str().unwrap().contains(says), "{lost}");
        assert_eq!((&value(&lines[0])["epoch"], &value(&lines[2])["epoch"]), (&0.into(), &connections.into()));
        assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
}

#[test]
fn calls_that_an_expired_session_did_not_take_are_sent_once_more() {
    for options in [&[][..], &["-j", "4"]] {
        let server = Server::start("legacy");
        let output = server.run(options, &["slow", "expire", "echo", "split"]);
        let lines = lines(&output);
        assert_eq!((output.status.code(), lines.len()), (Some(0), 4), "{lines:?} {}", text(&output.stderr));
        for (line, tool) in lines.iter().zip(["slow", "expire", "echo", "split"]) {
            let result = value(line);
            assert_eq!((&result["tool"], &result["status"]), (&tool.into(), &"ok".into()), "{line}");
        }
        let sent = server.asked().iter().filter(|line| line.starts_with("POST tools/call")).count();
        assert!((5..=8).contains(&sent), "{sent}");
        assert!(text(&output.stderr).contains("has dropped the session"), "{}", text(&output.stderr));
    }
    // A server that always says so is not asked again and again.
    let server = Server::start("legacy");
    let output = server.run(&[], &["forget"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(server.asked().iter().filter(|line| line.starts_with("POST tools/call")).count(), 2);
}

#[test]
fn an_error_of_json_rpc_is_an_answer_whatever_its_status() {
    let server = Server::start("legacy");
    let output = server.run(&[], &["refuse", "echo"]);
    let lines = lines(&output);
    let refused = value(&lines[0]);
    assert_eq!((&refused["kind"], &refused["code"]), (&"tool_error".into(), &"-32603".into()), "{refused}");
    assert_eq!(value(&lines[1])["epoch"], 0);
}

#[test]
fn a_server_that_is_gone_for_good_is_4_and_one_that_never_was_3() {
    let server = Server::start("legacy");
    let output = server.run(&["--restart", "1"], &["die", "echo"]);
    assert_eq!((output.status.code(), lines(&output).len()), (Some(4), 2), "{}", text(&output.stderr));
    let gone = server.run(&[], &["echo"]);
    assert_eq!(gone.status.code(), Some(3));
    assert!(text(&gone.stderr).contains("cannot be reached: Connection refused"), "{}", text(&gone.stderr));
    for (manner, says) in [("html", "text/html, which is not MCP"), ("503", "HTTP 503"), ("401", "--header")] {
        let output = Server::start(manner).run(&[], &["echo"]);
        assert_eq!((output.status.code(), lines(&output).len()), (Some(3), 1), "{manner}");
        assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
    let secure = Server::start("legacy");
    let output =
        pipe(command("mcp-pipe").args(["--url", &secure.url.replace("http:", "https:")]), b"{\"tool\":\"echo\"}");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
}

#[test]
fn secrets_reach_the_server_and_nobody_else() {
    let server = Server::start("401");
    let url = format!("{}?key=s3cret-query", server.url);
    let mut run = command("mcp-pipe");
    run.args(["--url", &url, "--header", "X-Key: ${KEY_OF_THE_TEST}", "--events", "stderr"]);
    let output = pipe(run.env("KEY_OF_THE_TEST", "s3cret-header"), calls_of(&["echo"]).as_bytes());
    let printed = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(printed.contains("who is ***?") && !printed.contains("s3cret"), "{printed}");
    server.was_asked("POST initialize x-key=s3cret-header");
    for options in [
        ["--url", "http://x/", "--header", "s3cret"],
        ["--url", "http://x/", "--header", "A: ${NO_SUCH_VARIABLE}"],
        ["--url", "http://x/", "--header", "Mcp-Session-Id: s3cret"],
        ["--url", "s3cret", "--header", "A: b"],
    ] {
        let output = pipe(command("mcp-pipe").args(options), b"{\"tool\":\"echo\"}");
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(!text(&output.stderr).contains("s3cret"), "{}", text(&output.stderr));
    }
}

#[test]
fn a_configured_url_is_reached_with_its_headers() {
    let server = Server::start("legacy");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    let entry = json!({"type": "http", "url": server.url, "headers": {"X-Key": "${NO_SUCH_VARIABLE:-k}"}});
    std::fs::write(&path, json!({"mcpServers": {"there": entry}}).to_string()).unwrap();
    let output = pipe(command("mcp-pipe").arg("--config").arg(&path), calls_of(&["echo"]).as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    server.was_asked("POST initialize x-key=k");
}

#[test]
fn a_call_that_takes_too_long_is_cancelled() {
    for (manner, says) in [("legacy", "POST notifications/cancelled"), ("modern", "hung up on")] {
        let server = Server::start(manner);
        let output = server.run(&["--timeout", "2"], &["never", "echo"]);
        let lines = lines(&output);
        assert_eq!(value(&lines[0])["kind"], "timeout");
        assert_eq!((&value(&lines[1])["status"], &value(&lines[1])["epoch"]), (&"ok".into(), &0.into()));
        server.was_asked("hung up on");
        let is_cancelled = server.asked().iter().any(|line| line.starts_with(says));
        assert!(is_cancelled, "{manner}: {:?}", server.asked());
    }
}

#[test]
fn calls_are_sent_concurrently() {
    let server = Server::start("modern");
    let mut talk = Talk::start(&mut server.pipe(&["-j", "8", "--unordered"]));
    talk.say(r#"{"tool":"never"}"#);
    for _ in 0..7 {
        talk.say(r#"{"tool":"slow"}"#);
    }
    for _ in 0..7 {
        assert_eq!(value(&talk.receive())["tool"], "slow");
    }
    talk.signal(Signal::SIGTERM);
    assert!(!talk.end().status.success());
}

#[test]
fn unsolicited_messages_of_the_server_are_handled() {
    let server = Server::start("legacy listens");
    let mut talk = Talk::start(&mut server.pipe(&["--events", "-"]));
    let mut next = || value(&talk.receive())["data"].clone();
    while next()["data"]["data"] != "unasked" {}
    // The answer to the server's ping.
    server.was_asked("POST - mcp-protocol-version=2025-06-18 mcp-session-id=session-1");
    talk.signal(Signal::SIGTERM);
    talk.end();
    server.was_asked("DELETE - mcp-protocol-version=2025-06-18 mcp-session-id=session-1");
}

#[test]
fn an_overlong_result_fails_only_its_own_call() {
    for manner in ["legacy", "legacy sse", "modern sse"] {
        let server = Server::start(manner);
        let output = server.run(&["--max-result", "100K"], &["long", "echo"]);
        let lines = lines(&output);
        assert_eq!(value(&lines[0])["kind"], "too_large", "{manner}");
        assert_eq!((&value(&lines[1])["status"], &value(&lines[1])["epoch"]), (&"ok".into(), &0.into()), "{manner}");
    }
}

#[test]
fn a_redirect_within_the_server_is_followed() {
    let server = Server::start("legacy");
    let url = server.url.replace("/mcp", "/moved");
    let output = pipe(command("mcp-pipe").args(["--url", &url]), calls_of(&["echo"]).as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn certificates_are_checked_against_the_platforms_roots() {
    let server = Server::start("legacy tls");
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none.pem");
    std::fs::write(&none, "").unwrap();
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls/localhost.pem");
    let with_roots = |roots: &Path, url: &str| {
        let mut run = command("mcp-pipe");
        run.args(["--url", url]).env("SSL_CERT_FILE", roots).env_remove("SSL_CERT_DIR");
        pipe(&mut run, calls_of(&["echo", "split"]).as_bytes())
    };
    let named = server.url.replace("127.0.0.1", "localhost");
    let output = with_roots(&ours, &named);
    assert_eq!((output.status.code(), lines(&output).len()), (Some(0), 2), "{}", text(&output.stderr));
    for (roots, url, says) in
        [(&*none, &named, "No CA certificates"), (&*ours, &server.url, "certificate not valid for name")]
    {
        let output = with_roots(roots, url);
        assert_eq!(output.status.code(), Some(3), "{says}");
        assert!(text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
}

#[test]
fn roots_are_not_read_for_an_http_url() {
    let server = Server::start("legacy");
    let folder = tempfile::tempdir().unwrap();
    // Opening this file blocks for ever.
    let roots = folder.path().join("roots.pem");
    mkfifo(&roots, Mode::S_IRWXU).unwrap();
    let output = pipe(server.pipe(&[]).env("SSL_CERT_FILE", &roots), calls_of(&["echo"]).as_bytes());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn proxies_are_taken_from_the_environment_but_never_for_this_machine() {
    let proxy = Server::start("legacy");
    let through = |url: &str, variables: &[(&str, &str)]| {
        let mut run = command("mcp-pipe");
        for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
            run.env_remove(name);
        }
        pipe(run.args(["--url", url]).envs(variables.iter().copied()), calls_of(&["echo"]).as_bytes())
    };
    let open = proxy.url.replace("http://", "http://me:s3cret@").replace("/mcp", "");
    let closed = "http://me:s3cret@127.0.0.1:1";
    for (url, variables, status) in [
        ("http://mcp.example/mcp", &[("http_proxy", &*open)][..], 0),
        ("http://mcp.example/mcp", &[("HTTP_PROXY", &*open)], 0),
        ("http://mcp.example/mcp", &[("ALL_PROXY", &*open)], 0),
        ("http://mcp.example/mcp", &[("http_proxy", &*open), ("NO_PROXY", "mcp.example")], 3),
        ("http://mcp.example/mcp", &[("http_proxy", closed)], 3),
        (&*proxy.url, &[("http_proxy", closed)], 0),
    ] {
        let output = through(url, variables);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{url} {variables:?}: {stderr}");
        assert!(!stderr.contains("s3cret"), "{stderr}");
    }
}
