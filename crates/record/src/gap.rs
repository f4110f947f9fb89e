//! `gap`: records that a client does not get.

use super::Record;
use schemars::JsonSchema;
use serde::Serialize;

/// Records that a client does not get.
///
/// Takes the place of records of a session that are no longer kept, because the client read too slowly or was away too long.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "gap")]
pub struct Gap {
    /// The number of the first missing record.
    pub first: u64,
    /// The number of the last missing record.
    pub last: u64,
}

impl Record for Gap {}
