//! Chromium, driven over its debugging pipe: no TCP port is open, and nobody else can steer it.
//!
//! [`Process`] is a browser that was started, with its profile; [`Connection`] sends it commands of the Chrome DevTools Protocol and
//! gives its messages. Both block: a browser has a thread of its own.

mod connection;
mod launch;
pub mod wire;

pub use connection::{Connection, Gone};
pub use launch::{Launch, NotStarted, Process, find};
