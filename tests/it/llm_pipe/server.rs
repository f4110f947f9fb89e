//! A server on a loopback port that plays a model's provider: the test's function gives the reply to each request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A received request.
#[derive(Debug, Clone)]
pub struct Request {
    pub path: String,
    /// With lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A reply of the server.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    /// Each piece is written separately, after a pause.
    pub pieces: Vec<(Duration, Vec<u8>)>,
    /// The connection breaks instead of ending.
    pub breaks: bool,
}

impl Reply {
    /// A stream of events with this data.
    pub fn stream(events: &[&str]) -> Reply {
        let events = events.iter().map(|data| format!("data: {data}\n\n"));
        Reply::pieces(events.map(String::into_bytes))
    }

    /// A stream that is written in these pieces.
    pub fn pieces(pieces: impl Iterator<Item = Vec<u8>>) -> Reply {
        let headers = vec![("content-type", "text/event-stream".to_owned())];
        Reply { status: 200, headers, pieces: pieces.map(|piece| (Duration::ZERO, piece)).collect(), breaks: false }
    }

    pub fn error(status: u16, body: &str) -> Reply {
        let headers = vec![("content-type", "application/json".to_owned())];
        Reply { status, headers, pieces: vec![(Duration::ZERO, body.into())], breaks: false }
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Reply {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// The same, with a pause before each piece.
    pub fn paused(mut self, pause: Duration) -> Reply {
        self.pieces.iter_mut().for_each(|(before, _)| *before = pause);
        self
    }

    /// Gemini's answer for a turn with this text.
    pub fn gemini(text: &str) -> Reply {
        let text = serde_json::to_string(text).unwrap();
        Reply::stream(&[
            &format!(
                r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":{text}}}]}},"index":0}}],"usageMetadata":{{"promptTokenCount":7}}}}"#
            ),
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2,"totalTokenCount":9}}"#,
        ])
    }

    /// Gemini's answer for a turn that calls this function; the arguments are JSON text.
    pub fn gemini_call(name: &str, arguments: &str, signature: &str) -> Reply {
        Reply::stream(&[&format!(
            r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"functionCall":{{"name":"{name}","args":{arguments}}},"thoughtSignature":"{signature}"}}]}},"finishReason":"STOP","index":0}}],"usageMetadata":{{"promptTokenCount":7,"candidatesTokenCount":2}}}}"#
        )])
    }
}

pub struct Server {
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// `reply` gets a request and the number of earlier requests.
    pub fn start(reply: impl Fn(&Request, usize) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (kept, reply) = (Arc::clone(&requests), Arc::new(reply));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (kept, reply) = (Arc::clone(&kept), Arc::clone(&reply));
                thread::spawn(move || serve(stream.unwrap(), &kept, &*reply));
            }
        });
        Server { url, requests }
    }

    /// A server that passes on each connection once its request has arrived; gives its address.
    pub fn start_raw(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let answer = Arc::clone(&answer);
                thread::spawn(move || {
                    let stream = stream.unwrap();
                    read_request(&stream);
                    answer(stream);
                });
            }
        });
        url
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

/// `None` if the connection is closed instead.
fn read_request(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return None;
    }
    let path = line.split(' ').nth(1).unwrap().to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let mut request = Request { path, headers, body: String::new() };
    let length = request.header("content-length").unwrap_or("0").parse().unwrap();
    reader.take(length).read_to_string(&mut request.body).unwrap();
    Some(request)
}

/// Reads one request; then the connection is closed.
fn serve(stream: TcpStream, kept: &Mutex<Vec<Request>>, reply: &dyn Fn(&Request, usize) -> Reply) {
    let Some(request) = read_request(&stream) else { return };
    let before = {
        let mut kept = kept.lock().unwrap();
        kept.push(request.clone());
        kept.len() - 1
    };
    // A closed client reads no reply.
    let _ = write(stream, &reply(&request, before));
}

fn write(mut stream: TcpStream, reply: &Reply) -> std::io::Result<()> {
    // Small pieces must not be joined.
    stream.set_nodelay(true)?;
    let headers: String = reply.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let status = reply.status;
    write!(stream, "HTTP/1.1 {status} X\r\n{headers}transfer-encoding: chunked\r\nconnection: close\r\n\r\n")?;
    for (pause, piece) in &reply.pieces {
        thread::sleep(*pause);
        let begin = format!("{:x}\r\n", piece.len());
        stream.write_all(&[begin.as_bytes(), piece, b"\r\n"].concat())?;
    }
    if !reply.breaks {
        write!(stream, "0\r\n\r\n")?;
    }
    Ok(())
}
