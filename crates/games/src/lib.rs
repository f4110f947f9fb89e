//! What is known about games, without streams, files or clocks.
//!
//! - [`spire`]: the rules and messages of Slay the Spire.
//! - [`godot`]: the messages between a Godot game and its bridge.

pub mod godot;
pub mod spire;
