//! Starts the agents of a client, one for each session, and passes the questions of gates below them to the client.

use super::approver::connections::{Accepted, Connections};
use super::approver::gates::Gates;
use super::options::TOO_DEEP;
use crate::io::approvers::{SOCKET, VARIABLE};
use crate::io::between::{Listener, Program};
use crate::io::child::Surroundings;
use crate::io::lines::{Piece, deeper_than};
use crate::io::private;
use crate::io::report::Report;
use crate::io::session::{Session, token};
use jiff::Timestamp;
use nix::sys::socket::{Shutdown, shutdown};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// The longest line that is read from an agent: results of tools contain pictures.
pub const LONGEST_RECORD: usize = 128 << 20;

/// How long an agent may take to show the history of a session.
pub const LOAD: Duration = Duration::from_secs(60);

/// How long an agent may run after it has closed its stdout.
pub const END: Duration = Duration::from_secs(2);

/// An agent gets no further message while more than this many bytes wait for it to read them.
pub const MUCH: u64 = 1 << 20;

/// Stands for the session's id in an agent's arguments.
const PLACEHOLDER: &[u8] = b"{session}";

/// The name of the folder with the sockets. It differs from the approvers' folder, which gates search without an address: these sockets are only
/// for the gates of one session.
const FOLDER: &str = "session";

/// The delay after a connection that could not be accepted (the process may be out of file descriptors).
const NEXT_TRY: Duration = Duration::from_millis(100);

/// Starts agents.
pub struct Agents {
    command: Vec<OsString>,
    folder: Session,
    connections: Connections,
    accepted: SyncSender<Accepted>,
    sockets: BTreeMap<usize, Socket>,
    report: Arc<Report>,
}

/// Where the gates of a session connect.
struct Socket {
    path: PathBuf,
    listener: UnixListener,
    is_open: Arc<AtomicBool>,
}

impl Agents {
    /// Takes an agent's command line. Also gives the gates, and the listener through which they connect.
    ///
    /// # Errors
    /// If the private folder for the sockets cannot be created.
    pub fn new(command: Vec<OsString>, report: &Arc<Report>) -> io::Result<(Agents, Gates, Listener)> {
        let connections = Connections::new(Arc::clone(report));
        // A rendezvous channel: connections that are not accepted yet wait at their socket.
        let (accepted, next) = sync_channel(0);
        let gates = Gates::new(connections.clone(), Arc::clone(report));
        let listener = listener(next, connections.clone());
        let (folder, sockets) = (Session::begin(FOLDER)?, BTreeMap::new());
        let agents = Agents { command, folder, connections, accepted, sockets, report: Arc::clone(report) };
        Ok((agents, gates, listener))
    }

    /// Whether the agent's arguments name the session, so that another process can continue it.
    pub fn keeps_sessions(&self) -> bool {
        self.command.iter().any(|argument| names_session(argument))
    }

    /// Whether a file or folder that the arguments name for this session exists, relative to `folder`.
    pub fn has_session(&self, id: &str, folder: &Path) -> bool {
        self.command.iter().filter(|argument| names_session(argument)).any(|argument| {
            let argument = with_session(argument, id);
            let value = argument.as_bytes().splitn(2, |byte| *byte == b'=').last().unwrap_or_default();
            folder.join(OsStr::from_bytes(value)).exists()
        })
    }

    /// The agent of a session. It starts in `folder`, by default in the current folder, and ends with this process.
    ///
    /// # Errors
    /// If the session's socket cannot be created.
    pub fn program(&mut self, session: usize, id: &str, folder: Option<PathBuf>) -> io::Result<Program> {
        let path = self.folder.folder().join(format!("{SOCKET}-{session}"));
        if !self.sockets.contains_key(&session) {
            self.listen(session, &path)?;
        }
        let command = self.command.iter().map(|argument| with_session(argument, id)).collect();
        let set = vec![(VARIABLE.into(), path.into())];
        Ok(Program { command, around: Surroundings { set, folder, ends_with_us: true, ..Surroundings::default() } })
    }

    /// The text of a line from the agent of the session `id`. Skipped lines are reported; blank lines are ignored.
    pub fn text<'a>(&self, id: &str, piece: &'a Piece<'_>, max_depth: usize) -> Option<&'a str> {
        let why = match piece {
            Piece::Part { last: false, .. } => return None,
            Piece::Part { .. } => format!("longer than {} MiB", LONGEST_RECORD >> 20),
            Piece::Line(line) if line.is_blank() => return None,
            Piece::Line(line) if deeper_than(line.body(), max_depth) => TOO_DEEP.to_owned(),
            Piece::Line(line) => match std::str::from_utf8(line.body()) {
                Ok(text) => return Some(text),
                Err(_) => "not UTF-8".to_owned(),
            },
        };
        self.skip(id, piece.number(), &why);
        None
    }

