//! The conversation with the model: the system text and the tools are fixed when it begins, and messages are only appended. Providers bind their
//! signatures to everything that precedes them.

use super::turn::Turn;
use pipewright_record::json::{Object, quoted};
use pipewright_record::{OwnedTool, glob};

/// One part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Image(Stored),
}

/// An image in the session's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its path, relative to the folder.
    pub path: String,
    /// The hash of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Its media type.
    pub mime: String,
}

/// Whether the model may call tools in its next turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Auto,
    /// A call is required.
    Any,
    None,
}

/// Everything in a request except its number. The messages are kept as text: a step of a long run costs a copy, not a serialisation.
#[derive(Debug, Clone, Default)]
pub(super) struct Conversation {
    /// A JSON string.
    system: String,
    /// A JSON list.
    tools: String,
    /// A JSON list, see [`core_tools`]; empty if all tools are core tools.
    core_tools: String,
    /// JSON texts separated by commas.
    messages: String,
    /// The parts of the user's next message, as JSON texts.
    parts: Vec<String>,
    /// What the last restless observation has shown.
    restless: String,
    /// Whether it goes on from an earlier one, and no turn has come since.
    pub(super) is_compacted: bool,
    /// Whether it has become too long.
    pub(super) is_long: bool,
}

/// The core tools that a world has, in the order of the profile's entries, each with the arguments that its entry names: JSON strings.
fn core_tools(tools: &[OwnedTool], entries: &[String]) -> Vec<String> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for entry in entries {
        let (pattern, arguments) = entry.split_at(entry.find('(').unwrap_or(entry.len()));
        for tool in tools.iter().filter(|tool| glob::matches(pattern, &tool.name)) {
            if !found.iter().any(|(name, _)| *name == tool.name) {
                found.push((&tool.name, quoted(&format!("{}{arguments}", tool.name))));
            }
        }
    }
    found.into_iter().map(|(_, entry)| entry).collect()
}

impl Conversation {
    pub(super) fn begin(system: &str, tools: &[OwnedTool], core: &[String]) -> Conversation {
        let core = core_tools(tools, core);
        let core_tools = if core.is_empty() { String::new() } else { format!("[{}]", core.join(",")) };
        let tools: Vec<String> = tools.iter().map(OwnedTool::json).collect();
        let tools = format!("[{}]", tools.join(","));
        Conversation { system: quoted(system), tools, core_tools, ..Conversation::default() }
    }

    /// Appends a part to the user's next message.
    pub(super) fn say(&mut self, part: &Part) {
        self.parts.push(match part {
            Part::Text(text) => Object::default().text("text", text).end(),
            Part::Image(Stored { path, sha256, mime }) => {
                Object::default().text("image", path).text("sha256", sha256).text("mime", mime).end()
            }
        });
    }

    /// Appends an observation that is repeated before each decision, unless the last one was the same.
    pub(super) fn say_if_new(&mut self, text: &str) {
        if self.restless != text {
            text.clone_into(&mut self.restless);
            self.say(&Part::Text(text.to_owned()));
        }
    }

    /// Appends a turn of the model, after the user's pending message.
    pub(super) fn answer(&mut self, turn: &Turn) {
        self.is_compacted = false;
        self.flush();
        self.push(Object::default().text("role", "assistant").put("turn", &turn.kept));
    }

    /// Appends the result of a call in the last turn.
    pub(super) fn result(&mut self, call_id: &str, text: &str, is_error: bool) {
        let content = Object::default().text("text", text).end();
        let message =
            Object::default().text("role", "tool").text("call_id", call_id).put("content", format_args!("[{content}]"));
        self.push(message.put_some("is_error", is_error.then_some(true)));
    }

    /// The request for the next turn, as JSON text without a line feed.
    pub(super) fn request(&mut self, id: &str, choice: Choice, choices: Option<&str>) -> String {
        self.flush();
        let request =
            Object::default().text("type", "model_request").text("request_id", id).put("system", &self.system);
        let request = request.put("messages", format_args!("[{}]", self.messages)).put("tools", &self.tools);
        let choice = match choice {
            Choice::Auto => None,
            Choice::Any => Some("any"),
            Choice::None => Some("none"),
        };
        let core_tools = Some(&self.core_tools).filter(|names| !names.is_empty());
        let request = request.put_some("core_tools", core_tools).put_some("choices", choices);
        request.text_some("tool_choice", choice).end()
    }

    /// Whether it has a system text and tools.
    pub(super) fn is_begun(&self) -> bool {
        !self.system.is_empty()
    }

    /// Whether both have the same system text and tools.
    pub(super) fn has_beginning_of(&self, other: &Conversation) -> bool {
        (&self.system, &self.tools, &self.core_tools) == (&other.system, &other.tools, &other.core_tools)
    }

    /// The parts of the message that was not sent yet.
    pub(super) fn unsent(self) -> Vec<String> {
        self.parts
    }

    pub(super) fn say_again(&mut self, unsent: Vec<String>) {
        self.parts.extend(unsent);
    }

    fn flush(&mut self) {
        if !self.parts.is_empty() {
            let parts = std::mem::take(&mut self.parts).join(",");
            self.push(Object::default().text("role", "user").put("content", format_args!("[{parts}]")));
        }
    }

    fn push(&mut self, message: Object) {
        if !self.messages.is_empty() {
            self.messages.push(',');
        }
        self.messages.push_str(&message.end());
    }
}

/// Text from the world, marked as data. A page can neither close the mark nor open another one, because the mark's name is altered within the text.
pub(super) fn data(source: &str, text: &str) -> String {
    const NAME: &str = "world_data";
    // Only ASCII letters are lowered, so that positions in both texts are equal.
    let lower = text.to_ascii_lowercase();
    let mut plain = String::with_capacity(text.len());
    let mut from = 0;
    for (at, found) in lower.match_indices(NAME) {
        plain.push_str(&text[from..at]);
        plain.push_str("world-data");
        from = at + found.len();
    }
    plain.push_str(&text[from..]);
    format!("<world_data source={}>\n{plain}\n</world_data>", quoted(source))
}

/// The beginning of a text, at most `most` bytes; the number of missing bytes is appended.
pub(super) fn cut(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}\n[cut: {} more bytes]", &text[..end], text.len() - end)
}
