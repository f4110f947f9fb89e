//! Sockets at a path: none on Windows, so these types have no value. Ports are everywhere.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::windows::io::OwnedHandle;
use std::path::Path;
use std::time::Duration;

/// A socket that listens at a path.
#[derive(Debug)]
pub enum Listener {}

/// A connection to such a socket.
#[derive(Debug)]
pub enum Stream {}

/// The identity of a socket's file.
#[derive(Debug, PartialEq, Eq)]
pub enum SocketFile {}

fn unsupported<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "there are no sockets at a path on Windows"))
}

impl Listener {
    /// Listens at a path.
    ///
    /// # Errors
    /// Always.
    pub fn bind(_: impl AsRef<Path>) -> io::Result<Listener> {
        unsupported()
    }

    /// Waits for a connection.
    ///
    /// # Errors
    /// None: there is no listener.
    pub fn accept(&self) -> io::Result<(Stream, ())> {
        match *self {}
    }
}

impl Stream {
    /// Another handle of the same connection.
    ///
    /// # Errors
    /// None: there is no connection.
    pub fn try_clone(&self) -> io::Result<Stream> {
        match *self {}
    }

    /// Limits how long a read waits.
    ///
    /// # Errors
    /// None: there is no connection.
    pub fn set_read_timeout(&self, _: Option<Duration>) -> io::Result<()> {
        match *self {}
    }

    /// Ends one direction.
    ///
    /// # Errors
    /// None: there is no connection.
    pub fn shutdown(&self, _: Shutdown) -> io::Result<()> {
        match *self {}
    }
}

impl Read for Stream {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }
}

impl Write for Stream {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }

    fn flush(&mut self) -> io::Result<()> {
        match *self {}
    }
}

impl From<Stream> for OwnedHandle {
    fn from(stream: Stream) -> OwnedHandle {
        match stream {}
    }
}

impl SocketFile {
    /// That of the file at this path.
    ///
    /// # Errors
    /// Always.
    pub fn at(_: &Path) -> io::Result<SocketFile> {
        unsupported()
    }
}

/// Connects to a socket.
///
/// # Errors
/// Always.
pub fn connect(_: &Path) -> io::Result<Stream> {
    unsupported()
}

/// Wakes the thread that waits for connections.
pub fn stop_listening(listener: &Listener) {
    match *listener {}
}
