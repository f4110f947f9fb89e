//! Single keys from a terminal.

use super::report::Failure;
use super::terminal::Terminal;
use super::terminal_mode::TerminalMode;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{LocalFlags, SpecialCharacterIndices};
use std::io::{self, Read};
use std::os::fd::AsFd;

/// A terminal whose keys are read as they are struck, without being shown. It is put back when this is dropped.
#[derive(Debug)]
pub struct Keys(TerminalMode);

/// What came first.
#[derive(Debug)]
pub enum Typed {
    /// Keys, at least one, as the terminal sends them.
    Bytes(Vec<u8>),
    /// The terminal is there no more.
    Gone,
    /// There is something to read from the descriptor that was watched.
    Woken,
}

impl Keys {
    /// Takes over a terminal.
    ///
    /// # Errors
    /// [`Status::NotStarted`](super::report::Status::NotStarted) where it isn't ours to read, see [`Terminal::borrow`].
    pub fn read_from(terminal: Terminal) -> Result<Keys, Failure> {
        let mode = TerminalMode::set(terminal, |raw| {
            raw.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
            raw.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
            raw.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        });
        mode.map(Keys)
    }

    /// The next key; `None` where the terminal has gone.
    pub fn wait(&mut self) -> Option<u8> {
        let mut key = [0];
        let read = self.0.tty.read(&mut key).unwrap_or(0);
        (read == 1).then(|| key[0])
    }

    /// The same with Ctrl-C, Ctrl-Z and their like, which are keys then, and no signals.
    ///
    /// # Errors
    /// As [`Keys::read_from`].
    pub fn with_control_keys(terminal: Terminal) -> Result<Keys, Failure> {
        let keys = Keys::read_from(terminal)?;
        keys.0.change(|raw| raw.local_flags.remove(LocalFlags::ISIG | LocalFlags::IEXTEN));
        Ok(keys)
    }

    /// Waits for keys, or until `watched` has something to read.
    pub fn typed(&mut self, watched: &impl AsFd) -> Typed {
        loop {
            let mut fds =
                [PollFd::new(self.0.tty.as_fd(), PollFlags::POLLIN), PollFd::new(watched.as_fd(), PollFlags::POLLIN)];
            match poll(&mut fds, PollTimeout::NONE) {
                Ok(_) => {}
                Err(nix::errno::Errno::EINTR) => continue,
                Err(_) => return Typed::Gone,
            }
            let [tty, watched] = fds.map(|fd| fd.revents().unwrap_or(PollFlags::empty()));
            if !watched.is_empty() {
                return Typed::Woken;
            }
            if !tty.is_empty() {
                let mut bytes = [0; 1024];
                return match self.0.tty.read(&mut bytes) {
                    Ok(read) if read > 0 => Typed::Bytes(bytes[..read].to_vec()),
                    _ => Typed::Gone,
                };
            }
        }
    }

    /// What puts the terminal back as it was, for who can't wait until this is dropped.
    ///
    /// # Errors
    /// Where the process has no descriptor left.
    pub fn restorer(&self) -> io::Result<impl FnOnce() + Send + use<>> {
        self.0.restorer()
    }

    /// The terminal's width in columns.
    pub fn width(&self) -> usize {
        self.0.terminal.width()
    }
}
