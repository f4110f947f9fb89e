//! The options of a real Chromium, and the cleanup after we are killed.

use crate::soon;
use pipewright_browser::{AddressRules, Browser, Device, Launch, Ready};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// A server, also as a proxy, that answers each request with the request itself. Returns its port.
fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut bytes = [0; 8192];
                let length = stream.read(&mut bytes).unwrap_or(0);
                let head = String::from_utf8_lossy(&bytes[..length]).into_owned();
                let frame = if head.contains("/outer") {
                    format!("<iframe src='http://localhost:{port}/inner' width=333 height=100></iframe>")
                } else {
                    String::new()
                };
                let body = format!("<pre>{head}</pre>{frame}");
                let length = body.len();
                let header = format!("content-type: text/html\r\ncontent-length: {length}\r\nconnection: close");
                let _ = write!(stream, "HTTP/1.1 200 OK\r\n{header}\r\n\r\n{body}");
            });
        }
    });
    port
}

fn evaluate(browser: &mut Browser, expression: &str) -> Value {
    let asked = json!({"expression": expression, "returnByValue": true, "userGesture": true, "awaitPromise": true});
    let value: Value = browser.call_page("Runtime.evaluate", &asked, soon()).unwrap();
    value["result"]["value"].clone()
}

const SIZE: &str = "[innerWidth, innerHeight, screen.width, screen.height]";

#[test]
#[ignore = "needs Chromium"]
fn every_page_has_the_requested_size() {
    let port = server();
    let allowed = AddressRules::default().origin("127.0.0.1").unwrap().origin("localhost").unwrap();
    let launch =
        Launch { device: Device { viewport: Some((1001, 601)), ..Device::default() }, allowed, ..Launch::default() };
    let mut browser = Browser::start(&launch).unwrap();
    let size = json!([1001, 601, 1001, 601]);
    browser
        .navigate(&format!("http://127.0.0.1:{port}/outer"), Ready::Quiet(Duration::from_millis(100)), soon())
        .unwrap();
    assert_eq!(evaluate(&mut browser, SIZE), size);
    assert_eq!(evaluate(&mut browser, "document.querySelector('iframe').clientWidth"), 333);
    evaluate(&mut browser, "window.open('about:blank', '', 'width=200,height=200') && 1");
    assert!(browser.wait(soon(), |pages| pages.all().len() == 2).unwrap());
    let popup = browser.pages().all()[1].id.clone();
    browser.switch(&popup, soon()).unwrap();
    assert_eq!(evaluate(&mut browser, SIZE), size);
    browser.open(soon()).unwrap();
    assert_eq!(evaluate(&mut browser, SIZE), size);
}

#[test]
#[ignore = "needs Chromium"]
fn scripts_and_servers_see_the_locale() {
    let allowed = AddressRules::default().origin("127.0.0.1").unwrap();
    let launch = Launch { locale: Some("de-DE".to_owned()), allowed, ..Launch::default() };
    let mut browser = Browser::start(&launch).unwrap();
    browser.navigate(&format!("http://127.0.0.1:{}/", server()), Ready::Parsed, soon()).unwrap();
    let seen = evaluate(&mut browser, "[navigator.language, navigator.languages.join(), (1.5).toLocaleString()]");
    assert_eq!(seen, json!(["de-DE", "de-DE,de", "1,5"]));
    let sent = evaluate(&mut browser, "document.body.innerText.toLowerCase()");
    assert!(sent.as_str().unwrap().contains("accept-language: de-de,de;q=0.9"), "{sent}");
    let wrong = Launch { locale: Some("de_DE.UTF-8".to_owned()), ..Launch::default() };
    assert!(wrong.start().unwrap_err().to_string().contains("\"de_DE.UTF-8\" is not a language tag"));
}

