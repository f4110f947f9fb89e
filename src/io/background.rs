//! This program, started again in the background: it outlives the process that started it, and its terminal.

use super::{signal, terminal};
use nix::unistd::setsid;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Starts this program with `arguments`, in a session of its own without a terminal, with `stdin`, nothing on stdout, and `log` for
/// stderr. It has our folder and environment, and the signal mask that we were started with.
///
/// # Errors
/// What the system says to that.
pub fn spawn(arguments: Vec<OsString>, stdin: OwnedFd, log: File) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).stdin(stdin).stdout(Stdio::null()).stderr(log).env_remove(terminal::LENDERS);
    // SAFETY: setsid(2) is async-signal-safe, and so is what restores the mask, see there.
    unsafe {
        command.pre_exec(|| {
            setsid()?;
            signal::restore_mask()
        });
    }
    command.spawn()
}
