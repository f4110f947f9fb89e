//! `history`: the earlier records of a session.

use super::Record;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A record of a session's history, or the request for the history.
///
/// Without record and is_final, it requests the history. The answer is one of these for each record of the session, the person's messages
/// included, and a last one with is_final.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "history")]
pub struct History<'a> {
    /// A record of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>", extend("$ref" = "record.json"))]
    pub record: Option<&'a RawValue>,
    /// Marks the end of the history.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub is_final: bool,
}

impl Record for History<'_> {}

impl<'a> History<'a> {
    /// Requests the history.
    pub const REQUEST: History<'static> = History { record: None, is_final: false };

    /// The end of the history.
    pub const END: History<'static> = History { record: None, is_final: true };

    /// A record of the history.
    pub fn of(record: &'a RawValue) -> History<'a> {
        History { record: Some(record), is_final: false }
    }
}
