//! The process at the other end of a socket, and what it descends from: there are no such sockets on Windows.

use super::socket::Stream;
use std::io;

/// This process and its caller, the process that it works for.
#[derive(Debug, Clone, Copy)]
pub struct Family(());

impl Family {
    /// That of this process.
    pub fn of_this_process() -> Family {
        Family(())
    }

    /// Not known.
    pub fn caller(&self) -> Option<String> {
        None
    }

    /// Checks who listens at the other end.
    ///
    /// # Errors
    /// None: there is no such stream.
    pub fn check(&self, stream: &Stream, _: bool) -> io::Result<()> {
        match *stream {}
    }
}
