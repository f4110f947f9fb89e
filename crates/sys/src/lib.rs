//! Everything that names the operating system. The other crates know no system call and no extension of the standard library
//! for one kind of system. `unix` and `windows` are the same interface; what a system does not have fails there with a message.

mod about;
pub mod folders;
mod grace;
pub mod random;
pub mod regular;
pub mod run_folder;
mod screen;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{ancestry, arguments, descriptor, file, private, process, signal, socket, terminal};
#[cfg(windows)]
pub use windows::{ancestry, descriptor, file, private, process, signal, socket, terminal};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, and ignores poisoning: a panic is reported elsewhere, and must not prevent an orderly end.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
