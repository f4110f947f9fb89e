//! A socket that the far side connects to: at a path in a folder of ours, or on a port of the loopback interface. The
//! first line must contain the token, which is readable only in that folder; other clients are disconnected.

use super::{LinkPipes, pipes};
use crate::between::Link;
use pipewright_sys::socket;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Where we listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenAddress<'a> {
    /// A Unix socket, created at this path.
    Path(&'a Path),
    /// A free port of the loopback interface.
    Port,
}

/// How long a client may take to send its first line.
const FIRST_LINE: Duration = Duration::from_secs(2);
const MAX_FIRST_LINE: usize = 4096;

#[derive(serde::Deserialize)]
struct Greeting {
    token: String,
}

/// A link to the first client that sends `token`, and the address to connect to: `unix:PATH` or `tcp:127.0.0.1:PORT`.
///
/// # Errors
/// Any error in listening.
pub fn listen(address: ListenAddress<'_>, token: &str) -> io::Result<(Link, String)> {
    let (link, ends) = pipes()?;
    let token = token.to_owned();
    let address = match address {
        ListenAddress::Path(path) => {
            let listener = socket::Listener::bind(path)?;
            thread::spawn(move || serve(|| Ok(listener.accept()?.0), &token, ends));
            format!("unix:{}", path.display())
        }
        ListenAddress::Port => {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            let port = listener.local_addr()?.port();
            thread::spawn(move || serve(|| accept_port(&listener), &token, ends));
            format!("tcp:127.0.0.1:{port}")
        }
    };
    Ok((link, address))
}

fn accept_port(listener: &TcpListener) -> io::Result<TcpStream> {
    let (stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// The common operations of both kinds of socket.
trait Socket: Read + Write + Send + Sized + 'static {
    fn twin(&self) -> io::Result<Self>;
    fn patience(&self, time: Option<Duration>) -> io::Result<()>;
    fn hang_up(&self) -> io::Result<()>;
}

macro_rules! socket {
    ($($stream:ty),*) => {$(
        impl Socket for $stream {
            fn twin(&self) -> io::Result<Self> {
                self.try_clone()
            }
            fn patience(&self, time: Option<Duration>) -> io::Result<()> {
                self.set_read_timeout(time)
            }
            fn hang_up(&self) -> io::Result<()> {
                self.shutdown(Shutdown::Write)
            }
        }
    )*};
}
socket!(TcpStream, socket::Stream);

/// Waits for a client with the token, then copies in both directions until one ends; the link ends with it.
fn serve<S: Socket>(accept: impl Fn() -> io::Result<S>, token: &str, ends: LinkPipes) {
    let mut stream = loop {
        match accept() {
            Ok(mut stream) => {
                if is_greeted(&mut stream, token).unwrap_or(false) {
                    break stream;
                }
            }
            // A client hung up early, or there is temporarily no descriptor left.
            Err(_) => thread::sleep(Duration::from_millis(10)),
        }
    };
    let LinkPipes { mut outbound, mut inbound } = ends;
    if let Ok(mut to) = stream.twin() {
        thread::spawn(move || {
            // The reader of either side notices its end.
            let _ = copy(&mut outbound, &mut to);
            let _ = to.hang_up();
        });
        let _ = copy(&mut stream, &mut inbound);
    }
}

/// Writes each read at once. ([`io::copy`] may wait for more data between a pipe and a socket.)
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => to.write_all(&buffer[..read])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads exactly the first line.
fn is_greeted(stream: &mut impl Socket, token: &str) -> io::Result<bool> {
    let until = Instant::now() + FIRST_LINE;
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < MAX_FIRST_LINE {
        // The limit is for the complete line: a client that sends single bytes must not keep the game out.
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        stream.patience(Some(left))?;
        if stream.read(&mut byte)? == 0 || byte == *b"\n" {
            break;
        }
        line.push(byte[0]);
    }
    stream.patience(None)?;
    Ok(serde_json::from_slice::<Greeting>(&line).is_ok_and(|greeting| greeting.token == token))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_never_ends_its_first_line_is_disconnected() {
        let (mut link, address) = listen(ListenAddress::Port, "right").unwrap();
        let dial = || TcpStream::connect(address.strip_prefix("tcp:").unwrap()).unwrap();
        let mut slow = dial();
        thread::spawn(move || {
            while slow.write_all(b"x").is_ok() {
                thread::sleep(Duration::from_millis(100));
            }
        });
        thread::sleep(Duration::from_millis(50));
        dial().write_all(b"{\"token\":\"right\"}\nheard").unwrap();
        let mut received = [0; 5];
        link.from.read_exact(&mut received).unwrap();
        assert_eq!(&received, b"heard");
    }

    #[test]
    fn only_who_knows_the_token_is_listened_to() {
        let (mut link, address) = listen(ListenAddress::Port, "right").unwrap();
        let dial = || TcpStream::connect(address.strip_prefix("tcp:").unwrap()).unwrap();
        for wrong in ["{\"token\":\"wrong\"}\n", "right\n", "\n", "{\"token\":"] {
            let mut stream = dial();
            stream.write_all(wrong.as_bytes()).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            assert!(!matches!(stream.read(&mut [0]), Ok(1..)), "{wrong}");
        }
        let mut stream = dial();
        stream.write_all(b"{\"hello\":\"x\",\"token\":\"right\"}\nfirst\n").unwrap();
        link.to.write_all(b"said\n").unwrap();
        let (mut received, mut got) = ([0; 6], [0; 5]);
        link.from.read_exact(&mut received).unwrap();
        stream.read_exact(&mut got).unwrap();
        assert_eq!((&received, &got), (b"first\n", b"said\n"));
        drop(stream);
        assert_eq!(link.from.read(&mut [0]).unwrap(), 0, "its end is ours");
    }
}
