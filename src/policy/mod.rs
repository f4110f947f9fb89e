//! Which calls need a person's approval: the [built-in policy](builtin), [rules](rules), the [marks](marks) that gates write, and the
//! [audit]. Pure: no stream, file or clock.

pub mod annotations;
pub mod arguments;
pub mod audit;
#[cfg(feature = "gates")]
pub mod builtin;
pub mod detector;
pub mod marks;
pub mod rules;
pub mod snapshot;
pub mod target;
mod verdict;

pub use verdict::{Decision, Verdict};
