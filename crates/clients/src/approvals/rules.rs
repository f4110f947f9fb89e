//! The rules by which a gate allows calls until its end: the records that report and revoke them.

use pipewright_record::{Fields, Record, Unreadable, type_of, unreadable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rules by which a gate allows calls until its end.
///
/// Sent to approvers whenever they change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "session_rules")]
pub struct RulesInForce<'a> {
    /// The side that makes the calls, if it is known; for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<&'a str>,
    /// All rules in force.
    pub rules: Vec<RuleInForce>,
}

impl Record for RulesInForce<'_> {}

/// A rule that is in force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct RuleInForce {
    /// The gate's id for it.
    pub rule_id: String,
    /// In the language of rules files, without id and verdict.
    pub rule: String,
}

/// A rule of a session is revoked.
///
/// Sent to a gate by an approver. A rule that is not in force is reported, and nothing changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "revoke_rule")]
pub struct RevokeRule<'a> {
    /// The rule_id in the gate's session_rules.
    pub rule_id: &'a str,
}

impl Record for RevokeRule<'_> {}

/// Reads the rules of such a record.
///
/// # Errors
/// If they are not a list of rules.
pub(super) fn read_rules(fields: &Fields<'_>) -> Result<Vec<RuleInForce>, Unreadable> {
    let rules = fields.get("rules").map_or("null", |rules| rules.get());
    serde_json::from_str(rules).or_else(|error| unreadable(format_args!("its rules: {error}")))
}

/// The id of the rule that a line revokes; `None` for another record.
pub fn revoked_rule(line: &str) -> Option<String> {
    type_of(line).filter(|record_type| record_type == "revoke_rule")?;
    serde_json::from_str(Fields::read(line).ok()?.get("rule_id")?.get()).ok()
}
