//! Rotation: a full log becomes `LOG.1`, the one before it `LOG.2`, and so on; the oldest are deleted.

use crate::append::Appender;
use pipewright_sys::file;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// When to rotate, and how many files to keep.
#[derive(Debug, Clone, Copy)]
pub struct Rotation {
    /// The maximum length of a file in bytes; a single longer message is still written.
    pub size: usize,
    /// The number of rotated files to keep, besides the current one.
    pub keep: usize,
}

impl Rotation {
    /// Whether a message of `length` bytes is too long for a file that already has `file_len` bytes.
    pub fn is_due(&self, file_len: u64, length: usize) -> bool {
        // Escapes or base64 add up to a third, and the rest of the line at most 200 bytes.
        let written = length + length / 3 + 200;
        file_len + written as u64 > self.size as u64
    }

    /// Renames the files, and creates a new one at `log`.
    ///
    /// # Errors
    /// If a file cannot be renamed, or one that would be replaced is not an older part of `log`; `log` then stays in
    /// place.
    pub fn rotate(&self, log: &Path) -> io::Result<Appender> {
        // Renaming stops at the first unused number: there may be far fewer files than are kept.
        let last = (1..self.keep).find(|&number| !rotated(log, number).exists()).unwrap_or(self.keep);
        let signature = signature(log)?;
        let is_locked = |path: &Path| {
            fs::File::open(path)
                .is_ok_and(|file| matches!(file::lock_for_writing(&file), Err(fs::TryLockError::WouldBlock)))
        };
        for path in (1..=last).map(|number| rotated(log, number)) {
            match self::signature(&path) {
                Ok(other) if !other.is_empty() && other != signature => {
                    let why = format!("{} is not an older part of it; move it away", path.display());
                    return Err(io::Error::new(ErrorKind::AlreadyExists, why));
                }
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                Ok(_) if is_locked(&path) => {
                    return Err(io::Error::other(format!("another process writes to {}", path.display())));
                }
                _ => {}
            }
        }
        for number in (1..=last).rev() {
            let from = if number == 1 { log.to_owned() } else { rotated(log, number - 1) };
            match fs::rename(from, rotated(log, number)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Appender::create(log)
    }
}

/// The beginning of a file, which is the same in all parts of a log: the name of its first field and, if that is
/// `format`, the value.
///
/// # Errors
/// If it cannot be read, or is not a regular file.
fn signature(path: &Path) -> io::Result<Vec<u8>> {
    const HEAD_LEN: u64 = 32;
    // Opening a named pipe would block.
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other(format!("{} is not a regular file", path.display())));
    }
    let file = fs::File::open(path)?;
    let mut bytes = Vec::new();
    (&file).take(HEAD_LEN).read_to_end(&mut bytes)?;
    let delimiter = if bytes.starts_with(b"{\"format\":") { b',' } else { b':' };
    let end = bytes.iter().position(|byte| *byte == delimiter).unwrap_or(bytes.len());
    bytes.truncate(end);
    Ok(bytes)
}

/// The path of a file that was rotated `number` times.
pub fn rotated(log: &Path, number: usize) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}
