//! A call's result, as an editor shows it.

use super::markdown::{content, fenced, list, plain, text_block};
use pipewright_record::json::{Object, one_line};
use pipewright_record::{CallResult, Fields};
use serde_json::value::RawValue;

/// Adds the fields of a `tool_call_update` that come from a `tool_result`: status, content (after `before`, which are
/// JSON texts) and rawOutput.
pub(super) fn put_result(update: Object, result: &CallResult<'_>, before: &[String]) -> Object {
    let mut blocks = before.to_vec();
    let CallResult { is_ok, .. } = *result;
    let mut raw = if is_ok { result.result } else { result.data }.map(|json| one_line(json.get()));
    match result.result.filter(|_| is_ok) {
        Some(json) => match mcp_blocks(json) {
            Some(of_server) => {
                // A picture is sent only once.
                raw = raw.filter(|_| !of_server.has_images);
                blocks.extend(of_server.blocks);
            }
            None => blocks.push(content(&text_block(&fenced(&plain(json.get()))))),
        },
        None => {
            let why = result.error.as_deref().unwrap_or("no result");
            let why = match result.kind.as_deref() {
                None | Some("") => why.to_owned(),
                Some(kind) => format!("{kind}: {why}"),
            };
            blocks.push(content(&text_block(&fenced(&why))));
        }
    }
    let update = update.text("status", if is_ok { "completed" } else { "failed" });
    update.put("content", list(&blocks)).put_some("rawOutput", raw)
}

struct Blocks {
    blocks: Vec<String>,
    has_images: bool,
}

/// The blocks of an MCP result: text and pictures; other blocks are only named.
fn mcp_blocks(json: &RawValue) -> Option<Blocks> {
    let mut has_images = false;
    let mut block = |json: &&RawValue| {
        let fields = Fields::read(json.get()).ok()?;
        let block = match fields.text("type")?.as_str() {
            "text" => text_block(&fenced(&fields.text("text")?)),
            "image" => match (fields.text("data"), fields.text("mimeType"), fields.text("path")) {
                (Some(data), Some(mime), _) => {
                    has_images = true;
                    Object::default().text("type", "image").text("data", &data).text("mimeType", &mime).end()
                }
                (.., Some(path)) => text_block(&fenced(&format!("saved to {path}"))),
                _ => return None,
            },
            other => text_block(&format!("({other})")),
        };
        Some(content(&block))
    };
    let fields = Fields::read(json.get()).ok()?;
    let list: Vec<&RawValue> = serde_json::from_str(fields.get("content")?.get()).ok()?;
    let blocks: Option<Vec<String>> = list.iter().map(&mut block).collect();
    Some(Blocks { blocks: blocks?, has_images })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn put(record: &str) -> String {
        put_result(Object::default(), &CallResult::of(&Fields::read(record).unwrap()), &[]).end()
    }

    #[test]
    fn results_are_shown_as_code_and_errors_with_their_kind() {
        assert_eq!(
            put(r#"{"status":"ok","result":{"n":1.10}}"#),
            r#"{"status":"completed","content":[{"type":"content","content":{"type":"text","text":"```\n{\"n\":1.10}\n```"}}],"rawOutput":{"n":1.10}}"#
        );
        assert_eq!(
            put(r#"{"status":"error","kind":"rejected","error":"no"}"#),
            r#"{"status":"failed","content":[{"type":"content","content":{"type":"text","text":"```\nrejected: no\n```"}}]}"#
        );
    }

    #[test]
    fn pictures_of_mcp_servers_are_shown_once() {
        let shown = put(
            r#"{"status":"ok","result":{"content":[{"type":"text","text":"a"},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"audio"}]}}"#,
        );
        assert_eq!(shown.matches("AA==").count(), 1);
        assert!(shown.contains(r#""text":"(audio)""#) && !shown.contains("rawOutput"), "{shown}");
    }
}
