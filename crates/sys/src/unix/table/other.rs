//! Other systems: nothing is known about other processes.

use super::Entry;
use std::path::PathBuf;

/// Whether this system provides the table.
pub(in crate::unix) const IS_KNOWN: bool = false;

/// Not known.
pub(in crate::unix) fn entry(_: i32) -> Option<Entry> {
    None
}

/// Not known.
pub(in crate::unix) fn name(_: i32) -> Option<String> {
    None
}

/// Not known.
pub(in crate::unix) fn executable(_: i32) -> Option<PathBuf> {
    None
}

/// Not known.
pub(in crate::unix) fn has_ended(_: i32) -> bool {
    false
}

/// Not known.
pub(in crate::unix) fn own_terminal() -> Option<u64> {
    None
}
