//! Files and folders that only their owner can access: new files have the mode 0600 and new folders 0700, whatever the umask. Existing
//! ones keep their mode.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Options for opening or creating a file.
pub fn file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// A builder for creating a folder.
pub fn folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// The longest path of a Unix socket, in bytes (unix(7): sun_path, with its terminating NUL).
const LONGEST_PATH: usize = 107;

/// Creates a socket and listens on it.
///
/// # Errors
/// `InvalidFilename` if the path is too long for a socket; otherwise any error of the system.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    let length = path.as_os_str().len();
    if length > LONGEST_PATH {
        let why = format!("the path of a socket has at most {LONGEST_PATH} bytes, but this one has {length}");
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, why));
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Protects the memory and the environment of this process from other processes of this user (PR_SET_DUMPABLE, prctl(2)). Root can
/// still read them, and systems other than Linux are not supported. The protection ends in children that run another program.
///
/// # Errors
/// The error of the kernel.
pub fn protect_process() -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    nix::sys::prctl::set_dumpable(false)?;
    Ok(())
}
