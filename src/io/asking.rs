//! A terminal that is ours while a person is asked something, and no longer: another process that has it may be a full-screen program.

use super::foreground::ForegroundProgram;
use super::report::{Failure, Status};
use super::terminal::Terminal;
use super::terminal_lock::TerminalLock;
use super::terminal_mode::TerminalMode;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{InputFlags, LocalFlags, OutputFlags, tcdrain};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// The terminal in the foreground, with lines that are shown and can be corrected as they are typed, and locked: no other process asks
/// there. It is put back as it was when this is dropped.
#[derive(Debug)]
pub struct Asking {
    mode: TerminalMode,
    /// Where lines are read, without waiting: another process may have read what was there.
    keyboard: File,
    /// What has come of a line.
    typed: Vec<u8>,
    /// Let go of last.
    _lock: TerminalLock,
}

/// A terminal that another process has is tried again so often.
const LOOK: Duration = Duration::from_millis(50);

/// What came first.
#[derive(Debug, PartialEq, Eq)]
pub enum TerminalInput {
    /// A line, without its end. What is no UTF-8 is `?`.
    Line(String),
    /// Ctrl-D on an empty line.
    End,
    /// The terminal is there no more.
    Gone,
    /// There is something to read from the descriptor that was watched.
    Woken,
}

impl Asking {
    /// Takes the terminal over, once no other process asks there. Until then, `wait` is called: it waits for this time, and says
    /// whether to go on; where it doesn't, there is none.
    ///
    /// # Errors
    /// [`Status::NotStarted`] where it isn't ours to read, see [`Terminal::borrow`], or cannot be locked.
    pub fn begin(terminal: Terminal, mut wait: impl FnMut(Duration) -> bool) -> Result<Option<Asking>, Failure> {
        let path = terminal.path().to_owned();
        let failed = |error| Failure::new(Status::NotStarted, format_args!("{}: {error}", path.display()));
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
    /// Where the terminal has gone.
    pub fn show(&mut self, text: &str) -> io::Result<()> {
        self.mode.tty.write_all(text.as_bytes())
    }

    /// Forgets what was typed so far: it can be no answer to what is asked only now. Waits until that is shown.
    pub fn forget_input(&mut self) {
        // A terminal that refuses has gone, which its reader finds out.
        let _ = tcdrain(self.mode.tty.as_fd());
        self.mode.terminal.forget_input();
        self.typed.clear();
    }

    /// Its width in columns.
    pub fn width(&self) -> usize {
        self.mode.terminal.width()
    }

    /// Waits for a line, or until `watched` has something to read.
    pub fn line(&mut self, watched: &impl AsFd) -> TerminalInput {
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

    /// Starts a program that has the terminal until it ends.
    ///
    /// # Errors
    /// [`Status::NotStarted`] where it can't be started.
    pub fn start(&mut self, command: &[OsString]) -> Result<ForegroundProgram<'_>, Failure> {
        // It finds the terminal as it was.
        self.mode.suspend();
        ForegroundProgram::start(command, &self.mode.terminal)
    }

    /// Has the terminal again, after a program had it.
    pub fn resume(&mut self) {
        self.mode.resume();
        self.forget_input();
    }
}
