//! Single keys from a terminal.

use super::Terminal;
use super::mode::TerminalMode;
use nix::sys::termios::{LocalFlags, SpecialCharacterIndices};
use std::io::{self, Read};

/// A terminal whose keys are read as they are typed, without echo. Its state is restored when this is dropped.
#[derive(Debug)]
pub struct Keys(TerminalMode);

impl Keys {
    /// Takes over a terminal.
    ///
    /// # Errors
    /// If we may not read from it, see [`Terminal::borrow`].
    pub fn read_from(terminal: Terminal) -> io::Result<Keys> {
        let mode = TerminalMode::set(terminal, |raw| {
            raw.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
            raw.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
            raw.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        });
        mode.map(Keys)
    }

    /// The next key; `None` if the terminal was closed.
    pub fn wait(&mut self) -> Option<u8> {
        let mut key = [0];
        let read = self.0.tty.read(&mut key).unwrap_or(0);
        (read == 1).then(|| key[0])
    }

    /// A function that restores the terminal, for callers that cannot wait until this is dropped.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn restorer(&self) -> io::Result<impl FnOnce() + Send + use<>> {
        self.0.restorer()
    }

    /// The terminal's width in columns.
    pub fn width(&self) -> usize {
        self.0.terminal.width()
    }
}
