//! Starts the agents of a client, one for each session, and passes the questions of gates below them to the client.

use super::approver::connections::{AcceptedConnection, Connections};
use super::approver::gates::Gates;
use jiff::Timestamp;
use pipewright_io::approvers::{SOCKET, VARIABLE};
use pipewright_io::between::{Listener, Program};
use pipewright_io::child::Environment;
use pipewright_io::report::Report;
use pipewright_sys::random::token;
use pipewright_sys::run_folder::RunFolder;
use pipewright_sys::{arguments, socket};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// The longest line that is read from an agent: results of tools contain pictures.
pub const MAX_RECORD: usize = 128 << 20;

/// Stands for the session's id in an agent's arguments.
const PLACEHOLDER: &str = "{session}";

/// The name of the folder with the sockets. It differs from the approvers' folder, which gates search without an
/// address: these sockets are only for the gates of one session.
const FOLDER: &str = "session";

/// The delay after a connection that could not be accepted (the process may be out of file descriptors).
const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// Starts agents.
pub struct Agents {
    command: Vec<OsString>,
    /// The variables that it must not get.
    secrets: Vec<String>,
    folder: RunFolder,
    connections: Connections,
    accepted: SyncSender<AcceptedConnection>,
    sockets: BTreeMap<usize, Socket>,
    report: Arc<Report>,
}

/// Where the gates of a session connect.
struct Socket {
    path: PathBuf,
    listener: socket::Listener,
    is_open: Arc<AtomicBool>,
}

impl Agents {
    /// Takes an agent's command line, and the variables of the environment that it must not get. Also gives the gates,
    /// and the listener through which they connect.
    ///
    /// # Errors
    /// If the private folder for the sockets cannot be created.
    pub fn new(
        command: Vec<OsString>,
        secrets: &[&str],
        report: &Arc<Report>,
    ) -> io::Result<(Agents, Gates, Listener)> {
        let connections = Connections::new(Arc::clone(report));
        // A rendezvous channel: connections that are not accepted yet wait at their socket.
        let (accepted, next) = sync_channel(0);
        let gates = Gates::new(connections.clone(), Arc::clone(report));
        let listener = listener(next, connections.clone());
        let (folder, sockets) = (RunFolder::create(FOLDER)?, BTreeMap::new());
        let secrets = secrets.iter().map(|&name| name.to_owned()).collect();
        let agents = Agents { command, secrets, folder, connections, accepted, sockets, report: Arc::clone(report) };
        Ok((agents, gates, listener))
    }

    /// Whether the agent's arguments name the session, so that another process can continue it.
    pub fn keeps_sessions(&self) -> bool {
        self.command.iter().any(|argument| names_session(argument))
    }

    /// Whether a file or folder that the arguments name for this session exists, relative to `folder`.
    pub fn has_session(&self, id: &str, folder: &Path) -> bool {
        self.command
            .iter()
            .filter(|argument| names_session(argument))
            .any(|argument| folder.join(arguments::value(&with_session(argument, id))).exists())
    }

    /// The agent of a session. It starts in `folder`, by default in the current folder, and ends with this process.
    ///
    /// # Errors
    /// If the session's socket cannot be created.
    pub fn program(&mut self, session: usize, id: &str, folder: Option<PathBuf>) -> io::Result<Program> {
        let path = self.folder.path().join(format!("{SOCKET}-{session}"));
        if !self.sockets.contains_key(&session) {
            self.listen(session, &path)?;
        }
        let command = self.command.iter().map(|argument| with_session(argument, id)).collect();
        let (set, secrets) = (vec![(VARIABLE.into(), path.into())], self.secrets.clone());
        let environment = Environment { set, secrets, folder, ends_with_us: true, ..Environment::default() };
        Ok(Program { command, environment })
    }

    fn listen(&mut self, session: usize, path: &Path) -> io::Result<()> {
        let listener = socket::listen(path)?;
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
                        report.note_limited(format_args!("a gate could not connect: {error}"));
                        thread::sleep(ACCEPT_RETRY);
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
            socket::stop_listening(&socket.listener);
            // Otherwise it would stay until the end of the run.
            let _ = std::fs::remove_file(&socket.path);
        }
    }
}

fn listener(next: Receiver<AcceptedConnection>, connections: Connections) -> Listener {
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
    arguments::contains(argument, PLACEHOLDER)
}

fn with_session(argument: &OsStr, id: &str) -> OsString {
    arguments::replaced(argument, PLACEHOLDER, id)
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
            let (agents, ..) = Agents::new(command, &[], &report).unwrap();
            assert!(agents.keeps_sessions());
            assert!(agents.has_session("old", folder.path()) && !agents.has_session("new", folder.path()));
        }
    }
}
