//! Consent dialogs on pages modelled on those of the common platforms, and pages that have none, in a real Chromium.
#![allow(clippy::unwrap_used, clippy::panic)]

use pipewright_browser::{Browser, Closed, Launch, Ready, Settings};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(10)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages/banners")
}

/// Serves the pages; `{other}` in them is another site. Gives the port.
fn serve() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                let length = std::io::Read::read(&mut stream, &mut bytes).unwrap_or(0);
                let request = String::from_utf8_lossy(&bytes[..length]).into_owned();
                let name = request.split(' ').nth(1).unwrap_or("/").trim_start_matches('/').to_owned();
                let page = std::fs::read_to_string(folder().join(name)).unwrap_or_default();
                let page = page.replace("{other}", &format!("http://localhost:{port}"));
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n\r\n";
                let _ = std::io::Write::write_all(&mut stream, format!("{head}{page}").as_bytes());
            });
        }
    });
    port
}

fn evaluate(browser: &mut Browser, expression: &str) -> Value {
    let asked = json!({"expression": expression, "returnByValue": true});
    let value: Value = browser.call_page("Runtime.evaluate", &asked, soon()).unwrap();
    value["result"]["value"].clone()
}

/// The answer that a page was given, and what came of closing its dialogs.
fn close(browser: &mut Browser, address: &str, settings: &Settings) -> (String, String, Closed) {
    browser.navigate(address, Ready::Quiet(Duration::from_millis(50)), soon()).unwrap();
    let closed = browser.close_banners(settings, soon()).unwrap();
    let data = evaluate(
        browser,
        "[document.documentElement.dataset.expected, document.documentElement.dataset.answer ?? 'untouched']",
    );
    (data[0].as_str().unwrap().to_owned(), data[1].as_str().unwrap().to_owned(), closed)
}

#[test]
#[ignore = "needs Chromium"]
fn dialogs_are_declined_and_pages_without_one_are_left_alone() {
    let port = serve();
    let mut browser = Browser::start(&Launch::default()).unwrap();
    let mut names: Vec<String> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let mut wrong = Vec::new();
    for name in names.iter().filter(|name| !name.ends_with("-frame.html")) {
        let (expected, answer, closed) =
            close(&mut browser, &format!("http://127.0.0.1:{port}/{name}"), &Settings::default());
        let is_right = answer == expected && closed.closed == u32::from(expected != "untouched");
        let in_time = closed.elapsed < Duration::from_millis(2500);
        if !is_right || !in_time {
            wrong.push(format!("{name}: {expected} expected, not {answer}: {closed:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
