//! Formats results of the world for the model.

use pipewright_record::ToolError;
use pipewright_record::json::Object;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A result (JSON text) as text: for an MCP result, the texts of its blocks and its structured content; for a string,
/// its content; otherwise the JSON. Of an object only these fields; all if `fields` is empty.
pub(super) fn presented(result: &str, fields: &[String]) -> String {
    match serde_json::from_str::<Value>(result) {
        Ok(Value::Object(object)) if !fields.is_empty() => {
            let kept = object.iter().filter(|(key, _)| fields.contains(key));
            kept.fold(Object::default(), |object, (key, value)| object.put_any(key, value)).end()
        }
        Ok(Value::Object(object)) => of_mcp(&object).unwrap_or_else(|| result.to_owned()),
        Ok(Value::String(text)) => text,
        _ => result.to_owned(),
    }
}

/// The text of a `CallToolResult`; `None` for any other object.
fn of_mcp(object: &Map<String, Value>) -> Option<String> {
    const FIELDS: [&str; 4] = ["content", "structuredContent", "isError", "_meta"];
    const TYPES: [&str; 5] = ["text", "image", "audio", "resource", "resource_link"];
    let blocks = object.get("content")?.as_array()?;
    let is_block = |block: &Value| block["type"].as_str().is_some_and(|kind| TYPES.contains(&kind));
    let is_mcp = object.keys().all(|key| FIELDS.contains(&&**key)) && blocks.iter().all(is_block);
    let mut texts: Vec<String> = blocks.iter().filter(|_| is_mcp).map(block).collect();
    // Servers that follow the specification repeat it as text.
    let structured = object.get("structuredContent").filter(|structured| !structured.is_null());
    let is_repeated = |structured: &&Value| {
        texts.iter().any(|text| serde_json::from_str::<Value>(text).is_ok_and(|value| value == **structured))
    };
    if let Some(structured) = structured.filter(|structured| !is_repeated(structured)) {
        texts.push(structured.to_string());
    }
    is_mcp.then(|| texts.join("\n"))
}

/// The text of a block. Other blocks are only named: models do not accept base64 text.
fn block(block: &Value) -> String {
    let kind = block["type"].as_str().unwrap_or_default();
    let resource = &block["resource"];
    let data = block["data"].as_str().or_else(|| resource["blob"].as_str());
    match (block["text"].as_str().or_else(|| resource["text"].as_str()), data) {
        (Some(text), _) => text.to_owned(),
        (None, Some(data)) => format!("[{kind} of {} bytes in base64: left out]", data.len()),
        (None, None) => block.to_string(),
    }
}

/// All strings in a JSON text, decoded.
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

/// Whether a result (JSON text) meets one of the conditions `FIELD=VALUE`.
pub(super) fn has_one_of(result: &str, conditions: &[String]) -> bool {
    let Ok(result) = serde_json::from_str::<Value>(result) else { return false };
    conditions.iter().any(|condition| {
        let (field, value) = condition.split_once('=').unwrap_or((condition, ""));
        result.get(field).is_some_and(|found| found.as_str() == Some(value) || *found.to_string() == *value)
    })
}

/// The path of the image in a result.
pub(super) fn image_path(result: &str, field: &str) -> Option<String> {
    serde_json::from_str::<Value>(result).ok()?.get(field)?.as_str().map(str::to_owned)
}

/// A failure as text.
pub(super) fn describe(error: &ToolError<'_>) -> String {
    let code = error.code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    // The error message of a failed MCP result repeats the result's text.
    let is_mcp = |data: &&RawValue| serde_json::from_str(data.get()).is_ok_and(|data| of_mcp(&data).is_some());
    let data = error.data.filter(|data| !is_mcp(data)).map(|data| format!("\n{}", data.get())).unwrap_or_default();
    let maybe = if error.maybe_executed { "\nThe call may have been executed." } else { "" };
    format!("{}{code}: {}{data}{maybe}", error.kind, error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mcp_blocks_and_strings_are_given_as_plain_text() {
        let snapshot = r#"{"content":[{"type":"text","text":"- button \"Pay\" [ref=e1]\n- link"},{"type":"image","data":"iVBORw0K","mimeType":"image/png"}]}"#;
        assert_eq!(
            presented(snapshot, &[]),
            "- button \"Pay\" [ref=e1]\n- link\n[image of 8 bytes in base64: left out]"
        );
        assert_eq!(presented(r#""a\nb""#, &[]), "a\nb");
        assert_eq!(presented(r#"{"a":1.10}"#, &[]), r#"{"a":1.10}"#);
        let structured = r#"{"content":[{"type":"text","text":"see below"}],"structuredContent":{"order":"A-77"}}"#;
        assert_eq!(presented(structured, &[]), "see below\n{\"order\":\"A-77\"}");
        let twice = r#"{"content":[{"type":"text","text":"{\"order\": 7}"}],"structuredContent":{"order":7}}"#;
        assert_eq!(presented(twice, &[]), "{\"order\": 7}");
        let resource = r#"{"content":[{"type":"resource","resource":{"uri":"a","text":"a text"}},{"type":"resource","resource":{"uri":"b","blob":"AAAA"}}]}"#;
        assert_eq!(presented(resource, &[]), "a text\n[resource of 4 bytes in base64: left out]");
        for other in [
            r#"{"content":"x"}"#,
            r#"{"content":[{"type":"text","text":"a"}],"price":"12.50"}"#,
            r#"{"content":[{"type":"paragraph"}]}"#,
        ] {
            assert_eq!(presented(other, &[]), other);
        }
        assert_eq!(presented(r#"{"a":1,"b":2}"#, &["b".to_owned()]), r#"{"b":2}"#);
    }

    #[test]
    fn texts_are_found_at_any_depth() {
        assert_eq!(texts(r#"{"a":["M\u00fcller",{"b":"a\/b"}],"n":1}"#), "Müller\na/b\n");
    }
}
