//! The body of a request: parts that are constant in a conversation precede `contents`, parts that may change follow
//! it.

use super::NAME;
use crate::assembly::list;
use crate::conversation::{arguments_object, image_data, own_raw};
use pipewright_record::json::{Object, quoted};
use pipewright_record::{Fields, Image, Message, ModelRequest, OwnTurn, OwnedTool, Part, ToolChoice};
use std::collections::HashSet;

/// Replaces the signature on the first call of another model's turn; the API refuses such a call without one.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn body(request: &ModelRequest, model: &str) -> Result<String, String> {
    let mut contents = Contents { model, contents: Vec::new(), last: None, responses: Vec::new() };
    for message in &request.messages {
        contents.add(message)?;
    }
    contents.end_responses();
    let system = request.system.as_deref().filter(|system| !system.is_empty());
    let system = system.map(|system| format!(r#"{{"parts":[{}]}}"#, text(system)));
    let tools: Vec<String> = request.tools.iter().map(tool).collect();
    let has_tools = !tools.is_empty();
    let tools = has_tools.then(|| format!(r#"[{{"functionDeclarations":{}}}]"#, list(&tools)));
    let mode = match request.tool_choice {
        ToolChoice::Any if has_tools => Some("ANY"),
        ToolChoice::None if has_tools => Some("NONE"),
        _ => None,
    };
    let body = Object::default().put_some("systemInstruction", system).put_some("tools", tools);
    let body = body
        .put("contents", list(&contents.contents))
        .put_some("toolConfig", mode.map(|mode| format!(r#"{{"functionCallingConfig":{{"mode":"{mode}"}}}}"#)))
        .put_some("generationConfig", generation(request));
    Ok(body.end())
}

fn generation(request: &ModelRequest) -> Option<String> {
    let most = Object::default().put_some("maxOutputTokens", request.max_output_tokens);
    match &request.schema {
        Some(schema) => Some(most.text("responseMimeType", "application/json").put("responseJsonSchema", schema).end()),
        None => request.max_output_tokens.map(|_| most.end()),
    }
}

fn tool(tool: &OwnedTool) -> String {
    let object = Object::default().text("name", &tool.name).text("description", &tool.description);
    object.put("parametersJsonSchema", &tool.input_schema).end()
}

fn text(text: &str) -> String {
    Object::default().text("text", text).end()
}

fn image(image: &Image) -> Result<String, String> {
    let (mime, data) = image_data(image)?;
    let data = Object::default().text("mimeType", mime).text("data", data).end();
    Ok(Object::default().put("inlineData", data).end())
}

struct Contents<'a> {
    model: &'a str,
    contents: Vec<String>,
    /// The last turn, and the ids of its calls that are part of the request.
    last: Option<(&'a OwnTurn, HashSet<String>)>,
    /// Results of its calls with the positions of the calls; all of them go into one content.
    responses: Vec<(usize, String)>,
}

impl<'a> Contents<'a> {
    fn add(&mut self, message: &'a Message) -> Result<(), String> {
        if let Message::Tool { call_id, content, is_error } = message {
            return self.add_response(call_id, content, *is_error);
        }
        self.end_responses();
        match message {
            Message::User(content) => {
                let parts = content.iter().filter(|part| **part != Part::Text(String::new()));
                let parts = parts.map(|part| match part {
                    Part::Text(part) => Ok(text(part)),
                    Part::Image(part) => image(part),
                });
                self.push("user", &parts.collect::<Result<Vec<_>, _>>()?);
                Ok(())
            }
            Message::Assistant(turn) => self.add_turn(turn),
            Message::Tool { .. } => Ok(()),
        }
    }

    /// Contents without parts are refused by the API, so they are dropped.
    fn push(&mut self, role: &str, parts: &[String]) {
        if !parts.is_empty() {
            self.contents.push(Object::default().text("role", role).put("parts", list(parts)).end());
        }
    }

    fn add_turn(&mut self, turn: &'a OwnTurn) -> Result<(), String> {
        let Some(raw) = own_raw(turn, NAME, self.model) else {
            self.push("model", &rebuilt(turn));
            self.last = Some((turn, turn.calls.iter().map(|call| call.call_id.clone()).collect()));
            return Ok(());
        };
        let unreadable = |why| format!("the \"raw\" of a turn is not a Gemini content: {why}");
        let parts = Fields::read(raw.get()).and_then(|content| content.list("parts")).map_err(unreadable)?;
        if !parts.is_empty() {
            self.contents.push(raw.get().to_owned());
        }
        let ids = parts.iter().filter_map(|part| Fields::read(part.get()).ok()?.object("functionCall")?.text("id"));
        self.last = Some((turn, ids.collect()));
        Ok(())
    }

    fn add_response(&mut self, call_id: &str, content: &[Part], is_error: bool) -> Result<(), String> {
        let find = |(turn, ids): &(&'a OwnTurn, HashSet<String>)| {
            let at = turn.calls.iter().position(|call| call.call_id == call_id)?;
            Some((at, turn.calls[at].tool_name.clone(), ids.contains(call_id)))
        };
        let Some((at, name, has_id)) = self.last.as_ref().and_then(find) else {
            return Err(format!("the result of the call {call_id:?} does not follow a turn with that call"));
        };
        let (mut texts, mut images) = (Vec::new(), Vec::new());
        for part in content {
            match part {
                Part::Text(text) => texts.push(text.as_str()),
                Part::Image(part) => images.push(image(part)?),
            }
        }
        let response = Object::default().text(if is_error { "error" } else { "output" }, &texts.join("\n")).end();
        let object = Object::default().text_some("id", has_id.then_some(call_id)).text("name", &name);
        let object = object.put("response", response);
        let object = object.put_some("parts", (!images.is_empty()).then(|| list(&images)));
        self.responses.push((at, Object::default().put("functionResponse", object.end()).end()));
        Ok(())
    }

    /// Adds the results in the order of the calls: a result without an id belongs to the call in its position.
    fn end_responses(&mut self) {
        self.responses.sort_by_key(|(at, _)| *at);
        let parts: Vec<String> = self.responses.drain(..).map(|(_, part)| part).collect();
        self.push("user", &parts);
    }
}

/// The parts of another model's turn.
fn rebuilt(turn: &OwnTurn) -> Vec<String> {
    let mut parts: Vec<String> =
        Some(&turn.text).filter(|text| !text.is_empty()).map(|part| text(part)).into_iter().collect();
    for (at, call) in turn.calls.iter().enumerate() {
        let object = Object::default().text("id", &call.call_id).text("name", &call.tool_name);
        let object = object.put("args", arguments_object(&call.arguments)).end();
        let signature = (at == 0).then(|| quoted(NO_SIGNATURE));
        parts.push(Object::default().put("functionCall", object).put_some("thoughtSignature", signature).end());
    }
    parts
}
