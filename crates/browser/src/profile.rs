//! A browser's data folder: a permanent one, or a temporary one that is removed when the browser ends, or at the next start if we
//! were killed.

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{geteuid, mkdtemp};
use std::fs::File;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// The prefix of temporary profile names.
const PREFIX: &str = "pipewright-browser-";

/// The file in a temporary profile whose lock marks it as in use. The lock ends with the process that holds it.
const LOCK: &str = "pipewright.lock";

/// The link of Chromium's in a profile to the socket of the browser that uses it.
const SOCKET: &str = "SingletonSocket";

/// How long the browser's processes, which may still write, have to end.
const REMOVING: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) folder: PathBuf,
    /// The lock of a temporary profile.
    lock: Option<Flock<File>>,
}

impl Profile {
    /// Opens or creates the named folder, or creates a temporary one. Only its owner can access it.
    pub(crate) fn open(named: Option<&Path>) -> io::Result<Profile> {
        if let Some(folder) = named {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            return Ok(Profile { folder: folder.canonicalize()?, lock: None });
        }
        let place = std::env::temp_dir();
        remove_abandoned(&place);
        loop {
            // mkdtemp creates it with access only for its owner.
            let folder = mkdtemp(&place.join(format!("{PREFIX}XXXXXX")))?;
            let file = File::create_new(folder.join(LOCK))?;
            // Until it is locked, another process may take it for an abandoned one.
            if let Some(lock) = lock(file, &folder)? {
                return Ok(Profile { folder, lock: Some(lock) });
            }
        }
    }

    /// Removes a temporary profile.
    pub(crate) fn remove(&self) {
        let last_moment = Instant::now() + REMOVING;
        while self.lock.is_some() && !remove_folder(&self.folder) {
            if Instant::now() >= last_moment {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Removes a profile's folder; returns whether it is gone. If not, it can be removed later: a browser may still write.
fn remove_folder(folder: &Path) -> bool {
    // A browser that is starting would put the link to its socket there after we have looked for it. Under another name, it cannot.
    let renamed = folder.with_extension("removed");
    let _ = std::fs::rename(folder, &renamed);
    // The old name may exist again: a browser that is ending makes missing folders.
    let gone = [renamed.as_path(), folder].map(|folder| {
        let is_gone =
            || matches!(std::fs::symlink_metadata(folder), Err(error) if error.kind() == io::ErrorKind::NotFound);
        is_gone() || (remove_socket(folder) && std::fs::remove_dir_all(folder).is_ok())
    });
    gone == [true, true]
}

/// Removes the folder of the socket by which a browser finds another one with the same profile: it is outside the profile, where only a
/// link names it, and a browser that is killed leaves it. Returns whether it is gone.
fn remove_socket(profile: &Path) -> bool {
    let Ok(socket) = std::fs::read_link(profile.join(SOCKET)) else { return true };
    let Some(folder) = socket.parent().filter(|_| socket.is_absolute() && socket.ends_with(SOCKET)) else {
        return true;
    };
    for file in [&socket, &folder.join("SingletonCookie")] {
        let _ = std::fs::remove_file(file);
    }
    // Only if nothing else is in it.
    match std::fs::remove_dir(folder) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Locks the file; `None` if another process holds it, or has removed it.
fn lock(file: File, folder: &Path) -> io::Result<Option<Flock<File>>> {
    let locked = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(locked) => locked,
        Err((_, Errno::EWOULDBLOCK)) => return Ok(None),
        Err((_, error)) => return Err(error.into()),
    };
    let is_there = match std::fs::metadata(folder.join(LOCK)) {
        Ok(there) => there.ino() == locked.metadata()?.ino(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(error),
    };
    Ok(is_there.then_some(locked))
}

/// A new profile is locked long before this age.
const OLD: Duration = Duration::from_secs(60);

fn is_old(folder: &Path) -> bool {
    let changed = folder.metadata().and_then(|folder| folder.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|elapsed| elapsed > OLD))
}

/// Removes temporary profiles of the same user that no process has locked.
fn remove_abandoned(place: &Path) {
    let Ok(entries) = std::fs::read_dir(place) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        // Links are not followed, because others may write to this folder.
        let is_ours = entry.metadata().is_ok_and(|entry| entry.is_dir() && entry.uid() == geteuid().as_raw());
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
            let _ = remove_folder(&folder);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// As Chromium does: a folder outside the profile, a link to it in the profile, and then what is in it. Without the link, it removes
    /// the folder again.
    fn start_browser(profile: &Path, folder: &Path) {
        std::fs::create_dir(folder).unwrap();
        if symlink(folder.join(SOCKET), profile.join(SOCKET)).is_err() {
            return std::fs::remove_dir(folder).unwrap();
        }
        for file in ["SingletonCookie", SOCKET] {
            let _ = std::fs::write(folder.join(file), "");
        }
    }

    #[test]
    fn a_browser_that_starts_while_its_profile_is_removed_leaves_no_socket() {
        let place = tempfile::tempdir().unwrap();
        for round in 0..500 {
            let folder = place.path().join(format!("{PREFIX}{round}"));
            let socket = place.path().join(format!("socket-{round}"));
            std::fs::create_dir(&folder).unwrap();
            for file in 0..5 {
                std::fs::write(folder.join(file.to_string()), "").unwrap();
            }
            thread::scope(|scope| {
                scope.spawn(|| start_browser(&folder, &socket));
                for _ in 0..round % 50 {
                    std::hint::spin_loop();
                }
                remove_folder(&folder);
            });
            // What was written after that is removed by the next try.
            assert!(remove_folder(&folder));
            assert!(!socket.exists(), "round {round}");
        }
    }
}
