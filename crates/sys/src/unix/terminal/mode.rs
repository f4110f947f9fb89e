//! A terminal in the foreground with our settings, until the original ones are restored.

use super::Terminal;
use crate::descriptor::Descriptor;
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use std::io;
use std::os::fd::AsFd;

/// A terminal with changed settings, which are restored when this is dropped.
#[derive(Debug)]
pub(super) struct TerminalMode {
    pub(super) terminal: Terminal,
    pub(super) tty: Descriptor,
    before: Termios,
    ours: Termios,
}

impl TerminalMode {
    /// Takes over a terminal, and changes its settings with `change`.
    ///
    /// # Errors
    /// If we may not read from it, see [`Terminal::borrow`].
    pub(super) fn set(mut terminal: Terminal, change: impl FnOnce(&mut Termios)) -> io::Result<TerminalMode> {
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
                Err(io::Error::other(format!("{}: {error}", terminal.path().display())))
            }
        }
    }

    /// Restores the original settings for a program that gets the terminal temporarily. This fails only for a closed terminal.
    pub(super) fn suspend(&self) {
        let _ = tcsetattr(self.tty.as_fd(), SetArg::TCSADRAIN, &self.before);
    }

    /// Applies our settings again.
    pub(super) fn resume(&self) {
        let _ = tcsetattr(self.tty.as_fd(), SetArg::TCSADRAIN, &self.ours);
    }

    /// A function that restores the settings, for callers that cannot wait until this is dropped.
    ///
    /// # Errors
    /// If the process has no descriptor left.
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
    // This fails only for a closed terminal. Not TCSADRAIN: a terminal on hold (Ctrl-S) shows no more output.
    let _ = tcsetattr(tty.as_fd(), SetArg::TCSANOW, before);
}
