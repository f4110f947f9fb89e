//! A terminal in the foreground with settings of ours, until it is put back as it was.

use super::descriptor::Descriptor;
use super::report::{Failure, Status};
use super::terminal::Terminal;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use std::io;
use std::os::fd::AsFd;

/// A terminal that was taken over; put back when this is dropped.
#[derive(Debug)]
pub(super) struct TerminalMode {
    pub(super) terminal: Terminal,
    pub(super) tty: Descriptor,
    before: Termios,
    ours: Termios,
}

impl TerminalMode {
    /// Takes a terminal over, and has `change` change its settings.
    ///
    /// # Errors
    /// [`Status::NotStarted`] where it isn't ours to read, see [`Terminal::borrow`].
    pub(super) fn set(mut terminal: Terminal, change: impl FnOnce(&mut Termios)) -> Result<TerminalMode, Failure> {
        terminal.borrow()?;
        let changed = terminal.descriptor().and_then(|tty| {
            let before = tcgetattr(tty.as_fd())?;
            let mut ours = before.clone();
            change(&mut ours);
            tcsetattr(tty.as_fd(), SetArg::TCSADRAIN, &ours)?;
            Ok((tty, before, ours))
        });
        match changed {
            Ok((tty, before, ours)) => Ok(TerminalMode { terminal, tty, before, ours }),
            Err(error) => {
                terminal.restore();
                Err(Failure::new(Status::NotStarted, format_args!("{}: {error}", terminal.path().display())))
            }
        }
    }

    /// Gives a program that has the terminal for a while the settings that were there before. A terminal that refuses has gone.
    pub(super) fn suspend(&self) {
        let _ = tcsetattr(self.tty.as_fd(), SetArg::TCSADRAIN, &self.before);
    }

    /// Has our settings again.
    pub(super) fn resume(&self) {
        let _ = tcsetattr(self.tty.as_fd(), SetArg::TCSADRAIN, &self.ours);
    }

    /// What puts the settings back, for who can't wait until this is dropped.
    ///
    /// # Errors
    /// Where the process has no descriptor left.
    pub(super) fn restorer(&self) -> io::Result<impl FnOnce() + Send + use<>> {
        let (tty, before) = (self.terminal.descriptor()?, self.before.clone());
        Ok(move || restore(&tty, &before))
    }
}

impl Drop for TerminalMode {
    fn drop(&mut self) {
        restore(&self.tty, &self.before);
        self.terminal.restore();
    }
}

fn restore(tty: &Descriptor, before: &Termios) {
    // A terminal that refuses has gone. Not TCSADRAIN: a terminal that is held (Ctrl-S) shows nothing more.
    let _ = tcsetattr(tty.as_fd(), SetArg::TCSANOW, before);
}
