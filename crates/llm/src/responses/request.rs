//! The body of a request. Parts that are constant in a conversation come first and the input last, so that the body of
//! the next request begins with the same bytes.

use crate::assembly::list;
use crate::chat::request::{arguments_text, data_url, tool_choice};
use crate::conversation::own_raw;
use pipewright_record::json::{Object, quoted};
use pipewright_record::{Fields, Message, ModelCall, ModelRequest, OwnTurn, OwnedTool, Part};
use serde_json::value::RawValue;

pub(super) fn body(request: &ModelRequest, model: &str) -> Result<String, String> {
    let mut body = Object::default()
        .text("model", model)
        .put("stream", true)
        // The API stores by default. The content that it would have stored is returned encrypted instead, and sent
        // back.
        .put("store", false)
        .put("include", r#"["reasoning.encrypted_content"]"#)
        .put_some("max_output_tokens", request.max_output_tokens);
    if let Some(schema) = &request.schema {
        let format = Object::default().text("type", "json_schema").text("name", "answer").put("strict", false);
        body = body.put("text", Object::default().put("format", format.put("schema", schema).end()).end());
    }
    if !request.tools.is_empty() {
        let tools: Vec<String> = request.tools.iter().map(tool).collect();
        body = body.put("tools", list(&tools)).text_some("tool_choice", tool_choice(request.tool_choice));
    }
    let mut input = Vec::new();
    for message in &request.messages {
        match message {
            Message::User(parts) => {
                input.push(Object::default().text("role", "user").put("content", content(parts)?).end());
            }
            Message::Assistant(turn) => input.extend(items(turn, model)),
            Message::Tool { call_id, content, is_error } => input.push(result(call_id, content, *is_error)?),
        }
    }
    Ok(body.text_some("instructions", request.system.as_deref()).put("input", list(&input)).end())
}

/// Unlike Chat Completions, this API treats a tool as strict by default, and strict schemas may only use a part of JSON
/// Schema.
fn tool(tool: &OwnedTool) -> String {
    let description = Some(tool.description.as_str()).filter(|description| !description.is_empty());
    let object =
        Object::default().text("type", "function").text("name", &tool.name).text_some("description", description);
    object.put("parameters", &tool.input_schema).put("strict", false).end()
}

/// The items of a turn: unchanged, or rebuilt.
fn items(turn: &OwnTurn, model: &str) -> Vec<String> {
    let own = own_raw(turn, super::NAME, model).and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok());
    if let Some(own) = own.filter(|items| turn.calls.is_empty() || items.iter().any(|item| is_call(item))) {
        return own.into_iter().map(|item| item.get().to_owned()).collect();
    }
    let text = Some(&turn.text).filter(|text| !text.is_empty());
    let message = text.map(|text| Object::default().text("role", "assistant").text("content", text).end());
    message.into_iter().chain(turn.calls.iter().map(call)).collect()
}

/// Calls that were recognised in a turn's text are not among its items.
fn is_call(item: &RawValue) -> bool {
    Fields::read(item.get()).is_ok_and(|fields| fields.text("type").as_deref() == Some("function_call"))
}

fn call(call: &ModelCall) -> String {
    let object = Object::default().text("type", "function_call").text("call_id", &call.call_id);
    object.text("name", &call.tool_name).text("arguments", arguments_text(&call.arguments)).end()
}

fn result(call_id: &str, parts: &[Part], is_error: bool) -> Result<String, String> {
    let output = match parts {
        _ if !is_error => content(parts)?,
        [Part::Text(text)] => quoted(&format!("Error: {text}")),
        parts => content(&[&[Part::Text("Error:".to_owned())], parts].concat())?,
    };
    Ok(Object::default().text("type", "function_call_output").text("call_id", call_id).put("output", output).end())
}

fn content(parts: &[Part]) -> Result<String, String> {
    match parts {
        [] => Ok(quoted("")),
        [Part::Text(text)] => Ok(quoted(text)),
        parts => Ok(list(&parts.iter().map(part).collect::<Result<Vec<_>, _>>()?)),
    }
}

fn part(part: &Part) -> Result<String, String> {
    match part {
        Part::Text(text) => Ok(Object::default().text("type", "input_text").text("text", text).end()),
        Part::Image(image) => {
            Ok(Object::default().text("type", "input_image").text("image_url", &data_url(image)?).end())
        }
    }
}
