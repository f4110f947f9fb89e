//! macOS: libproc (proc_pidinfo, proc_name and proc_pidpath in libproc.h). Compiled, but not run yet.
#![allow(unsafe_code)]

use super::Entry;
use nix::libc;
use nix::unistd::{Pid, getsid};
use std::ffi::OsString;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// Whether this system provides the table.
pub(in crate::unix) const IS_KNOWN: bool = true;

/// The number that stands for no device (`NODEV` in sys/param.h).
const NO_DEVICE: u32 = u32::MAX;

/// The entry of a process; `None` if there is no such process of this user.
pub(in crate::unix) fn entry(pid: i32) -> Option<Entry> {
    let about = about(pid)?;
    let session = getsid(Some(Pid::from_raw(pid))).map_or(0, Pid::as_raw);
    let number = |id: u32| i32::try_from(id).ok();
    let (parent, group) = (number(about.pbi_ppid)?, number(about.pbi_pgid)?);
    Some(Entry { pid, parent, group, session, has_terminal: about.e_tdev != NO_DEVICE })
}

/// The name of a process, which the process can choose.
pub(in crate::unix) fn name(pid: i32) -> Option<String> {
    let name = filled(|to, size| {
        // SAFETY: the call writes at most `size` bytes to `to`.
        unsafe { libc::proc_name(pid, to.cast(), size) }
    })?;
    Some(String::from_utf8_lossy(&name).into_owned())
}

/// The executable of a process.
pub(in crate::unix) fn executable(pid: i32) -> Option<PathBuf> {
    let path = filled(|to, size| {
        // SAFETY: the call writes at most `size` bytes to `to`.
        unsafe { libc::proc_pidpath(pid, to.cast(), size) }
    })?;
    Some(PathBuf::from(OsString::from_vec(path)))
}

/// Whether it is a zombie: a process that has ended and was not reaped by its parent.
pub(in crate::unix) fn has_ended(pid: i32) -> bool {
    about(pid).is_some_and(|about| about.pbi_status == libc::SZOMB)
}

/// Not needed: the controlling terminal's own device is opened by its name.
pub(in crate::unix) fn own_terminal() -> Option<u64> {
    None
}

fn about(pid: i32) -> Option<libc::proc_bsdinfo> {
    let mut about = MaybeUninit::<libc::proc_bsdinfo>::uninit();
    let size = size_of::<libc::proc_bsdinfo>() as libc::c_int;
    // SAFETY: the call writes at most `size` bytes to `about`.
    let written = unsafe { libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, about.as_mut_ptr().cast(), size) };
    // SAFETY: all of its bytes are written, and it consists of numbers.
    (written == size).then(|| unsafe { about.assume_init() })
}

/// The bytes that a call has written, whose number it returns.
fn filled(call: impl FnOnce(*mut u8, u32) -> libc::c_int) -> Option<Vec<u8>> {
    let mut bytes = vec![0; libc::PROC_PIDPATHINFO_MAXSIZE as usize];
    let written = usize::try_from(call(bytes.as_mut_ptr(), bytes.len() as u32)).ok().filter(|&written| written > 0)?;
    bytes.truncate(written);
    Some(bytes)
}
