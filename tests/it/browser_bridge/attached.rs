//! A browser that was started by another program is used, and stays open.

use super::{Player, serve};
use crate::process::{Talk, command, eventually, pipe, text};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

const PAGES: &[(&str, &str)] = &[
    ("/", "<!doctype html><title>Mail</title><a href=/next>Next</a>"),
    ("/next", "<!doctype html><title>Next</title><button>There</button>"),
];

/// The person's browser; it ends with the test.
pub struct Theirs(Child);

impl Theirs {
    /// Starts it with this profile, at this page. Returns when it can be attached to.
    pub fn start(profile: &Path, url: &str) -> Theirs {
        let _ = std::fs::remove_file(profile.join("DevToolsActivePort"));
        let mut chromium = Command::new("chromium");
        chromium.args(["--remote-debugging-port=0", "--headless", "--disable-gpu", "--no-sandbox", "--no-first-run"]);
        chromium.arg(format!("--user-data-dir={}", profile.display())).arg(url);
        let child = chromium.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        eventually("its port is known", || address(profile).is_some());
        Theirs(child)
    }

    fn end(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        self.end();
    }
}

/// The port and path of the browser with this profile.
fn address(profile: &Path) -> Option<(String, String)> {
    let written = std::fs::read_to_string(profile.join("DevToolsActivePort")).ok()?;
    written.split_once('\n').map(|(port, path)| (port.to_owned(), path.trim().to_owned()))
}

/// A bridge that may use the pages of this origin.
fn attach(place: &str, origin: &str) -> Command {
    let mut bridge = command("browser-bridge");
    bridge.args(["--attach", place, "--allow-origin", origin]);
    bridge
}

#[test]
#[ignore = "needs Chromium"]
fn an_attached_browser_stays_open_with_its_pages() {
    let (profile, origin) = (tempfile::tempdir().unwrap(), serve(PAGES));
    let mut theirs = Theirs::start(profile.path(), &origin);
    let (port, path) = address(profile.path()).unwrap();
    let folder = profile.path().to_str().unwrap().to_owned();
    let mut title = "Mail";
    for place in [folder, format!("http://127.0.0.1:{port}"), format!("ws://127.0.0.1:{port}{path}")] {
        let mut player = Player::of(&mut attach(&place, &origin));
        eventually("the page is loaded", || player.ok("browser_tabs", json!({}))["tabs"][0]["title"] == title);
        if title == "Mail" {
            assert_eq!(player.click("Next")["title"], "Next");
            title = "Next";
        }
        let ended = player.talk.end_after_close();
        assert_eq!(ended.status.code(), Some(0), "{place}: {}", ended.stderr);
        assert!(theirs.0.try_wait().unwrap().is_none(), "{place}");
    }
}

#[test]
fn a_place_without_a_browser_gives_status_3_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    let call = b"{\"tool\":\"browser_tabs\",\"id\":1}\n";
    let folder = folder.path().to_str().unwrap();
    for (place, advice) in [
        (folder, "--remote-debugging-port=0"),
        ("http://127.0.0.1:9", "127.0.0.1:9"),
        ("ws://127.0.0.1:9/devtools/page/A", "one page"),
        ("wss://127.0.0.1:9/devtools/browser/A?token=s3cret", "127.0.0.1:9"),
        ("https://127.0.0.1:9?token=s3cret", "127.0.0.1:9"),
    ] {
        let output = pipe(command("browser-bridge").args(["--attach", place]), call);
        assert_eq!(output.status.code(), Some(3), "{place}");
        let stderr = text(&output.stderr);
        assert!(stderr.contains(advice) && !stderr.contains("s3cret"), "{stderr}");
        assert!(text(&output.stdout).contains(r#""kind":"start_failed""#), "{}", text(&output.stdout));
    }
}

/// TLS with the certificate of `tests/fixtures/tls`.
fn tls() -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("../../fixtures/tls/localhost.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("../../fixtures/tls/localhost.key")).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    Arc::new(builder.with_single_cert(vec![certificate], key).unwrap())
}

/// A server with TLS before a browser's port, that wants a header. Returns its port.
fn before(port: &str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (own, browser) = (listener.local_addr().unwrap().port(), format!("127.0.0.1:{port}"));
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let browser = browser.clone();
            std::thread::spawn(move || pass(&client.unwrap(), &browser));
        }
    });
    own
}

