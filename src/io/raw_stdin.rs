//! stdin as a terminal that we read ourselves, key by key, for a whole run, while a line editor in this process reads what it is given: its stdin is
//! another terminal. So nothing that is typed is taken before it is wanted, and when it was typed is known.

use super::descriptor::Descriptor;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::openpty;
use nix::sys::termios::{InputFlags, LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr};
use nix::unistd::dup2_stdin;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::time::Duration;

/// The person's terminal, with its settings before, and ours: nothing that is typed is shown, and Ctrl-C, Ctrl-S and their like are keys.
#[derive(Debug)]
pub struct RawStdin {
    tty: Descriptor,
    before: Termios,
    ours: Termios,
}

/// What came first.
#[derive(Debug)]
pub enum Typed {
    /// Keys, at least one, as the terminal sends them.
    Bytes(Vec<u8>),
    /// The terminal is there no more.
    Gone,
    /// There is something to read from the descriptor that was watched.
    Woken,
    /// Nothing came in time.
    Late,
}

impl RawStdin {
    /// Takes the settings over, and makes stdin another terminal; gives also where that is written to.
    ///
    /// # Errors
    /// Where stdin is no terminal, or the system has no other one.
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
        let raw = RawStdin { tty: tty.into(), before, ours };
        raw.enter();
        Ok((raw, other.master.into()))
    }

    /// The same terminal, for another thread.
    ///
    /// # Errors
    /// Where the process has no descriptor left.
    pub fn try_clone(&self) -> io::Result<RawStdin> {
        let tty = self.tty.as_fd().try_clone_to_owned()?.into();
        Ok(RawStdin { tty, before: self.before.clone(), ours: self.ours.clone() })
    }

    /// Has our settings again.
    pub fn enter(&self) {
        // A terminal that refuses has gone, which its reader finds out.
        let _ = tcsetattr(&self.tty, SetArg::TCSADRAIN, &self.ours);
    }

    /// Has the settings that were there before. It does not wait until what was written is shown: a terminal that is held shows nothing more.
    pub fn restore(&self) {
        let _ = tcsetattr(&self.tty, SetArg::TCSANOW, &self.before);
    }

    /// Waits for keys, where they are `wanted`, or until `watched` has something to read, for at most this time.
    pub fn typed(&mut self, wanted: bool, watched: &impl AsFd, time: Option<Duration>) -> Typed {
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
