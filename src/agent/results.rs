//! Results of the world's, as the model is given them.

use crate::json::Object;
use crate::record::ToolError;
use serde_json::Value;

/// The text of a result, JSON text: of blocks as MCP has them, their texts; of a text, itself; else the JSON. Only these fields of an object; all
/// where none are named.
pub(super) fn presented(result: &str, fields: &[String]) -> String {
    match serde_json::from_str::<Value>(result) {
        Ok(Value::Object(object)) if !fields.is_empty() => {
            let kept = object.iter().filter(|(key, _)| fields.contains(key));
            kept.fold(Object::default(), |object, (key, value)| object.put_any(key, value)).end()
        }
        Ok(Value::Object(object)) => match object.get("content").and_then(Value::as_array) {
            Some(blocks) if !blocks.is_empty() && blocks.iter().all(|block| block["type"].is_string()) => {
                blocks.iter().map(block).collect::<Vec<_>>().join("\n")
            }
            _ => result.to_owned(),
        },
        Ok(Value::String(text)) => text,
        _ => result.to_owned(),
    }
}

/// The text of a block, as in MCP's `CallToolResult`. What is no text is named, and not given: models take no base64.
fn block(block: &Value) -> String {
    let kind = block["type"].as_str().unwrap_or_default();
    match (kind, block["text"].as_str(), block["data"].as_str()) {
        ("text", Some(text), _) => text.to_owned(),
        (_, _, Some(data)) => format!("[{kind} of {} bytes in base64: left out]", data.len()),
        _ => block.to_string(),
    }
}

/// All texts in a JSON text, as they are read.
pub(super) fn texts(json: &str) -> String {
    fn collect(value: &Value, to: &mut String) {
        match value {
            Value::String(text) => {
                to.push_str(text);
                to.push('\n');
            }
            Value::Array(list) => list.iter().for_each(|value| collect(value, to)),
            Value::Object(object) => object.values().for_each(|value| collect(value, to)),
            _ => {}
        }
    }
    let mut texts = String::new();
    if let Ok(value) = serde_json::from_str(json) {
        collect(&value, &mut texts);
    }
    texts
}

/// The path of the image in a result.
pub(super) fn image_path(result: &str, field: &str) -> Option<String> {
    serde_json::from_str::<Value>(result).ok()?.get(field)?.as_str().map(str::to_owned)
}

/// A failure.
pub(super) fn describe(error: &ToolError<'_>) -> String {
    let code = error.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    let data = error.data.map(|data| format!("\n{}", data.get())).unwrap_or_default();
    let maybe = if error.maybe_executed { "\nThe call may have been executed." } else { "" };
    format!("{}{code}: {}{data}{maybe}", error.kind, error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_of_mcp_and_texts_are_given_as_they_are_read() {
        let snapshot = r#"{"content":[{"type":"text","text":"- button \"Pay\" [ref=e1]\n- link"},{"type":"image","data":"iVBORw0K","mimeType":"image/png"}]}"#;
        assert_eq!(
            presented(snapshot, &[]),
            "- button \"Pay\" [ref=e1]\n- link\n[image of 8 bytes in base64: left out]"
        );
        assert_eq!(presented(r#""a\nb""#, &[]), "a\nb");
        assert_eq!(presented(r#"{"a":1.10}"#, &[]), r#"{"a":1.10}"#);
        assert_eq!(presented(r#"{"content":"x"}"#, &[]), r#"{"content":"x"}"#);
        assert_eq!(presented(r#"{"a":1,"b":2}"#, &["b".to_owned()]), r#"{"b":2}"#);
    }

    #[test]
    fn texts_are_found_at_any_depth() {
        assert_eq!(texts(r#"{"a":["M\u00fcller",{"b":"a\/b"}],"n":1}"#), "Müller\na/b\n");
    }
}
