//! The terminal of a person: found, borrowed where we are a child of a child, and protected from what others
//! want printed on it.
//!
//! # Borrowing the foreground
//! A wrapper puts its child into a process group of its own, and the kernel stops a process that reads the
//! terminal from a group that isn't in the foreground. So each wrapper names its group to its child in the
//! environment ([`LENDERS`]), and who wants to ask takes the foreground from a group that is named there, and
//! from no other: a job that a shell put into the background is not to take the terminal from the shell.

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

/// The environment variable in which wrappers name their process groups, outermost first, with commas.
pub const LENDERS: &str = "PIPEWRIGHT_FOREGROUND";

/// What a wrapper hands to its child in [`LENDERS`]: whoever it was itself handed, and its own group.
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
    /// [`Status::NotStarted`] where there is no terminal: the message says how to get one.
    pub fn open(path: &Path) -> Result<Terminal, Failure> {
        let opened = OpenOptions::new().read(true).write(true).custom_flags(OFlag::O_NOCTTY.bits()).open(path);
        let why = match opened {
            Ok(file) if isatty(&file) == Ok(true) => {
                return Ok(Terminal { file, path: path.to_owned(), lender: None });
            }
            Ok(_) => "it is no terminal".to_owned(),
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

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A descriptor of its own, to read from or write to.
    ///
    /// # Errors
    /// Where the process has no descriptor left.
    pub fn descriptor(&self) -> io::Result<super::descriptor::Descriptor> {
        Ok(OwnedFd::from(self.file.try_clone()?).into())
    }

    /// For the streams of a program that is started at this terminal.
    pub(super) fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Takes the foreground where a wrapper around us has it (see the module). Call it before other threads
    /// are started: it holds back SIGTTIN; and where it borrows, SIGTTOU, and SIGTSTP, which would stop us alone
    /// while the shell that waits for the wrapper would never know.
    ///
    /// # Errors
    /// [`Status::NotStarted`] where we run in the background of a shell: the kernel would stop us, and all that runs with
    /// us, at the first read.
    pub fn borrow(&mut self) -> Result<(), Failure> {
        let own = getpgrp();
        // An error says that this terminal isn't the one we were started from: nobody is stopped for reading it.
        let Ok(foreground) = tcgetpgrp(&self.file) else {
            return Ok(());
        };
        // Should the foreground be lost later, a read fails, which ends us, and doesn't stop us.
        hold(&[Signal::SIGTTIN]);
        if foreground == own {
            return Ok(());
        }
        let path = self.path.display();
        if !may_borrow_from(foreground, &std::env::var(LENDERS).unwrap_or_default()) {
            let message = format_args!(
                "{path}: we run in the background of this terminal; come to the foreground (fg), or name another \
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

    /// Gives the foreground back to who had it.
    pub fn restore(&mut self) {
        if let Some(lender) = self.lender.take()
            && tcgetpgrp(&self.file) == Ok(getpgrp())
        {
            // It may have ended meanwhile; then the shell takes the terminal back by itself.
            let _ = tcsetpgrp(&self.file, lender);
        }
    }

    /// Lends the foreground to a group that we have started; nothing where it isn't ours to lend. [`Terminal::take_back`] is to follow.
    pub(super) fn lend(&self, to: Pid) {
        if tcgetpgrp(&self.file) == Ok(getpgrp()) {
            hold(&[Signal::SIGTTOU]);
            // It fails where that group has ended already.
            let _ = tcsetpgrp(&self.file, to);
        }
    }

    /// Takes the foreground back from a group that it was lent to.
    pub(super) fn take_back(&self, from: Pid) {
        if tcgetpgrp(&self.file) == Ok(from) {
            let _ = tcsetpgrp(&self.file, getpgrp());
        }
    }

    /// Forgets what was typed and not yet read.
    pub fn forget_input(&self) {
        // A terminal that refuses has gone, which its reader finds out.
        let _ = tcflush(&self.file, FlushArg::TCIFLUSH);
    }

    /// Its width in columns: the terminal's own, else COLUMNS, else 80.
    pub fn width(&self) -> usize {
        width(&self.file)
    }
}

/// The width in columns of what may be a terminal: its own, else COLUMNS, else 80.
pub fn width(of: impl AsFd) -> usize {
    let own = terminal_size::terminal_size_of(of).map(|(width, _)| usize::from(width.0));
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok();
    own.filter(|&width| width > 0).or_else(asked).unwrap_or(80)
}

/// The rows of what may be a terminal; 24 where it does not say.
pub fn height(of: impl AsFd) -> usize {
    let own = terminal_size::terminal_size_of(of).map(|(_, height)| usize::from(height.0));
    own.filter(|&height| height > 0).unwrap_or(24)
}

/// Holds back signals of the terminal, for this thread and those it starts.
fn hold(signals: &[Signal]) {
    // It fails only for a wrong `how`, which is nix's.
    let _ = signal::hold(&signals.iter().copied().collect());
}

/// Where a wrapper around us may lend us the foreground: holds back SIGTSTP, as [`Terminal::borrow`] does, for the whole process.
/// For who borrows later, on a thread of its own; call it before other threads are started.
pub fn expect_to_borrow() {
    if std::env::var_os(LENDERS).is_some_and(|lenders| !lenders.is_empty()) {
        hold(&[Signal::SIGTSTP]);
    }
}

/// Takes the foreground from a child's group that has ended without giving it back (it was killed), so that whoever
/// waits for us isn't left in the background.
pub fn reclaim(group: Pid) {
    if let Ok(terminal) = File::open("/dev/tty")
        && tcgetpgrp(&terminal) == Ok(group)
    {
        hold(&[Signal::SIGTTOU]);
        let _ = tcsetpgrp(&terminal, getpgrp());
    }
}

/// Text from elsewhere as it may be shown: control characters (they steer terminals), the marks that turn writing direction,
/// and whatever else isn't seen (zero-width characters, tags, fillers: two texts that differ in them look alike) become `?`; a
/// line break too, so that nobody else's text begins a line.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let shown = |character| if is_printable(character) { character } else { '?' };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Whether a terminal takes it for a character to show, or a tab.
pub fn is_printable(character: char) -> bool {
    match character {
        '\t' => true,
        // Line and paragraph separators, and marks around annotations.
        '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' => false,
        _ => !character.is_control() && !is_ignorable(character),
    }
}

/// Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt), all of what turns writing direction among them.
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
    fn only_a_named_group_lends() {
        assert!(may_borrow_from(Pid::from_raw(12), "7,12"));
        assert!(!may_borrow_from(Pid::from_raw(1), "7,12"));
        assert!(!may_borrow_from(Pid::from_raw(0), ""));
    }
}
