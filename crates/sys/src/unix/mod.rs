//! Linux, macOS and other Unix systems, which differ in single functions.

pub mod ancestry;
pub mod arguments;
pub mod descriptor;
pub mod file;
pub mod private;
pub mod process;
pub(crate) mod run_home;
pub mod signal;
pub mod socket;
mod table;
pub mod terminal;
