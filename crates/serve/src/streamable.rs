//! MCP's Streamable HTTP, in the revisions up to 2025-11-25 (with sessions and a separate stream of the server) and
//! 2026-07-28 (without). Messages are interpreted and answered behind [`Inbound`].

use crate::access::Access;
use crate::connections;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

/// The interval of comments that keep a stream alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The time limit for a body.
const BODY_TIME: Duration = Duration::from_secs(30);
/// The most open requests and streams.
const MAX_OPEN: usize = 256;
/// The most connections; a connection may be idle between requests.
const MAX_CONNECTIONS: u32 = 1024;
/// The most notifications that are queued for a client; more are dropped.
const MAX_WAITING: usize = 1024;
/// The most sessions; the oldest is dropped for a new one.
const MAX_SESSIONS: usize = 1024;

/// Versions that have sessions, and in which headers are not checked against the body.
const LEGACY_VERSIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// Nginx would buffer the events.
const UNBUFFERED: (&str, &str) = ("x-accel-buffering", "no");

/// Events of clients, in order.
#[derive(Debug)]
pub enum Inbound {
    /// A message. Lines for `link` are its answers; if there are none, [`Endpoint::end`] is called.
    Message {
        /// The number of the HTTP request.
        link: u64,
        /// The number of the session; without a session, the number of the request.
        session: u64,
        /// Its headers, with names in lower case.
        headers: Vec<(String, String)>,
        /// The text of the message, without line ends.
        message: String,
    },
    /// A legacy client opened a stream for messages that answer none of its requests.
    Stream {
        /// The number of the HTTP request.
        link: u64,
        /// The number of the session.
        session: u64,
    },
    /// The client takes no more lines for `link`.
    Closed {
        /// The number of the HTTP request.
        link: u64,
    },
}

/// The endpoint `/mcp`.
#[derive(Clone)]
pub struct Endpoint(Arc<Shared>);

struct Shared {
    access: Access,
    longest: usize,
    /// Makes an unguessable id for a new session.
    new_session: Box<dyn Fn() -> io::Result<String> + Send + Sync>,
    inbound: Mutex<Sender<Inbound>>,
    next: AtomicU64,
    open: Arc<Semaphore>,
    links: Mutex<HashMap<u64, LinkSender>>,
    sessions: Mutex<HashMap<String, u64>>,
    /// Set when nothing is answered any more.
    is_over: watch::Sender<bool>,
}

/// The channel for a link's lines.
struct LinkSender {
    to: tokio::sync::mpsc::Sender<String>,
    /// The session, if this is its stream and answers no message.
    stream_of: Option<u64>,
}

impl Endpoint {
    /// `longest` is the longest body in bytes, `new_session` makes session ids, `inbound` gets the events.
    pub fn new(
        access: Access,
        longest: usize,
        new_session: impl Fn() -> io::Result<String> + Send + Sync + 'static,
        inbound: Sender<Inbound>,
    ) -> Endpoint {
        Endpoint(Arc::new(Shared {
            access,
            longest,
            new_session: Box::new(new_session),
            inbound: Mutex::new(inbound),
            next: AtomicU64::new(1),
            open: Arc::new(Semaphore::new(MAX_OPEN)),
            links: Mutex::default(),
            sessions: Mutex::default(),
            is_over: watch::Sender::new(false),
        }))
    }

