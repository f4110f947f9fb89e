//! Only one process at a time asks at a terminal, so that an answer is meant for the question that was shown last.

use super::Terminal;
use crate::unix::table;
use crate::{private, run_folder};
use nix::fcntl::OFlag;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The file that is locked for a terminal (flock(2)). The lock ends when this is dropped, or with the process.
#[derive(Debug)]
pub(super) struct TerminalLock(File);

impl TerminalLock {
    /// Opens the device of a terminal under its own name, since /dev/tty is one file for all terminals. If that cannot be opened (after
    /// su(1), the device belongs to another user), a file of this user with the device's number in its name is used instead.
    ///
    /// # Errors
    /// If neither can be opened.
    pub(super) fn open(terminal: &Terminal) -> io::Result<TerminalLock> {
        let device = device_of(&terminal.file()?)?;
        let opened = open_device(terminal.path(), device).or_else(|_| open_device(&name_of(device)?, device));
        opened.map(TerminalLock).or_else(|_| {
            let name = format!("terminal-{device:x}");
            let file = private::file().write(true).create(true).truncate(false).open(run_folder::home()?.join(name));
            file.map(TerminalLock)
        })
    }

    /// Whether this process has the lock now.
    ///
    /// # Errors
    /// Any error of the system.
    pub(super) fn try_lock(&self) -> io::Result<bool> {
        match self.0.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Opens a new descriptor: existing ones are shared with programs that are started at this terminal, which would keep the lock.
fn open_device(path: &Path, device: u64) -> io::Result<File> {
    let flags = OFlag::O_NOCTTY | OFlag::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    if file.metadata()?.rdev() == device { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
}

/// The number of a terminal's device (stat(2), `st_rdev`); for Linux's /dev/tty, that of the controlling terminal
/// (proc_pid_stat(5), `tty_nr`).
fn device_of(terminal: &File) -> io::Result<u64> {
    const DEV_TTY: u64 = 0x500;
    let device = terminal.metadata()?.rdev();
    if !cfg!(any(target_os = "linux", target_os = "android")) || device != DEV_TTY {
        return Ok(device);
    }
    table::own_terminal().ok_or_else(|| io::Error::other("cannot find the controlling terminal in /proc"))
}

/// The usual name of a terminal: Linux numbers /dev/pts from major number 136 on, and names the others in /sys (sysfs(5)).
fn name_of(device: u64) -> io::Result<PathBuf> {
    const PTS: std::ops::RangeInclusive<u64> = 136..=143;
    // The 20 bits of the minor number surround the 12 of the major one.
    let (major, minor) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xf_ff00));
    if PTS.contains(&major) {
        return Ok(PathBuf::from(format!("/dev/pts/{}", (major - PTS.start()) * 256 + minor)));
    }
    let about = std::fs::read_link(format!("/sys/dev/char/{major}:{minor}"))?;
    Ok(Path::new("/dev").join(about.file_name().unwrap_or_default()))
}
