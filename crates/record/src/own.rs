//! Records of our own. Each is a type with its fields in the order in which they are written; its JSON Schema is made from the type.

use super::json;
use schemars::JsonSchema;
use serde::Serialize;

/// A record of our own.
pub trait Record: Serialize + JsonSchema {
    /// The record as JSON text without a line feed.
    fn json(&self) -> String {
        json::text(self)
    }

    /// The record as a line.
    fn line(&self) -> String {
        self.json() + "\n"
    }
}
