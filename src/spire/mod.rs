//! Slay the Spire as CommunicationMod v1.2.1 tells it: what its messages say, what is legal, what it is called,
//! and what is worth recording. Pure: no stream, file or clock.

pub mod action;
pub mod choices;
pub mod command;
pub mod label;
pub mod mask;
pub mod message;
pub mod offer;
pub mod record;
pub mod reduced;
pub mod run;
pub mod summary;
