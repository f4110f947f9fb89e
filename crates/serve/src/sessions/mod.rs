//! Sessions of agents for clients: a page with its files, server-sent events and WebSocket for each session, and runs in the AG-UI protocol.
//! What a message means is decided behind [`Inbound`]; what a session's records are is kept here ([`backlog`]), so that each client reads them
//! at its own pace.

pub mod backlog;
mod events;
mod image;
mod requests;
mod socket;

use crate::access::Access;
use crate::connections;
use backlog::{Backlog, State};
use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// A comment, or a ping, keeps a stream from being taken for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// A body has to arrive within this time, and so has the stage's answer.
const REQUEST_TIME: Duration = Duration::from_secs(30);
/// So many messages of clients wait for those that take them.
const MOST_INBOUND: usize = 64;
/// So many bytes of lines wait for a client that they alone are for; with more, it is disconnected.
const MOST_OWN: usize = 16 << 20;

/// A file of the page.
#[derive(Debug, Clone, Copy)]
pub struct File {
    /// Its path, such as `/page.js`.
    pub path: &'static str,
    /// Its media type.
    pub media_type: &'static str,
    /// What it holds.
    pub content: &'static str,
}

/// What becomes of a client that is slower than its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slow {
    /// It gets a record that says which it does not get.
    Drop,
    /// The same, and it is disconnected.
    Disconnect,
}

/// What the server holds to.
pub struct Settings {
    /// The page.
    pub files: &'static [File],
    /// The longest message or body, in bytes.
    pub longest: usize,
    /// So many connections are open at once.
    pub most_connections: u32,
    /// So many bytes of records are kept of each session.
    pub kept: usize,
    /// What becomes of slow clients.
    pub slow: Slow,
    /// Whether a text can be the id of a session.
    pub is_session_id: fn(&str) -> bool,
}

/// What clients do, in the order of each.
#[derive(Debug, PartialEq, Eq)]
pub enum Inbound {
    /// A client shows a session from now on: it reads its records.
    Joined {
        /// The client's number.
        client: u64,
        /// The session's id; it may not exist yet.
        session: String,
    },
    /// A client of a session has sent a message.
    Message {
        /// The client's number.
        client: u64,
        /// The number of the record that it was sent last.
        seen: u64,
        /// The message, without line ends.
        text: String,
    },
    /// A run is to begin in the AG-UI protocol: its events are lines for this client.
    Run {
        /// The client's number.
        client: u64,
        /// The input of the run, without line ends.
        text: String,
    },
    /// A session is to be begun, or gone on with.
    Begin {
        /// The client's number; one [reply](Server::reply) is expected.
        client: u64,
        /// The body, without line ends; may be empty.
        text: String,
    },
    /// The list of the sessions is asked for.
    List {
        /// The client's number; one reply is expected.
        client: u64,
    },
    /// Whether a session's records name the image at this path is asked.
    Image {
        /// The client's number; one reply is expected: 200 for yes.
        client: u64,
        /// The session's id.
        session: String,
        /// The path, JSON text.
        path: String,
    },
    /// The client has gone.
    Left {
        /// The client's number.
        client: u64,
    },
}

/// What one client alone gets.
enum Own {
    /// A line of its stream.
    Line(String),
    /// The answer to its request.
    Reply(u16, String),
}

/// What clients do, for a thread that takes it.
pub struct Taken(mpsc::Receiver<Inbound>);

impl Iterator for Taken {
    type Item = Inbound;

    /// Waits for it.
    fn next(&mut self) -> Option<Inbound> {
        self.0.blocking_recv()
    }
}

impl Own {
    fn len(&self) -> usize {
        let (Own::Line(text) | Own::Reply(_, text)) = self;
        text.len()
    }
}

/// The way to a client.
struct ToClient {
    to: mpsc::UnboundedSender<Own>,
    waiting: Arc<AtomicUsize>,
}

