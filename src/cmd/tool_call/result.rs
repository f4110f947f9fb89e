//! Formats the result of a call as text for people.

use pipewright_io::report::{Failure, Status};
use pipewright_policy::arguments::pretty;
use pipewright_record::{Fields, ToolError, ToolResult};
use serde_json::value::RawValue;

/// Reads a line that [answers](super::request::Request::is_answered_by) a call: the result as JSON text, or the error.
///
/// # Errors
/// [`Status::Fault`] if it is not a readable `tool_result`.
pub fn read(line: &str) -> Result<Result<&RawValue, ToolError<'_>>, Failure> {
    let unreadable = |why| Failure::new(Status::Fault, format_args!("the result cannot be read: {why}"));
    Fields::read(line).and_then(|fields| ToolResult::read(&fields)).map(|result| result.outcome).map_err(unreadable)
}

/// A result (JSON text) for people. MCP content becomes its text, with a line for every other block; a string stays as
/// it is; any other value is formatted as JSON.
pub fn plain(json: &str) -> String {
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return text;
    }
    let Ok(fields) = Fields::read(json) else { return pretty(json) };
    let content = fields.get("content").and_then(|list| serde_json::from_str::<Vec<&RawValue>>(list.get()).ok());
    match (content, fields.get("structuredContent")) {
        (None, _) => pretty(json),
        (Some(content), Some(structured)) if content.is_empty() => pretty(structured.get()),
        (Some(content), _) => content.iter().map(|item| block(item.get())).collect::<Vec<_>>().join("\n"),
    }
}

/// A block of MCP content (specification 2025-11-25, Tool Result).
fn block(json: &str) -> String {
    let Ok(fields) = Fields::read(json) else { return json.to_owned() };
    let text = |key| text_in(&fields, key);
    match text("type").as_deref() {
        Some("text") => text("text").unwrap_or_default(),
        Some(media @ ("image" | "audio")) => file(media, &fields, "data"),
        Some("resource_link") => format!("[resource {}]", text("uri").unwrap_or_default()),
        Some("resource") => match fields.get("resource").and_then(|resource| Fields::read(resource.get()).ok()) {
            Some(resource) => match text_in(&resource, "text") {
                Some(text) => text,
                None => file(&format!("resource {}", text_in(&resource, "uri").unwrap_or_default()), &resource, "blob"),
            },
            None => json.to_owned(),
        },
        _ => json.to_owned(),
    }
}

/// Content that is not text: the path where it was saved, or its size.
fn file(what: &str, fields: &Fields<'_>, data: &str) -> String {
    let text = |key| text_in(fields, key);
    let mime = text("mimeType").map(|mime| format!(" {mime}")).unwrap_or_default();
    match text("path") {
        Some(path) => format!("[{what}{mime}: {path}]"),
        None => {
            let digits = text(data).unwrap_or_default().trim_end_matches('=').len();
            format!("[{what}{mime}: {} bytes]", digits * 3 / 4)
        }
    }
}

fn text_in(fields: &Fields<'_>, key: &str) -> Option<String> {
    fields.get(key).and_then(|value| serde_json::from_str(value.get()).ok())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_result_is_shown_as_its_text() {
        for (result, plain) in [
            (r#""a\nb""#, "a\nb"),
            ("1.10", "1.10"),
            (r#"{"n":12345678901234567890123}"#, "{\n  \"n\": 12345678901234567890123\n}"),
            (
                r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\n"}],"structuredContent":{}}"#,
                "a\nb\n",
            ),
            (r#"{"content":[],"structuredContent":{"n":1}}"#, "{\n  \"n\": 1\n}"),
            (r#"{"content":[]}"#, ""),
            (r#"{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}"#, "[image image/png: 2 bytes]"),
            (r#"{"content":[{"type":"audio","path":"000001.wav"}]}"#, "[audio: 000001.wav]"),
            (r#"{"content":[{"type":"resource","resource":{"uri":"a:b","text":"c"}}]}"#, "c"),
            (r#"{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"aGk="}}]}"#, "[resource a:b: 2 bytes]"),
            (r#"{"content":[{"type":"resource_link","uri":"a:b"}]}"#, "[resource a:b]"),
            (r#"{"content":[{"type":"new"},3]}"#, "{\"type\":\"new\"}\n3"),
            (r#"{"content":"not a list"}"#, "{\n  \"content\": \"not a list\"\n}"),
        ] {
            assert_eq!(super::plain(result), plain, "{result}");
        }
    }
}
