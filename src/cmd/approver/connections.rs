//! Which process is at the other end of each connection of `hitl-gate attach`, as the kernel says. Every process of the same user can
//! connect, so each has few connections.

use crate::io::report::Report;
use crate::io::terminal::printable;
use crate::io::{ancestry, lock, peer};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Mutex};

/// A gate has one connection, and a second one if it connects again before the end of the first was seen.
const MOST_OF_A_PROCESS: usize = 2;

/// The connections that are open; clones share them.
#[derive(Clone)]
pub struct Connections {
    state: Arc<Mutex<State>>,
    report: Arc<Report>,
}

#[derive(Default)]
struct State {
    /// Of the connection that was accepted last, until it is [joined](Connections::join).
    accepted: Option<Process>,
    open: BTreeMap<usize, Option<Process>>,
    /// The process that was refused last: a process that tries again and again is reported once.
    refused: Option<i32>,
}

struct Process {
    id: i32,
    /// At the time when it connected. A process can choose its name.
    name: String,
}

impl Connections {
    pub fn new(report: Arc<Report>) -> Connections {
        Connections { state: Arc::default(), report }
    }

    /// Waits for a connection. One of another user, or of a process that has as many as it may, is closed.
    ///
    /// # Errors
    /// What accept(2) says.
    pub fn accept(&self, listener: &UnixListener) -> io::Result<UnixStream> {
        loop {
            let (gate, _) = listener.accept()?;
            let admitted = peer::check_user(&gate).and_then(|()| peer::process(&gate)).map(|id| self.admit(id));
            match admitted {
                Ok(true) => return Ok(gate),
                Ok(false) => {}
                Err(error) => self.report.note_again(format_args!("a connection was closed: {error}")),
            }
        }
    }

    /// Whether a process may have one more connection.
    fn admit(&self, id: Option<i32>) -> bool {
        let mut state = lock(&self.state);
        let open = state.open.values().flatten().filter(|process| Some(process.id) == id).count();
        state.accepted = id.map(|id| Process { id, name: ancestry::name(id).unwrap_or_default() });
        if open < MOST_OF_A_PROCESS {
            return true;
        }
        if state.refused != id {
            state.refused = id;
            let who = describe(state.accepted.as_ref());
            self.report.note_again(format_args!("{who} may have {MOST_OF_A_PROCESS} connections; others are closed"));
        }
        false
    }

    /// The connection that was accepted last has this number.
    pub fn join(&self, gate: usize) {
        let mut state = lock(&self.state);
        let process = state.accepted.take();
        state.open.insert(gate, process);
    }

    /// The connection with this number has ended, or is to be read no further.
    pub fn leave(&self, gate: usize) {
        lock(&self.state).open.remove(&gate);
    }

    /// Whether the connection with this number is open.
    pub fn is_open(&self, gate: usize) -> bool {
        lock(&self.state).open.contains_key(&gate)
    }

    /// The process at the other end, for people; printable.
    pub fn describe(&self, gate: usize) -> String {
        describe(lock(&self.state).open.get(&gate).and_then(Option::as_ref))
    }
}

fn describe(process: Option<&Process>) -> String {
    process.map_or_else(|| "a process".to_owned(), |Process { id, name }| format!("process {id} ({})", printable(name)))
}
