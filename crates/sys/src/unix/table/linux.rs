//! Linux: /proc.

use super::Entry;
use std::path::PathBuf;

/// Whether this system provides the table.
pub(in crate::unix) const IS_KNOWN: bool = true;

/// The entry of a process; `None` if there is no such process, or no /proc.
pub(in crate::unix) fn entry(pid: i32) -> Option<Entry> {
    let stat = stat(pid)?;
    let mut fields = stat.split_ascii_whitespace().skip(1).map(str::parse);
    let mut next = || fields.next()?.ok();
    let (parent, group, session, terminal) = (next()?, next()?, next()?, next()?);
    Some(Entry { pid, parent, group, session, has_terminal: terminal != 0 })
}

/// The name of a process: up to 15 bytes that the process can choose (proc_pid_comm(5)).
pub(in crate::unix) fn name(pid: i32) -> Option<String> {
    let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(String::from_utf8_lossy(&name).trim_end().to_owned())
}

/// The executable of a process.
pub(in crate::unix) fn executable(pid: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// Whether it is a zombie: a process that has ended and was not reaped by its parent.
pub(in crate::unix) fn has_ended(pid: i32) -> bool {
    stat(pid).is_some_and(|stat| stat.starts_with(['Z', 'X']))
}

/// The number of the device of this process's terminal (proc_pid_stat(5), `tty_nr`).
pub(in crate::unix) fn own_terminal() -> Option<u64> {
    let stat = stat(i32::try_from(std::process::id()).ok()?)?;
    let number = stat.split_ascii_whitespace().nth(4)?.parse::<i32>().ok()?;
    Some(u64::from(number.cast_unsigned()))
}

/// The fields of /proc/PID/stat after the name (proc_pid_stat(5)): state, parent, process group, and so on.
fn stat(pid: i32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain any bytes, also parentheses, but no later field does.
    Some(stat.rsplit_once(')')?.1.trim_start().to_owned())
}
