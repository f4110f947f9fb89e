//! A private file for each session of a harness, which the hooks of its calls share.

use pipewright_policy::audit::sha256;
use pipewright_record::hook::HookCall;
use pipewright_sys::{private, run_folder};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// The files of sessions that have written nothing for this long are removed.
const MAX_AGE: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// A longer file is cut off.
const MAX_FILE: u64 = 64 << 20;
/// How long the hooks of other calls may use a file: a hook that waits for ever would let its call run in the end.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// An open file, locked until it is dropped.
pub struct SessionFile(File);

impl SessionFile {
    /// The text of the file for `purpose`; empty if there is none, or it cannot be read.
    pub fn read(purpose: &str, hook: &HookCall) -> String {
        let file = SessionFile::open_existing(purpose, hook).ok().flatten();
        file.and_then(|mut file| file.text().ok()).unwrap_or_default()
    }

    /// Opens the file for `purpose` to change it.
    ///
    /// # Errors
    /// It cannot be written, is no regular file or used by others for too long, or the input names no session.
    pub fn open(purpose: &str, hook: &HookCall) -> io::Result<SessionFile> {
        let folder = run_folder::home()?.join(purpose);
        match private::folder().create(&folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => remove_old(&folder),
        }
        let path = folder.join(name(hook)?);
        let file = private::file().read(true).write(true).create(true).truncate(false).open(&path)?;
        SessionFile(file).locked(&path)
    }

    /// As [`SessionFile::open`], if there is a file.
    ///
    /// # Errors
    /// As there.
    pub fn open_existing(purpose: &str, hook: &HookCall) -> io::Result<Option<SessionFile>> {
        let path = run_folder::home()?.join(purpose).join(name(hook)?);
        match private::file().read(true).write(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            file => SessionFile(file?).locked(&path).map(Some),
        }
    }

    fn locked(self, path: &Path) -> io::Result<SessionFile> {
        // A link would lead what is written to another file, and a FIFO has no end.
        if !path.symlink_metadata()?.is_file() || !self.0.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let until = Instant::now() + LOCK_TIMEOUT;
        loop {
            match self.0.try_lock() {
                Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(RETRY_INTERVAL),
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::TimedOut.into()),
                locked => return locked.map(|()| self).map_err(io::Error::from),
            }
        }
    }

    /// The text, with a sign in place of what is not UTF-8, and without what no hook would have written.
    pub fn text(&mut self) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.0.seek(SeekFrom::Start(0))?;
        (&self.0).take(MAX_FILE).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    pub fn replace(&mut self, text: &str) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(text.as_bytes())
    }
}

fn name(hook: &HookCall) -> io::Result<String> {
    let session = hook.session.as_deref().ok_or_else(|| io::Error::other("the input names no session"))?;
    Ok(sha256(format!("{}\n{session}", hook.harness.name).as_bytes())[..32].to_owned())
}

fn remove_old(folder: &Path) {
    let is_old = |path: &Path| {
        let written = path.metadata().and_then(|file| file.modified());
        written.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > MAX_AGE))
    };
    // Leftovers that cannot be removed are no reason to fail.
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter(|path| is_old(path)).for_each(|path| _ = fs::remove_file(path));
}
