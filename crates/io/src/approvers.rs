//! The approvers of calls, on the side of the asking gate: each approver listens on a Unix socket, and the gate
//! connects. An approver therefore needs a place where the gate looks for it, and a process that may ask cannot answer.
//!
//! A thread looks for approvers while there is something to ask, also for those that start later. Each connection has a
//! thread that reads and one that writes, so that an approver that does not read blocks no other. Their lines come out
//! of one pipe.

use super::report::Report;
use pipewright_sys::ancestry::Family;
use pipewright_sys::lock;
use pipewright_sys::run_folder::folders_of;
use pipewright_sys::socket::{self, SocketFile};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::net::Shutdown;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The environment variable with the path of the socket on which the person's client listens.
pub const VARIABLE: &str = "PIPEWRIGHT_APPROVALS";
/// The name of the folders ([`RunFolder`](pipewright_sys::run_folder::RunFolder)) in which approvers that are found
/// without an address listen.
pub const FOLDER: &str = "approver";
/// The name of the socket in such a folder.
pub const SOCKET: &str = "socket";

/// How often to look for new approvers.
const SCAN_INTERVAL: Duration = Duration::from_millis(200);
/// An approver with this many unread lines is disconnected.
const MAX_UNREAD: usize = 256;

/// Where approvers listen.
#[derive(Debug, Clone)]
pub enum ApproverPlace {
    /// One listens at this path.
    Socket(PathBuf),
    /// Any number of them, each in its own folder.
    Folders,
}

/// The approvers of this process, present or not.
pub struct Approvers {
    shared: Arc<Shared>,
    is_looking: bool,
}

struct Shared {
    places: Vec<ApproverPlace>,
    family: Family,
    longest: usize,
    state: Mutex<State>,
    changed: Condvar,
    lines: Mutex<PipeWriter>,
    report: Arc<Report>,
}

#[derive(Default)]
struct State {
    /// The lines that an approver is sent when it connects. While this is empty, no approvers are looked for.
    standing: Vec<String>,
    connected: BTreeMap<PathBuf, SyncSender<String>>,
    /// The sockets of listeners that may not approve. They are reported once and not connected to again.
    refused: BTreeMap<PathBuf, SocketFile>,
    lost: Option<String>,
}

impl Approvers {
    /// Also returns the pipe from which their lines, of up to `longest` bytes, are read. An empty line means that
    /// [`Approvers::lost`] has something to report.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn new(
        places: Vec<ApproverPlace>,
        family: Family,
        longest: usize,
        report: Arc<Report>,
    ) -> io::Result<(Approvers, PipeReader)> {
        let (read, write) = io::pipe()?;
        let (state, changed) = (Mutex::default(), Condvar::new());
        let shared = Shared { places, family, longest, state, changed, lines: Mutex::new(write), report };
        Ok((Approvers { shared: Arc::new(shared), is_looking: false }, read))
    }

    /// Whether an approver that may approve listens now.
    pub fn is_present(&self) -> bool {
        let may_approve = |path: &Path, is_named: bool| {
            socket::connect(path).is_ok_and(|stream| self.shared.family.check(&stream, is_named).is_ok())
        };
        self.shared.places.iter().any(|place| match place {
            ApproverPlace::Folders => folders_of(FOLDER).iter().any(|folder| may_approve(&folder.join(SOCKET), false)),
            ApproverPlace::Socket(path) => may_approve(path, true),
        })
    }

    /// Sends a line to all connected approvers; those that connect later are sent `standing`.
    pub fn send(&mut self, line: &str, standing: Vec<String>) {
        let mut state = lock(&self.shared.state);
        state.standing = standing;
        state.lost = None;
        state.send(line);
        let wants = !state.standing.is_empty();
        drop(state);
        if wants && !std::mem::replace(&mut self.is_looking, true) {
            let shared = Arc::clone(&self.shared);
            thread::spawn(move || shared.look());
        }
        self.shared.changed.notify_all();
    }

    /// Sends a line to all connected approvers.
    pub fn send_to_connected(&mut self, line: &str) {
        lock(&self.shared.state).send(line);
    }

    /// Why no approver can come any more, if that is the case; returned once for the line that was sent last.
    pub fn lost(&mut self) -> Option<String> {
        lock(&self.shared.state).lost.take()
    }
}

