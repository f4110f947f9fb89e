//! The chat's output: a terminal, or plain lines on stdout.

use super::terminal::{Terminal, Wanted};
use crate::io::stage::{Out, Side};

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
            Display::Lines => {
                let about = out.near();
                out.choose_near(0);
                out.to(Side::Near).extend_from_slice(text.as_bytes());
                out.choose_near(about);
            }
            Display::Terminal(terminal) => terminal.print(text),
        }
    }

    pub fn want(&mut self, wanted: Wanted) {
        if let Display::Terminal(terminal) = self {
            terminal.want(wanted);
        }
    }
}
