//! Access control. Each check prevents a fault that another server had (SECURITY.md names them).

use super::{AUTHORIZATION, JSON, Server, TOKEN, agent};
use crate::agent_acp::{DONE, Place};
use crate::process::{command, pipe, text};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

fn server(options: &[&str]) -> (Place, Server) {
    let place = Place::new();
    let server = Server::start(&agent(&place, &[DONE]), options);
    (place, server)
}

const UPGRADE: [&str; 4] = [
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Connection: Upgrade",
];

#[test]
fn every_path_needs_our_host_our_origin_and_the_token() {
    let (_place, server) = server(&[]);
    assert_eq!(server.json("POST", "/sessions", r#"{"session_id":"s"}"#).0, 201);
    let own = format!("Origin: http://{}", server.address);
    let alike = format!("Origin: http://{}.evil.example", server.address);
    let paths = [
        ("GET", "/"),
        ("GET", "/page.js"),
        ("GET", "/sessions"),
        ("POST", "/sessions"),
        ("GET", "/sessions/s/events"),
        ("GET", "/sessions/s/ws"),
        ("GET", "/sessions/s/image?path=x"),
        ("POST", "/ag-ui"),
        ("GET", "/nothing"),
    ];
    for (method, path) in paths {
        let status = |headers: &[&str]| server.ask(method, path, &[headers, &UPGRADE[..3], &[JSON]].concat(), "{}").0;
        assert_eq!(status(&[]), 401, "{path}");
        assert_eq!(status(&["Authorization: Bearer a-token-for-test"]), 401, "{path}");
        assert_eq!(status(&["Cookie: agent-serve=x"]), 401, "{path}");
        for wrong in ["Host: evil.example", "Origin: http://evil.example", "Origin: null", &alike] {
            assert_eq!(status(&[AUTHORIZATION, wrong]), 403, "{path} {wrong}");
            assert_eq!(status(&[wrong]), 403, "{path} {wrong}");
        }
    }
    assert_eq!(server.ask("GET", "/sessions", &[AUTHORIZATION, &own], "").0, 200);
    assert_eq!(server.ask("GET", "/healthz", &[], "").0, 200);
    assert_eq!(server.ask("GET", "/healthz", &["Host: evil.example"], "").0, 403);
    assert!(!server.end().contains(TOKEN));
}

#[test]
fn a_browser_shows_the_token_once() {
    let (_place, server) = server(&[]);
    assert_eq!(server.ask("GET", "/?token=wrong", &[], "").0, 401);
    let (status, answer) = server.ask("GET", &format!("/?token={TOKEN}"), &[], "");
    assert_eq!(status, 303);
    assert!(answer.contains("\r\nlocation: /\r\n") && answer.contains("HttpOnly; SameSite=Strict"), "{answer}");
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    assert!(!cookie.contains(TOKEN));
    let (status, page) = server.ask("GET", "/", &[&cookie], "");
    assert_eq!(status, 200);
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'",
        "referrer-policy: no-referrer",
        "x-content-type-options: nosniff",
    ] {
        assert!(page.contains(header), "{header}: {page}");
    }
    // A page on another port of this machine sends the cookie, too.
    assert_eq!(server.ask("GET", "/sessions", &[&cookie, "Sec-Fetch-Site: same-site"], "").0, 401);
    assert_eq!(server.ask("POST", "/sessions", &[&cookie, JSON, "Origin: http://127.0.0.1:1"], "{}").0, 403);
    // A form of another page cannot send JSON.
    assert_eq!(server.ask("POST", "/sessions", &[&cookie, "Content-Type: text/plain"], "{}").0, 415);
}

#[test]
fn a_new_token_is_printed_and_accepted() {
    let mut serve = command("agent-serve");
    serve.args(["--listen", "127.0.0.1:0", "--", "true"]).env_remove("AGENT_SERVE_TOKEN");
    let mut child = serve.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let (address, token) =
        line.trim().strip_prefix("agent-serve: open http://").unwrap().split_once("/?token=").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("GET /?token={token} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(token.len() >= 32 && answer.starts_with("HTTP/1.1 303"), "{line}{answer}");
}

#[test]
fn a_proxy_is_named_by_its_origin() {
    let mut serve = command("agent-serve");
    let options = ["--listen", "127.0.0.1:0", "--public", "https://Agents.example.org:443", "--", "true"];
    let mut child = serve.args(options).env("AGENT_SERVE_TOKEN", TOKEN).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(line, "agent-serve: open https://agents.example.org/?token=TOKEN\n");
}

#[test]
fn invalid_options_are_refused() {
    let ended = |options: &[&str]| {
        let mut serve = command("agent-serve");
        let output = pipe(serve.args(options).args(["--", "true"]).env("AGENT_SERVE_TOKEN", TOKEN), b"");
        (output.status.code(), text(&output.stderr))
    };
    let mut serve = command("agent-serve");
    let short = pipe(serve.args(["--listen", "127.0.0.1:0", "--", "true"]).env("AGENT_SERVE_TOKEN", "short"), b"");
    assert_eq!(short.status.code(), Some(2));
    assert!(text(&short.stderr).contains("AGENT_SERVE_TOKEN: a token is 16 or more"));
    assert_eq!(ended(&["--listen", "0.0.0.0:0"]).0, Some(2));
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let (status, why) = ended(&["--listen", &taken.local_addr().unwrap().to_string()]);
    assert_eq!(status, Some(3), "{why}");
    for bad in ["agents.example.org", "https://a/b", "ftp://a", "https://:::", "https://a?b", "https://u@a"] {
        assert_eq!(ended(&["--public", bad]).0, Some(2), "{bad}");
    }
}

#[test]
fn a_flood_of_connections_takes_all_places_until_it_ends() {
    let (_place, server) = server(&["--max-connections", "8"]);
    let open: Vec<TcpStream> = (0..8).map(|_| TcpStream::connect(&server.address).unwrap()).collect();
    crate::process::eventually("a ninth connection is refused", || {
        let mut ninth = TcpStream::connect(&server.address).unwrap();
        ninth.set_read_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
        let mut answer = String::new();
        let _ = ninth.read_to_string(&mut answer);
        answer.starts_with("HTTP/1.1 503")
    });
    drop(open);
    crate::process::eventually("there is room again", || server.ask("GET", "/healthz", &[], "").0 == 200);
}

#[test]
fn bodies_and_messages_have_a_limit() {
    let (_place, server) = server(&["--max-line", "1000"]);
    let long = format!(r#"{{"session_id":"{}"}}"#, "x".repeat(1000));
    assert_eq!(server.ask("POST", "/sessions", &[AUTHORIZATION, JSON], &long).0, 413);
    assert_eq!(server.ask("POST", "/ag-ui", &[AUTHORIZATION, JSON], &long).0, 413);
    let mut socket = server.socket("s");
    socket.message(&"x".repeat(1000));
    assert!(socket.socket.read().is_ok_and(|message| message.is_close()) || socket.socket.read().is_err());
    for path in ["/sessions/a%2fb/ws", "/sessions//ws", "/sessions/../ws"] {
        assert_eq!(server.ask("GET", path, &[&[AUTHORIZATION], &UPGRADE[..3]].concat(), "").0, 404, "{path}");
    }
}

#[test]
fn malformed_frames_end_only_their_own_connection() {
    let (_place, server) = server(&[]);
    let mut other = server.socket("s");
    let frames: [&[u8]; 7] = [
        &[0xff; 64],
        // An invalid opcode, text without a mask, a length of 2^63, invalid UTF-8, a continuation without a start, a close frame of one byte.
        &[0x83, 0x80, 0, 0, 0, 0],
        &[0x81, 0x02, b'h', b'i'],
        &[0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0],
        &[0x81, 0x81, 0, 0, 0, 0, 0xff],
        &[0x80, 0x81, 0, 0, 0, 0, b'x'],
        &[0x88, 0x81, 0, 0, 0, 0, b'x'],
    ];
    for frame in frames {
        let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
        stream.set_read_timeout(Some(super::PATIENCE)).unwrap();
        let host = format!("Host: {}", server.address);
        let head = [&["GET /sessions/s/ws HTTP/1.1", &host, AUTHORIZATION], &UPGRADE[..], &["\r\n"]].concat();
        stream.write_all(head.join("\r\n").as_bytes()).unwrap();
        stream.write_all(frame).unwrap();
        let mut answer = Vec::new();
        // The connection ends, or is reset.
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.starts_with(b"HTTP/1.1 101"), "{frame:?}: {}", String::from_utf8_lossy(&answer));
    }
    other.message("Go.");
    assert_eq!(other.next().unwrap()["type"], "user_message");
}

#[test]
fn ten_thousand_connections_leave_the_server_as_it_was() {
    let (_place, server) = server(&[]);
    let mut open = std::collections::VecDeque::new();
    for number in 0..10_000 {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        if number % 3 == 0 {
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\n");
        }
        open.push_back(stream);
        if open.len() > 300 {
            open.pop_front();
        }
    }
    drop(open);
    crate::process::eventually("it answers", || server.ask("GET", "/healthz", &[], "").0 == 200);
    let descriptors = || std::fs::read_dir(format!("/proc/{}/fd", server.child.id())).unwrap().count();
    crate::process::eventually("its descriptors are free again", || descriptors() < 30);
}
