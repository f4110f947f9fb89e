//! A TCP stream, with or without TLS, that one thread reads and another writes.

use pipewright_sys::lock;
use rustls::ClientConnection;
use rustls::pki_types::ServerName;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use url::{Host, Url};

/// How long a server may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// How many encrypted bytes are read at once. rustls accepts so many at a time, and refuses more as long as decrypted
/// bytes of one whole record wait.
const READ_SIZE: usize = 4096;

/// A connection to the host of an address. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    socket: Arc<TcpStream>,
    tls: Option<Arc<Tls>>,
}

#[derive(Debug)]
struct Tls {
    connection: Mutex<ClientConnection>,
    /// Held while encrypted bytes are sent, so that they keep their order. The reading thread never waits for it: a
    /// server that reads nothing must not keep us from reading.
    sending: Mutex<()>,
}

impl Stream {
    /// Connects, with TLS for `https:` and `wss:`. Certificates are checked against the platform's roots.
    pub(crate) fn connect(url: &Url) -> io::Result<Stream> {
        let socket = dial(url)?;
        socket.set_nodelay(true)?;
        let tls = match url.scheme() {
            "https" | "wss" => Some(Arc::new(Tls::start(url, &socket)?)),
            _ => None,
        };
        Ok(Stream { socket: Arc::new(socket), tls })
    }

    /// `None`: reading waits without a limit.
    pub(crate) fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.socket.set_read_timeout(limit)
    }

    /// Ends both directions: the reading thread sees the end.
    pub(crate) fn shutdown(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// Connects to the host of an address, without TLS.
fn dial(url: &Url) -> io::Result<TcpStream> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    connect((host, url.port_or_known_default().unwrap_or(80)).to_socket_addrs()?, CONNECT)
}

/// Connects to the first of these addresses that accepts a connection in this time.
pub(crate) fn connect(addresses: impl IntoIterator<Item = SocketAddr>, limit: Duration) -> io::Result<TcpStream> {
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(stream) => return Ok(stream),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

impl Tls {
    fn start(url: &Url, mut socket: &TcpStream) -> io::Result<Tls> {
        let name = match url.host() {
            Some(Host::Domain(name)) => ServerName::try_from(name.to_owned()).map_err(io::Error::other)?,
            Some(Host::Ipv4(address)) => ServerName::from(std::net::IpAddr::V4(address)),
            Some(Host::Ipv6(address)) => ServerName::from(std::net::IpAddr::V6(address)),
            None => return Err(io::Error::new(io::ErrorKind::InvalidInput, "the address has no host")),
        };
        let settings = pipewright_http::tls().map_err(io::Error::other)?;
        let mut connection = ClientConnection::new(Arc::new(settings), name).map_err(io::Error::other)?;
        socket.set_read_timeout(Some(CONNECT))?;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket)?;
        }
        socket.set_read_timeout(None)?;
        Ok(Tls { connection: Mutex::new(connection), sending: Mutex::default() })
    }

    fn read(&self, mut socket: &TcpStream, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match lock(&self.connection).reader().read(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                outcome => return outcome,
            }
            let mut encrypted = [0; READ_SIZE];
            let length = socket.read(&mut encrypted)?;
            if length == 0 {
                return Ok(0);
            }
            let (mut rest, mut connection) = (&encrypted[..length], lock(&self.connection));
            while !rest.is_empty() {
                connection.read_tls(&mut rest)?;
                // What this wants to send goes out with the next write.
                connection.process_new_packets().map_err(io::Error::other)?;
            }
        }
    }

    fn write(&self, mut socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
        let _sending = lock(&self.sending);
        let mut encrypted = Vec::new();
        let taken = {
            let mut connection = lock(&self.connection);
            let taken = connection.writer().write(bytes)?;
            while connection.wants_write() {
                connection.write_tls(&mut encrypted)?;
            }
            taken
        };
        socket.write_all(&encrypted)?;
        Ok(taken)
    }
}

impl Read for Stream {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match &self.tls {
            Some(tls) => tls.read(&self.socket, bytes),
            None => (&*self.socket).read(bytes),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.tls {
            Some(tls) => tls.write(&self.socket, bytes),
            None => (&*self.socket).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.socket).flush()
    }
}
