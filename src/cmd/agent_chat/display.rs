//! The chat's output: a terminal, or plain lines on stdout.

use super::terminal::{KeyboardUse, Terminal};
use pipewright_io::stage::{Out, Side};

pub enum Display {
    /// Lines are read from stdin and printed on stdout.
    Lines,
    Terminal(Box<Terminal>),
}

impl Display {
    pub fn is_terminal(&self) -> bool {
        matches!(self, Display::Terminal(_))
    }

    pub fn terminal(&mut self) -> Option<&mut Terminal> {
        match self {
            Display::Lines => None,
            Display::Terminal(terminal) => Some(terminal),
        }
    }

    /// Prints text; it ends with a line feed.
    pub fn print(&mut self, text: &str, out: &mut Out) {
        match self {
            Display::Lines => out.to(Side::NEAR).extend_from_slice(text.as_bytes()),
            Display::Terminal(terminal) => terminal.print(text),
        }
    }

    pub fn want(&mut self, wanted: KeyboardUse) {
        if let Display::Terminal(terminal) = self {
            terminal.want(wanted);
        }
    }
}
