//! Sockets between processes of one machine, which have a path, and the process at the other end, identified by the kernel: a file
//! with a process id could have been written by any process.

use crate::descriptor;
use nix::sys::socket::{Backlog, shutdown};
use nix::unistd::{Uid, geteuid};
use std::fs::{self, Permissions};
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
/// A socket that listens at a path.
pub use std::os::unix::net::UnixListener as Listener;
/// A connection to such a socket.
pub use std::os::unix::net::UnixStream as Stream;
use std::path::Path;

/// Our standard input as a socket that listens, which another process has created. From now on, its clients see this process as
/// their peer: the last process that called listen(2) (unix(7), `SO_PEERCRED`).
///
/// # Errors
/// If it is not a socket that listens.
pub fn inherited() -> io::Result<Listener> {
    let listener = Listener::from(OwnedFd::from(descriptor::stdin()?.into_file()));
    nix::sys::socket::listen(&listener, Backlog::new(nix::libc::SOMAXCONN)?)?;
    Ok(listener)
}

/// The longest path of a Unix socket, in bytes (unix(7): sun_path, with its terminating NUL).
const LONGEST_PATH: usize = 107;

/// Creates a socket and listens on it.
///
/// # Errors
/// `InvalidFilename` if the path is too long for a socket; otherwise any error of the system.
pub fn listen(path: &Path) -> io::Result<Listener> {
    let length = path.as_os_str().len();
    if length > LONGEST_PATH {
        let why = format!("the path of a socket has at most {LONGEST_PATH} bytes, but this one has {length}");
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, why));
    }
    let listener = Listener::bind(path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Wakes the thread that waits for connections. On systems where it does not, the thread waits until the end of the run.
pub fn stop_listening(listener: &Listener) {
    // This fails only for a socket that does not listen any more.
    let _ = shutdown(listener.as_raw_fd(), nix::sys::socket::Shutdown::Both);
}

/// Sets how many clients may wait to be accepted: the standard library's 128 are too few when many connect at once.
///
/// # Errors
/// Any error of the system.
pub fn set_queue(listener: &TcpListener, clients: i32) -> io::Result<()> {
    Ok(Backlog::new(clients.min(nix::libc::SOMAXCONN)).and_then(|queue| nix::sys::socket::listen(listener, queue))?)
}

/// The identity of a socket's file: a later file at the same path differs in it.
#[derive(Debug, PartialEq, Eq)]
pub struct SocketFile {
    device: u64,
    inode: u64,
    /// Its last change, in seconds and nanoseconds: the inode number of a removed file may be reused.
    changed: (i64, i64),
}

impl SocketFile {
    /// That of the file at this path.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn at(path: &Path) -> io::Result<SocketFile> {
        let file = fs::metadata(path)?;
        Ok(SocketFile { device: file.dev(), inode: file.ino(), changed: (file.ctime(), file.ctime_nsec()) })
    }
}

/// Connects to a socket without blocking.
///
/// # Errors
/// `WouldBlock` if the backlog of the socket is full, so that connect(2) would block; otherwise any error of the system.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn connect(path: &Path) -> io::Result<Stream> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    connect(socket.as_raw_fd(), &UnixAddr::new(path)?)?;
    let stream = Stream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Connects to a socket. Only on Linux does connect(2) block when the backlog is full.
///
/// # Errors
/// Any error of the system.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn connect(path: &Path) -> io::Result<Stream> {
    Stream::connect(path)
}

/// Checks that the peer is a process of this user.
///
/// # Errors
/// `PermissionDenied` if it is not.
pub fn check_user(stream: &Stream) -> io::Result<()> {
    let peer = user(stream)?;
    if peer == geteuid() {
        return Ok(());
    }
    let message = format!("the process at the other end belongs to another user, {peer}");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn credentials(stream: &Stream) -> io::Result<nix::sys::socket::UnixCredentials> {
    Ok(nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials)?)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn user(stream: &Stream) -> io::Result<Uid> {
    Ok(Uid::from_raw(credentials(stream)?.uid()))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn user(stream: &Stream) -> io::Result<Uid> {
    Ok(nix::unistd::getpeereid(stream)?.0)
}

/// The process id of the peer; `None` if the system does not provide it.
///
/// # Errors
/// If the peer is in another pid namespace, and so has no process id here.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn process(stream: &Stream) -> io::Result<Option<i32>> {
    match credentials(stream)?.pid() {
        pid if pid > 0 => Ok(Some(pid)),
        _ => Err(io::Error::other("the process at the other end is in another pid namespace")),
    }
}

/// The process id of the peer (`LOCAL_PEERPID`, unix(4)).
///
/// # Errors
/// Any error of the system.
#[cfg(target_vendor = "apple")]
pub fn process(stream: &Stream) -> io::Result<Option<i32>> {
    let pid = nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::LocalPeerPid)?;
    if pid > 0 { Ok(Some(pid)) } else { Err(io::Error::other("the process at the other end is not known")) }
}

/// The process id of the peer; `None`, since this system does not provide it.
///
/// # Errors
/// None on this system.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub fn process(_: &Stream) -> io::Result<Option<i32>> {
    Ok(None)
}

/// Whether the process that made the socket listen still runs: only then is [`process`] certainly its process id. On kernels before
/// Linux 6.5 this is not known, and assumed to be true.
///
/// # Errors
/// Any error of the system.
#[cfg(target_os = "linux")]
pub fn is_running(stream: &Stream) -> io::Result<bool> {
    use nix::errno::Errno;
    match nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerPidfd) {
        // A pidfd becomes readable when the process ends (pidfd_open(2)).
        Ok(process) => Ok(!descriptor::wait_readable(&process, std::time::Duration::ZERO)),
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
pub fn is_running(_: &Stream) -> io::Result<bool> {
    Ok(true)
}
