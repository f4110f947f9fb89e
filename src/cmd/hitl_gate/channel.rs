//! Answers that are not typed at the terminal: `--answers`.

use crate::io::descriptor::Descriptor;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Opens a FIFO, which never ends, even when its writers close it, or a device such as a terminal, which ends with the device.
///
/// # Errors
/// If it does not exist, can't be read, or is a plain file: there is no notification when a line is appended to one.
pub fn open(path: &Path) -> io::Result<Descriptor> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_fifo() {
        let fifo = OpenOptions::new().read(true).write(true).open(path)?;
        return Ok(OwnedFd::from(fifo).into());
    }
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if kind.is_file() {
        return Err(io::Error::other("a plain file: use a FIFO (mkfifo)"));
    }
    Ok(OwnedFd::from(File::open(path)?).into())
}
