//! Answers that are not typed at the terminal: `--answers`.

use pipewright_sys::descriptor::Descriptor;
use pipewright_sys::file;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a FIFO, which never ends, even when its writers close it, or a device such as a terminal, which ends with the
/// device.
///
/// # Errors
/// If it does not exist, can't be read, or is a plain file: there is no notification when a line is appended to one.
pub fn open(path: &Path) -> io::Result<Descriptor> {
    let kind = std::fs::metadata(path)?;
    if file::is_fifo(&kind) {
        let fifo = OpenOptions::new().read(true).write(true).open(path)?;
        return Ok(Descriptor::new(fifo));
    }
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if kind.is_file() {
        return Err(io::Error::other("a plain file: use a FIFO (mkfifo)"));
    }
    Ok(Descriptor::new(File::open(path)?))
}
