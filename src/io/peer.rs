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
