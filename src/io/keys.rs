//! Single keys from a terminal.

use super::descriptor::Descriptor;
use super::report::{Failure, Status};
use super::terminal::Terminal;
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr};
use std::io::{self, Read};
use std::os::fd::AsFd;

/// A terminal whose keys are read as they are struck, without being shown. It is put back when this is dropped.
#[derive(Debug)]
pub struct Keys {
    terminal: Terminal,
    input: Descriptor,
    before: Termios,
}

impl Keys {
    /// Takes over a terminal.
    ///
    /// # Errors
    /// [`Status::NotStarted`] where it isn't ours to read, see [`Terminal::borrow`].
    pub fn read_from(mut terminal: Terminal) -> Result<Keys, Failure> {
        terminal.borrow()?;
        let system = |error: io::Error| Failure::new(Status::NotStarted, error);
        let input = terminal.descriptor().map_err(system)?;
        let before = tcgetattr(input.as_fd()).map_err(|error| system(error.into()))?;
        let mut raw = before.clone();
        raw.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
        raw.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
        raw.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        tcsetattr(input.as_fd(), SetArg::TCSADRAIN, &raw).map_err(|error| system(error.into()))?;
        Ok(Keys { terminal, input, before })
    }

    /// The next key; `None` where the terminal has gone.
    pub fn wait(&mut self) -> Option<u8> {
        let mut key = [0];
        let read = self.input.read(&mut key).unwrap_or(0);
        (read == 1).then(|| key[0])
    }

    /// What puts the terminal back as it was, for who can't wait until this is dropped.
    ///
    /// # Errors
    /// Where the process has no descriptor left.
    pub fn restorer(&self) -> io::Result<impl FnOnce() + Send + use<>> {
        let (input, before) = (self.terminal.descriptor()?, self.before.clone());
        Ok(move || restore(&input, &before))
    }

    /// The terminal's width in columns.
    pub fn width(&self) -> usize {
        self.terminal.width()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        restore(&self.input, &self.before);
        self.terminal.restore();
    }
}

fn restore(terminal: &Descriptor, before: &Termios) {
    // A terminal that refuses has gone.
    let _ = tcsetattr(terminal.as_fd(), SetArg::TCSANOW, before);
}
