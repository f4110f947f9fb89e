//! Rotation: a full log becomes `LOG.1`, that before it `LOG.2`, and so on; the oldest go.

use crate::io::append::Appender;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// When to rotate, and what to keep.
#[derive(Debug, Clone, Copy)]
pub struct Rotation {
    /// How long a file may become, in bytes; a single message may be longer.
    pub size: usize,
    /// How many rotated files are kept, beside the one that is written.
    pub keep: usize,
}

impl Rotation {
    /// Whether a message of `length` bytes is too much for a file that holds so many already.
    pub fn is_due(&self, held: u64, length: usize) -> bool {
        // What escapes or base64 add to a message, and the most that stands around it.
        let written = length + length / 3 + 200;
        held + written as u64 > self.size as u64
    }

    /// Renames the files, and makes a new one at `log`.
    ///
    /// # Errors
    /// Where a file can't be renamed; the log is at its place then.
    pub fn rotate(&self, log: &Path) -> io::Result<Appender> {
        // A gap takes the last that moves; there may be far fewer than are kept.
        let last = (1..self.keep).find(|&number| !rotated(log, number).exists()).unwrap_or(self.keep);
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

/// The file that was rotated so many times.
pub fn rotated(log: &Path, number: usize) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(format!(".{number}"));
    PathBuf::from(name)
}
