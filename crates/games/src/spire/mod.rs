//! Slay the Spire as CommunicationMod v1.2.1 reports it: its messages, legal actions, labels, and what to record. Pure:
//! no stream, file or clock.

pub mod action;
pub mod choices;
pub mod command;
pub mod label;
pub mod legal_actions;
pub mod message;
pub mod offer;
pub mod record;
pub mod reduced;
pub mod run;
pub mod summary;
pub mod targets;
pub mod text;
