//! The lowest layer: all code that uses a stream, a process, a terminal or a signal.
//!
//! Each rule of the line contract is implemented once, here: [`lines`] splits, limits and edits lines,
//! [`descriptor`] reads and writes, [`between`] decides when to flush, [`child`] starts and ends other
//! programs, [`append`] keeps files durable, [`folders`] chooses their folders, [`private`] protects them from
//! other users, [`terminal`] handles a person's terminal, [`signal`] receives signals, and [`report`] writes messages to stderr and
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

/// Locks, and ignores poisoning: a panic is reported elsewhere, and must not prevent an orderly end.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
