//! A terminal that we own only while we ask a person: its other user may be a full-screen program.

use super::Terminal;
use super::foreground::ForegroundProgram;
use super::lock::TerminalLock;
use super::mode::TerminalMode;
use crate::descriptor::AsDescriptor;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{InputFlags, LocalFlags, OutputFlags, tcdrain};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// The terminal in the foreground, locked against other asking processes, in a mode that echoes lines and lets them be edited. Its
/// state is restored when this is dropped.
#[derive(Debug)]
pub struct Asking {
    mode: TerminalMode,
    /// Lines are read from here without blocking: another process may have consumed the input.
    keyboard: File,
    /// The unfinished line.
    typed: Vec<u8>,
    /// Dropped last.
    _lock: TerminalLock,
}

/// How often to try to lock a terminal that another process uses.
const LOOK: Duration = Duration::from_millis(50);

/// The first input.
#[derive(Debug, PartialEq, Eq)]
pub enum TerminalInput {
    /// A line without its line end. Bytes that are not UTF-8 become `?`.
    Line(String),
    /// Ctrl-D on an empty line.
    End,
    /// The terminal was closed.
    Gone,
    /// The watched descriptor is readable.
    Woken,
}

impl Asking {
    /// Takes over the terminal as soon as no other process asks there. Until then, `wait` is called repeatedly: it waits for the
    /// given time, and returns whether to continue. Returns `None` if it returns false.
    ///
    /// # Errors
    /// If we may not read from it, see [`Terminal::borrow`], or it cannot be locked.
    pub fn begin(terminal: Terminal, mut wait: impl FnMut(Duration) -> bool) -> io::Result<Option<Asking>> {
        let path = terminal.path().to_owned();
        let failed = |error: io::Error| io::Error::other(format!("{}: {error}", path.display()));
        let lock = TerminalLock::open(&terminal).map_err(failed)?;
        while !lock.try_lock().map_err(failed)? {
            if !wait(LOOK) {
                return Ok(None);
            }
        }
        let flags = OFlag::O_NOCTTY | OFlag::O_NONBLOCK;
        let keyboard = OpenOptions::new().read(true).custom_flags(flags.bits()).open(&path).map_err(failed)?;
        let mode = TerminalMode::set(terminal, |lines| {
            lines.local_flags.insert(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ECHOE | LocalFlags::ISIG);
            lines.input_flags.insert(InputFlags::ICRNL);
            lines.input_flags.remove(InputFlags::IGNCR | InputFlags::INLCR);
            lines.output_flags.insert(OutputFlags::OPOST | OutputFlags::ONLCR);
        });
        Ok(Some(Asking { mode: mode?, keyboard, typed: Vec::new(), _lock: lock }))
    }

    /// Shows text, which must be printable.
    ///
    /// # Errors
    /// If the terminal was closed.
    pub fn show(&mut self, text: &str) -> io::Result<()> {
        self.mode.tty.write_all(text.as_bytes())
    }

    /// Waits until all output is shown, and discards earlier input: it cannot be an answer to a new question.
    pub fn forget_input(&mut self) {
        // This fails only for a closed terminal, which its reader will notice.
        let _ = tcdrain(self.mode.tty.as_fd());
        self.mode.terminal.forget_input();
        self.typed.clear();
    }

    /// Its width in columns.
    pub fn width(&self) -> usize {
        self.mode.terminal.width()
    }

    /// Waits for a line, or until `watched` has something to read.
    pub fn line(&mut self, watched: &impl AsDescriptor) -> TerminalInput {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.typed) {
                let line = self.typed.drain(..=end).collect::<Vec<_>>();
                return TerminalInput::Line(String::from_utf8_lossy(&line[..end]).replace('\u{fffd}', "?"));
            }
            let mut fds = [
                PollFd::new(self.mode.tty.as_fd(), PollFlags::POLLIN),
                PollFd::new(watched.as_fd(), PollFlags::POLLIN),
            ];
            match poll(&mut fds, PollTimeout::NONE) {
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(_) => return TerminalInput::Gone,
            }
            let [tty, watched] = fds.map(|fd| fd.revents().unwrap_or(PollFlags::empty()));
            if !watched.is_empty() {
                return TerminalInput::Woken;
            }
            if tty.intersects(PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL) {
                return TerminalInput::Gone;
            }
            if tty.contains(PollFlags::POLLIN) {
                let mut buffer = [0; 4096];
                match self.keyboard.read(&mut buffer) {
                    Ok(0) => return TerminalInput::End,
                    Ok(read) => self.typed.extend_from_slice(&buffer[..read]),
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                    Err(_) => return TerminalInput::Gone,
                }
            }
        }
    }

    /// Starts a program that owns the terminal until it ends.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(&mut self, command: &[OsString]) -> io::Result<ForegroundProgram<'_>> {
        // The program gets the terminal in its original state.
        self.mode.suspend();
        ForegroundProgram::start(command, &self.mode.terminal)
    }

    /// Takes the terminal back after a program owned it.
    pub fn resume(&mut self) {
        self.mode.resume();
        self.forget_input();
    }
}
