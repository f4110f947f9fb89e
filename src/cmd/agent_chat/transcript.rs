//! What was said and done in a session, as text: for `/steps` and `/save`.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;

/// So much is kept, in bytes; what is older is left out.
const KEPT: usize = 8 << 20;
/// So many calls are listed.
const LISTED: usize = 200;

/// The latest part of a session.
#[derive(Debug, Default)]
pub struct Transcript {
    parts: VecDeque<String>,
    bytes: usize,
    /// Something was left out.
    is_cut: bool,
    calls: VecDeque<String>,
    /// So many calls there were.
    pub count: usize,
}

impl Transcript {
    /// Adds text, with its line feed.
    pub fn add(&mut self, text: String) {
        self.bytes += text.len();
        self.parts.push_back(text);
        while self.bytes > KEPT
            && let Some(first) = self.parts.pop_front()
        {
            self.bytes -= first.len();
            self.is_cut = true;
        }
    }

    /// Adds what came of a call, a line.
    pub fn add_call(&mut self, line: &str) {
        self.count += 1;
        self.calls.push_back(format!("{:>4}  {line}\n", self.count));
        if self.calls.len() > LISTED {
            self.calls.pop_front();
        }
    }

    /// The latest calls.
    pub fn calls(&self) -> String {
        self.calls.iter().map(String::as_str).collect()
    }

    /// Writes it to a new file, for its owner alone.
    ///
    /// # Errors
    /// The file is there already, or cannot be written.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut file = crate::io::private::file().write(true).create_new(true).open(path)?;
        if self.is_cut {
            file.write_all(b"(what was earlier is left out)\n")?;
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
        assert!(saved.starts_with("(what was earlier") && !saved.contains("first") && saved.len() < KEPT + 100);
        assert!(transcript.save(&path).is_err(), "a file that is there is not replaced");
        assert!(transcript.calls().ends_with("  10  look\n"));
    }
}
