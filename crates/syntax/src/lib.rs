//! Shell text and SQL, parsed as far as a gate needs: which simple commands a text runs, and which functions a query calls.
//!
//! Both readers are strict. What another shell or database could read differently, and what is longer or nests deeper than anybody
//! writes, is [`Unreadable`]: the caller then has to treat the text as one that may do anything. What is harmless is not decided
//! here.

pub mod shell;
pub mod sql;

use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// Why a text cannot be read for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable(pub &'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.0)
    }
}

impl std::error::Error for Unreadable {}

/// The parsers recurse: what a text of [`LONGEST`] bytes takes at most, measured in a debug build, and room above that.
const STACK: usize = 32 << 20;

/// Longer texts are not read, in bytes.
pub const LONGEST: usize = 8 << 10;

thread_local! {
    /// A parser runs, whose panic is an answer.
    static PARSES: Cell<bool> = const { Cell::new(false) };
}

/// Runs a parser that recurses, and that may panic, on a stack of its own. Nothing is said of a panic: the text may be a model's, which
/// would fill stderr with it.
fn parse<T>(text: &str, parser: impl FnOnce() -> Result<T, Unreadable>) -> Result<T, Unreadable> {
    static QUIET: Once = Once::new();
    if text.len() > LONGEST {
        return Err(Unreadable("it is longer than any that is read"));
    }
    QUIET.call_once(|| {
        let report = take_hook();
        set_hook(Box::new(move |panic| {
            if !PARSES.get() {
                report(panic);
            }
        }));
    });
    let parse = || {
        let outer = PARSES.replace(true);
        let read = catch_unwind(AssertUnwindSafe(parser)).unwrap_or(Err(Unreadable("the parser failed")));
        PARSES.set(outer);
        read
    };
    stacker::grow(STACK, parse)
}
