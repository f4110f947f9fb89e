//! The rules by which a gate allows calls until its end: the records that report and revoke them.

use crate::json::Object;
use crate::record::{Fields, Unreadable, type_of, unreadable};
use serde::Deserialize;

/// A rule that is in force.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RuleInForce {
    /// The gate's id for it.
    pub rule_id: String,
    /// Its text, in the language of rules files.
    pub rule: String,
}

/// `{"type":"session_rules","caller"?,"rules":[{"rule_id","rule"}]}`: all rules of a gate that are in force, as pairs of id and text.
pub fn session_rules<'a>(caller: Option<&str>, rules: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let rules = rules.map(|(id, text)| Object::default().text("rule_id", id).text("rule", text).end());
    let rules = rules.collect::<Vec<_>>().join(",");
    let record = Object::default().text("type", "session_rules").text_some("caller", caller);
    record.put("rules", format_args!("[{rules}]")).end()
}

/// Reads the rules of such a record.
///
/// # Errors
/// If they are not a list of rules.
pub(super) fn read_rules(fields: &Fields<'_>) -> Result<Vec<RuleInForce>, Unreadable> {
    let rules = fields.get("rules").map_or("null", |rules| rules.get());
    serde_json::from_str(rules).or_else(|error| unreadable(format_args!("its rules: {error}")))
}

/// `{"type":"revoke_rule","rule_id"}`.
pub fn revocation(rule_id: &str) -> String {
    Object::default().text("type", "revoke_rule").text("rule_id", rule_id).end()
}

/// The id of the rule that a line revokes; `None` for another record.
pub fn revoked_rule(line: &str) -> Option<String> {
    type_of(line).filter(|record_type| record_type == "revoke_rule")?;
    serde_json::from_str(Fields::read(line).ok()?.get("rule_id")?.get()).ok()
}
