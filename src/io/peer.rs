//! The process at the other end of a Unix socket, as the kernel names it: what a file says of it could have been written by somebody else.

use nix::sys::socket::{Backlog, listen};
use nix::unistd::{Uid, getuid};
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};

/// Makes this process the one that clients find behind a listening socket that another process has made: it is the one that has called
/// listen(2) last (unix(7), `SO_PEERCRED`).
///
/// # Errors
/// Where the socket does not listen.
pub fn accept_as_this_process(listener: &UnixListener) -> io::Result<()> {
    // As many as std has waiting for accept(2).
    Ok(listen(listener, Backlog::MAXALLOWABLE)?)
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
    let message = format!("the process that listens there belongs to another user, {peer}");
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
        _ => Err(io::Error::other("the process that listens there is in another pid namespace")),
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
