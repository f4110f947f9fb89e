//! What an account of a gate's doings would hold.

use super::records::{By, Verdict};
use crate::record::Call;

/// What is about to happen.
// Who keeps such an account reads them; the tests do so far.
#[cfg_attr(not(test), allow(dead_code))]
pub enum Noted<'a> {
    /// A person is asked about a call with these arguments.
    Asked { call: &'a Call<'a>, nonce: &'a str, sha256: &'a str },
    /// It was decided; `sha256` is of the arguments that it passes with, or would have passed with.
    Settled { call: &'a Call<'a>, verdict: Verdict, by: By, sha256: &'a str, feedback: Option<&'a str> },
    /// A call passes that nobody had to be asked about.
    Passed { call: &'a Call<'a> },
}
