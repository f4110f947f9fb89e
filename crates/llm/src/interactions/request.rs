//! The body of a request: parts that are constant in a conversation precede `input`, parts that may change follow it.

use super::NAME;
use crate::assembly::list;
use crate::conversation::{arguments_object, image_data, own_raw};
use pipewright_record::json::Object;
use pipewright_record::{Message, ModelRequest, OwnTurn, OwnedTool, Part, ToolChoice};
use serde_json::value::RawValue;

pub(super) fn body(request: &ModelRequest, model: &str) -> Result<String, String> {
    let mut steps = Vec::new();
    let mut last: Option<&OwnTurn> = None;
    for message in &request.messages {
        match message {
            Message::User(parts) => {
                let parts = content(parts)?;
                if !parts.is_empty() {
                    steps.push(step("user_input").put("content", list(&parts)).end());
                }
            }
            Message::Assistant(turn) => {
                last = Some(turn);
                steps.extend(turn_steps(turn, model)?);
            }
            Message::Tool { call_id, content: parts, is_error } => {
                let call = last.and_then(|turn| turn.calls.iter().find(|call| call.call_id == *call_id));
                let result = step("function_result").text("call_id", call_id);
                let result = result.text_some("name", call.map(|call| &*call.tool_name));
                let result = result.put("result", list(&content(parts)?));
                steps.push(result.put_some("is_error", is_error.then_some(true)).end());
            }
        }
    }
    let tools: Vec<String> = request.tools.iter().map(tool).collect();
    let has_tools = !tools.is_empty();
    let choice = match request.tool_choice {
        ToolChoice::Any if has_tools => Some("any"),
        ToolChoice::None if has_tools => Some("none"),
        _ => None,
    };
    let generation = Object::default().put_some("max_output_tokens", request.max_output_tokens);
    let generation = generation.text_some("tool_choice", choice).end();
    let format = request.schema.as_ref().map(|schema| {
        let format = Object::default().text("type", "text").text("mime_type", "application/json");
        format.put("schema", schema).end()
    });
    let body = Object::default().text("model", model).put("store", false).put("stream", true);
    let body = body.text_some("system_instruction", request.system.as_deref().filter(|system| !system.is_empty()));
    let body = body.put_some("tools", has_tools.then(|| list(&tools))).put("input", list(&steps));
    let body = body.put_some("generation_config", Some(generation).filter(|generation| generation != "{}"));
    Ok(body.put_some("response_format", format).end())
}

fn tool(tool: &OwnedTool) -> String {
    let object = Object::default().text("type", "function").text("name", &tool.name);
    object.text("description", &tool.description).put("parameters", &tool.input_schema).end()
}

fn step(kind: &str) -> Object {
    Object::default().text("type", kind)
}

fn text(text: &str) -> String {
    step("text").text("text", text).end()
}

fn content(parts: &[Part]) -> Result<Vec<String>, String> {
    let parts = parts.iter().filter(|part| **part != Part::Text(String::new()));
    let parts = parts.map(|part| match part {
        Part::Text(part) => Ok(text(part)),
        Part::Image(image) => {
            let (mime, data) = image_data(image)?;
            Ok(step("image").text("data", data).text("mime_type", mime).end())
        }
    });
    parts.collect()
}

/// The steps of a turn: unchanged, or rebuilt if another model made it.
fn turn_steps(turn: &OwnTurn, model: &str) -> Result<Vec<String>, String> {
    if let Some(raw) = own_raw(turn, NAME, model) {
        let steps: Result<Vec<&RawValue>, _> = serde_json::from_str(raw.get());
        let steps = steps.map_err(|why| format!("the \"raw\" of a turn is not a list of steps: {why}"))?;
        return Ok(steps.into_iter().map(|step| step.get().to_owned()).collect());
    }
    let text_of_turn = Some(&turn.text).filter(|text| !text.is_empty());
    let output = text_of_turn.map(|own| step("model_output").put("content", list(&[text(own)])).end());
    let calls = turn.calls.iter().map(|call| {
        let call_step = step("function_call").text("id", &call.call_id).text("name", &call.tool_name);
        call_step.put("arguments", arguments_object(&call.arguments)).end()
    });
    Ok(output.into_iter().chain(calls).collect())
}
