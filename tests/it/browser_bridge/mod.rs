//! `browser-bridge` with Chromium, and with a program that stands in for a browser (`tests/stand_in/browser.rs`) for faults that
//! a real one does not have.

mod acting;
pub mod attached;
mod calls;
mod deals;
mod documented;
mod faults;
mod fenced;
mod focus;
mod headed;
mod origins;
mod pointing;
mod pseudo;
mod reading;
mod requests;
mod stand_in;
mod traps;

use crate::process::{Talk, command};
use crate::schemas::hold;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::thread;

/// A bridge to a browser without a window.
fn bridge(arguments: &[&str]) -> Command {
    let mut bridge = command("browser-bridge");
    bridge.arg("--headless").args(arguments);
    bridge
}

/// A bridge that gets one call after the other.
struct Player {
    talk: Talk,
    last: u64,
}

impl Player {
    fn start(arguments: &[&str]) -> Player {
        Player::of(&mut bridge(arguments))
    }

    fn of(bridge: &mut Command) -> Player {
        Player { talk: Talk::start(bridge), last: 0 }
    }

    /// The complete answer to a call.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.last += 1;
        let call = json!({"tool": tool, "args": arguments, "id": self.last}).to_string();
        let answer = self.talk.ask(&call);
        hold(&answer);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["id"], self.last, "{answer}");
        answer
    }

    /// The result of a call that succeeds.
    fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["status"], "ok", "{tool}: {answer}");
        answer["data"].clone()
    }

    /// Kind and code of a call that fails.
    fn fails(&mut self, tool: &str, arguments: Value) -> (String, String) {
        let answer = self.call(tool, arguments);
        assert_eq!(answer["status"], "error", "{tool}: {answer}");
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        (text("kind"), text("code"))
    }

    /// The number of the element with this name, in a new list of the page.
    fn number(&mut self, name: &str) -> u64 {
        let found = self.ok("browser_find", json!({"text": name}));
        let items = found["items"].as_array().unwrap();
        let item = items.iter().find(|item| item["name"] == name);
        item.unwrap_or_else(|| panic!("no {name:?}: {found}"))["index"].as_u64().unwrap()
    }

    /// Clicks the element with this name.
    fn click(&mut self, name: &str) -> Value {
        let index = self.number(name);
        self.ok("browser_overlay_act", json!({"index": index}))
    }
}

/// A server with a page for each path. Returns its origin.
pub fn serve(pages: &'static [(&'static str, &'static str)]) -> String {
    serve_with(move |path| {
        let found = pages.iter().find(|(known, _)| *known == path);
        found.map(|(_, page)| {
            format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\r\n{page}",
                page.len()
            )
        })
    })
}

/// The header of an answer that never ends.
const MORE: &str = "Content-Length: 1000000000";

/// A server whose complete answers are given by path. A path without one is a 404, and an empty answer means no answer.
pub fn serve_with(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || answer_one(stream.unwrap(), &*answer));
        }
    });
    origin
}

fn answer_one(mut stream: TcpStream, answer: &dyn Fn(&str) -> Option<String>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
    match answer(&path) {
        Some(whole) if whole.is_empty() => thread::park(),
        Some(whole) => {
            let _ = stream.write_all(whole.as_bytes());
            if whole.contains(MORE) {
                thread::park();
            }
        }
        None => _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone"),
    }
}
