//! Private folders for sessions with programs that are spoken with over files: one a run, for its owner alone, removed at
//! the end; and those that a killed run has left are removed by the next.

use super::folders;
use super::private;
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::{Pid, getuid};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A folder (0700) that is removed, with all that is in it, when this is dropped.
#[derive(Debug)]
pub struct Session {
    folder: PathBuf,
}

impl Session {
    /// Makes one for `name` (`godot`), in the runtime folder of this user, else in a folder of theirs in the one for temporary
    /// files; and removes those for `name` whose process has died.
    ///
    /// # Errors
    /// Where none can be made, or where the folder that it would stand in could be written by somebody else.
    pub fn begin(name: &str) -> io::Result<Session> {
        let home = home()?;
        remove_stale(&home, name);
        let folder = home.join(format!("{name}-{}-{}", std::process::id(), &token()?[..8]));
        private::folder().create(&folder)?;
        Ok(Session { folder })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // What stays is removed by the next run.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// 32 hexadecimal digits that nobody can guess.
///
/// # Errors
/// Where the system's source of random bytes can't be read.
pub fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Whether there is a process of this number that hasn't ended.
pub fn is_running(pid: i32) -> bool {
    pid > 0 && kill(Pid::from_raw(pid), None) != Err(Errno::ESRCH) && !has_ended(pid)
}

/// Whether it has ended, and is kept in the kernel's list until whoever started it asks how. (Where there is no /proc,
/// that isn't seen.)
fn has_ended(pid: i32) -> bool {
    // Behind the program's name, which may hold anything.
    let state = |stat: String| stat.rsplit_once(')')?.1.trim_start().chars().next();
    matches!(fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(state), Some('Z' | 'X'))
}

/// The folder of this user's sessions, which nobody else can read. It is made where it isn't there: below the runtime folder, else
/// below the one for temporary files.
///
/// # Errors
/// Where it can't be made, or could be read or written by somebody else.
pub fn home() -> io::Result<PathBuf> {
    let (parent, name) = match folders::runtime() {
        Some(folder) => (folder, "pipewright".to_owned()),
        None => (std::env::temp_dir(), format!("pipewright-{}", getuid())),
    };
    // Not a link, which could lead elsewhere after the check.
    let parent = parent
        .canonicalize()
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", parent.display())))?;
    if !is_kept_by_us(&fs::metadata(&parent)?) {
        let message = format!(
            "in {} another user could replace our folder: set XDG_RUNTIME_DIR or TMPDIR to a folder of yours that others cannot write",
            parent.display()
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
    }
    let home = parent.join(name);
    private::folder().recursive(true).create(&home)?;
    let found = fs::symlink_metadata(&home)?;
    if found.is_dir() && found.uid() == getuid().as_raw() && found.permissions().mode() & 0o077 == 0 {
        return Ok(home);
    }
    let message = format!("{} isn't a folder of yours alone (0700): remove it, or set TMPDIR", home.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

/// Whether only this user and root can rename and remove what this user has in a folder: it is theirs, and others cannot write it or it
/// is sticky.
fn is_kept_by_us(folder: &Metadata) -> bool {
    let owner = folder.uid();
    let mode = folder.permissions().mode();
    (owner == getuid().as_raw() || owner == 0) && (mode & 0o022 == 0 || mode & 0o1000 != 0)
}

fn remove_stale(home: &Path, name: &str) {
    // Nobody is kept from working by what can't be removed.
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        let file_name = entry.file_name();
        let pid = file_name.to_str().and_then(|file_name| {
            let (pid, _) = file_name.strip_prefix(name)?.strip_prefix('-')?.split_once('-')?;
            pid.parse().ok()
        });
        if pid.is_some_and(|pid| !is_running(pid)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_nobody_has_waited_for_has_ended() {
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
        assert!(folder.is_dir() && !stale.exists(), "one that runs stays");
        drop((session, other));
        assert!(!folder.exists());
    }
}
