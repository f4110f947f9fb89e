//! Asking a person about the calls that gates hold: what is shown of a call, what the person says about it, and which processes may ask.
//! `hitl-gate` asks so at its own terminal and in `hitl-gate attach`; the clients of agents do, too.

pub mod connections;
pub mod dialogue;
pub mod editor;
pub mod excerpt;
pub mod gates;
mod rule_draft;
mod screen;
pub mod words;
