//! The standard descriptors, read and written directly: std's buffers would hide when bytes
//! move. Handles the retries: an interrupted call is repeated, and a descriptor that another process has
//! set non-blocking (it is shared with siblings, so we may not reset it) is waited for.

pub use crate::about::About;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
/// What has a descriptor: a file, a pipe, a socket, a terminal.
pub use std::os::fd::AsFd as AsDescriptor;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// A descriptor to read from or write to.
#[derive(Debug)]
pub struct Descriptor(File);

/// Our standard input. (A closed one is /dev/null: the runtime opens it before `main`.)
///
/// # Errors
/// If the process has no descriptor left.
pub fn stdin() -> io::Result<Descriptor> {
    Descriptor::copy(io::stdin())
}

/// Closes our standard input, so that its writer gets a broken pipe once no other thread here reads it.
pub fn close_stdin() {
    if let Ok(null) = File::open("/dev/null") {
        // If this fails, stdin stays open until we end.
        let _ = nix::unistd::dup2_stdin(null);
    }
}

/// Our standard output.
///
/// # Errors
/// If the process has no descriptor left.
pub fn stdout() -> io::Result<Descriptor> {
    Descriptor::copy(io::stdout())
}

/// Whether our standard output is the null device. (A closed one is, as the standard input.)
///
/// # Errors
/// If its properties cannot be read.
pub fn stdout_is_null_device() -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?).metadata()?;
    Ok(std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == output.rdev()))
}

/// Our standard error, for the stderr of a child.
///
/// # Errors
/// If the process has no descriptor left.
pub fn stderr() -> io::Result<Descriptor> {
    Descriptor::copy(io::stderr())
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Descriptor {
    /// That of a file, a pipe, a socket or the like.
    pub fn new(of: impl Into<OwnedFd>) -> Descriptor {
        Descriptor(File::from(of.into()))
    }

    /// Another descriptor of the same file, pipe or the like.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn copy(of: impl AsDescriptor) -> io::Result<Descriptor> {
        Ok(Descriptor::new(of.as_fd().try_clone_to_owned()?))
    }

    /// It as a file.
    pub fn into_file(self) -> File {
        self.0
    }

    /// What the system says about it.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn about(&self) -> io::Result<About> {
        let about = self.0.metadata()?;
        Ok(About { is_folder: about.is_dir(), length: about.is_file().then_some(about.len()) })
    }

    /// Waits for the descriptor if `error` means that it is not ready; returns any other error.
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

/// The peer of a socket will send nothing more: for our reader, that is the end.
#[cfg(target_os = "linux")]
const HALF_CLOSED: PollFlags = PollFlags::from_bits_retain(nix::libc::POLLRDHUP);
#[cfg(not(target_os = "linux"))]
const HALF_CLOSED: PollFlags = PollFlags::empty();

/// Waits at most this long for input or the end of it; returns whether it came.
pub fn wait_readable(from: &impl AsDescriptor, time: Duration) -> bool {
    let mut fds = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
    let time = PollTimeout::try_from(time).unwrap_or(PollTimeout::MAX);
    // If polling fails, the read that follows reports why.
    !matches!(poll(&mut fds, time), Ok(0))
}

impl Descriptor {
    /// Closes it. The peer of a socket gets the end of our output even if another thread here still reads from the socket.
    pub fn close(self) {
        // This fails if it is not a socket, or the peer has disconnected.
        let _ = UnixStream::from(OwnedFd::from(self.0)).shutdown(Shutdown::Write);
    }

    /// Waits until its peer has hung up; with `also_half`, or a socket's peer has closed its own output (on Linux). Returns false if
    /// that cannot be detected (a file).
    pub fn wait_for_hang_up(&self, also_half: bool) -> bool {
        let wanted = if also_half { HALF_CLOSED } else { PollFlags::empty() };
        loop {
            let mut fds = [PollFd::new(self.0.as_fd(), wanted)];
            match poll(&mut fds, PollTimeout::NONE) {
                Ok(_) => {
                    // `None` stands for a flag that nix does not know, which is the one that we requested.
                    return fds[0]
                        .revents()
                        .is_none_or(|what| what.intersects(PollFlags::POLLERR | PollFlags::POLLHUP | wanted));
                }
                Err(nix::errno::Errno::EINTR) => {}
                Err(_) => return false,
            }
        }
    }

    /// Whether a small write (`PIPE_BUF`, 4096 bytes or more) would not block, because there is room or because it would fail.
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
