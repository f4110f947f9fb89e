//! What the system says about files: their identity, their owner, and who may use them.

pub use crate::about::State;

use crate::descriptor::AsDescriptor;
use nix::sys::stat::{SFlag, fstat};
use nix::unistd::geteuid;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// A file, independent of its names. The identity of a removed file may be given to a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// That of an open file.
    ///
    /// # Errors
    /// Any error of the system.
    #[allow(clippy::unnecessary_cast)] // the types differ between systems
    pub fn of(file: impl AsDescriptor) -> io::Result<Identity> {
        let about = fstat(file)?;
        Ok(Identity { device: about.st_dev as u64, inode: about.st_ino as u64 })
    }

    /// That of the file at a path.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn at(path: &Path) -> io::Result<Identity> {
        let about = path.metadata()?;
        Ok(Identity { device: about.dev(), inode: about.ino() })
    }
}

/// Whether both are the same file. Devices never are, since several descriptors may be /dev/null.
pub fn is_same(one: impl AsDescriptor, other: impl AsDescriptor) -> bool {
    let is_device =
        fstat(&one).is_ok_and(|about| SFlag::from_bits_truncate(about.st_mode) & SFlag::S_IFMT == SFlag::S_IFCHR);
    !is_device && Identity::of(one).is_ok_and(|one| Identity::of(other).is_ok_and(|other| one == other))
}

/// Reads from a position, which need not be that of the next read.
///
/// # Errors
/// Any error of the system, and if the file ends before the buffer is full.
pub fn read_exact_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(buffer, at)
}

/// Opens a file for reading without waiting: a FIFO would otherwise wait for its writer.
///
/// # Errors
/// Any error of the system.
pub fn open_at_once(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path)
}

impl State {
    /// That of this file.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn of(file: &File) -> io::Result<State> {
        let about = file.metadata()?;
        Ok(State { length: about.len(), is_removed: about.nlink() == 0 })
    }
}

/// Takes the lock of the only writer of a file (flock(2)), which ends when the file is closed. Readers are not affected.
///
/// # Errors
/// `WouldBlock` if another process has it; otherwise any error of the system.
pub fn lock_for_writing(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Gives up the lock of [`lock_for_writing`].
///
/// # Errors
/// Any error of the system.
pub fn unlock_for_writing(file: &File) -> io::Result<()> {
    file.unlock()
}

/// Cuts off the end of a file that is open for appending.
///
/// # Errors
/// Any error of the system.
pub fn truncate(file: &File, length: u64) -> io::Result<()> {
    file.set_len(length)
}

/// Waits until the names in a folder are on disk.
///
/// # Errors
/// Any error of the system.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Whether a path names something that is no regular file: a device, a pipe, a folder.
pub fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| !about.is_file())
}

/// Whether it is a FIFO.
pub fn is_fifo(file: &Metadata) -> bool {
    file.file_type().is_fifo()
}

/// Whether this user owns it.
pub fn is_ours(file: &Metadata) -> bool {
    file.uid() == geteuid().as_raw()
}

/// Whether other users may write to it.
pub fn others_can_write(file: &Metadata) -> bool {
    file.mode() & 0o022 != 0
}

/// Whether other users may do anything with it.
pub fn others_can_use(file: &Metadata) -> bool {
    file.mode() & 0o077 != 0
}

/// Whether only this user and root can rename and remove this user's files in a folder: this user or root owns it, and others cannot
/// write to it or it is sticky.
pub(crate) fn is_kept_by_us(folder: &Metadata) -> bool {
    const STICKY: u32 = 0o1000;
    (is_ours(folder) || folder.uid() == 0) && (!others_can_write(folder) || folder.mode() & STICKY != 0)
}

/// Lets the owner of a file run it.
pub fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = path.metadata()?.permissions();
    permissions.set_mode(permissions.mode() | 0o100);
    std::fs::set_permissions(path, permissions)
}

/// Whether somebody may run a file.
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
}
