//! Starts this program again in the background, so that it outlives the calling process and its terminal.
#![allow(unsafe_code)]

use crate::{signal, terminal};
use nix::libc;
use nix::unistd::setsid;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Starts this program with `arguments` in a new session without a terminal: with `stdin`, /dev/null as stdout, `log` as
/// stderr, and no other descriptor. It has our folder and environment, and the signal mask that we were started with; INT, TERM and HUP
/// end it even if we ignore them.
///
/// # Errors
/// Any error of the system.
pub fn spawn(arguments: Vec<OsString>, stdin: impl Into<OwnedFd>, log: File) -> io::Result<Child> {
    close_on_exec()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments).stdin(stdin.into()).stdout(Stdio::null()).stderr(log).env_remove(terminal::LENDERS);
    // SAFETY: setsid(2) is async-signal-safe, and so are the functions that restore the actions and the mask of signals, see there.
    unsafe {
        command.pre_exec(|| {
            setsid()?;
            signal::restore_default_actions()?;
            signal::restore_mask()
        });
    }
    command.spawn()
}

/// Marks every descriptor except the standard ones close-on-exec. Our own are marked already. Inherited ones (a shell's `3>&1`, a
/// lock) would otherwise stay open as long as the session.
fn close_on_exec() -> io::Result<()> {
    for entry in fs::read_dir("/dev/fd")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse::<libc::c_int>().ok()) else {
            continue;
        };
        if number > libc::STDERR_FILENO {
            // SAFETY: F_SETFD takes an integer and changes only this flag; a number that is not a descriptor gives EBADF.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}
