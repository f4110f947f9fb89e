//! The audit of a gate: what it judged, what was asked, what a person said, and what passed, in a file whose lines hang
//! on each other.
//!
//! Every line is a JSON object, in this order of fields, and names the SHA-256 of the line before it:
//!
//! ```json
//! {"seq":0,"prev":"000…","time":"2026-11-22T01:00:00.000000Z","event":"start","command":"policy-check",…,"hash":"5e1…"}
//! {"seq":1,"prev":"5e1…","time":"…","event":"verdict","call_id":"c1","tool":"browser_click","digest":"sha256:44…",…,"hash":"a90…"}
//! ```
//!
//! `hash` is over the line's bytes before `,"hash"`; the first line's `prev` is 64 zeros. A file has one writer at a
//! time, and one that is gone on with goes on with its chain. [`Chain`] makes the lines, [`Event`] says what stands in
//! them, [`Verification`] finds the first line that doesn't hang on the one before, and every call that passed without
//! its approval.
//!
//! A call's arguments may hold secrets, and never stand in an audit: only their [`digest`].
//!
//! **What a chain can't show:** that lines were cut off at the end, or that all was written anew from some line on, for
//! there is no key in it. Whoever keeps the last hash elsewhere can tell. A session that was ended in order has its
//! `end`.

mod approvals;
mod chain;
mod event;
mod recorded_event;
mod summary;
mod verify;

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;

pub use chain::{Chain, Fault, Link};
pub use event::{By, Did, Event, Mode, Settlement, Subject};
pub use summary::{Broken, Lack, Summary, Unapproved, Verdicts};
pub use verify::Verification;

use sha2::{Digest, Sha256};
use std::fmt::Write;

/// What the first line's `format` says.
pub const FORMAT: &str = "pipewright-audit";
/// The version that is written.
pub const VERSION: u64 = 1;

/// Stands for a call's arguments, by their raw bytes: `sha256:` and 64 digits.
///
/// ```
/// use pipewright::policy::audit::digest;
/// assert_eq!(digest("{}"), "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
/// ```
pub fn digest(arguments: impl AsRef<[u8]>) -> String {
    format!("sha256:{}", sha256(arguments))
}

/// The SHA-256 of bytes, as 64 digits.
pub fn sha256(text: impl AsRef<[u8]>) -> String {
    let mut digits = String::with_capacity(64);
    for byte in Sha256::digest(text) {
        // A string always takes it.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
