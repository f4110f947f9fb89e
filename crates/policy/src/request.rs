//! `policy_request`: a call needs a person's approval.

use crate::target::Target;
use crate::verdict::Decision;
use pipewright_record::{About, Record, schema};
use schemars::JsonSchema;
use serde::Serialize;

/// A call needs a person's approval.
///
/// In a pipe, it comes before the marked call.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "policy_request")]
pub struct PolicyRequest<'a> {
    /// The call.
    #[serde(flatten)]
    pub about: About<'a>,
    /// The tool of the call.
    pub tool_name: &'a str,
    /// The decision that requires the approval.
    pub policy: &'a Decision,
    /// The element that the call acts on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Target>")]
    pub target: Option<&'a Target>,
}

impl Record for PolicyRequest<'_> {}
