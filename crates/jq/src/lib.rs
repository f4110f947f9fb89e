//! jq filters, compiled once and run on each line of foreign JSON.
//!
//! A filter comes from a command line or a file of rules, a line from anywhere. Neither can do harm: every run is bounded
//! in steps, stack, depth and output, ends in a moment, and can reach nothing outside itself: no environment, clock, file,
//! input or output, no way to end the process.
//!
//! ```
//! use pipewright_jq::{Filter, Input, Limits};
//!
//! let low = Filter::compile(".hp < 10 and .in_game", &[], Limits::default())?;
//! assert!(low.matches(Input::Json(br#"{"hp":7,"in_game":true}"#), &[])?);
//!
//! let label = Filter::compile(r#""\($dir): \(.type)""#, &["dir"], Limits::default())?;
//! let mut cell = Vec::new();
//! label.cell(Input::Json(br#"{"type":"tool_call"}"#), &[Input::Text("up")], &mut cell)?;
//! assert_eq!(cell, b"up: tool_call");
//!
//! let endless = Filter::compile("def f: f; f", &[], Limits::default())?;
//! assert!(endless.matches(Input::Null, &[]).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It is jq's language as [jaq](https://gedenkt.at/jaq/manual/) has it, run by jaq-core, on values of our own. Where jaq and
//! jq differ about numbers, dates and patterns, this is jq: `10 / 2` is `5`, `null | .a = 1` makes an object. Patterns are
//! those of the [`regex`] crate, so they know all scripts.
//!
//! Values are our own, not those of jaq-json (tried with 2.0.3), because every run must be bounded. An array of jaq-json
//! carries neither its depth nor its size, and is iterated, joined, compared and printed without a charge; the steps in the
//! program, which bound everything else here, cannot interrupt one such operation. So 40 rounds of `[., .]` are printed
//! without end, 60 of `. + .` take all memory, a value of some 100,000 levels overflows the stack when it is dropped, and
//! `range(1e9) | $array | first(.[])` copies the whole array each time. jaq-json also gives up `-0`, refuses half a surrogate
//! pair, reorders the fields of an object from which one is deleted, and makes no object of `null | .a = 1`.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod compile;
mod error;
mod filter;
mod fuel;
mod json;
mod matcher;
mod natives;
mod value;

pub use error::{CompileError, Error, ErrorKind};
pub use filter::{Filter, Input, Limits};
