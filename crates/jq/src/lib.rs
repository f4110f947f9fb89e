//! jq filters, compiled once and run on each line of foreign JSON.
//!
//! A filter comes from a command line or a file of rules, a line from any source. Neither can do harm: every run is
//! bounded in steps, stack, depth and output, ends quickly, and cannot access anything outside itself: no environment,
//! clock, file, input or output, and no way to end the process.
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
//! The language is jq's as implemented by [jaq](https://gedenkt.at/jaq/manual/), run by jaq-core, with our own values.
//! Where jaq and jq differ about numbers, dates and patterns, this follows jq: `10 / 2` is `5`, `null | .a = 1` makes
//! an object. Patterns are those of the [`regex`] crate, so they support all scripts.
//!
//! Values are our own, not those of jaq-json (tested with 2.0.3), because every run must be bounded. A jaq-json array
//! stores neither its depth nor its size, and is iterated, joined, compared and printed without a charge. The steps in
//! the program, which bound everything else here, cannot interrupt such an operation. So 40 rounds of `[., .]` print
//! without end, 60 of `. + .` take all memory, a value of about 100,000 levels overflows the stack when it is dropped,
//! and `range(1e9) | $array | first(.[])` copies the complete array each time. jaq-json also loses `-0`, refuses half a
//! surrogate pair, reorders the fields of an object when one is deleted, and makes no object of `null | .a = 1`.

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
