//! Sessions of agents for clients: a page with its files, server-sent events and WebSocket for each session, and runs
//! in the AG-UI protocol. Messages are interpreted behind [`Inbound`]; the records of sessions are kept here
//! ([`backlog`]), so that each client reads them at its own pace.

pub mod backlog;
mod events;
mod image;
mod requests;
mod socket;

use crate::access::Access;
use crate::connections;
use backlog::{Backlog, BacklogState};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// The interval of comments or pings that keep a stream alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// The time limit for a body, and for the stage's answer.
const REQUEST_TIME: Duration = Duration::from_secs(30);
/// The most messages of clients that are queued.
const MAX_INBOUND: usize = 64;
/// The most bytes of lines that are queued for one client; a client that exceeds it is disconnected.
const MAX_CLIENT_BYTES: usize = 16 << 20;

/// A file of the page.
#[derive(Debug, Clone, Copy)]
pub struct File {
    /// Its path, such as `/page.js`.
    pub path: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// Its content.
    pub content: &'static str,
}

/// How clients that are slower than their session are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlowClients {
    /// They get a record that names the missed records.
    Drop,
    /// They also get it, and are disconnected.
    Disconnect,
}

/// The server's settings.
pub struct ServerSettings {
    /// The page.
    pub files: &'static [File],
    /// The longest message or body, in bytes.
    pub longest: usize,
    /// The most open connections.
    pub most_connections: u32,
    /// The most bytes of records that are kept of each session.
    pub kept: usize,
    /// How slow clients are handled.
    pub slow: SlowClients,
    /// Whether a text can be a session's id.
    pub is_session_id: fn(&str) -> bool,
}

/// Events of clients; those of each client are in order. As JSON, each is a line.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Inbound {
    /// A client shows a session from now on: it reads its records.
    Joined {
        /// The client's number.
        client: u64,
        /// The session's id; it may not exist yet.
        session: String,
    },
    /// A client of a session sent a message.
    Message {
        /// The client's number.
        client: u64,
        /// The number of the last record that was sent to the client.
        seen: u64,
        /// The message, without line ends.
        text: String,
    },
    /// A client starts a run in the AG-UI protocol: the run's events are lines for this client.
    Run {
        /// The client's number.
        client: u64,
        /// The input of the run, without line ends.
        text: String,
    },
    /// A client starts or continues a session.
    Begin {
        /// The client's number; one [reply](Server::reply) is expected.
        client: u64,
        /// The body, without line ends; may be empty.
        text: String,
    },
    /// A client requests the list of sessions.
    List {
        /// The client's number; one reply is expected.
        client: u64,
    },
    /// A client requests the image at this path: do the session's records contain the path?
    Image {
        /// The client's number; one reply is expected: 200 for yes.
        client: u64,
        /// The session's id.
        session: String,
        /// The path, JSON text.
        path: String,
    },
    /// The client is gone.
    Left {
        /// The client's number.
        client: u64,
    },
}

/// A message for one client.
enum ClientMessage {
    /// A line of its stream.
    Line(String),
    /// The answer to its request.
    Reply(u16, String),
}

/// The events of clients, for the thread that handles them.
pub struct InboundQueue(mpsc::Receiver<Inbound>);

impl Iterator for InboundQueue {
    type Item = Inbound;

    /// Waits for the next event.
    fn next(&mut self) -> Option<Inbound> {
        self.0.blocking_recv()
    }
}

impl ClientMessage {
    fn len(&self) -> usize {
        let (ClientMessage::Line(text) | ClientMessage::Reply(_, text)) = self;
        text.len()
    }
}

/// The channel to a client.
struct ClientSender {
    to: mpsc::UnboundedSender<ClientMessage>,
    waiting: Arc<AtomicUsize>,
}

impl ClientSender {
    /// # Errors
    /// The client is gone, or its queue is full.
    fn send(&self, own: ClientMessage) -> Result<(), ()> {
        let (length, before) = (own.len(), self.waiting.load(Ordering::Relaxed));
        if before > 0 && before + length > MAX_CLIENT_BYTES {
            return Err(());
        }
        self.waiting.fetch_add(length, Ordering::Relaxed);
        self.to.send(own).map_err(|_| ())
    }
}

/// The server.
#[derive(Clone)]
pub struct Server(Arc<Shared>);

struct Shared {
    access: Access,
    settings: ServerSettings,
    inbound: mpsc::Sender<Inbound>,
    next: AtomicU64,
    clients: Mutex<HashMap<u64, ClientSender>>,
    sessions: Mutex<HashMap<String, Arc<Backlog>>>,
    is_over: watch::Sender<bool>,
}

