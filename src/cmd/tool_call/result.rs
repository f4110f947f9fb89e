//! The result of a call, as text for people.

use crate::io::report::{Failure, Status};
use crate::policy::arguments::pretty;
use crate::record::Fields;
use serde_json::value::RawValue;

/// What a `tool_result` record says.
pub struct ToolResult<'a> {
    fields: Fields<'a>,
}

impl<'a> ToolResult<'a> {
    /// Reads a line that [answers](super::request::Request::is_answered_by) a call.
    ///
    /// # Errors
    /// [`Status::Fault`] where it is not an object with distinct keys.
    pub fn read(line: &'a str) -> Result<ToolResult<'a>, Failure> {
        let unreadable = |why| Failure::new(Status::Fault, format_args!("the result cannot be read: {why}"));
        Fields::read(line).map(|fields| ToolResult { fields }).map_err(unreadable)
    }

    /// The kind of the error and its message, where the call failed.
    pub fn error(&self) -> Option<(String, String)> {
        let text = |key| text_in(&self.fields, key).unwrap_or_default();
        (text("status") != "ok").then(|| (text("kind"), text("error")))
    }

    /// The result: of MCP content the text, with a line for everything else; a string as it is; any other value laid out as JSON.
    pub fn text(&self) -> String {
        self.fields.get("result").map(|result| plain(result.get())).unwrap_or_default()
    }
}

fn plain(json: &str) -> String {
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

/// What is not text: where it was saved, else its size.
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn text(result: &str) -> String {
        ToolResult::read(&format!(r#"{{"status":"ok","result":{result}}}"#)).unwrap().text()
    }

    #[test]
    fn a_result_is_its_text() {
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
            assert_eq!(text(result), plain, "{result}");
        }
    }

    #[test]
    fn an_error_is_its_kind_and_message() {
        let line = r#"{"type":"tool_result","status":"error","error":"no page","kind":"tool_error"}"#;
        let error = ToolResult::read(line).unwrap().error();
        assert_eq!(error, Some(("tool_error".to_owned(), "no page".to_owned())));
        assert_eq!(ToolResult::read(r#"{"status":"ok","result":null}"#).unwrap().error(), None);
    }
}
