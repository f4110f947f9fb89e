//! Asking a person about the calls that gates hold: how a call is shown, how the person answers, and which processes
//! may ask. `hitl-gate` uses it at its own terminal and in `hitl-gate attach`; the clients of agents use it, too.

pub mod connections;
pub mod dialogue;
pub mod editor;
pub mod excerpt;
pub mod gates;
mod rule_draft;
mod screen;
pub mod texts;
