//! The body of a request: parts that are constant in a conversation precede `messages`, parts that may change follow
//! it.
//!
//! Markers, `cache_control`, use the provider's cache: one on the system text (or else on the last tool), and one at
//! the end of each of the last two messages that are not turns. The earlier of these is the end of the previous
//! request, so the cache entry of that request is found however many blocks have been added. The markers move as the
//! conversation grows; all other bytes stay the same, and the provider ignores markers when it compares.

use super::NAME;
use crate::assembly::list;
use crate::conversation::{arguments_object, image_data, own_raw};
use pipewright_record::json::Object;
use pipewright_record::{Message, ModelRequest, OwnTurn, OwnedTool, Part, ToolChoice};

/// The API requires a limit. This is the highest that every model since Claude Opus 4 accepts, which leaves room for a
/// long turn with reasoning; only the generated tokens are charged.
const MAX_TOKENS: u64 = 32_000;

const CACHE: &str = r#"{"type":"ephemeral"}"#;

pub(super) fn body(request: &ModelRequest, model: &str) -> Result<String, String> {
    let mut conversation = Conversation { model, messages: Vec::new() };
    request.messages.iter().try_for_each(|message| conversation.add(message))?;
    let system = request.system.as_deref().filter(|system| !system.is_empty());
    let system = system.map(|system| list(&[text(system).put("cache_control", CACHE).end()]));
    let last = request.tools.len().checked_sub(1).filter(|_| system.is_none());
    let tools = request.tools.iter().enumerate().map(|(at, each)| tool(each, Some(at) == last));
    let tools: Vec<String> = tools.collect();
    let choice = match request.tool_choice {
        ToolChoice::Any => Some(r#"{"type":"any"}"#),
        ToolChoice::None => Some(r#"{"type":"none"}"#),
        ToolChoice::Auto => None,
    };
    let format = request.schema.as_ref().map(|schema| {
        let format = Object::default().text("type", "json_schema").put("schema", schema).end();
        Object::default().put("format", format).end()
    });
    let body = Object::default().text("model", model).put("stream", true).put_some("system", system);
    let body = body.put_some("tools", (!tools.is_empty()).then(|| list(&tools)));
    let body = body.put("messages", list(&conversation.json()));
    let body = body.put("max_tokens", request.max_output_tokens.unwrap_or(MAX_TOKENS));
    Ok(body.put_some("tool_choice", choice.filter(|_| !tools.is_empty())).put_some("output_config", format).end())
}

fn tool(tool: &OwnedTool, is_marked: bool) -> String {
    let object = Object::default().text("name", &tool.name).text("description", &tool.description);
    object.put("input_schema", &tool.input_schema).put_some("cache_control", is_marked.then_some(CACHE)).end()
}

fn text(text: &str) -> Object {
    Object::default().text("type", "text").text("text", text)
}

/// Ids consist of letters, digits, `_` and `-`; ids of other providers may contain other characters. This provider's
/// own ids are unchanged.
fn call_id(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

struct Conversation<'a> {
    model: &'a str,
    messages: Vec<Entry>,
}

enum Entry {
    /// Blocks without their closing brace: results of tools, then other blocks.
    User { results: Vec<Object>, rest: Vec<Object> },
    /// A list as JSON text.
    Turn(String),
}

impl Conversation<'_> {
    fn add(&mut self, message: &Message) -> Result<(), String> {
        let turn = match message {
            Message::User(content) => {
                let blocks = blocks(content)?;
                if !blocks.is_empty() {
                    self.user().1.extend(blocks);
                }
                return Ok(());
            }
            Message::Tool { call_id: id, content, is_error } => {
                let content: Vec<String> = blocks(content)?.into_iter().map(Object::end).collect();
                let block = Object::default().text("type", "tool_result").text("tool_use_id", &call_id(id));
                let block = block.put_some("content", (!content.is_empty()).then(|| list(&content)));
                self.user().0.push(block.put_some("is_error", is_error.then_some(true)));
                return Ok(());
            }
            Message::Assistant(turn) => turn,
        };
        let content = match own_raw(turn, NAME, self.model) {
            Some(raw) => raw.get().to_owned(),
            None => list(&rebuilt(turn)),
        };
        // Messages without blocks are refused by the API, so they are dropped.
        if content != "[]" {
            self.messages.push(Entry::Turn(content));
        }
        Ok(())
    }

    /// The blocks of the message after the last turn. There is only one, because all results must precede any text.
    fn user(&mut self) -> (&mut Vec<Object>, &mut Vec<Object>) {
        if !matches!(self.messages.last(), Some(Entry::User { .. })) {
            self.messages.push(Entry::User { results: Vec::new(), rest: Vec::new() });
        }
        match self.messages.last_mut() {
            Some(Entry::User { results, rest }) => (results, rest),
            _ => unreachable!("it was pushed"),
        }
    }

    fn json(self) -> Vec<String> {
        let mut unmarked = self.messages.iter().filter(|entry| matches!(entry, Entry::User { .. })).count();
        let messages = self.messages.into_iter().map(|entry| {
            let (role, content) = match entry {
                Entry::Turn(content) => ("assistant", content),
                Entry::User { mut results, rest } => {
                    results.extend(rest);
                    let last = results.pop().map(|last| match unmarked {
                        ..=2 => last.put("cache_control", CACHE),
                        _ => last,
                    });
                    unmarked -= 1;
                    results.extend(last);
                    ("user", list(&results.into_iter().map(Object::end).collect::<Vec<_>>()))
                }
            };
            Object::default().text("role", role).put("content", content).end()
        });
        messages.collect()
    }
}

/// The blocks of parts. Empty texts are refused by the API, so they are dropped.
fn blocks(content: &[Part]) -> Result<Vec<Object>, String> {
    let content = content.iter().filter(|part| **part != Part::Text(String::new()));
    let blocks = content.map(|part| match part {
        Part::Text(part) => Ok(text(part)),
        Part::Image(image) => {
            let (mime, data) = image_data(image)?;
            let source = Object::default().text("type", "base64").text("media_type", mime).text("data", data);
            Ok(Object::default().text("type", "image").put("source", source.end()))
        }
    });
    blocks.collect()
}

/// The blocks of another model's turn.
fn rebuilt(turn: &OwnTurn) -> Vec<String> {
    let block = Some(&turn.text).filter(|text| !text.is_empty()).map(|own| text(own).end());
    let calls = turn.calls.iter().map(|call| {
        let object = Object::default().text("type", "tool_use").text("id", &call_id(&call.call_id));
        object.text("name", &call.tool_name).put("input", arguments_object(&call.arguments)).end()
    });
    block.into_iter().chain(calls).collect()
}
