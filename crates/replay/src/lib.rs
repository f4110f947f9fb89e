//! Plays a recording: when each message is due, and, against live code, which line to send next and whether the live
//! lines are those that were recorded. Pure: no stream, file or clock.
//!
//! A recorded conversation is a sequence of [`turns::Turn`]s: the lines of our side, then the answers of the other
//! side. [`alignment`] compares the live answers with the recorded ones, [`compare`] finds the differences of two
//! lines, [`schedule`] keeps the recorded times. A recording that is queried in any order needs no turns: [`answers`]
//! looks up each request. [`refused`] finds the calls that a gate or a person did not let pass; [`ids`] answers calls
//! whose live ids differ, [`discovery`] requests for tools, and [`requests`] requests to a model, which [`model`]
//! shortens to what each adds to its conversation.

pub mod alignment;
pub mod answers;
mod calls;
mod canonical;
pub mod compare;
pub mod discovery;
mod forms;
pub mod ids;
pub mod json_rpc;
pub mod model;
pub mod refused;
pub mod requests;
pub mod schedule;
pub mod turns;
