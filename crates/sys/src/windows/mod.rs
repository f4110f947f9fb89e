//! Windows, from 10 on.
//!
//! There are no sockets here whose peer is known, and a console has no foreground that one program lends another. The commands
//! that need these say at their start that they need Unix, so their part of the interface is missing here, or has types without
//! a value.

pub mod ancestry;
mod console;
pub mod descriptor;
pub mod file;
mod job;
pub mod private;
pub mod process;
pub(crate) mod run_home;
pub mod signal;
pub mod socket;
pub mod terminal;

use std::io;

/// The result of a system call that returns zero if it fails.
///
/// # Errors
/// The error of that call.
fn checked(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
