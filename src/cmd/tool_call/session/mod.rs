//! Sessions: worlds that run in the background, each behind a socket in its own folder.
//!
//! The folder `tool-call-NAME` contains the `socket`, the `log` (the stderr of the world and the session) and
//! `about.json`. It is removed with the session. The log of a failed session stays until its name is used again.

mod serve;
mod start;

pub use serve::serve;
pub use start::start;

use super::one_shot::{LIMITS, no_list};
use super::request::Request;
use jiff::SignedDuration;
use pipewright_io::report::{Failure, Status};
use pipewright_sys::process::{ask_to_end, is_running};
use pipewright_sys::run_folder::home;
use pipewright_sys::socket::Stream;
use pipewright_sys::{private, socket};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// The prefix of a session's folder.
const PREFIX: &str = "tool-call-";

/// How long a session may take to end. Ending a world takes at most two seconds.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// The most bytes of a log's end that are shown.
const TAIL_LEN: u64 = 2000;

/// A session, running or not.
#[derive(Debug)]
pub struct Session {
    name: String,
    folder: PathBuf,
}

/// The content of `about.json`.
#[derive(Debug, Serialize, Deserialize)]
struct SessionInfo {
    pid: i32,
    /// The world's command line.
    command: Vec<String>,
}

/// Reads the name of a session.
///
/// # Errors
/// What a valid name consists of.
pub fn name(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.bytes().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err("a name consists of letters, digits, '.', '_' and '-', and starts with a letter or a digit".to_owned())
}

fn not_started(message: impl Display) -> Failure {
    Failure::new(Status::NotStarted, message)
}

impl Session {
    /// The session of this name, which [`name`] has checked.
    ///
    /// # Errors
    /// If there is no private folder for sessions.
    pub fn named(name: &str) -> Result<Session, Failure> {
        let home = home().map_err(not_started)?;
        Ok(Session { name: name.to_owned(), folder: home.join(format!("{PREFIX}{name}")) })
    }

    /// The running sessions, by name. Folders of killed sessions are removed.
    ///
    /// # Errors
    /// If the folder of sessions cannot be read.
    pub fn running() -> Result<Vec<Session>, Failure> {
        let home = home().map_err(not_started)?;
        let _lock = lock(&home).map_err(not_started)?;
        let mut running = Vec::new();
        for entry in fs::read_dir(&home).map_err(not_started)?.flatten() {
            let file_name = entry.file_name();
            let Some(name) = file_name.to_str().and_then(|file_name| file_name.strip_prefix(PREFIX)) else { continue };
            let session = Session { name: name.to_owned(), folder: entry.path() };
            match session.connect() {
                Ok(_) => running.push(session),
                // A failed session has no socket any more, and its log is kept.
                Err(_) if session.socket().exists() => session.remove(),
                Err(_) => {}
            }
        }
        running.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(running)
    }

    fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Connects to the session.
    ///
    /// # Errors
    /// If nothing listens, or the listening process belongs to another user.
    fn connect(&self) -> io::Result<Stream> {
        let stream = Stream::connect(self.socket())?;
        socket::check_user(&stream)?;
        Ok(stream)
    }

    /// Connects to the session. The error says that it does not run and, if known, why it ended.
    fn join(&self) -> Result<Stream, Failure> {
        self.connect().map_err(|error| {
            let Session { name, .. } = self;
            let last_line = self.log_tail().pop();
            match (error.kind(), last_line) {
                (ErrorKind::NotFound | ErrorKind::ConnectionRefused, None) => not_started(format_args!(
                    "session '{name}' is not running; start it: tool-call --start {name} -- WORLD ARGS"
                )),
                (ErrorKind::NotFound | ErrorKind::ConnectionRefused, Some(last_line)) => {
                    let log = self.log();
                    not_started(format_args!("session '{name}' has ended: {last_line} (log: {})", log.display()))
                }
                _ => not_started(format_args!("session '{name}': {error}")),
            }
        })
    }

    /// Sends a request and waits for the answering line.
    ///
    /// # Errors
    /// [`Status::NotStarted`] if the session does not run, [`Status::Lost`] if it ends before it answers.
    pub fn ask(&self, request: &Request) -> Result<String, Failure> {
        self.ask_over(self.join()?, request)
    }

