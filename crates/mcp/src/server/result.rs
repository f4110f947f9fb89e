//! MCP results: a world's result becomes content for a model, an error becomes a result with `isError`.

use super::Era;
use pipewright_record::json::{Object, one_line, quoted};
use pipewright_record::{Fields, OwnedTool, ToolError, ToolResult};
use serde_json::value::RawValue;
use std::fmt::Write;

/// The name and version of this server.
pub(super) fn server_info() -> String {
    Object::default().text("name", "pipewright").text("version", env!("CARGO_PKG_VERSION")).end()
}

fn meta() -> String {
    Object::default().put("io.modelcontextprotocol/serverInfo", server_info()).end()
}

/// Adds the fields that the modern era requires in every result.
pub(super) fn in_era(result: Object, era: Era) -> Object {
    match era {
        Era::Legacy => result,
        Era::Modern => result.text("resultType", "complete").put("_meta", meta()),
    }
}

/// Adds the cache hints that the modern era requires in lists: a list may change at any time, and is private to the
/// token's owner.
pub(super) fn cacheable(result: Object) -> Object {
    result.put("ttlMs", 0).text("cacheScope", "private")
}

/// The tools in the form of `tools/list`.
pub(super) fn tools(tools: &[OwnedTool]) -> String {
    let listed = tools.iter().map(|tool| {
        Object::default()
            .text("name", &tool.name)
            .text("description", &tool.description)
            .put("inputSchema", one_line(&tool.input_schema))
            .put_some("annotations", tool.annotations.as_deref().map(one_line))
            .end()
    });
    format!("[{}]", Vec::from_iter(listed).join(","))
}

/// The result of a `tools/call`, as JSON text.
pub(super) fn of_call(result: &ToolResult<'_>, era: Era) -> String {
    match &result.outcome {
        Ok(json) => match mcp_result(json) {
            Some(fields) => forwarded_result(&fields, json, era),
            None => foreign_result(json, result.events, era),
        },
        // For a failed tool of an MCP server, clients get the text that the server sent.
        Err(error) if error.kind == "tool_error" && !error.maybe_executed => {
            match error.data.and_then(|data| Some((mcp_result(data)?, data))) {
                Some((fields, data)) => forwarded_result(&fields, data, era),
                None => error_result(error, result.events, era),
            }
        }
        Err(error) => error_result(error, result.events, era),
    }
}

/// The fields of a value that is already an MCP result: its `content` is a list of typed blocks.
fn mcp_result(json: &RawValue) -> Option<Fields<'_>> {
    #[derive(serde::Deserialize)]
    struct Block {
        r#type: String,
    }
    let fields = Fields::read(json.get()).ok()?;
    let blocks: Vec<Block> = serde_json::from_str(fields.get("content")?.get()).ok()?;
    let is_known = |block: &Block| ["text", "image", "audio", "resource", "resource_link"].contains(&&*block.r#type);
    blocks.iter().all(is_known).then_some(fields)
}

/// The MCP result of a server, with every field unchanged, except that files which `mcp-pipe --save-media` has written
/// are named in text.
fn forwarded_result(fields: &Fields<'_>, json: &RawValue, era: Era) -> String {
    let content = fields.get("content").and_then(named_files);
    if era == Era::Legacy && content.is_none() {
        return json.get().to_owned();
    }
    let is_replaced = |key: &str| era == Era::Modern && key == "resultType";
    let result =
        fields.iter().filter(|(key, _)| !is_replaced(key)).fold(
            Object::default(),
            |result, (key, value)| match &content {
                Some(content) if key == "content" => result.put(key, content),
                _ => result.put_any(key, value),
            },
        );
    match era {
        Era::Legacy => result.end(),
        // The server's own `_meta` is kept.
        Era::Modern if fields.get("_meta").is_some() => result.text("resultType", "complete").end(),
        Era::Modern => in_era(result, era).end(),
    }
}

/// The content with a text in place of each block whose data was saved to a file; `None` if there is no such block.
fn named_files(content: &RawValue) -> Option<String> {
    if !content.get().contains("\"path\"") {
        return None;
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(content.get()).ok()?;
    let texts: Vec<Option<String>> = blocks.iter().map(|block| saved_file(block)).collect();
    if texts.iter().all(Option::is_none) {
        return None;
    }
    let block = |(block, text): (&RawValue, Option<String>)| match text {
        Some(text) => text_block(&text),
        None => block.get().to_owned(),
    };
    Some(format!("[{}]", Vec::from_iter(blocks.into_iter().zip(texts).map(block)).join(",")))
}

/// Names the file of a block whose data was saved: it has a `path`, which is not part of MCP, and no data. The file is
/// not read, since a server could name any file.
fn saved_file(block: &RawValue) -> Option<String> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct SavedFile {
        path: String,
        mime_type: Option<String>,
    }
    let has_data = |fields: &Fields<'_>| ["text", "data", "blob"].iter().any(|key| fields.get(key).is_some());
    let outer = Fields::read(block.get()).ok();
    let inner = outer.as_ref().and_then(|fields| fields.get("resource")).unwrap_or(block);
    let SavedFile { path, mime_type } = serde_json::from_str(inner.get()).ok()?;
    if outer.as_ref().is_some_and(has_data) || Fields::read(inner.get()).is_ok_and(|fields| has_data(&fields)) {
        return None;
    }
    let media_type = mime_type.map_or(String::new(), |mime| format!(" ({mime})"));
    Some(format!("saved to {path}{media_type}"))
}

/// A result from another kind of world: its text, and also `structuredContent` if it is an object.
fn foreign_result(json: &RawValue, events: Option<&RawValue>, era: Era) -> String {
    let text = serde_json::from_str::<String>(json.get()).unwrap_or_else(|_| json.get().to_owned());
    let is_object = json.get().starts_with('{');
    let result = Object::default().put("content", content_blocks(&text, events));
    in_era(result.put_some("structuredContent", is_object.then_some(json)), era).end()
}

/// A failure as a result that a model can read and react to.
fn error_result(error: &ToolError<'_>, events: Option<&RawValue>, era: Era) -> String {
    let ToolError { message, kind, code, data, maybe_executed } = error;
    let mut text = format!("{message}\nkind: {kind}");
    if let Some(code) = code {
        // Writing to a string cannot fail.
        let _ = write!(text, "\ncode: {code}");
    }
    if *maybe_executed {
        text.push_str("\nmaybe_executed: true (the call was sent and may have been executed)");
    }
    if let Some(data) = data {
        let _ = write!(text, "\ndata: {data}");
    }
    in_era(Object::default().put("content", content_blocks(&text, events)).put("isError", true), era).end()
}

/// The list of content blocks: the text, and the events that the call caused in a game, if any.
fn content_blocks(text: &str, events: Option<&RawValue>) -> String {
    let events = events.filter(|events| events.get() != "[]").map(|events| text_block(&format!("events: {events}")));
    format!("[{}]", Vec::from_iter([text_block(text)].into_iter().chain(events)).join(","))
}

fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(text))
}