fn pass(mut client: &TcpStream, browser: &str) {
    let mut tls = ServerConnection::new(tls()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if tls.complete_io(&mut client).is_err() {
            return;
        }
        let _ = tls.reader().read_to_end(&mut head);
    }
    let head = String::from_utf8(head).unwrap();
    if !head.to_ascii_lowercase().contains("x-token: s3cret\r\n") {
        tls.writer().write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n").unwrap();
        let _ = tls.complete_io(&mut client);
        return;
    }
    let mut server = TcpStream::connect(browser).unwrap();
    server.write_all(head.as_bytes()).unwrap();
    let mut bytes = vec![0; 1 << 16];
    loop {
        let mut ends = [client, &server].map(|end| PollFd::new(end.as_fd(), PollFlags::POLLIN));
        poll(&mut ends, PollTimeout::NONE).unwrap();
        let [from_client, from_server] = ends.map(|end| end.any().unwrap());
        if from_client {
            let length = tls.read_tls(&mut client).unwrap();
            tls.process_new_packets().unwrap();
            let mut text = Vec::new();
            let _ = tls.reader().read_to_end(&mut text);
            if length == 0 || server.write_all(&text).is_err() {
                return;
            }
        }
        if from_server {
            let length = server.read(&mut bytes).unwrap_or(0);
            if length == 0 || tls.writer().write_all(&bytes[..length]).is_err() {
                return;
            }
        }
        while tls.wants_write() {
            tls.write_tls(&mut client).unwrap();
        }
    }
}

#[test]
#[ignore = "needs Chromium"]
fn a_browser_behind_tls_is_attached_to_with_headers() {
    let (profile, origin) = (tempfile::tempdir().unwrap(), serve(PAGES));
    let _theirs = Theirs::start(profile.path(), &origin);
    let (port, path) = address(profile.path()).unwrap();
    let port = before(&port);
    let roots = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls/localhost.pem");
    let trusting = |place: &str| {
        let mut bridge = attach(place, &origin);
        bridge.env("SSL_CERT_FILE", &roots).env_remove("SSL_CERT_DIR").env("TOKEN", "s3cret");
        bridge
    };
    for place in [format!("https://localhost:{port}"), format!("wss://localhost:{port}{path}")] {
        let mut player = Player::of(trusting(&place).args(["--attach-header", "X-Token: ${TOKEN}"]));
        eventually("the page is loaded", || player.ok("browser_tabs", json!({}))["tabs"][0]["title"] == "Mail");
        // Larger than one record of TLS.
        let picture = player.ok("browser_screenshot", json!({"full_page": true}));
        assert!(picture["path"].is_string(), "{picture}");
        assert_eq!(player.talk.end_after_close().status.code(), Some(0), "{place}");
        let call = b"{\"tool\":\"browser_tabs\",\"id\":1}\n";
        let refused = pipe(&mut trusting(&place), call);
        assert!(text(&refused.stderr).contains("--attach-header"), "{}", text(&refused.stderr));
        let distrusted = pipe(trusting(&place).env("SSL_CERT_FILE", "/dev/null"), call);
        assert!(text(&distrusted.stderr).contains("certificate"), "{}", text(&distrusted.stderr));
    }
    let unset = pipe(trusting("wss://localhost:1").args(["--attach-header", "X-Token: ${NO_SUCH}"]), b"");
    assert_eq!(unset.status.code(), Some(2));
    assert!(text(&unset.stderr).contains("NO_SUCH"), "{}", text(&unset.stderr));
}

#[test]
#[ignore = "needs Chromium"]
fn a_browser_that_ends_is_attached_to_again_or_gives_status_4() {
    let (profile, origin) = (tempfile::tempdir().unwrap(), serve(PAGES));
    let mut theirs = Theirs::start(profile.path(), &origin);
    let mut bridge = attach(profile.path().to_str().unwrap(), &origin);
    let mut talk = Talk::start(bridge.args(["--restart", "40"]));
    talk.ask(r#"{"tool":"browser_tabs","id":1}"#);
    talk.say(r#"{"tool":"browser_wait","args":{"ms":30000},"id":2}"#);
    talk.settles();
    theirs.end();
    let lost = talk.receive();
    assert!(lost.contains(r#""kind":"lost""#) && lost.contains(r#""maybe_executed":true"#), "{lost}");
    let mut again = Theirs::start(profile.path(), &format!("{origin}/next"));
    let tabs = talk.ask(r#"{"tool":"browser_tabs","id":3}"#);
    assert!(tabs.contains(r#""status":"ok""#) && !tabs.contains(r#""epoch":0"#), "{tabs}");
    drop(talk);

    let mut talk = Talk::start(attach(profile.path().to_str().unwrap(), &origin).args(["--restart", "1"]));
    talk.ask(r#"{"tool":"browser_tabs","id":1}"#);
    again.end();
    let lost = talk.ask(r#"{"tool":"browser_tabs","id":2}"#);
    assert!(lost.contains(r#""kind":"lost""#), "{lost}");
    // Only by then has attaching failed for good.
    let again = talk.ask(r#"{"tool":"browser_tabs","id":3}"#);
    assert!(again.contains(r#""kind":"lost""#), "{again}");
    let ended = talk.end_after_close();
    assert_eq!(ended.status.code(), Some(4), "{}", ended.stderr);
    assert!(ended.stderr.contains("--restart"), "{}", ended.stderr);
}
