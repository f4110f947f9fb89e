//! Judges everything that a browser loads, not only documents: a proxy on loopback through which all its connections
//! go. It looks names up itself, and connects to the address that it has judged.
//!
//! WebSockets come as tunnels, as https does. Nothing goes over UDP: Chromium uses no QUIC with a proxy, and WebRTC is
//! told not to.

use crate::addresses::{AddressRules, Judgement, is_private};
use crate::interception::{DeniedAddress, private_name};
use crate::relay;
use crate::stream::connect;
use crate::wire::CommandError;
use crate::{ActionError, Launch};
use pipewright_sys::lock;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use url::{Position, Url};

/// WebRTC sends nothing past a proxy.
const WITHOUT_UDP: &str = "--webrtc-ip-handling-policy=disable_non_proxied_udp";

/// How long a request's head and a server's acceptance may take.
const HEAD: Duration = Duration::from_secs(30);
const CONNECT: Duration = Duration::from_secs(10);

/// The longest head of a request, in bytes, and its headers.
const MAX_HEAD: usize = 1 << 18;
const MAX_HEADERS: usize = 512;

/// How many connections may be open. Chromium opens 32 at most, and 255 WebSockets.
const MAX_OPEN: usize = 512;

/// How many refused addresses are kept.
const MAX_REFUSED: usize = 32;

/// A running proxy. Dropping this ends it; its connections end with the browser.
#[derive(Debug)]
pub(crate) struct Fence {
    address: SocketAddr,
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    allowed: AddressRules,
    refused: Mutex<Vec<DeniedAddress>>,
    /// The latest host that could not be reached, and why: the browser only reports that the proxy failed.
    unreachable: Mutex<Option<(String, String)>>,
    open: AtomicUsize,
    has_ended: AtomicBool,
}

/// What a browser asks of a proxy.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    /// Of a tunnel only the host and the port are known: its scheme is https here.
    url: Url,
    /// The head to send to the server; `None` for a tunnel.
    head: Option<Vec<u8>>,
    /// How long its body is, in bytes.
    body: u64,
}

/// Why a request is not passed on: the status of the answer, and the reason.
struct Refusal(&'static str, String);

impl Fence {
    /// # Errors
    /// The system provides no port, or no thread.
    pub(crate) fn start(allowed: AddressRules) -> io::Result<Fence> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let state = State {
            allowed,
            refused: Mutex::default(),
            unreachable: Mutex::default(),
            open: AtomicUsize::default(),
            has_ended: AtomicBool::default(),
        };
        let fence = Fence { address: listener.local_addr()?, state: Arc::new(state) };
        let state = Arc::clone(&fence.state);
        thread::Builder::new().name("fence".to_owned()).spawn(move || accept(&listener, &state))?;
        Ok(fence)
    }

    /// The settings of a browser that uses this proxy.
    pub(crate) fn before(&self, launch: &Launch) -> Launch {
        let mut launch = Launch { proxy: Some(format!("http://{}", self.address)), ..launch.clone() };
        launch.arguments.push(WITHOUT_UDP.into());
        launch
    }

    /// What was refused since the last call.
    pub(crate) fn take_refused(&self) -> Vec<DeniedAddress> {
        std::mem::take(&mut lock(&self.state.refused))
    }

    /// Why there is no connection to the host of this address.
    pub(crate) fn reason(&self, url: &str) -> Option<ActionError> {
        let host = Url::parse(url).ok()?.host_str()?.to_owned();
        let is_of = |denied: &&DeniedAddress| {
            Url::parse(&denied.address).is_ok_and(|denied| denied.host_str() == Some(host.as_str()))
        };
        if let Some(denied) = lock(&self.state.refused).iter().find(is_of) {
            return Some(ActionError::Denied(denied.to_string()));
        }
        let (_, message) = lock(&self.state.unreachable).take_if(|(name, _)| *name == host)?;
        Some(ActionError::Refused(CommandError { code: 0, message }))
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        self.state.has_ended.store(true, Ordering::Release);
        // Wakes the thread that accepts connections.
        let _ = TcpStream::connect_timeout(&self.address, CONNECT);
    }
}

impl State {
    /// Connects to the host of a request, if that is allowed.
    fn dial(&self, request: &Request) -> Result<TcpStream, Refusal> {
        let url = &request.url;
        let unreachable = |error: io::Error| {
            let why = format!("no connection to {}: {error}", &url[..Position::BeforePath]);
            *lock(&self.unreachable) = url.host_str().map(|host| (host.to_owned(), why.clone()));
            Refusal("502 Bad Gateway", why)
        };
        let judgement = match self.allowed.judge(url.as_str()) {
            // It may be a WebSocket without TLS.
            Judgement::Refused(_) if request.head.is_none() => {
                self.allowed.judge(&format!("http:{}", &url[Position::AfterScheme..][1..]))
            }
            judgement => judgement,
        };
        if let Judgement::Refused(why) = judgement {
            return Err(self.refuse(url, why));
        }
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let found = (host, url.port_or_known_default().unwrap_or(80)).to_socket_addrs();
        let found = found.map_err(unreachable)?;
        let is_public = |address: &SocketAddr| judgement == Judgement::Allowed || !is_private(address.ip());
        let (addresses, private): (Vec<SocketAddr>, Vec<SocketAddr>) = found.partition(is_public);
        if addresses.is_empty() && !private.is_empty() {
            return Err(self.refuse(url, private_name(url.as_str())));
        }
        connect(addresses, CONNECT).map_err(unreachable)
    }

