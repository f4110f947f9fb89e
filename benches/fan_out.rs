//! Clients of a server that sends the same lines to all of them: `fan-out ADDRESS TOKEN EVENTS_PATH EVENTS SOCKET_PATH SOCKETS LAST`. Opens
//! EVENTS connections for server-sent events and SOCKETS WebSockets, prints `ready`, reads until each has received a line that contains
//! LAST, and prints the counts: `{"lines","gaps"}`.

#![allow(clippy::expect_used, clippy::print_stdout, clippy::print_stderr)] // a client that cannot go on ends the measurement

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use tungstenite::client::IntoClientRequest;

#[derive(Default)]
struct Counts {
    lines: AtomicU64,
    gaps: AtomicU64,
}

impl Counts {
    /// Whether it is the last line.
    fn take(&self, line: &str, last: &str) -> bool {
        self.lines.fetch_add(1, Ordering::Relaxed);
        if line.contains(r#""type":"gap""#) {
            self.gaps.fetch_add(1, Ordering::Relaxed);
        }
        line.contains(last)
    }
}

fn observe(address: &str, token: &str, path: &str, last: &str, counts: &Counts, connected: &Barrier) {
    let mut stream = TcpStream::connect(address).expect("a connection");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n")
        .expect("a request");
    let mut lines = BufReader::new(stream).lines().map(|line| line.expect("a line"));
    let status = lines.next().expect("an answer");
    assert!(status.contains(" 200 "), "{status}");
    connected.wait();
    lines.filter(|line| line.starts_with("data: ")).find(|line| counts.take(line, last)).expect("the last line");
}

fn listen(address: &str, token: &str, path: &str, last: &str, counts: &Counts, connected: &Barrier) {
    let mut request = format!("ws://{address}{path}").into_client_request().expect("an address");
    request.headers_mut().insert("authorization", format!("Bearer {token}").parse().expect("a token"));
    let stream = TcpStream::connect(address).expect("a connection");
    let (mut socket, _) = tungstenite::client(request, stream).expect("a WebSocket");
    connected.wait();
    loop {
        let message = socket.read().expect("a message");
        if message.is_text() && counts.take(message.to_text().expect("a text"), last) {
            return;
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, token, events_path, events, socket_path, sockets, last] = &arguments[..] else {
        eprintln!("usage: fan-out ADDRESS TOKEN EVENTS_PATH EVENTS SOCKET_PATH SOCKETS LAST");
        std::process::exit(2);
    };
    let (events, sockets): (usize, usize) = (events.parse().expect("a number"), sockets.parse().expect("a number"));
    let (counts, connected) = (Counts::default(), Arc::new(Barrier::new(events + sockets + 1)));
    thread::scope(|scope| {
        for number in 0..events + sockets {
            let (counts, connected) = (&counts, Arc::clone(&connected));
            let client = move || match number < events {
                true => observe(address, token, events_path, last, counts, &connected),
                false => listen(address, token, socket_path, last, counts, &connected),
            };
            thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, client).expect("a thread");
        }
        connected.wait();
        println!("ready");
    });
    let (lines, gaps) = (counts.lines.load(Ordering::Relaxed), counts.gaps.load(Ordering::Relaxed));
    println!(r#"{{"lines":{lines},"gaps":{gaps}}}"#);
}
