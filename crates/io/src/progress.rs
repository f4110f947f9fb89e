//! The progress of long work, for a waiting person: on stderr, if it is a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Shorter work shows no progress.
const FIRST: Duration = Duration::from_secs(1);
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// Shows how much of a file was read.
#[derive(Debug)]
pub struct Progress {
    next: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    /// Shows nothing for the first second, and never if stderr is not a terminal.
    pub fn begin() -> Progress {
        Progress { next: std::io::stderr().is_terminal().then(|| Instant::now() + FIRST), is_shown: false }
    }

    /// `read` bytes of `name` were read, of a total of `length` if known.
    pub fn show(&mut self, name: &str, read: u64, length: Option<u64>) {
        if self.next.is_none_or(|next| next > Instant::now()) {
            return;
        }
        self.next = Some(Instant::now() + UPDATE_INTERVAL);
        self.is_shown = true;
        let megabytes = read / 1_000_000;
        let share = match length {
            Some(length) if length > 0 => format!("{} %, ", read.min(length) * 100 / length),
            _ => String::new(),
        };
        let name = super::printable::printable(name).into_owned();
        // A closed stderr is not a reason to fail.
        let _ = std::io::stderr().write_all(format!("\r\x1b[K{name}: {share}{megabytes} MB").as_bytes());
    }

    /// Clears the line before other output.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
