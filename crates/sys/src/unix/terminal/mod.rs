//! The terminal of a person: opens it, and borrows the foreground from a wrapper around us.
//!
//! # Borrowing the foreground
//! A wrapper puts its child into a new process group, and the kernel stops a process that reads the
//! terminal from a group that is not in the foreground. So each wrapper passes the id of its group to its child in the
//! environment ([`LENDERS`]), and a process that wants to ask takes the foreground only from a group that is listed
//! there: a background job must not take the terminal from the shell.

mod asking;
mod foreground;
mod keys;
mod lock;
mod mode;
mod raw_stdin;

pub use crate::screen::{height, width};
pub use asking::{Asking, TerminalInput};
pub use foreground::ForegroundProgram;
pub use keys::Keys;
pub use raw_stdin::{RawStdin, Typed};

use crate::descriptor::{AsDescriptor, Descriptor};
use crate::process::Group;
use crate::signal;
use nix::fcntl::OFlag;
use nix::sys::signal::Signal;
use nix::sys::termios::{FlushArg, tcflush};
use nix::unistd::{Pid, getpgrp, isatty, tcgetpgrp, tcsetpgrp};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The terminal that this process was started from.
pub const OWN: &str = "/dev/tty";

/// The environment variable in which wrappers list their process groups, outermost first, separated by commas.
pub const LENDERS: &str = "PIPEWRIGHT_FOREGROUND";

/// The value of [`LENDERS`] for a wrapper's child: the inherited list, and the wrapper's own group.
pub fn lenders() -> String {
    let own = getpgrp().to_string();
    match std::env::var(LENDERS) {
        Ok(outer) if !outer.is_empty() => format!("{outer},{own}"),
        _ => own,
    }
}

fn may_borrow_from(group: Pid, lenders: &str) -> bool {
    lenders.split(',').any(|lender| lender.trim().parse() == Ok(group.as_raw()))
}

/// An open terminal.
#[derive(Debug)]
pub struct Terminal {
    file: File,
    path: PathBuf,
    lender: Option<Pid>,
}

impl Terminal {
    /// Opens `path` (usually `/dev/tty`, the terminal that this process was started from) to read and write.
    ///
    /// # Errors
    /// If there is no terminal; the message explains how to get one.
    pub fn open(path: &Path) -> io::Result<Terminal> {
        let opened = OpenOptions::new().read(true).write(true).custom_flags(OFlag::O_NOCTTY.bits()).open(path);
        let why = match opened {
            Ok(file) if isatty(&file) == Ok(true) => {
                return Ok(Terminal { file, path: path.to_owned(), lender: None });
            }
            Ok(_) => "it is not a terminal".to_owned(),
            Err(error) => error.to_string(),
        };
        let path = path.display();
        Err(io::Error::other(format!(
            "no terminal to ask at: {path}: {why}; start from a terminal, or open one, \
             type `tty; sleep 1d` there, and give the path it prints with --tty"
        )))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new descriptor to read from or write to.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn descriptor(&self) -> io::Result<Descriptor> {
        Descriptor::copy(&self.file)
    }

    /// For the streams of a program that is started at this terminal.
    fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Takes the foreground if a wrapper around us has it (see the module). Call it before other threads
    /// are started: it blocks SIGTTIN. If it borrows, it also blocks SIGTTOU, and SIGTSTP, which would stop only us
    /// without the knowledge of the shell that waits for the wrapper.
    ///
    /// # Errors
    /// If we run in the background of a shell: the kernel would stop our process group at the first read.
    pub fn borrow(&mut self) -> io::Result<()> {
        let own = getpgrp();
        // An error means that this is not our controlling terminal: reading it does not stop us.
        let Ok(foreground) = tcgetpgrp(&self.file) else {
            return Ok(());
        };
        // If the foreground is lost later, a read fails and ends us instead of stopping us.
        hold(&[Signal::SIGTTIN]);
        if foreground == own {
            return Ok(());
        }
        let path = self.path.display();
        if !may_borrow_from(foreground, &std::env::var(LENDERS).unwrap_or_default()) {
            return Err(io::Error::other(format!(
                "{path}: this command runs in the background of this terminal; bring it to the foreground (fg), or name another \
                 terminal with --tty"
            )));
        }
        hold(&[Signal::SIGTTOU, Signal::SIGTSTP]);
        tcsetpgrp(&self.file, own).map_err(|error| io::Error::other(format!("{path}: {error}")))?;
        self.lender = Some(foreground);
        Ok(())
    }

    /// Gives the foreground back to the group that had it.
    pub fn restore(&mut self) {
        if let Some(lender) = self.lender.take()
            && tcgetpgrp(&self.file) == Ok(getpgrp())
        {
            // If that group has ended meanwhile, the shell takes the terminal back by itself.
            let _ = tcsetpgrp(&self.file, lender);
        }
    }

    /// Lends the foreground to a group that we have started, if we have it. [`Terminal::take_back`] must follow.
    fn lend(&self, to: Pid) {
        if tcgetpgrp(&self.file) == Ok(getpgrp()) {
            hold(&[Signal::SIGTTOU]);
            // This fails if that group has already ended.
            let _ = tcsetpgrp(&self.file, to);
        }
    }

    /// Takes the foreground back from a group that it was lent to.
    fn take_back(&self, from: Pid) {
        if tcgetpgrp(&self.file) == Ok(from) {
            let _ = tcsetpgrp(&self.file, getpgrp());
        }
    }

    /// Discards unread input.
    pub fn forget_input(&self) {
        forget_input(&self.file);
    }

    /// Its width in columns: that of the terminal, or COLUMNS, or 80.
    pub fn width(&self) -> usize {
        width(&self.file)
    }
}

/// Discards what was typed at a terminal and is not read yet.
pub fn forget_input(of: impl AsDescriptor) {
    // This fails only for a closed terminal, which its reader will notice.
    let _ = tcflush(of, FlushArg::TCIFLUSH);
}

/// Blocks signals of the terminal, for this thread and those it starts.
fn hold(signals: &[Signal]) {
    // This fails only for a wrong `how`, which nix provides.
    let _ = signal::hold(&signals.iter().copied().collect());
}

/// Blocks SIGTSTP for the complete process, as [`Terminal::borrow`] does, if a wrapper around us may lend us the foreground.
/// For commands that borrow later on a separate thread; call it before other threads are started.
pub fn expect_to_borrow() {
    if std::env::var_os(LENDERS).is_some_and(|lenders| !lenders.is_empty()) {
        hold(&[Signal::SIGTSTP]);
    }
}

/// Takes the foreground from a child's group that has ended without giving it back (it was killed), so that the shell
/// that waits for us is not left in the background.
pub fn reclaim(Group(group): &Group) {
    if let Ok(terminal) = File::open("/dev/tty")
        && tcgetpgrp(&terminal) == Ok(*group)
    {
        hold(&[Signal::SIGTTOU]);
        let _ = tcsetpgrp(&terminal, getpgrp());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_foreground_is_borrowed_only_from_a_listed_group() {
        assert!(may_borrow_from(Pid::from_raw(12), "7,12"));
        assert!(!may_borrow_from(Pid::from_raw(1), "7,12"));
        assert!(!may_borrow_from(Pid::from_raw(0), ""));
    }
}
