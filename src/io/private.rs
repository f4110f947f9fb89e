//! What we make is its owner's alone: files are 0600 and folders 0700, whatever the umask lets others have. What is there already keeps
//! its mode.

use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;

/// Opens or makes a file, as it is told to.
pub fn file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Makes a folder.
pub fn folder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// The longest path of a Unix socket, in bytes (unix(7): sun_path, with its terminating NUL).
const LONGEST_PATH: usize = 107;

/// Makes a socket and listens there.
///
/// # Errors
/// `InvalidFilename` where the path is too long for a socket; else what the system says.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    let length = path.as_os_str().len();
    if length > LONGEST_PATH {
        let why = format!("the path of a socket has at most {LONGEST_PATH} bytes, and this one {length}");
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, why));
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Keeps other processes of this user out of the memory and the environment of this one (PR_SET_DUMPABLE, prctl(2)); root can still read
/// them, and nothing is done where the system is not Linux. Children that run another program have it no more.
///
/// # Errors
/// What the kernel says to that.
pub fn protect_process() -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    nix::sys::prctl::set_dumpable(false)?;
    Ok(())
}
