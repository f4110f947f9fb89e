//! Tests against a real Chromium, in one program: linking each alone takes longer than running it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod addresses;
mod attach;
mod banners;
mod console;
mod elements;
mod extract;
mod files;
mod happened;
mod input;
mod kinds;
mod launch;
mod pages;
mod picture;
mod pointer;
mod pressing;
mod print;
mod process;
mod storage;
mod tabs;
mod wait;

use pipewright_browser::{AddressRules, Browser, Launch, Ready, Scope};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The end of a wait for what must happen.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// The value of a script's expression in the current page.
fn evaluate(browser: &mut Browser, expression: &str) -> Value {
    let asked = json!({"expression": expression, "returnByValue": true});
    let value: Value = browser.call_page("Runtime.evaluate", &asked, soon()).unwrap();
    value["result"]["value"].clone()
}

/// The number of the element with this name.
fn number(browser: &mut Browser, name: &str) -> u32 {
    let elements = browser.elements(Scope::Page, soon()).unwrap().items;
    let found = elements.iter().find(|element| element.name == name);
    found.unwrap_or_else(|| panic!("{name}: {elements:?}")).index
}

/// Answers every request on a port with this page. Returns the port.
fn serve(page: String) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, page) = (stream.unwrap(), page.clone());
            // The browser also opens connections that it does not use.
            std::thread::spawn(move || {
                let _ = std::io::Read::read(&mut stream, &mut [0; 4096]);
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n";
                let _ = std::io::Write::write_all(&mut stream, format!("{head}<!doctype html>{page}").as_bytes());
            });
        }
    });
    port
}

/// A browser that shows this page, and the page's folder.
fn show(page: &str) -> (Browser, tempfile::TempDir) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("page.html");
    std::fs::write(&path, format!("<!doctype html><meta charset=utf-8>{page}")).unwrap();
    let allowed = AddressRules::default().file(place.path()).unwrap();
    let mut browser = Browser::start(&Launch { allowed, ..Launch::default() }).unwrap();
    browser.navigate(&format!("file://{}", path.display()), Ready::Parsed, soon()).unwrap();
    (browser, place)
}

/// As [`show`]; `log` of the page has what its scripts `note`.
fn show_notes(page: &str) -> (Browser, tempfile::TempDir) {
    show(&format!("<script>window.log = []; const note = (text) => log.push(text)</script>{page}"))
}
