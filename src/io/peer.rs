//! The process at the other end of a Unix socket, as the kernel names it: what a file says of it could have been written by somebody else.

use nix::sys::socket::{Backlog, listen};
use nix::unistd::{Uid, getuid};
use std::io;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// Makes this process the one that clients find behind a listening socket that another process has made: it is the one that has called
/// listen(2) last (unix(7), `SO_PEERCRED`).
///
/// # Errors
/// Where the socket does not listen.
pub fn accept_as_this_process(listener: &UnixListener) -> io::Result<()> {
    // As many as std has waiting for accept(2).
    Ok(listen(listener, Backlog::MAXALLOWABLE)?)
}

/// Connects to a socket, at once or not at all.
///
/// # Errors
/// `WouldBlock` where so many connections wait there to be accepted that connect(2) would wait, too; else what the system says.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    connect(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Connects to a socket. Only Linux waits where many connections wait to be accepted.
///
/// # Errors
/// What the system says.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(path)
}

/// Checks that the peer is a process of this user.
///
/// # Errors
/// `PermissionDenied` where it is not.
pub fn check_user(stream: &UnixStream) -> io::Result<()> {
    let peer = user(stream)?;
    if peer == getuid() {
        return Ok(());
    }
    let message = format!("the process at the other end belongs to another user, {peer}");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn credentials(stream: &UnixStream) -> io::Result<nix::sys::socket::UnixCredentials> {
    Ok(nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials)?)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn user(stream: &UnixStream) -> io::Result<Uid> {
    Ok(Uid::from_raw(credentials(stream)?.uid()))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn user(stream: &UnixStream) -> io::Result<Uid> {
    Ok(nix::unistd::getpeereid(stream)?.0)
}

/// The process id of the peer; none where the system does not tell.
///
/// # Errors
/// Where it is in another pid namespace, and so has no number here.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn process(stream: &UnixStream) -> io::Result<Option<i32>> {
    match credentials(stream)?.pid() {
        pid if pid > 0 => Ok(Some(pid)),
        _ => Err(io::Error::other("the process at the other end is in another pid namespace")),
    }
}

/// The process id of the peer; none where the system does not tell.
///
/// # Errors
/// None here.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn process(_: &UnixStream) -> io::Result<Option<i32>> {
    Ok(None)
}

/// Whether the process that has made the socket listen still runs: then [`process`] is its number and no other's. On kernels before
/// Linux 6.5 that cannot be known, and is taken to be so.
///
/// # Errors
/// What the system says.
#[cfg(target_os = "linux")]
pub fn is_running(stream: &UnixStream) -> io::Result<bool> {
    use nix::errno::Errno;
    match nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerPidfd) {
        // It can be read once the process has ended (pidfd_open(2)).
        Ok(process) => Ok(!super::descriptor::wait_readable(&process, std::time::Duration::ZERO)),
        Err(Errno::ENOPROTOOPT) => Ok(true),
        // It has ended, and was waited for.
        Err(Errno::ESRCH | Errno::EINVAL | Errno::ENODATA) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether the process that has made the socket listen still runs: that cannot be known here.
///
/// # Errors
/// None here.
#[cfg(not(target_os = "linux"))]
pub fn is_running(_: &UnixStream) -> io::Result<bool> {
    Ok(true)
}
