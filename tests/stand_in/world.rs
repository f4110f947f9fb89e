//! A world for the tests of mcp-serve: it lists and executes the tools of `world/tools.json`. Those named `test_...` are called by MCP's own
//! conformance suite; the others show unusual behaviour of a world.

use pipewright_record::{Call, Kind, Outcome, cancelled_id, is_same_id, recognise};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use std::io::{BufRead, Write};

const TOOLS: &str = include_str!("world/tools.json");
/// A PNG of one pixel, and a WAV without samples.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

#[derive(Default)]
struct World {
    seen: Vec<String>,
    waiting: Vec<String>,
    extra_tools: usize,
}

fn say(line: &str) {
    // The reader of stdout may have closed it.
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_default()
}

fn ok(call: &Call<'_>, result: &Value) {
    say(&call.answer(Outcome::Ok(&raw(result))));
}

fn failed(call: &Call<'_>, kind: Kind, message: &str) {
    say(&call.answer(Outcome::Error { kind, message, code: Some("E7"), data: Some(&raw(&json!({"n": 1}))) }));
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn resource() -> Value {
    json!({"type": "resource", "resource": {"uri": "test://resource", "mimeType": "text/plain", "text": "a resource"}})
}

/// The content of a tool of the conformance suite.
fn content(tool: &str) -> Value {
    let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
    match tool {
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => json!([resource()]),
        "test_multiple_content_types" => json!([text("Multiple content types:"), image, resource()]),
        _ => json!([text("This is a simple text response for testing.")]),
    }
}

impl World {
    fn list(&self, request_id: &Value) {
        let mut list: Value = serde_json::from_str(TOOLS).unwrap_or_default();
        list["request_id"] = request_id.clone();
        if let Some(tools) = list["tools"].as_array_mut() {
            let extra = (0..self.extra_tools).map(|n| json!({"name": format!("extra_{n}"), "description": "An extra tool", "input_schema": {"type": "object"}}));
            tools.extend(extra);
        }
        say(&list.to_string());
    }

    fn take(&mut self, line: &str) {
        self.seen.push(line.to_owned());
        let record: Value = serde_json::from_str(line).unwrap_or_default();
        if record["type"] == "list_tools" {
            return self.list(&record["request_id"]);
        }
        if let Some(id) = cancelled_id(line) {
            return self.cancel(id);
        }
        if let Ok(Some(call)) = recognise(line) {
            self.carry_out(&call, line);
        }
    }

    fn cancel(&mut self, id: &RawValue) {
        let waiting = std::mem::take(&mut self.waiting);
        for line in waiting {
            match recognise(&line) {
                Ok(Some(call)) if is_same_id(call.id.map(RawValue::get), Some(id.get())) => {
                    failed(&call, Kind::Cancelled, "it was cancelled");
                }
                _ => self.waiting.push(line),
            }
        }
    }

    fn carry_out(&mut self, call: &Call<'_>, line: &str) {
        let arguments: Value =
            call.arguments.and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or(json!({}));
        match &*call.tool {
            "echo" | "region" => ok(call, &arguments),
            "say" => {
                say(arguments["line"].as_str().unwrap_or_default());
                ok(call, &json!("said"));
            }
            "big" => ok(call, &json!("x".repeat(arguments["bytes"].as_u64().unwrap_or(0) as usize))),
            "wait" => self.waiting.push(line.to_owned()),
            "release" => {
                for line in std::mem::take(&mut self.waiting).iter().rev() {
                    if let Ok(Some(call)) = recognise(line) {
                        ok(&call, &json!("released"));
                    }
                }
                ok(call, &Value::Null);
            }
            "fail" => failed(call, Kind::NotFound, "no such thing"),
            // Unchanged, with every digit.
            "result" => {
                match call.arguments.and_then(|json| json.get().strip_prefix(r#"{"result":"#)?.strip_suffix('}')) {
                    Some(json) => {
                        let json: Box<RawValue> = serde_json::from_str(json).unwrap_or_default();
                        say(&call.answer_with(Outcome::Ok(&json), &[("events", r#"[{"pressed":"Go"}]"#)]));
                    }
                    None => failed(call, Kind::InvalidArgs, "the only argument is result"),
                }
            }
            "die" => std::process::exit(arguments["status"].as_i64().unwrap_or(0) as i32),
            "seen" => ok(call, &json!(self.seen)),
            "test_error_handling" => {
                failed(call, Kind::ToolError, "This tool intentionally returns an error for testing")
            }
            "test_tool_with_progress" => {
                let id = call.id.map_or("null", RawValue::get);
                for progress in [0, 50, 100] {
                    // The TypeScript SDK drops progress that it reads together with the result.
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    say(&format!(
                        r#"{{"type":"observation","source":"stand-in","call_id":{id},"data":{{"event":"progress","data":{{"progress":{progress},"total":100}}}}}}"#
                    ));
                }
                std::thread::sleep(std::time::Duration::from_millis(50));
                ok(call, &json!({"content": content("")}));
            }
            "test_trigger_tool_change" => {
                self.extra_tools += 1;
                say(r#"{"type":"observation","source":"stand-in","data":{"event":"tools","data":{}}}"#);
                ok(call, &json!("changed"));
            }
            tool => ok(call, &json!({"content": content(tool)})),
        }
    }
}

fn main() {
    let mut world = World::default();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        world.take(&line);
    }
}
