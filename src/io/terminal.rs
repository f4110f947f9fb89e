//! The terminal of a person: opens it, borrows the foreground from a wrapper around us, and makes untrusted text
//! safe to print.
//!
//! # Borrowing the foreground
//! A wrapper puts its child into a new process group, and the kernel stops a process that reads the
//! terminal from a group that is not in the foreground. So each wrapper passes the id of its group to its child in the
//! environment ([`LENDERS`]), and a process that wants to ask takes the foreground only from a group that is listed
//! there: a background job must not take the terminal from the shell.

use super::report::{Failure, Status};
use super::signal;
use nix::fcntl::OFlag;
use nix::sys::signal::Signal;
use nix::sys::termios::{FlushArg, tcflush};
use nix::unistd::{Pid, getpgrp, isatty, tcgetpgrp, tcsetpgrp};
use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

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
    /// [`Status::NotStarted`] if there is no terminal; the message explains how to get one.
    pub fn open(path: &Path) -> Result<Terminal, Failure> {
        let opened = OpenOptions::new().read(true).write(true).custom_flags(OFlag::O_NOCTTY.bits()).open(path);
        let why = match opened {
            Ok(file) if isatty(&file) == Ok(true) => {
                return Ok(Terminal { file, path: path.to_owned(), lender: None });
            }
            Ok(_) => "it is not a terminal".to_owned(),
            Err(error) => error.to_string(),
        };
        let path = path.display();
        Err(Failure::new(
            Status::NotStarted,
            format_args!(
                "no terminal to ask at: {path}: {why}; start from a terminal, or open one, \
                 type `tty; sleep 1d` there, and give the path it prints with --tty"
            ),
        ))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A new descriptor to read from or write to.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn descriptor(&self) -> io::Result<super::descriptor::Descriptor> {
        Ok(OwnedFd::from(self.file.try_clone()?).into())
    }

    /// For the streams of a program that is started at this terminal.
    pub(super) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Takes the foreground if a wrapper around us has it (see the module). Call it before other threads
    /// are started: it blocks SIGTTIN. If it borrows, it also blocks SIGTTOU, and SIGTSTP, which would stop only us
    /// without the knowledge of the shell that waits for the wrapper.
    ///
    /// # Errors
    /// [`Status::NotStarted`] if we run in the background of a shell: the kernel would stop our process group
    /// at the first read.
    pub fn borrow(&mut self) -> Result<(), Failure> {
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
            let message = format_args!(
                "{path}: this command runs in the background of this terminal; bring it to the foreground (fg), or name another \
                 terminal with --tty"
            );
            return Err(Failure::new(Status::NotStarted, message));
        }
        hold(&[Signal::SIGTTOU, Signal::SIGTSTP]);
        tcsetpgrp(&self.file, own)
            .map_err(|error| Failure::new(Status::NotStarted, format_args!("{path}: {error}")))?;
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
    pub(super) fn lend(&self, to: Pid) {
        if tcgetpgrp(&self.file) == Ok(getpgrp()) {
            hold(&[Signal::SIGTTOU]);
            // This fails if that group has already ended.
            let _ = tcsetpgrp(&self.file, to);
        }
    }

    /// Takes the foreground back from a group that it was lent to.
    pub(super) fn take_back(&self, from: Pid) {
        if tcgetpgrp(&self.file) == Ok(from) {
            let _ = tcsetpgrp(&self.file, getpgrp());
        }
    }

    /// Discards unread input.
    pub fn forget_input(&self) {
        // This fails only for a closed terminal, which its reader will notice.
        let _ = tcflush(&self.file, FlushArg::TCIFLUSH);
    }

    /// Its width in columns: that of the terminal, or COLUMNS, or 80.
    pub fn width(&self) -> usize {
        width(&self.file)
    }
}

/// The width in columns of a descriptor: that of the terminal if it is one, or COLUMNS, or 80.
pub fn width(of: impl AsFd) -> usize {
    let own = terminal_size::terminal_size_of(of).map(|(width, _)| usize::from(width.0));
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok();
    own.filter(|&width| width > 0).or_else(asked).unwrap_or(80)
}

/// The rows of a descriptor: those of the terminal if it is one, or 24.
pub fn height(of: impl AsFd) -> usize {
    let own = terminal_size::terminal_size_of(of).map(|(_, height)| usize::from(height.0));
    own.filter(|&height| height > 0).unwrap_or(24)
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
pub fn reclaim(group: Pid) {
    if let Ok(terminal) = File::open("/dev/tty")
        && tcgetpgrp(&terminal) == Ok(group)
    {
        hold(&[Signal::SIGTTOU]);
        let _ = tcsetpgrp(&terminal, getpgrp());
    }
}

/// Makes untrusted text safe to show. Control characters (they control terminals), marks that change the writing direction,
/// and other invisible characters (zero-width characters, tags, fillers: two texts that differ in them look alike) become `?`.
/// So do line breaks: untrusted text must not begin a line.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let shown = |character| if is_printable(character) { character } else { '?' };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Whether it is a visible character, a space or a tab.
pub fn is_printable(character: char) -> bool {
    match character {
        '\t' => true,
        // Line and paragraph separators, and marks around annotations.
        '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' => false,
        _ => !character.is_control() && !is_ignorable(character),
    }
}

/// Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt), which includes all marks that change the writing direction.
fn is_ignorable(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_cannot_steer_the_terminal() {
        assert_eq!(printable("Strike+ (1) 打击"), "Strike+ (1) 打击");
        assert_eq!(printable("a\x1b[2Jb\x07\u{9b}1m"), "a?[2Jb??1m");
        assert_eq!(printable("x\u{202e}y\r\nz"), "x?y??z");
        assert_eq!(printable("\u{feff}a\u{200b}b\u{ad}c\u{61c}d\u{2066}e\u{2028}f"), "?a?b?c?d?e?f");
        assert_eq!(printable("a\u{e0041}b\u{3164}c\u{180e}d\u{fe0f}e\u{fffa}"), "a?b?c?d?e?");
        assert_eq!(printable("Löschen, удалить, 삭제, حذف, é"), "Löschen, удалить, 삭제, حذف, é");
    }

    #[test]
    fn the_foreground_is_borrowed_only_from_a_listed_group() {
        assert!(may_borrow_from(Pid::from_raw(12), "7,12"));
        assert!(!may_borrow_from(Pid::from_raw(1), "7,12"));
        assert!(!may_borrow_from(Pid::from_raw(0), ""));
    }
}
