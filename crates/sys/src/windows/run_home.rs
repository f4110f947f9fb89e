//! Where the run folders of this user are: in the user's profile, which other users cannot read.

use super::private;
use std::io;
use std::path::PathBuf;

/// The folder of this user's run folders. It is created if missing.
///
/// # Errors
/// If it cannot be created, or the environment does not name the folder for local data of the profile (LOCALAPPDATA).
pub fn home() -> io::Result<PathBuf> {
    let Some(home) = path() else {
        let why = "the variable LOCALAPPDATA does not name the folder for local data of this user";
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    };
    private::folder().recursive(true).create(&home)?;
    Ok(home)
}

/// The folders of this user's run folders.
pub(crate) fn homes() -> Vec<PathBuf> {
    path().into_iter().collect()
}

fn path() -> Option<PathBuf> {
    let local = std::env::var_os("LOCALAPPDATA").map(PathBuf::from).filter(|folder| folder.is_absolute())?;
    Some(local.join("pipewright").join("run"))
}
