//! Random bytes: a destructive call has a verdict or is refused, and a passed line differs only in its marks.

use super::play_bytes;
use pipewright_record::recognise;
use proptest::prelude::*;
use serde_json::Value;

const DESTROYING: &[&str] = &[
    r#"{"tool":"delete_file","args":{"path":"a"},"id":1}"#,
    r#"{"type":"tool_call","call_id":"c","tool_name":"click","arguments":{},"target":{"role":"button","name":"Pay now"}}"#,
    r#"{"cmd":"press_button","args":{"path":"/root/DeleteSave"},"id":1}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_email","arguments":{}}}"#,
];

/// The most lenient reader: it takes the last of equal keys, ignores case, takes arrays for batches and carriage returns for line ends.
/// Gives whether it would carry out a destructive call.
fn would_destroy(line: &str) -> bool {
    line.split(['\n', '\r']).any(|part| match serde_json::from_str::<Value>(part) {
        Ok(Value::Array(calls)) => calls.iter().any(|call| would_destroy(&call.to_string())),
        Ok(Value::Object(fields)) => {
            let field = |name: &str| {
                fields.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next_back()
            };
            let is_held = |value: &Value| {
                value["requires_approval"] == true || value["params"]["_meta"]["requires_approval"] == true
            };
            let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
            let is_record = text(field("type")) == "tool_call";
            let names = ["tool", "cmd", if is_record { "tool_name" } else { "tool" }].map(|name| text(field(name)));
            let inner = field("params").map(|params| text(params.get("name"))).unwrap_or_default();
            let target = field("target").map(|target| text(target.get("name"))).unwrap_or_default();
            let path = field("args").map(|args| text(args.get("path"))).unwrap_or_default();
            let destroys = names.iter().any(|name| name == "delete_file")
                || (inner == "send_email" && text(field("method")) == "tools/call")
                || (target == "Pay now" && names.iter().any(|name| name == "click"))
                || (path.contains("DeleteSave") && names.iter().any(|name| name == "press_button"));
            let is_result = field("status").is_some();
            destroys && !is_result && !is_held(&Value::Object(fields.clone()))
        }
        _ => false,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Many mutated lines go through one run: a process for each would take too long.
    #[test]
    fn no_bytes_get_a_destructive_call_past_the_gate(
        edits in prop::collection::vec((0..DESTROYING.len(), prop::collection::vec((any::<prop::sample::Index>(), 0..6usize, any::<u8>()), 0..4)), 50..200)
    ) {
        let mut input = Vec::new();
        for (which, changes) in edits {
            let mut line = DESTROYING[which].as_bytes().to_vec();
            for (at, how, byte) in changes {
                let at = at.index(line.len());
                match how {
                    0 => line[at] = byte,
                    1 => line.insert(at, byte),
                    2 => _ = line.remove(at),
                    3 => line.insert(at, b'\r'),
                    4 => line[at] = line[at].to_ascii_uppercase(),
                    _ => line.splice(at..at, DESTROYING[which].bytes()).for_each(drop),
                }
            }
            line.push(b'\n');
            input.extend(line);
        }
        let played = play_bytes(&[], &input);
        for line in &played.lines {
            prop_assert!(!would_destroy(line), "{line}");
        }
    }

    #[test]
    fn lines_without_a_call_pass_unchanged(lines in prop::collection::vec(any::<std::collections::BTreeMap<String, i64>>(), 0..20)) {
        let lines: Vec<String> = lines.iter().map(|fields| serde_json::json!(fields).to_string()).collect();
        let input: String = lines.iter().filter(|line| matches!(recognise(line), Ok(None))).map(|line| format!("{line}\n")).collect();
        let played = play_bytes(&[], input.as_bytes());
        prop_assert_eq!(played.lines.iter().map(|line| format!("{line}\n")).collect::<String>(), input);
    }
}