impl Server {
    /// Also gives the events of clients.
    pub fn new(access: Access, settings: ServerSettings) -> (Server, InboundQueue) {
        let (inbound, taken) = mpsc::channel(MAX_INBOUND);
        let server = Server(Arc::new(Shared {
            access,
            settings,
            inbound,
            next: AtomicU64::new(1),
            clients: Mutex::default(),
            sessions: Mutex::default(),
            is_over: watch::Sender::new(false),
        }));
        (server, InboundQueue(taken))
    }

    /// Serves until [`Server::end_all`] is called and everything sent has reached the clients; blocks. The listener is
    /// non-blocking.
    ///
    /// # Errors
    /// The system's error from the listener.
    pub fn serve(self, listener: TcpListener) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (most, is_over) = (self.0.settings.most_connections, self.0.is_over.subscribe());
        runtime.block_on(connections::serve(listener, requests::router(self), most, is_over))
    }

    /// A session exists; its first record will have this number.
    pub fn open(&self, session: &str, first: u64) {
        self.backlog(session).open(first);
    }

    /// The next record of a session.
    pub fn publish(&self, session: &str, record: &str) {
        self.backlog(session).push(record);
    }

    /// A session is closed.
    pub fn forget(&self, session: &str) {
        if let Some(backlog) = lock(&self.0.sessions).remove(session) {
            backlog.end();
        }
    }

    /// Sends a line to one client. If the client reads too slowly for it, it is disconnected.
    pub fn deliver(&self, client: u64, line: String) {
        self.own(client, ClientMessage::Line(line));
    }

    /// Answers a client's request.
    pub fn reply(&self, client: u64, status: u16, body: String) {
        self.own(client, ClientMessage::Reply(status, body));
    }

    fn own(&self, client: u64, own: ClientMessage) {
        let mut clients = lock(&self.0.clients);
        if clients.get(&client).is_some_and(|to| to.send(own).is_err()) {
            clients.remove(&client);
        }
    }

    /// Ends a client's lines.
    pub fn end(&self, client: u64) {
        lock(&self.0.clients).remove(&client);
    }

    /// Ends the lines of all clients. [`Server::serve`] returns soon.
    pub fn end_all(&self) {
        lock(&self.0.clients).clear();
        for (_, backlog) in lock(&self.0.sessions).drain() {
            backlog.end();
        }
        self.0.is_over.send_replace(true);
    }

    fn backlog(&self, session: &str) -> Arc<Backlog> {
        let mut sessions = lock(&self.0.sessions);
        if let Some(backlog) = sessions.get(session) {
            return Arc::clone(backlog);
        }
        let backlog = Arc::new(Backlog::new(self.0.settings.kept));
        sessions.insert(session.to_owned(), Arc::clone(&backlog));
        backlog
    }

    /// The records of an existing session.
    fn existing(&self, session: &str) -> Option<Arc<Backlog>> {
        lock(&self.0.sessions).get(session).filter(|backlog| backlog.state() == BacklogState::Open).cloned()
    }

    /// Drops the backlog of a session that was never started, if no client waits for it.
    fn release(&self, session: &str, backlog: Arc<Backlog>) {
        let mut sessions = lock(&self.0.sessions);
        // One reference is ours, one is in the map.
        if backlog.state() == BacklogState::Expected && Arc::strong_count(&backlog) == 2 {
            sessions.remove(session);
        }
    }

    fn join(&self) -> Client {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (to, own) = mpsc::unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        if !*self.0.is_over.borrow() {
            lock(&self.0.clients).insert(number, ClientSender { to, waiting: Arc::clone(&waiting) });
        }
        Client { number, own, waiting, server: self.clone() }
    }

    /// Blocks while the queue is full. If the receiver has ended, the process ends, too.
    async fn queue_event(&self, inbound: Inbound) {
        let _ = self.0.inbound.send(inbound).await;
    }
}

/// A client, until it disconnects.
struct Client {
    number: u64,
    own: mpsc::UnboundedReceiver<ClientMessage>,
    /// The number of queued bytes.
    waiting: Arc<AtomicUsize>,
    server: Server,
}

impl Client {
    /// The next message for this client.
    async fn next(&mut self) -> Option<ClientMessage> {
        let own = self.own.recv().await?;
        self.waiting.fetch_sub(own.len(), Ordering::Relaxed);
        Some(own)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        lock(&self.server.0.clients).remove(&self.number);
        let (server, client) = (self.server.clone(), self.number);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { server.queue_event(Inbound::Left { client }).await });
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
