//! The audit of a gate: its verdicts, its questions, the answers, and the calls that passed, in a file whose lines are chained by hashes.
//!
//! Every line is a JSON object with its fields in this order, and has the SHA-256 of the line before it:
//!
//! ```json
//! {"seq":0,"prev":"000…","time":"2026-11-22T01:00:00.000000Z","event":"start","command":"policy-check",…,"hash":"5e1…"}
//! {"seq":1,"prev":"5e1…","time":"…","event":"verdict","call_id":"c1","tool":"browser_click","digest":"sha256:44…",…,"hash":"a90…"}
//! ```
//!
//! `hash` is over the line's bytes before `,"hash"`; the first line's `prev` is 64 zeros. A file has one writer at a time; a gate that
//! reopens a file continues its chain. [`Chain`] makes the lines, and [`Event`] is their content. [`Verification`] finds the first line
//! that does not follow from the one before it, and every call that passed without its approval.
//!
//! A call's arguments may have secrets, and are never written to an audit, only their [`digest`].
//!
//! **What a chain does not show:** whether lines were cut off at the end, or all lines after some line were written again, since no secret
//! key is involved. A copy of the last hash, kept elsewhere, shows both. A session that ended in order has an `end`.

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
pub use event::{AuditLine, Did, Event, Mode, Subject};
pub use pipewright_record::{SettledBy, Settlement};
pub use summary::{AuditVerification, Broken, Lack, Summary, Unapproved, Verdicts};
pub use verify::Verification;

use schemars::JsonSchema;
use sha2::{Digest as _, Sha256};
use std::fmt::Write;

/// The value of `format` in the first line.
pub const FORMAT: &str = "pipewright-audit";
/// The version of the format.
pub const VERSION: u64 = 1;

/// A SHA-256 in hexadecimal digits.
#[derive(JsonSchema)]
#[schemars(rename = "hash", with = "str", extend("pattern" = "^[0-9a-f]{64}$"))]
struct Hash;

/// `sha256:` and a SHA-256 in hexadecimal digits.
#[derive(JsonSchema)]
#[schemars(rename = "digest", with = "str", extend("pattern" = "^sha256:[0-9a-f]{64}$"))]
struct Digest;

/// The digest of a call's arguments, of their raw bytes: `sha256:` and 64 digits.
///
/// ```
/// use pipewright_policy::audit::digest;
/// assert_eq!(digest("{}"), "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
/// ```
pub fn digest(arguments: impl AsRef<[u8]>) -> String {
    format!("sha256:{}", sha256(arguments))
}

/// The SHA-256 of bytes, as 64 digits.
pub fn sha256(text: impl AsRef<[u8]>) -> String {
    let mut digits = String::with_capacity(64);
    for byte in Sha256::digest(text) {
        // Writing to a String can't fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
