//! Untrusted files: anything that is not a regular file, or is too long, is refused before it can block us.

use crate::file;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Reads a regular file of at most `max_len` bytes.
///
/// # Errors
/// If it cannot be opened or read, is not a regular file, or is longer.
pub fn read(path: &Path, max_len: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(max_len.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max_len {
        let why = format!("it is longer than the {max_len} bytes that are read");
        return Err(io::Error::new(ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

/// Opens a regular file for reading.
///
/// # Errors
/// If it cannot be opened, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let file = file::open_at_once(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
    }
    Ok(file)
}

/// As [`read`], but gives text.
///
/// # Errors
/// As [`read`], and if it is not UTF-8.
pub fn read_text(path: &Path, max_len: u64) -> io::Result<String> {
    String::from_utf8(read(path, max_len)?).map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8"))
}
