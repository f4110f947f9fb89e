//! Private folders for sessions with programs that communicate over files: one per run, only accessible to its owner, removed at
//! the end. Folders left by a killed run are removed by the next.

use super::{ancestry, folders, private};
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::{Pid, gethostname, getuid};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A folder (0700) that is removed, with its contents, when this is dropped.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
}

impl Session {
    /// Creates one for `name` (`godot`), in this user's runtime folder, or in this user's own folder below the one for temporary
    /// files. Removes those for `name` whose process has died.
    ///
    /// # Errors
    /// If it cannot be created, or its parent folder may be writable by another user.
    pub fn begin(name: &str) -> io::Result<Session> {
        let home = home()?;
        remove_stale(&home, name);
        let folder = home.join(format!("{name}-{}-{}", std::process::id(), &token()?[..8]));
        private::folder().create(&folder)?;
        Ok(Session { folder })
    }

    /// Its path.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes it before it is dropped, for a run that ends without drops. The next run removes what remains.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.remove();
    }
}

/// 32 random hexadecimal digits.
///
/// # Errors
/// If the system's source of random bytes cannot be read.
pub fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether there is a process with this id that has not ended.
pub fn is_running(pid: i32) -> bool {
    pid > 0 && kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH) && !has_ended(pid)
}

/// Whether it is a zombie: a process that has ended and was not reaped by its parent. (Without /proc, zombies are not
/// detected.)
fn has_ended(pid: i32) -> bool {
    ancestry::stat(pid).is_some_and(|stat| stat.starts_with(['Z', 'X']))
}

/// The folder of this user's sessions, which no other user can read. It is created if missing: below the runtime folder, or
/// below the one for temporary files.
///
/// # Errors
/// If it cannot be created, or may be readable or writable by another user.
pub fn home() -> io::Result<PathBuf> {
    let (parent, name) = match folders::runtime() {
        Some(folder) => (folder, IN_RUNTIME_FOLDER.to_owned()),
        None => (std::env::temp_dir(), in_temporary_folder()),
    };
    // Resolve links, which could be changed after the check.
    let parent = parent
        .canonicalize()
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", parent.display())))?;
    if !is_kept_by_us(&fs::metadata(&parent)?) {
        let message = format!(
            "another user could replace our folder in {}: set XDG_RUNTIME_DIR or TMPDIR to a folder of yours that others cannot write to",
            parent.display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    let home = parent.join(name);
    private::folder().recursive(true).create(&home)?;
    let found = fs::symlink_metadata(&home)?;
    if is_ours_alone(&found) {
        return Ok(home);
    }
    let message =
        format!("{} is not a folder that only you can access (0700): remove it, or set TMPDIR", home.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

const IN_RUNTIME_FOLDER: &str = "pipewright";

/// Several machines, or containers, may share a folder for temporary files. Each has a folder of its own there, because a process of
/// another one seems to have died, and its sockets seem to be dead: they would be removed.
fn in_temporary_folder() -> String {
    let host = gethostname().unwrap_or_default();
    let digest = Sha256::digest(host.as_bytes());
    // The whole name may not fit into the path of a socket.
    format!("pipewright-{}-{:02x}{:02x}{:02x}{:02x}", getuid(), digest[0], digest[1], digest[2], digest[3])
}

fn is_ours_alone(folder: &Metadata) -> bool {
    folder.is_dir() && folder.uid() == getuid().as_raw() && folder.permissions().mode() & 0o077 == 0
}

/// The folders that [`Session::begin`] has created for `name` in any process of this user. Also finds those of processes with another
/// environment, since MCP clients start servers without XDG_RUNTIME_DIR and TMPDIR.
pub fn folders_of(name: &str) -> Vec<PathBuf> {
    let runtime = folders::runtime().into_iter().chain([PathBuf::from(format!("/run/user/{}", getuid()))]);
    let temporary = [std::env::temp_dir(), PathBuf::from("/tmp")];
    let homes = runtime.map(|folder| (folder, IN_RUNTIME_FOLDER.to_owned()));
    let homes = homes.chain(temporary.map(|folder| (folder, in_temporary_folder())));
    let mut found = BTreeSet::new();
    for (parent, below) in homes {
        let Ok(parent) = parent.canonicalize() else { continue };
        let home = parent.join(below);
        let is_safe = fs::metadata(&parent).is_ok_and(|parent| is_kept_by_us(&parent))
            && fs::symlink_metadata(&home).is_ok_and(|home| is_ours_alone(&home));
        let entries = is_safe.then(|| fs::read_dir(&home).ok()).flatten().into_iter().flatten().flatten();
        found.extend(entries.filter(|entry| process_of(entry, name).is_some()).map(|entry| entry.path()));
    }
    found.into_iter().collect()
}

/// Whether only this user and root can rename and remove this user's files in a folder: this user or root owns it, and others cannot
/// write to it or it is sticky.
fn is_kept_by_us(folder: &Metadata) -> bool {
    let owner = folder.uid();
    let mode = folder.permissions().mode();
    (owner == getuid().as_raw() || owner == 0) && (mode & 0o022 == 0 || mode & 0o1000 != 0)
}

fn remove_stale(home: &Path, name: &str) {
    // Leftovers that cannot be removed are no reason to fail.
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        if process_of(&entry, name).is_some_and(|pid| !is_running(pid)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The id of the process that created a folder for `name`.
fn process_of(folder: &DirEntry, name: &str) -> Option<i32> {
    let file_name = folder.file_name();
    let (pid, _) = file_name.to_str()?.strip_prefix(name)?.strip_prefix('-')?.split_once('-')?;
    pid.parse().ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_zombie_counts_as_ended() {
        let mut child = std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(is_running(pid) && !is_running(0) && !is_running(999_999_999));
        drop(child.stdin.take());
        while is_running(pid) {
            std::thread::yield_now();
        }
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn a_session_is_private_and_goes() {
        let session = Session::begin("test").unwrap();
        let folder = session.folder().to_owned();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        let stale = folder.with_file_name("test-999999999-0");
        fs::create_dir(&stale).unwrap();
        let other = Session::begin("test").unwrap();
        assert!(folder.is_dir() && !stale.exists(), "the folder of a running process stays");
        drop((session, other));
        assert!(!folder.exists());
    }
}
