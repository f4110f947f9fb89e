//! Shell text and SQL, parsed as far as a gate needs: which simple commands a text runs, and which functions a query
//! calls.
//!
//! Both readers are strict. Text that another shell or database could read differently, or that is longer or nested
//! deeper than people write, is [`Unreadable`]: the caller must then assume that the text may do anything. This crate
//! does not decide what is harmless.

pub mod shell;
pub mod sql;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

/// Why a text can't be read for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub &'static str);

/// The stack of the parsers, which recurse: enough for any text of [`MAX_LEN`] bytes, measured in a debug build, with a
/// margin.
const STACK: usize = 32 << 20;

/// The longest text that is read, in bytes.
pub const MAX_LEN: usize = 8 << 10;

thread_local! {
    /// Whether a parser is running on this thread; a panic then becomes an error.
    static PARSES: Cell<bool> = const { Cell::new(false) };
}

/// Runs a parser that recurses, and that may panic, on a stack of its own. A panic prints nothing: the text may be a
/// model's, which could fill stderr with it.
fn parse<T>(text: &str, parser: impl FnOnce() -> Result<T, Unreadable>) -> Result<T, Unreadable> {
    static QUIET: Once = Once::new();
    if text.len() > MAX_LEN {
        return Err(Unreadable("the text is too long"));
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