    /// Reports a line of an agent that is skipped.
    pub fn skip(&self, id: &str, line: u64, why: &str) {
        self.report.fault(format_args!("agent of session {id}:{line}"), format_args!("{why}; skipped"));
    }

    fn listen(&mut self, session: usize, path: &Path) -> io::Result<()> {
        let listener = private::listen(path)?;
        let is_open = Arc::new(AtomicBool::new(true));
        let socket = Socket { path: path.to_owned(), listener: listener.try_clone()?, is_open: Arc::clone(&is_open) };
        self.sockets.insert(session, socket);
        let (connections, accepted) = (self.connections.clone(), self.accepted.clone());
        let report = Arc::clone(&self.report);
        thread::spawn(move || {
            while is_open.load(Ordering::Relaxed) {
                match connections.accept(&listener, session) {
                    // Fails only after the run has ended, when nobody receives.
                    Ok(connection) => _ = accepted.send(connection),
                    Err(_) if !is_open.load(Ordering::Relaxed) => {}
                    Err(error) => {
                        report.note_again(format_args!("a gate could not connect: {error}"));
                        thread::sleep(NEXT_TRY);
                    }
                }
            }
        });
        Ok(())
    }

    /// Removes the sockets at the end of the run: no gate can connect any more.
    pub fn end(&self) {
        self.folder.remove();
    }

    /// Closes a session's socket: no gate can connect to it any more.
    pub fn forget(&mut self, session: usize) {
        if let Some(socket) = self.sockets.remove(&session) {
            socket.is_open.store(false, Ordering::Relaxed);
            // Wakes the thread that accepts. On systems where it does not, the thread waits until the end of the run.
            let _ = shutdown(socket.listener.as_raw_fd(), Shutdown::Both);
            // Otherwise it would stay until the end of the run.
            let _ = std::fs::remove_file(&socket.path);
        }
    }
}

fn listener(next: Receiver<Accepted>, connections: Connections) -> Listener {
    Listener(Box::new(move || {
        let accepted = next.recv().map_err(|_| io::Error::other("the run has ended"))?;
        Ok(connections.begin(accepted))
    }))
}

/// A new session's id: its start in UTC, and eight random hexadecimal digits. It consists of letters, digits and `-`.
///
/// # Errors
/// If the system's source of random bytes cannot be read.
pub fn new_session_id() -> io::Result<String> {
    Ok(format!("{}-{}", Timestamp::now().strftime("%Y%m%d-%H%M%S"), &token()?[..8]))
}

/// Whether a text can be a session's id, which becomes part of file names.
pub fn is_session_id(id: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    // An id may also be an argument of its own, so it must not look like an option.
    id.starts_with(|first: char| first.is_ascii_alphanumeric()) && id.len() <= 64 && id.bytes().all(is_allowed)
}

fn names_session(argument: &OsStr) -> bool {
    memchr::memmem::find(argument.as_bytes(), PLACEHOLDER).is_some()
}

fn with_session(argument: &OsStr, id: &str) -> OsString {
    let (mut rest, mut replaced) = (argument.as_bytes(), Vec::new());
    while let Some(at) = memchr::memmem::find(rest, PLACEHOLDER) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(id.as_bytes());
        rest = &rest[at + PLACEHOLDER.len()..];
    }
    replaced.extend_from_slice(rest);
    OsString::from_vec(replaced)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_session_id_replaces_its_placeholder_in_arguments() {
        let argument = OsStr::new("runs/{session}/{session}.jsonl");
        assert_eq!(with_session(argument, "a-1"), "runs/a-1/a-1.jsonl");
        assert_eq!(with_session(OsStr::new("{sessio"), "a"), "{sessio");
        assert!(names_session(argument) && !names_session(OsStr::new("x")));
        for id in ["", "-x", "_x", "../x", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert!(!is_session_id(id), "{id}");
        }
        assert!(is_session_id(&new_session_id().unwrap()));
    }

    #[test]
    fn a_session_is_found_by_its_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("s-old.jsonl"), "").unwrap();
        for arguments in [&["agent", "--session", "s-{session}.jsonl"][..], &["agent", "--session=s-{session}.jsonl"]] {
            let command = arguments.iter().map(OsString::from).collect();
            let report = Arc::new(Report::new("test", true));
            let (agents, ..) = Agents::new(command, &report).unwrap();
            assert!(agents.keeps_sessions());
            assert!(agents.has_session("old", folder.path()) && !agents.has_session("new", folder.path()));
        }
    }
}
