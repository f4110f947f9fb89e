//! stdin as a terminal that we read ourselves, key by key, for a complete run. A line editor in this process reads from another
//! terminal, which replaces its stdin. So no key is consumed before it is wanted, and the time of each key is known.

use crate::descriptor::{AsDescriptor, Descriptor};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::openpty;
use nix::sys::termios::{InputFlags, LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr};
use nix::unistd::dup2_stdin;
use std::io::{self, Read};
use std::time::Duration;

/// The person's terminal, with its original settings and ours: no echo, and Ctrl-C, Ctrl-S and the like are ordinary keys.
#[derive(Debug)]
pub struct RawStdin {
    tty: Descriptor,
    before: Termios,
    ours: Termios,
}

/// The first input.
#[derive(Debug)]
pub enum Typed {
    /// At least one key, as the bytes that the terminal sends.
    Bytes(Vec<u8>),
    /// The terminal was closed.
    Gone,
    /// The watched descriptor is readable.
    Woken,
    /// Nothing came in time.
    Late,
}

impl RawStdin {
    /// Applies our settings, and replaces stdin with another terminal; also returns the descriptor that feeds that terminal.
    ///
    /// # Errors
    /// If stdin is not a terminal, or the system has no pseudo-terminal left.
    pub fn begin() -> io::Result<(RawStdin, Descriptor)> {
        let tty = io::stdin().as_fd().try_clone_to_owned()?;
        let before = tcgetattr(&tty)?;
        let mut ours = before.clone();
        set_raw(&mut ours);
        let other = openpty(None, None)?;
        let mut settings = tcgetattr(&other.slave)?;
        set_raw(&mut settings);
        tcsetattr(&other.slave, SetArg::TCSANOW, &settings)?;
        dup2_stdin(&other.slave)?;
        let raw = RawStdin { tty: Descriptor::new(tty), before, ours };
        raw.enter();
        Ok((raw, Descriptor::new(other.master)))
    }

    /// The same terminal, for another thread.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn try_clone(&self) -> io::Result<RawStdin> {
        let tty = Descriptor::copy(&self.tty)?;
        Ok(RawStdin { tty, before: self.before.clone(), ours: self.ours.clone() })
    }

    /// Applies our settings.
    pub fn enter(&self) {
        // This fails only for a closed terminal, which its reader will notice.
        let _ = tcsetattr(&self.tty, SetArg::TCSADRAIN, &self.ours);
    }

    /// Restores the original settings. Does not wait until output is shown, because a terminal on hold (Ctrl-S) shows no more output.
    pub fn restore(&self) {
        let _ = tcsetattr(&self.tty, SetArg::TCSANOW, &self.before);
    }

    /// Waits for keys (if `wanted`), or until `watched` is readable, for at most `time`.
    pub fn typed(&mut self, wanted: bool, watched: &impl AsDescriptor, time: Option<Duration>) -> Typed {
        let time = time.map_or(PollTimeout::NONE, |time| PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX));
        let keys = if wanted { PollFlags::POLLIN } else { PollFlags::empty() };
        let mut fds = [PollFd::new(self.tty.as_fd(), keys), PollFd::new(watched.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, time) {
            Ok(0) | Err(nix::errno::Errno::EINTR) => return Typed::Late,
            Ok(_) => {}
            Err(_) => return Typed::Gone,
        }
        let [keys, watched] = fds.map(|fd| fd.revents().unwrap_or(PollFlags::empty()));
        if !watched.is_empty() {
            return Typed::Woken;
        }
        if keys.is_empty() {
            return Typed::Late;
        }
        let mut bytes = [0; 4096];
        match self.tty.read(&mut bytes) {
            Ok(read) if read > 0 => Typed::Bytes(bytes[..read].to_vec()),
            _ => Typed::Gone,
        }
    }
}

fn set_raw(settings: &mut Termios) {
    settings.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG | LocalFlags::IEXTEN);
    settings.input_flags.remove(InputFlags::IXON | InputFlags::ICRNL);
    settings.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
    settings.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
}
