//! Small commands that let an agent (a program, a model, or a person) play games and drive browsers
//! through shell pipes, with every step gated, recorded and replayable.
//!
//! The commands, one module each: arguments, wiring, and the stage that carries out decisions. What they know and do is
//! in the crates below, see docs/architecture.md.

// What only commands that need Unix use has no user elsewhere.
#![cfg_attr(not(unix), allow(dead_code))]

pub mod cmd;