impl State {
    fn send(&mut self, line: &str) {
        // The thread at the other end disconnects it.
        self.connected.retain(|_, to| to.try_send(format!("{line}\n")).is_ok());
    }
}

impl Shared {
    fn look(self: &Arc<Shared>) {
        loop {
            let state = lock(&self.state);
            let state = self.changed.wait_while(state, |state| state.standing.is_empty());
            drop(state.unwrap_or_else(PoisonError::into_inner));
            let mut lost = Vec::new();
            for place in &self.places {
                match place {
                    ApproverPlace::Folders => {
                        for folder in folders_of(FOLDER) {
                            // A killed approver leaves its folder; a starting one has no socket yet.
                            let _ = self.connect(&folder.join(SOCKET), false);
                        }
                    }
                    ApproverPlace::Socket(path) => {
                        lost.extend(self.connect(path, true).err().map(|error| format!("{}: {error}", path.display())));
                    }
                }
            }
            let mut state = lock(&self.state);
            if lost.len() == self.places.len() && state.connected.is_empty() && !state.standing.is_empty() {
                state.standing.clear();
                state.lost = Some(lost.join(", and "));
                drop(state);
                self.write(b"\n");
                continue;
            }
            drop(self.changed.wait_timeout(state, SCAN_INTERVAL).unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Connects, unless already connected. If connecting would block, it is tried again at the next look. At a path
    /// that was named to this process, only a process that has started it may listen.
    fn connect(self: &Arc<Shared>, path: &Path, is_named: bool) -> io::Result<()> {
        if lock(&self.state).connected.contains_key(path) {
            return Ok(());
        }
        let file = SocketFile::at(path)?;
        if lock(&self.state).refused.get(path) == Some(&file) {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "it may not approve"));
        }
        let stream = match socket::connect(path) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            connected => connected?,
        };
        if let Err(error) = self.family.check(&stream, is_named) {
            lock(&self.state).refused.insert(path.to_owned(), file);
            self.report.note_limited(format_args!("{}: it may not approve: {error}", path.display()));
            return Err(error);
        }
        let (send, lines) = sync_channel(MAX_UNREAD);
        let (from, to) = (stream.try_clone()?, stream);
        let mut state = lock(&self.state);
        for line in &state.standing {
            // The channel has room for them.
            let _ = send.try_send(format!("{line}\n"));
        }
        state.connected.insert(path.to_owned(), send);
        drop(state);
        let (shared, path) = (Arc::clone(self), path.to_owned());
        thread::spawn(move || write_lines(&lines, to));
        thread::spawn(move || {
            shared.read_lines(from, &path);
            lock(&shared.state).connected.remove(&path);
            shared.changed.notify_all();
        });
        Ok(())
    }

    /// Passes on the lines of an approver until it disconnects.
    fn read_lines(&self, from: socket::Stream, path: &Path) {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        loop {
            line.clear();
            let most = u64::try_from(self.longest).unwrap_or(u64::MAX);
            match from.by_ref().take(most).read_until(b'\n', &mut line) {
                Ok(_) if line.ends_with(b"\n") && line.trim_ascii().is_empty() => {}
                Ok(_) if line.ends_with(b"\n") => self.write(&line),
                Ok(read) if read as u64 == most => {
                    self.report.note_limited(format_args!("{}: its line is longer than --max-line", path.display()));
                    break;
                }
                Ok(_) | Err(_) => break,
            }
        }
        // Shutting down fails if the approver has disconnected.
        let _ = from.get_ref().shutdown(Shutdown::Both);
    }

    /// Writes a complete line under the lock: lines of several approvers do not mix.
    fn write(&self, line: &[u8]) {
        // Writing fails only after the reader has ended with the run.
        let _ = lock(&self.lines).write_all(line);
    }
}

fn write_lines(lines: &Receiver<String>, mut to: socket::Stream) {
    while let Ok(line) = lines.recv()
        && to.write_all(line.as_bytes()).is_ok()
    {}
    let _ = to.shutdown(Shutdown::Both);
}
