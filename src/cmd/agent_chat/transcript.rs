//! A session's texts and calls, for `/steps` and `/save`.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;

/// The most bytes that are kept; older text is dropped.
const MAX_BYTES: usize = 8 << 20;
/// The most calls that are listed.
const MAX_CALLS: usize = 200;

/// The latest part of a session.
#[derive(Debug, Default)]
pub struct Transcript {
    parts: VecDeque<String>,
    bytes: usize,
    /// Older text was dropped.
    is_cut: bool,
    calls: VecDeque<String>,
    /// The number of calls in total.
    pub count: usize,
}

impl Transcript {
    /// Adds text, which ends with a line feed.
    pub fn add(&mut self, text: String) {
        self.bytes += text.len();
        self.parts.push_back(text);
        while self.bytes > MAX_BYTES
            && let Some(first) = self.parts.pop_front()
        {
            self.bytes -= first.len();
            self.is_cut = true;
        }
    }

    /// Adds a finished call, as one line.
    pub fn add_call(&mut self, line: &str) {
        self.count += 1;
        self.calls.push_back(format!("{:>4}  {line}\n", self.count));
        if self.calls.len() > MAX_CALLS {
            self.calls.pop_front();
        }
    }

    /// The latest calls.
    pub fn calls(&self) -> String {
        self.calls.iter().map(String::as_str).collect()
    }

    /// Writes the transcript to a new file that only its owner can read.
    ///
    /// # Errors
    /// The file exists already, or cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = pipewright_sys::private::file().write(true).create_new(true).open(path)?;
        if self.is_cut {
            file.write_all(b"(earlier text is left out)\n")?;
        }
        for part in &self.parts {
            file.write_all(part.as_bytes())?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_part_is_kept() {
        let mut transcript = Transcript::default();
        transcript.add("first\n".to_owned());
        for number in 0..10 {
            transcript.add(format!("{number}{}\n", "x".repeat(1 << 20)));
            transcript.add_call("look");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("saved");
        transcript.save(&path).unwrap();
        let saved = std::fs::read_to_string(&path).unwrap();
        assert!(saved.starts_with("(earlier text") && !saved.contains("first") && saved.len() < MAX_BYTES + 100);
        assert!(transcript.save(&path).is_err(), "an existing file is not replaced");
        assert!(transcript.calls().ends_with("  10  look\n"));
    }
}
