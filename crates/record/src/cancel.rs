//! Requests to cancel a call, in both forms.

use super::{Fields, Record, schema};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

/// Cancels a call, a request to a model, or an agent's turn.
///
/// Without an id, it cancels the turn of the agent that reads it. A cancelled call is answered, too: with an error of the kind cancelled,
/// or with its result if that was already on its way.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "cancel")]
#[schemars(
    extend("oneOf" = [
        { "required": ["call_id"] },
        { "required": ["request_id"] },
        { "not": { "anyOf": [{ "required": ["call_id"] }, { "required": ["request_id"] }, { "required": ["id"] }] } }
    ])
)]
pub struct Cancel<I> {
    /// The id of the call, in any form.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Id>")]
    call_id: Option<I>,
    /// The id of a request to a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Id>")]
    request_id: Option<I>,
}

impl<I: Serialize + JsonSchema> Record for Cancel<I> {}

impl Cancel<()> {
    /// Cancels the turn of an agent.
    pub const TURN: Cancel<()> = Cancel { call_id: None, request_id: None };
}

impl<I> Cancel<I> {
    /// Cancels a call.
    pub fn call(id: I) -> Cancel<I> {
        Cancel { call_id: Some(id), request_id: None }
    }

    /// Cancels a request to a model.
    pub fn request(id: I) -> Cancel<I> {
        Cancel { call_id: None, request_id: Some(id) }
    }
}

/// The id of the call to cancel: `{"type":"cancel","call_id":...}`, or MCP's `notifications/cancelled`.
pub fn cancelled_id(line: &str) -> Option<&RawValue> {
    let fields = Fields::read(line).ok()?;
    let has = |key, value: &str| {
        fields.get(key).and_then(|found| serde_json::from_str::<String>(found.get()).ok()).is_some_and(|it| it == value)
    };
    if has("type", "cancel") {
        return fields.get("call_id");
    }
    let params = fields.get("params").filter(|_| has("method", "notifications/cancelled"))?;
    Fields::read(params.get()).ok()?.get("requestId")
}

/// Whether two ids (JSON text) are equal: strings regardless of escapes, whole numbers regardless of notation. None means null.
pub fn is_same_id(one: Option<&str>, other: Option<&str>) -> bool {
    let text = |id: &str| serde_json::from_str::<String>(id).ok();
    match (one.unwrap_or("null"), other.unwrap_or("null")) {
        (one, other) if one == other => true,
        (one, other) if one.starts_with('"') => text(one).is_some_and(|one| text(other) == Some(one)),
        (one, other) => whole_number(one).is_some_and(|one| whole_number(other) == Some(one)),
    }
}

/// The value of `7`, `7.0` or `0.7e1`. Beyond 2^53 only plain digits are exact.
fn whole_number(json: &str) -> Option<i128> {
    let is_whole = |number: &f64| number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
    json.parse().ok().or_else(|| json.parse::<f64>().ok().filter(is_whole).map(|number| number as i128))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_cancel_requests_are_read() {
        for (line, id) in [
            (r#"{"type":"cancel","call_id":"c\u0041"}"#, Some(r#""c\u0041""#)),
            (r#"{"type":"cancel"}"#, None),
            (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#, Some("7")),
            (r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#, None),
            (r#"{"tool":"cancel","call_id":1}"#, None),
        ] {
            assert_eq!(cancelled_id(line).map(RawValue::get), id, "{line}");
        }
    }

    #[test]
    fn ids_are_compared_by_value() {
        assert!(
            is_same_id(Some(r#""c\u0041""#), Some(r#""cA""#))
                && is_same_id(None, Some("null"))
                && is_same_id(None, None)
        );
        assert!(is_same_id(Some("7"), Some("7.0")) && is_same_id(Some("0.7e1"), Some("7")));
        assert!(
            !is_same_id(Some("1"), Some("\"1\""))
                && !is_same_id(Some("7"), Some("7.5"))
                && !is_same_id(Some("12345678901234567890"), Some("12345678901234567891"))
        );
    }
}
