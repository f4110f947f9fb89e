//! Replaces the values of given keys at any depth; everything else stays unchanged.

use super::token::Kind;
use super::tokens::Tokens;

/// Appends `json`, which must be one JSON value, with `value` (JSON text) in place of every value whose key, unescaped,
/// `is_meant`, at any depth. Returns whether anything was replaced. JSON text within a string is not searched.
///
/// ```
/// use pipewright_lines::replace_values;
/// let mut out = Vec::new();
/// replace_values(r#"{"n":1.10, "a":[{"b" : {"c":1}}]}"#, &|key| key == "b", "null", &mut out);
/// assert_eq!(out, br#"{"n":1.10, "a":[{"b" : null}]}"#);
/// ```
pub fn replace_values(json: &str, is_meant: &dyn Fn(&str) -> bool, value: &str, out: &mut Vec<u8>) -> bool {
    let mut tokens = Tokens::new(json);
    let mut copied = 0;
    while let Some(token) = tokens.next() {
        if matches!(token.kind, Kind::Key { .. }) && token.text(json).is_some_and(|key| is_meant(&key)) {
            let replaced = tokens.skip_value();
            out.extend_from_slice(&json.as_bytes()[copied..replaced.start]);
            out.extend_from_slice(value.as_bytes());
            copied = replaced.end;
        }
    }
    out.extend_from_slice(&json.as_bytes()[copied..]);
    copied > 0
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn without_a(json: &str) -> String {
        let mut out = Vec::new();
        let replaced = replace_values(json, &|key| key == "a", "0", &mut out);
        let out = String::from_utf8(out).unwrap();
        assert_eq!(replaced, out != json || json.contains("\"a\":0"), "{json}");
        out
    }

    #[test]
    fn values_of_a_key_are_replaced_at_any_depth_and_nothing_else_changes() {
        for (json, expected) in [
            ("{}", "{}"),
            (r#"{"a":"x","b":1.10}"#, r#"{"a":0,"b":1.10}"#),
            (r#" [{"b":{ "a" : {"a":[1,"}"]} , "c":"\"a\":1"}}] "#, r#" [{"b":{ "a" : 0 , "c":"\"a\":1"}}] "#),
            (r#"{"\u0061":"x","a":null,"A":2}"#, r#"{"\u0061":0,"a":0,"A":2}"#),
            (r#"{"b":"a","\\":"\\","c":["a"]}"#, r#"{"b":"a","\\":"\\","c":["a"]}"#),
            (r#"{"\ud800":1,"a":true}"#, r#"{"\ud800":1,"a":0}"#),
            (r#""a""#, r#""a""#),
        ] {
            assert_eq!(without_a(json), expected);
        }
    }

    #[test]
    fn a_key_that_stands_for_no_text_is_not_meant() {
        let mut out = Vec::new();
        assert!(!replace_values(r#"{"\ud800":1}"#, &|_| true, "0", &mut out));
        assert!(replace_values(r#"{"\u00e9":1}"#, &|key| key == "é", "0", &mut out));
    }

    fn replaced(value: Value) -> Value {
        match value {
            Value::Object(fields) => {
                let field = |(key, value)| if key == "a" { (key, 0.into()) } else { (key, replaced(value)) };
                Value::Object(fields.into_iter().map(field).collect())
            }
            Value::Array(items) => items.into_iter().map(replaced).collect(),
            other => other,
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![any::<i64>().prop_map(Value::from), "[a\"\\\\:{}, ]{0,5}".prop_map(Value::from)];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[ab\"\\\\]{1,2}", inner, 0..4).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn replacing_is_what_it_would_be_as_values(value in value(), pretty: bool) {
            let json = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            let mut out = Vec::new();
            replace_values(&json, &|key| key == "a", "0", &mut out);
            prop_assert_eq!(serde_json::from_slice::<Value>(&out).unwrap(), replaced(value));
        }

        #[test]
        fn text_that_is_not_json_terminates(json in "[\\[\\]{}\":,a1\\\\ ]{0,40}") {
            replace_values(&json, &|_| true, "0", &mut Vec::new());
        }
    }
}
