//! The part of HTTP/1.1 that the stand-in needs.

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;

/// TLS with the certificate of `tests/fixtures/tls`.
pub fn tls() -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("../../fixtures/tls/localhost.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("../../fixtures/tls/localhost.key")).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    Arc::new(builder.with_single_cert(vec![certificate], key).unwrap())
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

/// A received request.
pub struct Request {
    pub method: String,
    pub path: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    /// The name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A connection.
pub struct Stream {
    reader: BufReader<Box<dyn ReadWrite>>,
    socket: TcpStream,
    /// Headers for the next answer.
    pub headers: Vec<String>,
}

impl Stream {
    pub fn new(socket: TcpStream, tls: Option<Arc<ServerConfig>>) -> Stream {
        socket.set_nodelay(true).unwrap();
        let stream = socket.try_clone().unwrap();
        let stream: Box<dyn ReadWrite> = match tls {
            Some(tls) => Box::new(StreamOwned::new(ServerConnection::new(tls).unwrap(), stream)),
            None => Box::new(stream),
        };
        Stream { reader: BufReader::new(stream), socket, headers: Vec::new() }
    }

    /// The next request; `None` after the other side has disconnected.
    pub fn read(&mut self) -> Option<Request> {
        let first = self.line()?;
        let mut words = first.split(' ');
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = Request { method, path, headers, body: Vec::new() };
        let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        request.body.resize(length, 0);
        self.reader.read_exact(&mut request.body).ok()?;
        Some(request)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
    }

    fn send(&mut self, text: &str) -> bool {
        self.reader.get_mut().write_all(text.as_bytes()).is_ok()
    }

    fn head(&mut self, status: u16, more: &str) {
        let headers: String = self.headers.drain(..).map(|header| header + "\r\n").collect();
        self.send(&format!("HTTP/1.1 {status} Said\r\n{headers}{more}\r\n"));
    }

    /// Sends a complete answer.
    pub fn say(&mut self, status: u16, of: &str, body: &str) {
        let of = if of.is_empty() { String::new() } else { format!("Content-Type: {of}\r\n") };
        self.head(status, &format!("{of}Content-Length: {}\r\n", body.len()));
        self.send(body);
    }

    /// Begins a stream of events.
    pub fn begin(&mut self) {
        self.begin_with("text/event-stream");
    }

    /// Begins a chunked body.
    pub fn begin_with(&mut self, of: &str) {
        self.head(200, &format!("Content-Type: {of}\r\nTransfer-Encoding: chunked\r\n"));
    }

    pub fn event(&mut self, text: &str) {
        self.try_event(text);
    }

    /// Sends an event; returns whether the client may still read it.
    pub fn try_event(&mut self, text: &str) -> bool {
        self.send(&format!("{:x}\r\n{text}\r\n", text.len()))
    }

    pub fn end(&mut self) {
        self.send("0\r\n\r\n");
    }

    /// Closes the connection in the middle of a message.
    pub fn hang_up(&mut self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}
