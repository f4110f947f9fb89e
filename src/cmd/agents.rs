//! The agents that a client starts, one for each session; what gates below them ask comes to the client.

use super::approver::connections::{Accepted, Connections};
use super::approver::gates::Gates;
use crate::io::approvers::{SOCKET, VARIABLE};
use crate::io::between::{Listener, Program};
use crate::io::child::Surroundings;
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

/// The longest line of an agent's: results of tools hold pictures.
pub const LONGEST_RECORD: usize = 128 << 20;

/// In the arguments of an agent, the id of its session.
const PLACEHOLDER: &[u8] = b"{session}";

/// The names of the folders with the sockets. Not that of the approvers which gates find without an address: these sockets are for the
/// gates of one session.
const FOLDER: &str = "session";

/// After a connection that could not be accepted (the process may have no descriptor left), the next is waited for so much later.
const NEXT_TRY: Duration = Duration::from_millis(100);

/// What starts the agents.
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
    /// For an agent's program with its arguments. Gives also the gates, and the listener through which they connect.
    ///
    /// # Errors
    /// Where there can be no private folder for the sockets.
    pub fn new(command: Vec<OsString>, report: &Arc<Report>) -> io::Result<(Agents, Gates, Listener)> {
        let connections = Connections::new(Arc::clone(report));
        // A rendezvous: what waits to be accepted waits at its socket.
        let (accepted, next) = sync_channel(0);
        let gates = Gates::new(connections.clone(), Arc::clone(report));
        let listener = listener(next, connections.clone());
        let (folder, sockets) = (Session::begin(FOLDER)?, BTreeMap::new());
        let agents = Agents { command, folder, connections, accepted, sockets, report: Arc::clone(report) };
        Ok((agents, gates, listener))
    }

    /// Whether the agent's arguments name the session: then it can be gone on with by another process.
    pub fn keeps_sessions(&self) -> bool {
        self.command.iter().any(|argument| names_session(argument))
    }

    /// Whether a file or folder that the arguments name for this session is there, from this folder.
    pub fn has_session(&self, id: &str, folder: &Path) -> bool {
        self.command.iter().filter(|argument| names_session(argument)).any(|argument| {
            let argument = with_session(argument, id);
            let value = argument.as_bytes().splitn(2, |byte| *byte == b'=').last().unwrap_or_default();
            folder.join(OsStr::from_bytes(value)).exists()
        })
    }

    /// The agent of a session, which is started in `folder`, or else in ours. It ends with us.
    ///
    /// # Errors
    /// Where the session's socket cannot be made.
    pub fn program(&mut self, session: usize, id: &str, folder: Option<PathBuf>) -> io::Result<Program> {
        let path = self.folder.folder().join(format!("{SOCKET}-{session}"));
        if !self.sockets.contains_key(&session) {
            self.listen(session, &path)?;
        }
        let command = self.command.iter().map(|argument| with_session(argument, id)).collect();
        let set = vec![(VARIABLE.into(), path.into())];
        Ok(Program { command, around: Surroundings { set, folder, ends_with_us: true, ..Surroundings::default() } })
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
                    // The run has ended where nobody receives it.
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

    /// The run has ended: no gate connects any more.
    pub fn end(&self) {
        self.folder.remove();
    }

    /// A session is closed: no gate connects to its socket any more.
    pub fn forget(&mut self, session: usize) {
        if let Some(socket) = self.sockets.remove(&session) {
            socket.is_open.store(false, Ordering::Relaxed);
            // It wakes the thread that accepts; where the system does not do that, the thread waits until the end.
            let _ = shutdown(socket.listener.as_raw_fd(), Shutdown::Both);
            // Otherwise it would stay until the end of the run.
            let _ = std::fs::remove_file(&socket.path);
        }
    }
}

fn listener(next: Receiver<Accepted>, connections: Connections) -> Listener {
    Listener(Box::new(move || {
        let accepted = next.recv().map_err(|_| io::Error::other("the run has ended"))?;
        Ok(connections.let_in(accepted))
    }))
}

/// A new session's id: when it began, in UTC, and eight random digits. It has only letters, digits and `-`.
///
/// # Errors
/// Where the system's source of random bytes cannot be read.
pub fn new_session_id() -> io::Result<String> {
    Ok(format!("{}-{}", Timestamp::now().strftime("%Y%m%d-%H%M%S"), &token()?[..8]))
}

/// Whether a text can be the id of a session: it becomes part of the names of files.
pub fn is_session_id(id: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    // It may be an argument of its own: it is no option.
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
    fn the_session_is_named_in_the_arguments() {
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
    fn a_kept_session_is_found_by_its_file() {
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
