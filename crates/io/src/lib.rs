//! Lines between two sides, and what every command needs for that. Each rule of the line contract is implemented once,
//! here or in `pipewright_lines`, which splits, limits and edits lines. What an operating system is asked for is in
//! `pipewright_sys`.
//!
//! - [`stage`]: the logic of a command, which decides about every line; [`between`] runs it and decides when to flush.
//! - [`child`], [`link`], [`approvers`]: the programs, games and approvers at the other end.
//! - [`append`], [`rotation`]: durable files of lines.
//! - [`output`], [`report`], [`printable`], [`progress`]: stdout of commands that read files, messages on stderr, and
//!   the exit status.

pub mod append;
pub mod approvers;
pub mod between;
pub mod child;
pub mod link;
mod outgoing;
pub mod output;
pub mod printable;
pub mod progress;
pub mod report;
pub mod rotation;
mod sink;
pub mod stage;