    fn ask_over(&self, mut stream: Stream, request: &Request) -> Result<String, Failure> {
        let lost = |why: &dyn Display| {
            let log = self.log();
            Failure::new(Status::Lost, format_args!("session '{}': {why} (log: {})", self.name, log.display()))
        };
        let sent = stream.write_all(format!("{}\n", request.record()).as_bytes());
        // If writing failed, the reason may be in an answer that can still be read.
        let mut lines = BufReader::new(stream);
        let mut line = String::new();
        loop {
            line.clear();
            match lines.by_ref().take(LIMITS.max_line as u64).read_line(&mut line) {
                Ok(0) => {
                    sent.map_err(|error| lost(&error))?;
                    return Err(lost(&"ended before it answered"));
                }
                // Only `--start` sets a time limit.
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(no_list()),
                Err(error) => return Err(lost(&error)),
                Ok(_) if request.is_answered_by(&line)? => return Ok(line.trim_end().to_owned()),
                Ok(_) => {}
            }
        }
    }

    /// Ends the session gracefully, and waits for its end.
    ///
    /// # Errors
    /// If it does not run, or does not end.
    pub fn stop(&self) -> Result<(), Failure> {
        let stream = self.join()?;
        let pid = match socket::process(&stream).map_err(not_started)? {
            Some(pid) => pid,
            None => self.about().map_err(not_started)?.pid,
        };
        drop(stream);
        ask_to_end(pid);
        let asked = Instant::now();
        while is_running(pid) {
            if asked.elapsed() > END_TIMEOUT {
                let message =
                    format_args!("session '{}': process {pid} does not end; kill it: kill -9 {pid}", self.name);
                return Err(Failure::new(Status::Fault, message));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Its line in `--sessions`: name, process, age and command, separated by tabs.
    pub fn describe(&self) -> String {
        let about = self.about().unwrap_or(SessionInfo { pid: 0, command: Vec::new() });
        let started = fs::metadata(self.log().with_file_name("about.json")).and_then(|file| file.modified());
        let age = started.ok().and_then(|started| SystemTime::now().duration_since(started).ok()).unwrap_or_default();
        let age = SignedDuration::from_secs(i64::try_from(age.as_secs()).unwrap_or(i64::MAX));
        format!("{}\t{}\t{age:#}\t{}\n", self.name, about.pid, escaped(&about.command.join(" ")))
    }

    fn about(&self) -> io::Result<SessionInfo> {
        Ok(serde_json::from_slice(&fs::read(self.folder.join("about.json"))?)?)
    }

    fn note(&self, about: &SessionInfo) -> io::Result<()> {
        let mut file = private::file().write(true).create_new(true).open(self.folder.join("about.json"))?;
        file.write_all(&serde_json::to_vec(about)?)
    }

    /// The last lines of its log, up to a limit; empty without a log.
    fn log_tail(&self) -> Vec<String> {
        let mut tail = Vec::new();
        // An unreadable log counts as missing.
        let _ = File::open(self.log()).and_then(|mut log| {
            let length = log.metadata()?.len();
            log.seek(SeekFrom::Start(length.saturating_sub(TAIL_LEN)))?;
            log.take(TAIL_LEN).read_to_end(&mut tail)
        });
        String::from_utf8_lossy(&tail).lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    }

    fn remove(&self) {
        // Files that remain are removed when the name is used again.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The text with control characters, including tabs and line feeds, as escapes (`\t`, `\n`, `\u{1b}`).
fn escaped(text: &str) -> String {
    let escape = |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.into() };
    text.chars().map(escape).collect()
}

/// Locks the creation and removal of sessions until the lock is dropped.
fn lock(home: &Path) -> io::Result<File> {
    let folder = File::open(home)?;
    folder.lock()?;
    Ok(folder)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_world_that_never_lists_its_tools_is_reported() {
        let (stream, _world) = Stream::pair().unwrap();
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let session = Session { name: "shop".to_owned(), folder: PathBuf::from("/nonexistent") };
        let failure = session.ask_over(stream, &Request::Tools).unwrap_err();
        assert_eq!(failure.status, Status::NotStarted);
        assert!(failure.to_string().contains("did not list its tools within 120 s"), "{failure}");
    }
}
