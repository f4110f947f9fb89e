//! The last lines that a child printed, for reports of why it ended.

use std::collections::VecDeque;

/// The number of lines that fit on a screen, and the longest line in bytes.
const LINES: usize = 40;
const LINE: usize = 400;

/// The last lines, without empty ones.
#[derive(Debug, Default)]
pub struct LastOutput(VecDeque<String>);

impl LastOutput {
    /// The text that is kept of a line, or of the first part of one.
    pub fn readable(line: &[u8]) -> String {
        String::from_utf8_lossy(&line[..line.len().min(LINE)]).trim_end().to_owned()
    }

    /// Keeps a line, as [`LastOutput::readable`] returns it.
    pub fn keep(&mut self, line: String) {
        if line.is_empty() {
            return;
        }
        if self.0.len() == LINES {
            self.0.pop_front();
        }
        self.0.push_back(line);
    }

    /// The lines, joined.
    pub fn text(&self) -> String {
        Vec::from_iter(self.0.iter().map(String::as_str)).join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let mut tail = LastOutput::default();
        for number in 0..100 {
            tail.keep(LastOutput::readable(format!("line {number}\r\n").as_bytes()));
            tail.keep(LastOutput::readable(b" \n"));
        }
        assert!(tail.text().lines().count() == LINES && tail.text().ends_with("line 98\nline 99"));
        assert_eq!(LastOutput::readable(&[b'x'; 10_000]).len(), LINE);
    }
}
