//! The ground floor: everything that touches a stream, a process, a terminal or a signal.
//!
//! Each rule of the line contract has one owner here: [`lines`] splits, limits and edits lines,
//! [`descriptor`] reads and writes, [`between`] decides when to flush, [`child`] starts and ends other
//! programs, [`append`] keeps files durable, [`folders`] says where they lie, [`private`] keeps them from
//! others, [`terminal`] talks to a person, [`signal`] hears the kernel, and [`report`] speaks on stderr and
//! chooses the exit status.

pub mod ancestry;
pub mod append;
pub mod approvers;
pub mod asking;
pub mod background;
pub mod between;
pub mod child;
pub mod descriptor;
pub mod folders;
pub mod foreground;
pub mod keys;
pub mod lines;
pub mod link;
mod outgoing;
pub mod output;
pub mod peer;
pub mod private;
pub mod progress;
pub mod raw_stdin;
pub mod regular;
pub mod report;
pub mod rotation;
pub mod session;
pub mod signal;
mod sink;
pub mod stage;
pub mod tail;
pub mod terminal;
mod terminal_lock;
mod terminal_mode;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks; a thread that panicked while it held the lock is told elsewhere, and keeps nobody from ending in order.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
