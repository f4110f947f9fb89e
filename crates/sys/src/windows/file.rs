//! What the system says about files: their identity and state, and the lock of their only writer.
#![allow(unsafe_code)]

pub use crate::about::State;

use super::checked;
use super::descriptor::AsDescriptor;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;
use windows_sys::Win32::Foundation::{ERROR_LOCK_VIOLATION, GENERIC_WRITE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_ID_INFO, FILE_INFO_BY_HANDLE_CLASS, FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE,
    FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_STANDARD_INFO, FILE_TYPE_DISK, FileIdInfo, FileStandardInfo,
    GetFileInformationByHandleEx, GetFileType, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
    ReOpenFile, UnlockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

/// A file, independent of its names. What is no file (a pipe, a console) has one identity in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    volume: u64,
    index: [u8; 16],
}

impl Identity {
    /// That of an open file.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn of(file: impl AsDescriptor) -> io::Result<Identity> {
        if !is_on_disk(&file) {
            return Ok(Identity { volume: u64::MAX, index: [u8::MAX; 16] });
        }
        let about: FILE_ID_INFO = ask(&file, FileIdInfo)?;
        Ok(Identity { volume: about.VolumeSerialNumber, index: about.FileId.Identifier })
    }

    /// That of the file at a path.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn at(path: &Path) -> io::Result<Identity> {
        Identity::of(&open_to_ask(path)?)
    }
}

/// Opens a file or folder for questions about it.
fn open_to_ask(path: &Path) -> io::Result<File> {
    // Without the flag, folders cannot be opened.
    OpenOptions::new().access_mode(FILE_READ_ATTRIBUTES).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// Whether a path names something that is no regular file: a device such as `NUL`, a folder.
pub fn is_special(path: &Path) -> bool {
    path.is_dir() || open_to_ask(path).is_ok_and(|file| !is_on_disk(&file))
}

/// Whether it is a file, and not a pipe, a console or another device.
pub(super) fn is_on_disk(file: impl AsDescriptor) -> bool {
    // SAFETY: the handle is open as long as `file` is borrowed.
    unsafe { GetFileType(file.as_handle().as_raw_handle()) == FILE_TYPE_DISK }
}

/// Whether both are the same file. Devices and pipes never are.
pub fn is_same(one: impl AsDescriptor, other: impl AsDescriptor) -> bool {
    is_on_disk(&one) && Identity::of(one).is_ok_and(|one| Identity::of(other).is_ok_and(|other| one == other))
}

/// Reads from a position, which need not be that of the next read.
///
/// # Errors
/// Any error of the system, and if the file ends before the buffer is full.
pub fn read_exact_at(file: &File, mut buffer: &mut [u8], mut at: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match file.seek_read(buffer, at) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => (buffer, at) = (&mut buffer[read..], at + read as u64),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Opens a file for reading without waiting: only named pipes could make it wait, which are not at the path of a file.
///
/// # Errors
/// Any error of the system.
pub fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

impl State {
    /// That of this file.
    ///
    /// # Errors
    /// Any error of the system.
    pub fn of(file: &File) -> io::Result<State> {
        if !is_on_disk(file) {
            return Ok(State { length: 0, is_removed: false });
        }
        let about: FILE_STANDARD_INFO = ask(file, FileStandardInfo)?;
        let is_removed = about.DeletePending || about.NumberOfLinks == 0;
        Ok(State { length: u64::try_from(about.EndOfFile).unwrap_or_default(), is_removed })
    }
}

/// Asks the system about a file. `T` is the type that belongs to `what`.
fn ask<T: Default>(file: &impl AsDescriptor, what: FILE_INFO_BY_HANDLE_CLASS) -> io::Result<T> {
    let mut about = T::default();
    let (to, size) = ((&raw mut about).cast(), size_of::<T>() as u32);
    // SAFETY: the handle is open as long as `file` is borrowed, and the size is that of the place for the result.
    checked(unsafe { GetFileInformationByHandleEx(file.as_handle().as_raw_handle(), what, to, size) })?;
    Ok(about)
}

/// A place beyond the end of any file: a lock on Windows keeps others from reading what it covers.
const BEYOND: u64 = i64::MAX as u64 - 1;

fn beyond() -> OVERLAPPED {
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous.Offset = BEYOND as u32;
    place.Anonymous.Anonymous.OffsetHigh = (BEYOND >> 32) as u32;
    place
}

/// Takes the lock of the only writer of a file, which ends when the file is closed. Readers are not affected. Devices such as `NUL`
/// have no locks, and any number of writers.
///
/// # Errors
/// `WouldBlock` if another process has it; otherwise any error of the system.
pub fn lock_for_writing(file: &File) -> Result<(), TryLockError> {
    if !is_on_disk(file) {
        return Ok(());
    }
    let how = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
    let mut place = beyond();
    // SAFETY: the handle is open as long as `file` is borrowed, and the call is over when it returns: it does not wait.
    let locked = checked(unsafe { LockFileEx(file.as_raw_handle(), how, 0, 1, 0, &raw mut place) });
    locked.map_err(|error| match error.raw_os_error() {
        Some(code) if code == ERROR_LOCK_VIOLATION as i32 => TryLockError::WouldBlock,
        _ => TryLockError::Error(error),
    })
}

/// Gives up the lock of [`lock_for_writing`].
///
/// # Errors
/// Any error of the system.
pub fn unlock_for_writing(file: &File) -> io::Result<()> {
    if !is_on_disk(file) {
        return Ok(());
    }
    let mut place = beyond();
    // SAFETY: as for locking.
    checked(unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &raw mut place) })
}

/// Cuts off the end of a file that is open for appending. Only a handle that may also write elsewhere can do that.
///
/// # Errors
/// Any error of the system.
pub fn truncate(file: &File, length: u64) -> io::Result<()> {
    let shared = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    // SAFETY: the handle is open as long as `file` is borrowed.
    let again = unsafe { ReOpenFile(file.as_raw_handle(), GENERIC_WRITE, shared, 0) };
    if again == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just given us this handle, and nobody else has it.
    let again = File::from(unsafe { OwnedHandle::from_raw_handle(again) });
    again.set_len(length)
}

/// Waits until the names in a folder are on disk: the file systems of Windows keep them in a log of their own.
///
/// # Errors
/// None.
pub fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Names decide here what can be run.
pub fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Names decide here what can be run.
pub fn is_executable(_: &Path) -> bool {
    true
}
