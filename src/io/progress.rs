//! How far long work has come, for a person who waits: on stderr, where that is a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Work that takes less is done before anybody wonders.
const FIRST: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_millis(200);

/// Shows how much of something was read.
#[derive(Debug)]
pub struct Progress {
    next: Option<Instant>,
    is_shown: bool,
}

impl Progress {
    /// Shows nothing for the first second, nor where stderr is no terminal.
    pub fn begin() -> Progress {
        Progress { next: std::io::stderr().is_terminal().then(|| Instant::now() + FIRST), is_shown: false }
    }

    /// So many bytes of `name` were read, of so many in all where that is known.
    pub fn show(&mut self, name: &str, read: u64, length: Option<u64>) {
        if self.next.is_none_or(|next| next > Instant::now()) {
            return;
        }
        self.next = Some(Instant::now() + AGAIN);
        self.is_shown = true;
        let megabytes = read / 1_000_000;
        let share = match length {
            Some(length) if length > 0 => format!("{} %, ", read.min(length) * 100 / length),
            _ => String::new(),
        };
        let name = super::terminal::printable(name).into_owned();
        // A stderr that is gone is no reason to fail.
        let _ = std::io::stderr().write_all(format!("\r\x1b[K{name}: {share}{megabytes} MB").as_bytes());
    }

    /// Wipes it away: something else is about to be shown.
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