    fn refuse(&self, url: &Url, why: String) -> Refusal {
        // Of http the whole address is known, which may be long and secret: the origin is what a rule can allow.
        let denied = DeniedAddress { address: url[..Position::BeforePath].to_owned(), why };
        let text = denied.to_string();
        let mut refused = lock(&self.refused);
        if refused.len() < MAX_REFUSED && !refused.contains(&denied) {
            refused.push(denied);
        }
        Refusal("403 Forbidden", text)
    }
}

fn accept(listener: &TcpListener, state: &Arc<State>) {
    for client in listener.incoming() {
        if state.has_ended.load(Ordering::Acquire) {
            return;
        }
        let Ok(client) = client else { continue };
        if state.open.fetch_add(1, Ordering::AcqRel) >= MAX_OPEN {
            state.open.fetch_sub(1, Ordering::AcqRel);
            continue;
        }
        let connection = Arc::clone(state);
        let served = thread::Builder::new().name("fenced".to_owned()).spawn(move || {
            // A connection that breaks is the browser's to report.
            let _ = serve(&client, &connection);
            connection.open.fetch_sub(1, Ordering::AcqRel);
        });
        if served.is_err() {
            state.open.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

fn serve(mut client: &TcpStream, state: &State) -> io::Result<()> {
    client.set_nodelay(true)?;
    client.set_read_timeout(Some(HEAD))?;
    let (head, rest) = read_head(client)?;
    client.set_read_timeout(None)?;
    let opened = match Request::read(&head) {
        Some(request) => state.dial(&request).map(|server| (request, server)),
        None => Err(Refusal("400 Bad Request", "only http, https and WebSockets are passed on".to_owned())),
    };
    let (request, mut server) = match opened {
        Ok(opened) => opened,
        Err(Refusal(status, why)) => {
            let head = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close");
            let answer = format!("{head}\r\nContent-Length: {}\r\n\r\n{why}", why.len());
            return client.write_all(answer.as_bytes());
        }
    };
    server.set_nodelay(true)?;
    match request.head {
        None => {
            client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n")?;
            server.write_all(&rest)?;
            relay::tunnel(client, &server)
        }
        Some(head) => {
            server.write_all(&head)?;
            relay::exchange(client, &server, &rest, request.body)
        }
    }
}

/// The head of a request, and what has come behind it.
fn read_head(mut client: &TcpStream) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut head, mut piece) = (Vec::new(), [0; 8192]);
    loop {
        let length = client.read(&mut piece)?;
        if length == 0 || head.len() + length > MAX_HEAD {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let from = head.len().saturating_sub(3);
        head.extend_from_slice(&piece[..length]);
        if let Some(end) = head[from..].windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let rest = head.split_off(from + end + 4);
            return Ok((head, rest));
        }
    }
}

impl Request {
    /// Reads the head of a request to a proxy (RFC 9112, sections 3.2.2 and 3.2.3). `None` if it is not one, or not
    /// for http or a tunnel.
    fn read(head: &[u8]) -> Option<Request> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        parsed.parse(head).ok().filter(httparse::Status::is_complete)?;
        let (method, target) = (parsed.method?, parsed.path?);
        if method == "CONNECT" {
            let url = Url::parse(&format!("https://{target}")).ok()?;
            let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
            return (is_bare && url.username().is_empty()).then_some(Request { url, head: None, body: 0 });
        }
        let url = Url::parse(target).ok().filter(|url| url.scheme() == "http" && url.has_host())?;
        // The connection carries one request, so that each is judged.
        let path = &url[Position::BeforePath..Position::AfterQuery];
        let (mut own, mut body) = (format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n").into_bytes(), 0);
        for header in parsed.headers {
            let name = header.name.to_ascii_lowercase();
            match name.as_str() {
                "connection" | "keep-alive" | "transfer-encoding" => continue,
                "content-length" => body = std::str::from_utf8(header.value).ok()?.parse().ok()?,
                _ if name.starts_with("proxy-") => continue,
                _ => {}
            }
            own.extend_from_slice(&[header.name.as_bytes(), b": ", header.value, b"\r\n"].concat());
        }
        own.extend_from_slice(b"\r\n");
        Some(Request { url, head: Some(own), body })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_to_a_proxy_are_read() {
        let tunnel = Request::read(b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n").unwrap();
        assert_eq!((tunnel.url.as_str(), tunnel.head), ("https://example.org/", None));
        let text = "POST http://a.example:81/b?c=d HTTP/1.1\r\nHost: a.example:81\r\nProxy-Connection: keep-alive\r\n\
                    Content-Length: 3\r\n\r\n";
        let post = Request::read(text.as_bytes()).unwrap();
        let head = String::from_utf8(post.head.unwrap()).unwrap();
        let sent = "POST /b?c=d HTTP/1.1\r\nConnection: close\r\nHost: a.example:81\r\nContent-Length: 3\r\n\r\n";
        assert_eq!((post.body, head.as_str()), (3, sent));
        for none in
            ["GET /x HTTP/1.1\r\n\r\n", "GET ftp://a/ HTTP/1.1\r\n\r\n", "CONNECT a@b:1 HTTP/1.1\r\n\r\n", "x\r\n\r\n"]
        {
            assert_eq!(Request::read(none.as_bytes()), None, "{none:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(head in ".{0,200}") {
            let _ = Request::read(format!("GET {head}\r\n\r\n").as_bytes());
            let _ = Request::read(format!("CONNECT {head}\r\n\r\n").as_bytes());
        }
    }
}
