//! The standard descriptors, read and written directly: std's own buffers would hide from us when bytes
//! move. Owns the retries: an interrupted call is made again, and a descriptor that somebody else
//! set non-blocking (it is shared with siblings, so we may not set it back) is waited for.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A descriptor to read from or write to.
#[derive(Debug)]
pub struct Descriptor(File);

/// Our standard input. (A closed one is /dev/null: the runtime opens it before `main`.)
///
/// # Errors
/// Where the process has no descriptor left.
pub fn stdin() -> io::Result<Descriptor> {
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

/// Lets go of our standard input: whoever writes to it finds the pipe closed, once nobody else here reads it.
pub fn close_stdin() {
    if let Ok(null) = File::open("/dev/null") {
        // It fails only where the kernel can't, and then it stays open until we end.
        let _ = nix::unistd::dup2_stdin(null);
    }
}

/// Our standard output.
///
/// # Errors
/// Where the process has no descriptor left.
pub fn stdout() -> io::Result<Descriptor> {
    Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
}

/// Our standard error, for what a child says on its own. (What we say ourselves goes through
/// [`Report`](super::report::Report).)
///
/// # Errors
/// Where the process has no descriptor left.
pub fn stderr() -> io::Result<Descriptor> {
    Ok(io::stderr().as_fd().try_clone_to_owned()?.into())
}

impl From<OwnedFd> for Descriptor {
    fn from(descriptor: OwnedFd) -> Descriptor {
        Descriptor(File::from(descriptor))
    }
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Descriptor {
    /// Waits for the descriptor where `error` says that it only isn't ready; any other error comes back.
    fn wait_for(&self, ready: PollFlags, error: io::Error) -> io::Result<()> {
        match error.kind() {
            ErrorKind::Interrupted => Ok(()),
            ErrorKind::WouldBlock => {
                let mut fds = [PollFd::new(self.0.as_fd(), ready)];
                match poll(&mut fds, PollTimeout::NONE) {
                    Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
                    Err(error) => Err(error.into()),
                }
            }
            _ => Err(error),
        }
    }
}

/// Waits at most this long for something to read, or the end, and says whether it came.
pub fn wait_readable(from: &impl AsFd, time: Duration) -> bool {
    let mut fds = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
    let time = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    // What can't be waited for is read, and says why.
    !matches!(poll(&mut fds, time), Ok(0))
}

impl Descriptor {
    /// Closes it. Where it is a socket, its other end sees the end of what we write even if somebody here still reads from it.
    pub(super) fn close(self) {
        // It fails where this is no socket, or the other end has gone.
        let _ = UnixStream::from(OwnedFd::from(self.0)).shutdown(Shutdown::Write);
    }

    /// Whether a little (`PIPE_BUF`, 4096 bytes or more) can be written without waiting for the reader, or a write would fail.
    pub fn takes_a_little(&self) -> bool {
        let mut fds = [PollFd::new(self.0.as_fd(), PollFlags::POLLOUT)];
        !matches!(poll(&mut fds, PollTimeout::ZERO), Ok(0))
    }
}

impl Read for Descriptor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Ok(read) => return Ok(read),
                Err(error) => self.wait_for(PollFlags::POLLIN, error)?,
            }
        }
    }
}

impl Write for Descriptor {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Ok(written) => return Ok(written),
                Err(error) => self.wait_for(PollFlags::POLLOUT, error)?,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
