//! The peer process of a Unix socket, identified by the kernel: a file with a process id could have been written by any process.

use nix::sys::socket::{Backlog, listen};
use nix::unistd::{Uid, getuid};
use std::io;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

/// Makes this process the peer that clients of an inherited listening socket see: the last process that called
/// listen(2) (unix(7), `SO_PEERCRED`).
///
/// # Errors
/// If the socket does not listen.
pub fn accept_as_this_process(listener: &UnixListener) -> io::Result<()> {
    // The same backlog as in std.
    Ok(listen(listener, Backlog::MAXALLOWABLE)?)
}

/// Connects to a socket without blocking.
///
/// # Errors
/// `WouldBlock` if the backlog of the socket is full, so that connect(2) would block; otherwise any error of the system.
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

/// Connects to a socket. Only on Linux does connect(2) block when the backlog is full.
///
/// # Errors
/// Any error of the system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(path)
}

/// Checks that the peer is a process of this user.
///
/// # Errors
/// `PermissionDenied` if it is not.
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

/// The process id of the peer; `None` if the system does not provide it.
///
/// # Errors
/// If the peer is in another pid namespace, and so has no process id here.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn process(stream: &UnixStream) -> io::Result<Option<i32>> {
    match credentials(stream)?.pid() {
        pid if pid > 0 => Ok(Some(pid)),
        _ => Err(io::Error::other("the process at the other end is in another pid namespace")),
    }
}

/// The process id of the peer; `None`, since this system does not provide it.
///
/// # Errors
/// None on this system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn process(_: &UnixStream) -> io::Result<Option<i32>> {
    Ok(None)
}

/// Whether the process that made the socket listen still runs: only then is [`process`] certainly its process id. On kernels before
/// Linux 6.5 this is not known, and assumed to be true.
///
/// # Errors
/// Any error of the system.
#[cfg(target_os = "linux")]
pub fn is_running(stream: &UnixStream) -> io::Result<bool> {
    use nix::errno::Errno;
    match nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerPidfd) {
        // A pidfd becomes readable when the process ends (pidfd_open(2)).
        Ok(process) => Ok(!super::descriptor::wait_readable(&process, std::time::Duration::ZERO)),
        Err(Errno::ENOPROTOOPT) => Ok(true),
        // It has ended and was reaped.
        Err(Errno::ESRCH | Errno::EINVAL | Errno::ENODATA) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether the process that made the socket listen still runs: not known on this system, and assumed to be true.
///
/// # Errors
/// None on this system.
#[cfg(not(target_os = "linux"))]
pub fn is_running(_: &UnixStream) -> io::Result<bool> {
    Ok(true)
}