impl ToClient {
    /// # Errors
    /// The client has gone, or too much waits for it.
    fn send(&self, own: Own) -> Result<(), ()> {
        let (length, before) = (own.len(), self.waiting.load(Ordering::Relaxed));
        if before > 0 && before + length > MOST_OWN {
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
    settings: Settings,
    inbound: mpsc::Sender<Inbound>,
    next: AtomicU64,
    clients: Mutex<HashMap<u64, ToClient>>,
    sessions: Mutex<HashMap<String, Arc<Backlog>>>,
    is_over: watch::Sender<bool>,
}

impl Server {
    /// Gives also what clients do.
    pub fn new(access: Access, settings: Settings) -> (Server, Taken) {
        let (inbound, taken) = mpsc::channel(MOST_INBOUND);
        let server = Server(Arc::new(Shared {
            access,
            settings,
            inbound,
            next: AtomicU64::new(1),
            clients: Mutex::default(),
            sessions: Mutex::default(),
            is_over: watch::Sender::new(false),
        }));
        (server, Taken(taken))
    }

    /// Serves until [`Server::end_all`] is called and clients have got what was sent to them; blocks. The listener is non-blocking.
    ///
    /// # Errors
    /// What the system says to the listener.
    pub fn serve(self, listener: TcpListener) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (most, is_over) = (self.0.settings.most_connections, self.0.is_over.subscribe());
        runtime.block_on(connections::serve(listener, requests::router(self), most, is_over))
    }

    /// A session exists; the first of its records will have this number.
    pub fn open(&self, session: &str, first: u64) {
        self.backlog(session).open(first);
    }

    /// The next record of a session.
    pub fn publish(&self, session: &str, record: &str) {
        self.backlog(session).push(record);
    }

    /// A session is no more.
    pub fn forget(&self, session: &str) {
        if let Some(backlog) = lock(&self.0.sessions).remove(session) {
            backlog.end();
        }
    }

    /// A line for one client alone. One that reads too slowly for it is disconnected.
    pub fn deliver(&self, client: u64, line: String) {
        self.own(client, Own::Line(line));
    }

    /// The answer to a client's request.
    pub fn reply(&self, client: u64, status: u16, body: String) {
        self.own(client, Own::Reply(status, body));
    }

    fn own(&self, client: u64, own: Own) {
        let mut clients = lock(&self.0.clients);
        if clients.get(&client).is_some_and(|to| to.send(own).is_err()) {
            clients.remove(&client);
        }
    }

    /// A client gets no more lines.
    pub fn end(&self, client: u64) {
        lock(&self.0.clients).remove(&client);
    }

    /// No client gets anything any more. [`Server::serve`] returns soon.
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

    /// The records of a session that exists.
    fn existing(&self, session: &str) -> Option<Arc<Backlog>> {
        lock(&self.0.sessions).get(session).filter(|backlog| backlog.state() == State::Open).cloned()
    }

    /// What nobody waits for any more, of a session that never came to be, is not kept.
    fn release(&self, session: &str, backlog: Arc<Backlog>) {
        let mut sessions = lock(&self.0.sessions);
        // One is ours, one is in the list.
        if backlog.state() == State::Expected && Arc::strong_count(&backlog) == 2 {
            sessions.remove(session);
        }
    }

    fn join(&self) -> Client {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (to, own) = mpsc::unbounded_channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        if !*self.0.is_over.borrow() {
            lock(&self.0.clients).insert(number, ToClient { to, waiting: Arc::clone(&waiting) });
        }
        Client { number, own, waiting, server: self.clone() }
    }

    /// Waits while too much is on its way. Those who take it may have ended; then the process ends, too.
    async fn tell(&self, inbound: Inbound) {
        let _ = self.0.inbound.send(inbound).await;
    }
}

/// A client, until it goes.
struct Client {
    number: u64,
    own: mpsc::UnboundedReceiver<Own>,
    /// So many bytes wait for it.
    waiting: Arc<AtomicUsize>,
    server: Server,
}

impl Client {
    /// What comes next for this client alone.
    async fn next(&mut self) -> Option<Own> {
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
            runtime.spawn(async move { server.tell(Inbound::Left { client }).await });
        }
    }
}

/// The record in place of those with these numbers, JSON text.
fn gap(first: u64, last: u64) -> String {
    format!(r#"{{"type":"gap","first":{first},"last":{last}}}"#)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
