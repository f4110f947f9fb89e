//! A server of Chat Completions on a loopback port: HTTP/1.1 with keep-alive; it answers at once.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// A streamed answer.
pub const EVENTS: &str = include_str!("../../tests/fixtures/models/openai_chat_text.sse");

/// The same answer unstreamed.
const WHOLE: &str = r#"{"id":"c","object":"chat.completion","created":1795374056,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi there!"},"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5}}"#;

/// Starts the server and returns its base URL. `stream` writes the head and the pieces of a streamed answer; the end is written after them.
pub fn start(stream: impl Fn(&mut TcpStream) -> Result<()> + Clone + Send + 'static) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/v1", listener.local_addr()?);
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let stream = stream.clone();
            // If a client disconnects, its thread ends.
            thread::spawn(move || serve(connection, stream).ok());
        }
    });
    Ok(url)
}

fn serve(mut to: TcpStream, stream: impl Fn(&mut TcpStream) -> Result<()>) -> Result<()> {
    to.set_nodelay(true)?;
    let mut from = BufReader::new(to.try_clone()?);
    while let Some(body) = request(&mut from)? {
        if body.contains(r#""stream":true"#) || body.contains(r#""stream": true"#) {
            stream(&mut to)?;
            to.write_all(b"0\r\n\r\n")?;
        } else {
            let length = WHOLE.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
            to.write_all((head + WHOLE).as_bytes())?;
        }
    }
    Ok(())
}

/// The body of the next request; `None` at the end.
fn request(from: &mut impl BufRead) -> Result<Option<String>> {
    let (mut length, mut line) = (0, String::new());
    loop {
        line.clear();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap_or(0),
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut body = String::new();
    from.take(length).read_to_string(&mut body)?;
    Ok(Some(body))
}

/// The head of a streamed answer.
pub fn head(to: &mut impl Write) -> Result<()> {
    to.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
}

/// Writes a piece of it.
pub fn piece(to: &mut impl Write, piece: &str) -> Result<()> {
    to.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes())
}
