//! The system's table of processes.

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux;
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use linux::*;

#[cfg(target_vendor = "apple")]
mod apple;
#[cfg(target_vendor = "apple")]
pub(super) use apple::*;

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod other;
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub(super) use other::*;

/// A process, as the table has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    pub(super) has_terminal: bool,
}
