//! stdin as a terminal whose keys are read as they are struck, for a whole run. A line editor that is used in between finds these settings, and
//! leaves them.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr};
use nix::unistd::read;
use std::io;
use std::os::fd::AsFd;

/// The settings before, and ours: nothing that is typed is shown, and Ctrl-C and its like are keys and no signals.
#[derive(Debug, Clone)]
pub struct RawStdin {
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
}

impl RawStdin {
    /// Takes the settings over.
    ///
    /// # Errors
    /// Where stdin is no terminal.
    pub fn begin() -> io::Result<RawStdin> {
        let before = tcgetattr(io::stdin())?;
        let mut ours = before.clone();
        ours.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG | LocalFlags::IEXTEN);
        ours.control_chars[SpecialCharacterIndices::VMIN as usize] = 1;
        ours.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
        let raw = RawStdin { before, ours };
        raw.enter();
        Ok(raw)
    }

    /// Has our settings again.
    pub fn enter(&self) {
        // A terminal that refuses has gone, which its reader finds out.
        let _ = tcsetattr(io::stdin(), SetArg::TCSADRAIN, &self.ours);
    }

    /// Has the settings that were there before. It does not wait until what was written is shown: a terminal that is held (Ctrl-S) shows
    /// nothing more.
    pub fn restore(&self) {
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &self.before);
    }
}

/// Waits for keys, or until `watched` has something to read.
pub fn typed(watched: &impl AsFd) -> Typed {
    let stdin = io::stdin();
    loop {
        let mut fds = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN), PollFd::new(watched.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) => {}
            Err(nix::errno::Errno::EINTR) => continue,
            Err(_) => return Typed::Gone,
        }
        let [keys, watched] = fds.map(|fd| fd.revents().unwrap_or(PollFlags::empty()));
        if !watched.is_empty() {
            return Typed::Woken;
        }
        if !keys.is_empty() {
            let mut bytes = [0; 4096];
            return match read(&stdin, &mut bytes) {
                Ok(read) if read > 0 => Typed::Bytes(bytes[..read].to_vec()),
                _ => Typed::Gone,
            };
        }
    }
}
