//! Playing a recording: when each message is due, and, against live code, what is to be said next and whether what came is
//! what was recorded. Pure: no stream, file or clock.
//!
//! A recorded conversation is a sequence of [`turns::Turn`]s: what our side says, then what the other side answered.
//! [`alignment`] holds the live answers against the recorded ones, [`compare`] says in what two lines differ,
//! [`schedule`] keeps the recorded times. A recording that is asked in any order needs no turns: [`answers`] finds what was asked.
//! [`refused`] finds the calls that a gate or a person did not let pass; [`ids`] answers calls whose ids are others now, [`discovery`]
//! requests for the tools, [`requests`] those to a model, which [`model`] shortens to what each adds to its conversation.

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
