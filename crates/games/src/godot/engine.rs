//! The engine's output: keeps its last lines for reports of why the game ended, and detects crashes and broken scripts.

use pipewright_lines::LastOutput;

/// The last lines that the engine printed.
#[derive(Debug, Default)]
pub struct EngineOutput {
    tail: LastOutput,
    has_crashed: bool,
}

/// The meaning of a printed line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintedLine {
    /// Nothing in particular.
    Talk,
    /// A native library of the project is missing or cannot be loaded. The engine runs on, with plain nodes in place of
    /// its classes.
    MissingExtension,
    /// A script, possibly the addon's own, could not be loaded. If it is that of an autoload, the engine runs on
    /// without it and reports nothing more.
    BrokenScript,
}

impl EngineOutput {
    /// Takes a line, without its ending, or the first part of one.
    pub fn take(&mut self, line: &[u8]) -> PrintedLine {
        let line = LastOutput::readable(line);
        self.has_crashed |= line.starts_with("handle_crash:");
        let broken = ["SCRIPT ERROR: Parse Error", "SCRIPT ERROR: Compile Error", "Failed to instantiate an autoload"];
        let is_broken = broken.iter().any(|sign| line.contains(sign));
        let is_missing = line.contains("GDExtension dynamic library not found");
        if !is_nameless_frame(&line) {
            self.tail.keep(line);
        }
        match is_broken {
            true => PrintedLine::BrokenScript,
            false if is_missing => PrintedLine::MissingExtension,
            false => PrintedLine::Talk,
        }
    }

    /// Whether the engine has reported a crash.
    pub fn has_crashed(&self) -> bool {
        self.has_crashed
    }

    /// The lines, joined.
    pub fn text(&self) -> String {
        self.tail.text()
    }
}

/// Whether it is a stack frame of an engine without symbols (a crash prints dozens of them around the useful lines), or
/// a ruler.
fn is_nameless_frame(line: &str) -> bool {
    (line.starts_with('[') && line.ends_with("(??:0)")) || line.bytes().all(|byte| byte == b'=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_and_trouble_is_detected() {
        let mut tail = EngineOutput::default();
        for number in 0..100 {
            assert_eq!(tail.take(format!("line {number}\n").as_bytes()), PrintedLine::Talk);
        }
        assert_eq!(tail.take(b"SCRIPT ERROR: Parse Error: Expected \xff"), PrintedLine::BrokenScript);
        assert!(tail.text().contains("line 99\nSCRIPT ERROR") && !tail.text().contains("line 60\n"));
        assert!(!tail.has_crashed());
        for number in 0..100 {
            tail.take(format!("[{number}] /usr/bin/godot(+0x17ca1b3) [0x558faaeed1b3] (??:0)").as_bytes());
        }
        assert!(tail.text().ends_with("Expected \u{fffd}"));
        tail.take(b"handle_crash: Program crashed with signal 11");
        assert!(tail.has_crashed());
    }
}