    /// Serves until [`Endpoint::end_all`] is called and everything sent has reached the clients; blocks. The listener
    /// is non-blocking.
    ///
    /// # Errors
    /// The system's error from the listener.
    pub fn serve(self, listener: TcpListener) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let is_over = self.0.is_over.subscribe();
            let router = Router::new().fallback(answer).with_state(self);
            connections::serve(listener, router, MAX_CONNECTIONS, is_over).await
        })
    }

    /// Sends a client a line, which is one message. The line is dropped if the client is gone, and a notification also
    /// if too many are queued already.
    pub fn deliver(&self, link: u64, line: String) {
        let links = lock(&self.0.links);
        // The last place in the queue is kept for the response.
        let has_room = |lines: &&LinkSender| lines.to.capacity() > 1 || Envelope::read(&line).is_response();
        if let Some(lines) = links.get(&link).filter(has_room) {
            // The client may disconnect at this moment.
            let _ = lines.to.try_send(line);
        }
    }

    /// Ends the lines for `link`: a request without lines is answered with 202.
    pub fn end(&self, link: u64) {
        lock(&self.0.links).remove(&link);
    }

    /// Ends the lines of all clients: a request without lines is answered with 503. [`Endpoint::serve`] returns soon.
    pub fn end_all(&self) {
        let mut links = lock(&self.0.links);
        self.0.is_over.send_replace(true);
        links.clear();
    }

    fn queue_event(&self, inbound: Inbound) {
        // If the receiver has ended, the process ends soon.
        let _ = lock(&self.0.inbound).send(inbound);
    }

    fn open_link(&self, permit: OwnedSemaphorePermit, stream_of: Option<u64>) -> OpenResponse {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (to, lines) = channel(MAX_WAITING + 1);
        let mut links = lock(&self.0.links);
        if !*self.0.is_over.borrow() {
            links.insert(number, LinkSender { to, stream_of });
        }
        OpenResponse { number, lines, endpoint: self.clone(), _permit: permit }
    }

    fn session(&self, headers: &HeaderMap) -> Result<Option<u64>, StatusCode> {
        let Some(id) = headers.get(SESSION) else { return Ok(None) };
        let number = id.to_str().ok().and_then(|id| lock(&self.0.sessions).get(id).copied());
        number.map(Some).ok_or(StatusCode::NOT_FOUND)
    }

    fn begin_session(&self, link: u64) -> Result<String, StatusCode> {
        let id = (self.0.new_session)().map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
        let mut sessions = lock(&self.0.sessions);
        if sessions.len() >= MAX_SESSIONS {
            let first = sessions.iter().min_by_key(|(_, number)| **number).map(|(id, _)| id.clone());
            first.and_then(|id| sessions.remove(&id));
        }
        sessions.insert(id.clone(), link);
        Ok(id)
    }

    async fn post(&self, request: Request, permit: OwnedSemaphorePermit) -> Result<Response, StatusCode> {
        let (parts, body) = request.into_parts();
        let headers = parts.headers;
        let is_json = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_json = is_json.and_then(|value| value.split(';').next());
        // A page of another origin may send a form without asking first, but not JSON.
        if !is_json.is_some_and(|value| value.trim().eq_ignore_ascii_case("application/json")) {
            return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
        }
        let body = timeout(BODY_TIME, to_bytes(body, self.0.longest)).await;
        let body = body.map_err(|_| StatusCode::REQUEST_TIMEOUT)?.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
        let message = std::str::from_utf8(&body).map_err(|_| StatusCode::BAD_REQUEST)?.replace(['\n', '\r'], " ");
        let era = Era::of(&headers);
        // The modern era has no sessions: the header is ignored.
        let session = if era == Era::Legacy { self.session(&headers)? } else { None };
        let begins = era == Era::Legacy && Envelope::read(&message).method.as_deref() == Some("initialize");
        let link = self.open_link(permit, None);
        let number = link.number;
        self.queue_event(Inbound::Message {
            link: number,
            session: session.unwrap_or(number),
            headers: headers.iter().map(|(name, value)| (name.to_string(), lossy(value.as_bytes()))).collect(),
            message,
        });
        let mut response = link.respond(era).await;
        if begins
            && response.status() == StatusCode::OK
            && let Ok(id) = self.begin_session(number)?.parse()
        {
            response.headers_mut().insert(SESSION, id);
        }
        Ok(response)
    }

    fn get(&self, headers: &HeaderMap, permit: OwnedSemaphorePermit) -> Result<Response, StatusCode> {
        // Only legacy clients have sessions, for which they can open a stream.
        let session = self.session(headers)?.filter(|_| Era::of(headers) == Era::Legacy);
        let session = session.ok_or(StatusCode::METHOD_NOT_ALLOWED)?;
        let link = self.open_link(permit, Some(session));
        self.queue_event(Inbound::Stream { link: link.number, session });
        Ok(link.stream(None))
    }

    fn delete(&self, headers: &HeaderMap) -> Result<Response, StatusCode> {
        let session = self.session(headers)?.ok_or(StatusCode::METHOD_NOT_ALLOWED)?;
        let id = headers.get(SESSION).and_then(|id| id.to_str().ok()).unwrap_or_default();
        lock(&self.0.sessions).remove(id);
        lock(&self.0.links).retain(|_, lines| lines.stream_of != Some(session));
        Ok(StatusCode::NO_CONTENT.into_response())
    }
}

