//! Files and folders that only their owner can access: new files have the mode 0600 and new folders 0700, whatever the umask. Existing
//! ones keep their mode.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

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

/// Creates a folder for temporary files, below the one of the system, with a name that begins like this.
///
/// # Errors
/// Any error of the system.
pub fn temporary_folder(prefix: &str) -> io::Result<PathBuf> {
    // mkdtemp creates it with the mode 0700.
    Ok(nix::unistd::mkdtemp(&std::env::temp_dir().join(format!("{prefix}XXXXXX")))?)
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
