//! A browser's data folder: a permanent one, or a temporary one that is removed when the browser ends, or at the next
//! start if we were killed.

use pipewright_sys::file::{Identity, is_ours};
use pipewright_sys::private;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The prefix of temporary profile names.
const PREFIX: &str = "pipewright-browser-";

/// The file in a temporary profile whose lock marks it as in use. The lock ends with the process that holds it.
const LOCK: &str = "pipewright.lock";

/// The path of Chromium's socket in its folder of temporary files.
const SOCKET: &str = "/org.chromium.Chromium.XXXXXX/SingletonSocket";

/// The longest path of a socket that all systems accept, with its final NUL.
const MAX_SOCKET: usize = 104;

/// How long the browser's processes, which may still write, have to end.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) folder: PathBuf,
    /// The lock of a temporary profile.
    lock: Option<File>,
}

impl Profile {
    /// Opens or creates the named folder, or creates a temporary one. Only its owner can access it.
    pub(crate) fn open(named: Option<&Path>) -> io::Result<Profile> {
        if let Some(folder) = named {
            private::folder().recursive(true).create(folder)?;
            return Ok(Profile { folder: folder.canonicalize()?, lock: None });
        }
        let place = std::env::temp_dir();
        remove_abandoned(&place);
        loop {
            let folder = private::temporary_folder(PREFIX)?;
            let file = File::create_new(folder.join(LOCK))?;
            // Until it is locked, another process may take it for an abandoned one.
            if let Some(lock) = lock(file, &folder)? {
                return Ok(Profile { folder, lock: Some(lock) });
            }
        }
    }

    /// The folder for the browser's temporary files: a temporary profile, which is then all that a killed browser
    /// leaves. `None` for the system's folder: the profile is a named one, or the path of the browser's socket would be
    /// too long.
    pub(crate) fn temporary_files(&self) -> Option<&Path> {
        let is_short = self.folder.as_os_str().len() + SOCKET.len() < MAX_SOCKET;
        (self.lock.is_some() && is_short).then_some(&self.folder)
    }

    /// Removes a temporary profile.
    pub(crate) fn remove(&self) {
        let last_moment = Instant::now() + REMOVE_TIMEOUT;
        while self.lock.is_some() && std::fs::remove_dir_all(&self.folder).is_err() && self.folder.exists() {
            if Instant::now() >= last_moment {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Locks the file; `None` if another process holds it, or has removed it.
fn lock(file: File, folder: &Path) -> io::Result<Option<File>> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let is_there = match Identity::at(&folder.join(LOCK)) {
        Ok(there) => there == Identity::of(&file)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(error),
    };
    Ok(is_there.then_some(file))
}

/// A new profile is locked long before this age.
const STALE_AFTER: Duration = Duration::from_secs(60);

fn is_old(folder: &Path) -> bool {
    let changed = folder.metadata().and_then(|folder| folder.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|elapsed| elapsed > STALE_AFTER))
}

/// Removes temporary profiles of the same user that no process has locked.
fn remove_abandoned(place: &Path) {
    let Ok(entries) = std::fs::read_dir(place) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        // Links are not followed, because others may write to this folder.
        let is_ours = entry.metadata().is_ok_and(|entry| entry.is_dir() && is_ours(&entry));
        let folder = entry.path();
        if !is_ours {
            continue;
        }
        let is_abandoned = match File::open(folder.join(LOCK)) {
            // Held until the folder is removed.
            Ok(file) => lock(file, &folder).ok().flatten().map(Some),
            // An ending browser has written there again. A new profile would be locked by now.
            Err(_) => is_old(&folder).then_some(None),
        };
        if let Some(_lock) = is_abandoned {
            // If it cannot be removed now, the next start tries again.
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
}
