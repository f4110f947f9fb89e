//! The processes at the other ends of the gates' connections, as the kernel reports them. Every process of the same
//! user can connect, so the connections of one process are limited.

use pipewright_io::printable::printable;
use pipewright_io::report::Report;
use pipewright_sys::{ancestry, lock, socket};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

/// A gate has one connection, and a second one if it connects again before the end of the first was noticed.
const MAX_PER_PROCESS: usize = 2;

/// The connections that are open; clones share them.
#[derive(Clone)]
pub struct Connections {
    state: Arc<Mutex<ConnectionsState>>,
    report: Arc<Report>,
}

#[derive(Default)]
struct ConnectionsState {
    /// The connection that was [begun](Connections::begin) last, until it is [joined](Connections::join).
    accepted: ConnectionSource,
    open: BTreeMap<usize, ConnectionSource>,
    /// The process that was refused last: repeated attempts of one process are reported once.
    refused: Option<i32>,
}

/// Where a connection comes from.
#[derive(Debug, Default)]
struct ConnectionSource {
    session: usize,
    process: Option<Process>,
}

/// A connection that was accepted.
#[derive(Debug)]
pub struct AcceptedConnection {
    stream: socket::Stream,
    source: ConnectionSource,
}

#[derive(Debug)]
struct Process {
    id: i32,
    /// Read when it connected. A process can choose its name.
    name: String,
}

impl Connections {
    pub fn new(report: Arc<Report>) -> Connections {
        Connections { state: Arc::default(), report }
    }

    /// Waits for a connection to the socket of a session. It closes connections of other users, and of processes that
    /// have too many.
    ///
    /// # Errors
    /// The error of accept(2).
    pub fn accept(&self, listener: &socket::Listener, session: usize) -> io::Result<AcceptedConnection> {
        loop {
            let (stream, _) = listener.accept()?;
            let process = socket::check_user(&stream).and_then(|()| socket::process(&stream));
            match process.map(|id| self.admit(session, id)) {
                Ok(Some(source)) => return Ok(AcceptedConnection { stream, source }),
                Ok(None) => {}
                Err(error) => self.report.note_limited(format_args!("a connection was closed: {error}")),
            }
        }
    }

    /// Where a connection comes from, if its process may have one more.
    fn admit(&self, session: usize, id: Option<i32>) -> Option<ConnectionSource> {
        let mut state = lock(&self.state);
        let open = state.open.values().flat_map(|source| &source.process);
        let open = open.filter(|process| Some(process.id) == id).count();
        let process = id.map(|id| Process { id, name: ancestry::name(id).unwrap_or_default() });
        if open < MAX_PER_PROCESS {
            return Some(ConnectionSource { session, process });
        }
        if state.refused != id {
            state.refused = id;
            let who = describe(process.as_ref());
            self.report.note_limited(format_args!("{who} may have {MAX_PER_PROCESS} connections; others are closed"));
        }
        None
    }

    /// The next connection that is [joined](Connections::join) is this one.
    pub fn begin(&self, accepted: AcceptedConnection) -> socket::Stream {
        lock(&self.state).accepted = accepted.source;
        accepted.stream
    }

    /// Gives this number to the connection that was begun last.
    pub fn join(&self, gate: usize) {
        let mut state = lock(&self.state);
        let source = std::mem::take(&mut state.accepted);
        state.open.insert(gate, source);
    }

    /// The connection with this number has ended, or is not read any more.
    pub fn leave(&self, gate: usize) {
        lock(&self.state).open.remove(&gate);
    }

    /// The session to whose socket the connection with this number was made; `None` if it is not open.
    pub fn session(&self, gate: usize) -> Option<usize> {
        lock(&self.state).open.get(&gate).map(|source| source.session)
    }

    /// The open connections to a session's socket.
    pub fn gates(&self, session: usize) -> Vec<usize> {
        let state = lock(&self.state);
        state.open.iter().filter(|(_, source)| source.session == session).map(|(&gate, _)| gate).collect()
    }

    /// The process at the other end, for people; printable.
    pub fn describe(&self, gate: usize) -> String {
        describe(lock(&self.state).open.get(&gate).and_then(|source| source.process.as_ref()))
    }
}

fn describe(process: Option<&Process>) -> String {
    process.map_or_else(|| "a process".to_owned(), |Process { id, name }| format!("process {id} ({})", printable(name)))
}