async fn answer(State(endpoint): State<Endpoint>, request: Request) -> Response {
    let answered = async {
        endpoint.0.access.check(request.headers())?;
        if request.uri().path() != "/mcp" {
            return Err(StatusCode::NOT_FOUND);
        }
        let permit = Arc::clone(&endpoint.0.open).try_acquire_owned().map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
        match *request.method() {
            Method::POST => endpoint.post(request, permit).await,
            Method::GET => endpoint.get(request.headers(), permit),
            Method::DELETE => endpoint.delete(request.headers()),
            _ => Err(StatusCode::METHOD_NOT_ALLOWED),
        }
    };
    match answered.await {
        Ok(response) => response,
        Err(StatusCode::UNAUTHORIZED) => {
            (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response()
        }
        Err(StatusCode::METHOD_NOT_ALLOWED) => {
            (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "POST, GET, DELETE")]).into_response()
        }
        Err(status) => status.into_response(),
    }
}

/// An open HTTP request that lines are sent to.
struct OpenResponse {
    number: u64,
    lines: Receiver<String>,
    endpoint: Endpoint,
    _permit: OwnedSemaphorePermit,
}

impl Drop for OpenResponse {
    fn drop(&mut self) {
        lock(&self.endpoint.0.links).remove(&self.number);
        self.endpoint.queue_event(Inbound::Closed { link: self.number });
    }
}

impl OpenResponse {
    /// A JSON object if the first line is the response, otherwise a stream.
    async fn respond(mut self, era: Era) -> Response {
        match timeout(KEEP_ALIVE, self.lines.recv()).await {
            Ok(Some(line)) => match Envelope::read(&line) {
                envelope if envelope.is_response() => {
                    (envelope.status(era), [(header::CONTENT_TYPE, "application/json")], line).into_response()
                }
                _ => self.stream(Some(line)),
            },
            Ok(None) if *self.endpoint.0.is_over.borrow() => StatusCode::SERVICE_UNAVAILABLE.into_response(),
            // A notification, or a cancelled request.
            Ok(None) => StatusCode::ACCEPTED.into_response(),
            Err(_) => self.stream(None),
        }
    }

    /// Server-sent events, up to the response.
    fn stream(self, first: Option<String>) -> Response {
        let first = first.map(|line| event(&line)).unwrap_or_default();
        let events = stream::unfold((Some(first), Some(self)), |(first, link)| async move {
            if let Some(first) = first.filter(|first| !first.is_empty()) {
                return Some((first, (None, link)));
            }
            let mut link = link?;
            match timeout(KEEP_ALIVE, link.lines.recv()).await {
                Ok(Some(line)) => {
                    let is_last = Envelope::read(&line).is_response();
                    Some((event(&line), (None, Some(link).filter(|_| !is_last))))
                }
                Ok(None) => None,
                Err(_) => Some((Bytes::from_static(b":\n\n"), (None, Some(link)))),
            }
        });
        let body = Body::from_stream(stream::StreamExt::map(events, Ok::<Bytes, Infallible>));
        let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
        (headers, [UNBUFFERED], body).into_response()
    }
}

/// One event. A carriage return would end one of its lines; between the tokens of JSON, a space has the same meaning.
fn event(line: &str) -> Bytes {
    format!("event: message\ndata: {}\n\n", line.trim_end().replace('\r', " ")).into()
}

/// The era of a request by its header; without the header its version is 2025-03-26.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    Legacy,
    Modern,
}

impl Era {
    fn of(headers: &HeaderMap) -> Era {
        let version = headers.get(VERSION).map(|value| value.as_bytes());
        let is_legacy = version.is_none_or(|version| LEGACY_VERSIONS.iter().any(|legacy| legacy.as_bytes() == version));
        if is_legacy { Era::Legacy } else { Era::Modern }
    }
}

/// The parts of a message that decide how it is sent.
#[derive(Default, serde::Deserialize)]
struct Envelope {
    method: Option<String>,
    error: Option<Error>,
}

#[derive(serde::Deserialize)]
struct Error {
    #[serde(default)]
    code: i64,
}

impl Envelope {
    /// An unreadable message has none of these.
    fn read(message: &str) -> Envelope {
        serde_json::from_str(message).unwrap_or_default()
    }

    /// Whether it is the last line of a request.
    fn is_response(&self) -> bool {
        self.method.is_none()
    }

    /// In 2026-07-28 each protocol error has an HTTP status; before, only invalid messages have one.
    fn status(&self, era: Era) -> StatusCode {
        match (self.error.as_ref().map(|error| error.code), era) {
            (Some(-32700 | -32600 | -32022..=-32020), _) | (Some(-32602), Era::Modern) => StatusCode::BAD_REQUEST,
            (Some(-32601), Era::Modern) => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
