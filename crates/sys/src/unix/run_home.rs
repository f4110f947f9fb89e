//! Where the run folders of this user are.

use super::{file, private};
use crate::folders;
use nix::unistd::{geteuid, gethostname};
use sha2::{Digest, Sha256};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The folder of this user's run folders, which no other user can read. It is created if missing: below the runtime folder, or
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
    if !file::is_kept_by_us(&fs::metadata(&parent)?) {
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
    format!("pipewright-{}-{:02x}{:02x}{:02x}{:02x}", geteuid(), digest[0], digest[1], digest[2], digest[3])
}

fn is_ours_alone(folder: &Metadata) -> bool {
    folder.is_dir() && file::is_ours(folder) && !file::others_can_use(folder)
}

/// The folders of this user's run folders. Also those of processes with another environment, since MCP clients start servers
/// without XDG_RUNTIME_DIR and TMPDIR.
pub(crate) fn homes() -> Vec<PathBuf> {
    let runtime = folders::runtime().into_iter().chain([PathBuf::from(format!("/run/user/{}", geteuid()))]);
    let temporary = [std::env::temp_dir(), PathBuf::from("/tmp")];
    let homes = runtime.map(|folder| (folder, IN_RUNTIME_FOLDER.to_owned()));
    let homes = homes.chain(temporary.map(|folder| (folder, in_temporary_folder())));
    let kept = homes.filter_map(|(parent, below)| {
        let parent = parent.canonicalize().ok()?;
        let home = parent.join(below);
        let is_safe = fs::metadata(&parent).is_ok_and(|parent| file::is_kept_by_us(&parent))
            && fs::symlink_metadata(&home).is_ok_and(|home| is_ours_alone(&home));
        is_safe.then_some(home)
    });
    kept.collect()
}