#[test]
#[ignore = "needs Chromium"]
fn everything_goes_through_a_proxy() {
    let allowed = AddressRules::default().origin("127.0.0.1").unwrap();
    let proxy = Some(format!("http://127.0.0.1:{}", server()));
    let mut browser = Browser::start(&Launch { proxy, allowed, ..Launch::default() }).unwrap();
    for address in ["http://public.example/page", "http://127.0.0.1:4567/page"] {
        browser.navigate(address, Ready::Parsed, soon()).unwrap();
        let sent = evaluate(&mut browser, "document.body.innerText");
        assert!(sent.as_str().unwrap().starts_with(&format!("GET {address} ")), "{sent}");
    }
    let wrong = Launch { proxy: Some("http://user:pass@host:1".to_owned()), ..Launch::default() };
    assert!(wrong.start().unwrap_err().to_string().contains("password"));
}

/// Run by another test in a separate process.
#[test]
#[ignore = "needs Chromium"]
fn a_process_that_has_a_browser() {
    let Some(seconds) = std::env::var("PIPEWRIGHT_TEST_SECONDS").ok() else { return };
    let (process, mut connection) = Launch::default().start().unwrap();
    connection.send(None, "Browser.getVersion", &json!({})).unwrap();
    connection.next(soon()).unwrap();
    println!("\n{}", json!([process.id(), process.profile()]));
    thread::sleep(Duration::from_secs(seconds.parse().unwrap()));
}

/// Starts a process that starts a browser. Returns the process, the browser's pid, and its profile.
fn other(place: &Path, seconds: u32) -> (std::process::Child, u32, PathBuf) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "--nocapture", "launch::a_process_that_has_a_browser"]);
    command.env("TMPDIR", place).env("PIPEWRIGHT_TEST_SECONDS", seconds.to_string()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let line = stdout.by_ref().lines().map_while(Result::ok).find(|line| line.starts_with('[')).unwrap();
    // The browser continues to print.
    child.stdout = Some(stdout.into_inner());
    let (browser, profile) = serde_json::from_str(&line).unwrap();
    (child, browser, profile)
}

#[test]
#[ignore = "needs Chromium"]
fn a_browser_ends_when_we_are_killed_and_the_next_start_removes_its_profile() {
    let place = tempfile::tempdir().unwrap();
    let (mut killed, browser, abandoned) = other(place.path(), 60);
    let (mut alive, _, used) = other(place.path(), 60);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let is_running = |process: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.starts_with(" Z"))
    };
    let last_moment = soon();
    while is_running(browser) && Instant::now() < last_moment {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(!is_running(browser));
    assert!(abandoned.join("Default").exists());
    // Looks like one of our profiles, but is not.
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("pipewright.lock"), "").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), place.path().join("pipewright-browser-linked")).unwrap();
    // An ending browser has written to these two again: one long ago, and one just now, which may be about to be
    // locked.
    let [old, new] = ["old", "new"].map(|name| place.path().join(format!("pipewright-browser-{name}")));
    for folder in [&old, &new] {
        std::fs::create_dir_all(folder.join("Default")).unwrap();
    }
    std::fs::File::open(&old).unwrap().set_modified(SystemTime::now() - Duration::from_secs(120)).unwrap();
    let (mut next, _, own) = other(place.path(), 0);
    assert!(next.wait().unwrap().success());
    assert!(!abandoned.exists() && used.join("Default").exists() && !own.exists());
    assert!(!old.exists() && new.exists());
    assert!(elsewhere.path().join("pipewright.lock").exists());
    alive.kill().unwrap();
    alive.wait().unwrap();
}

#[test]
#[ignore = "needs Chromium"]
fn a_browser_that_is_killed_leaves_no_folder() {
    let place = tempfile::tempdir().unwrap();
    let (mut process, browser, profile) = other(place.path(), 2);
    let socket = std::fs::read_link(profile.join("SingletonSocket")).unwrap();
    assert!(socket.starts_with(&profile) && socket.exists());
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(browser.cast_signed()), nix::sys::signal::SIGKILL).unwrap();
    assert!(process.wait().unwrap().success());
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
#[ignore = "needs Chromium"]
fn a_browser_starts_whose_folder_for_temporary_files_has_a_long_path() {
    let place = tempfile::tempdir().unwrap();
    let long = place.path().join("long".repeat(10));
    std::fs::create_dir(&long).unwrap();
    let (mut process, _, profile) = other(&long, 0);
    assert!(process.wait().unwrap().success());
    assert!(profile.starts_with(&long) && !profile.exists());
}
