//! A connection to a browser over a WebSocket (RFC 6455), as `--remote-debugging-port` provides it,
//! directly or behind a server with TLS.

use crate::stream::Stream;
use pipewright_sys::lock;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tungstenite::client::IntoClientRequest;
use tungstenite::http::{HeaderName, HeaderValue};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Bytes, Error, HandshakeError, Message, Utf8Bytes, WebSocket};
use url::Url;

/// How long the browser may take to answer: it may ask a person for permission.
const HANDSHAKE: Duration = Duration::from_secs(60);

/// A WebSocket whose two directions are used by two threads.
pub(crate) struct Socket {
    reader: WebSocket<StreamHalf>,
    writer: Writer,
}

/// Sends messages.
#[derive(Clone)]
pub(crate) struct Writer(Arc<Mutex<WebSocket<StreamHalf>>>);

/// A stream that one WebSocket reads and another writes. If both wrote, their bytes would mix.
struct StreamHalf {
    stream: Stream,
    is_writing: bool,
}

impl Read for StreamHalf {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.read(bytes)
    }
}

impl Write for StreamHalf {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_writing { self.stream.write(bytes) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Socket {
    /// Connects to a `ws:` or `wss:` address, with further headers in its request. `longest` is the longest message
    /// accepted, in bytes.
    pub(crate) fn connect(url: &Url, headers: &[(String, String)], longest: usize) -> Result<Socket, String> {
        let system = |error: io::Error| error.to_string();
        let stream = Stream::connect(url).map_err(system)?;
        stream.set_read_timeout(Some(HANDSHAKE)).map_err(system)?;
        let config = WebSocketConfig::default().max_message_size(Some(longest)).max_frame_size(Some(longest));
        let mut request = url.as_str().into_client_request().map_err(|error| error.to_string())?;
        for (name, value) in headers {
            let header = name.parse::<HeaderName>().ok().zip(value.parse::<HeaderValue>().ok());
            let (name, value) = header.ok_or_else(|| format!("the header {name:?} cannot be sent"))?;
            request.headers_mut().append(name, value);
        }
        let half = StreamHalf { stream, is_writing: true };
        let shaken = tungstenite::client::client_with_config(request, half, Some(config));
        let (mut reader, _) = shaken.map_err(|error| match error {
            HandshakeError::Failure(Error::Http(answer)) => refusal(answer.status().as_u16()),
            HandshakeError::Failure(error) => error.to_string(),
            HandshakeError::Interrupted(_) => format!("no answer in {} s", HANDSHAKE.as_secs()),
        })?;
        let stream = reader.get_ref().stream.clone();
        stream.set_read_timeout(None).map_err(system)?;
        reader.get_mut().is_writing = false;
        let writer = WebSocket::from_raw_socket(StreamHalf { stream, is_writing: true }, Role::Client, Some(config));
        Ok(Socket { reader, writer: Writer(Arc::new(Mutex::new(writer))) })
    }

    pub(crate) fn writer(&self) -> Writer {
        self.writer.clone()
    }

    /// Reads until the connection ends, or `take` returns false.
    pub(crate) fn read(mut self, mut take: impl FnMut(&[u8]) -> bool) {
        loop {
            let is_wanted = match self.reader.read() {
                Ok(Message::Text(text)) => take(text.as_bytes()),
                Ok(Message::Binary(bytes)) => take(&bytes),
                // The reading socket cannot answer by itself.
                Ok(Message::Ping(bytes)) => self.writer.send(Message::Pong(bytes)).is_ok(),
                Ok(Message::Pong(_) | Message::Frame(_)) => true,
                Ok(Message::Close(_)) | Err(_) => false,
            };
            if !is_wanted {
                return self.writer.end();
            }
        }
    }
}

/// What an HTTP status in place of a WebSocket means.
pub(crate) fn refusal(status: u16) -> String {
    match status {
        401 | 403 => format!("it answered {status}: give what it asks for with --attach-header 'NAME: VALUE'"),
        _ => format!("it answered {status}, which is not the start of a WebSocket"),
    }
}

impl Writer {
    /// Sends a text.
    pub(crate) fn send_text(&self, text: Vec<u8>) -> Result<(), String> {
        let text = Utf8Bytes::try_from(Bytes::from(text)).map_err(|error| error.to_string())?;
        self.send(Message::Text(text))
    }

    fn send(&self, message: Message) -> Result<(), String> {
        let mut socket = lock(&self.0);
        socket.send(message).map_err(|error| error.to_string())
    }

    /// Sends a close frame, and shuts down the connection in both directions, so that the reading thread ends.
    pub(crate) fn end(&self) {
        let mut socket = lock(&self.0);
        let _ = socket.close(None);
        let _ = socket.flush();
        socket.get_ref().stream.shutdown();
    }
}
