//! Which calls need a person's approval: the [built-in policy](builtin), [rules](rules), the [marks](marks) that gates
//! write, and the [audit]. Pure: no stream, file or clock.

pub mod annotations;
pub mod arguments;
pub mod audit;
#[cfg(feature = "gates")]
pub mod builtin;
pub mod deal;
pub mod detector;
/// The words of `lists`, a module for each file.
#[cfg_attr(not(feature = "gates"), allow(dead_code))]
mod lists {
    include!(concat!(env!("OUT_DIR"), "/lists.rs"));
}
pub mod marks;
pub mod request;
pub mod rules;
pub mod snapshot;
mod submitting;
pub mod target;
mod verdict;
pub mod working_folder;

pub use verdict::{Decision, Verdict};
