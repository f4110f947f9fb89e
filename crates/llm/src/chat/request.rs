//! The body of a request. Parts that are constant in a conversation come first and the messages last, so that the body
//! of the next request begins with the same bytes.

use super::ChatServer;
use crate::assembly::list;
use crate::conversation::{image_data, own_raw};
use pipewright_record::json::{Object, quoted};
use pipewright_record::{Arguments, Fields, Message, ModelCall, ModelRequest, OwnTurn, OwnedTool, Part, ToolChoice};
use std::collections::HashMap;

pub(super) fn body(server: &ChatServer, request: &ModelRequest, model: &str) -> Result<String, String> {
    let mut body = Object::default()
        .text("model", model)
        .put("stream", true)
        .put("stream_options", r#"{"include_usage":true}"#)
        .put_some(server.limit, request.max_output_tokens);
    if let Some(schema) = &request.schema {
        // Strict mode supports only a part of JSON Schema; the caller checks the text anyway.
        let format = Object::default().text("name", "answer").put("strict", false).put("schema", schema).end();
        body = body.put("response_format", format_args!(r#"{{"type":"json_schema","json_schema":{format}}}"#));
    }
    // A choice without tools is an error.
    if !request.tools.is_empty() {
        let tools: Vec<String> = request.tools.iter().map(tool).collect();
        body = body.put("tools", list(&tools)).text_some("tool_choice", tool_choice(request.tool_choice));
    }
    let mut messages = Messages { server, model, sent: Vec::new(), images: Vec::new(), names: HashMap::new() };
    if let Some(system) = &request.system {
        // "developer" is the newer name, which only OpenAI supports.
        messages.push("system", quoted(system));
    }
    for message in &request.messages {
        messages.add(message)?;
    }
    messages.end_results();
    Ok(body.put("messages", list(&messages.sent)).end())
}

/// The tool choice of Chat Completions and Responses; the default is "auto".
pub(crate) fn tool_choice(choice: ToolChoice) -> Option<&'static str> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Any => Some("required"),
        ToolChoice::None => Some("none"),
    }
}

fn tool(tool: &OwnedTool) -> String {
    let description = Some(tool.description.as_str()).filter(|description| !description.is_empty());
    let function = Object::default().text("name", &tool.name).text_some("description", description);
    let function = function.put("parameters", &tool.input_schema).end();
    Object::default().text("type", "function").put("function", function).end()
}

struct Messages<'a> {
    server: &'a ChatServer,
    model: &'a str,
    /// JSON texts.
    sent: Vec<String>,
    /// Parts with the images of results, which a tool's message cannot contain. They follow in a user message once
    /// every call has its result: no other message may come between results.
    images: Vec<String>,
    /// The tool of each call.
    names: HashMap<&'a str, &'a str>,
}

impl<'a> Messages<'a> {
    fn push(&mut self, role: &str, content: String) {
        self.sent.push(Object::default().text("role", role).put("content", content).end());
    }

    fn add(&mut self, message: &'a Message) -> Result<(), String> {
        match message {
            Message::Tool { call_id, content, is_error } => return self.result(call_id, content, *is_error),
            Message::User(content) if self.images.is_empty() => {
                let content = user_content(content)?;
                self.push("user", content);
            }
            // One message with the images: many templates require alternating roles.
            Message::User(content) => {
                for part in content {
                    self.images.push(self::part(part)?);
                }
                self.end_results();
            }
            Message::Assistant(turn) => {
                self.end_results();
                self.names.extend(turn.calls.iter().map(|call| (&*call.call_id, &*call.tool_name)));
                let sent = self.turn(turn);
                self.sent.push(sent);
            }
        }
        Ok(())
    }

    fn turn(&self, turn: &OwnTurn) -> String {
        let own = own_raw(turn, self.server.name, self.model).map(|raw| raw.get());
        own.filter(|raw| has_calls_of(raw, turn)).map_or_else(|| rebuilt(turn), str::to_owned)
    }

    fn result(&mut self, call_id: &str, content: &[Part], is_error: bool) -> Result<(), String> {
        let texts: Vec<&str> = content.iter().filter_map(text_of).collect();
        let mut text = texts.join("\n");
        if text.is_empty() && texts.len() < content.len() {
            text.push_str("The result is the image in the next message.");
        }
        if is_error {
            text.insert_str(0, "Error: ");
        }
        let message = Object::default().text("role", "tool").text("tool_call_id", call_id);
        self.sent.push(message.text("content", &text).end());
        for image in content.iter().filter(|part| matches!(part, Part::Image(_))) {
            let name = self.names.get(call_id).copied().unwrap_or(call_id);
            self.images.push(part(&Part::Text(format!("The image of the result of {name}:")))?);
            self.images.push(part(image)?);
        }
        Ok(())
    }

    fn end_results(&mut self) {
        if !self.images.is_empty() {
            let content = list(&std::mem::take(&mut self.images));
            self.push("user", content);
        }
    }
}

/// Whether `raw` has as many calls as the turn. Calls that were recognised in its text are not there, and an incomplete
/// call is only there; the API refuses results without calls, and calls without results.
fn has_calls_of(raw: &str, turn: &OwnTurn) -> bool {
    Fields::read(raw).and_then(|fields| fields.list("tool_calls")).is_ok_and(|calls| calls.len() == turn.calls.len())
}

fn rebuilt(turn: &OwnTurn) -> String {
    let content = if turn.text.is_empty() && !turn.calls.is_empty() { "null".to_owned() } else { quoted(&turn.text) };
    let message = Object::default().text("role", "assistant").put("content", content);
    if turn.calls.is_empty() {
        return message.end();
    }
    let calls: Vec<String> = turn.calls.iter().map(call).collect();
    message.put("tool_calls", list(&calls)).end()
}

fn call(call: &ModelCall) -> String {
    let function = Object::default().text("name", &call.tool_name).text("arguments", arguments_text(&call.arguments));
    Object::default().text("id", &call.call_id).text("type", "function").put("function", function.end()).end()
}

/// Arguments in the form of these APIs: JSON text, or the model's invalid text.
pub(crate) fn arguments_text(arguments: &Arguments) -> &str {
    match arguments {
        Arguments::Object(object) => object.get(),
        Arguments::Text(text) => text,
    }
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text(text) => Some(text),
        Part::Image(_) => None,
    }
}

/// A string if possible: some servers' templates accept nothing else.
fn user_content(content: &[Part]) -> Result<String, String> {
    match content {
        [] => Ok(quoted("")),
        [Part::Text(text)] => Ok(quoted(text)),
        parts => Ok(list(&parts.iter().map(part).collect::<Result<Vec<_>, _>>()?)),
    }
}

fn part(part: &Part) -> Result<String, String> {
    match part {
        Part::Text(text) => Ok(Object::default().text("type", "text").text("text", text).end()),
        Part::Image(image) => {
            let url = Object::default().text("url", &data_url(image)?).end();
            Ok(Object::default().text("type", "image_url").put("image_url", url).end())
        }
    }
}

/// An image as a `data:` URL (RFC 2397).
pub(crate) fn data_url(image: &pipewright_record::Image) -> Result<String, String> {
    let (mime, data) = image_data(image)?;
    Ok(format!("data:{mime};base64,{data}"))
}
