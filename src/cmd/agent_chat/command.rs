//! The lines that a person types: slash commands, calls, messages.

use crate::cmd::call_arguments::pairs;
use pipewright_record::json::{quoted, raw};
use pipewright_record::{Record, ToolCall, recognise};

/// How a line without a slash is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputMode {
    /// A call.
    Cmd,
    /// A message to the agent.
    Chat,
}

impl InputMode {
    /// The name in the prompt and in `/status`.
    pub fn name(self) -> &'static str {
        match self {
            InputMode::Cmd => "cmd",
            InputMode::Chat => "chat",
        }
    }
}

/// A line that was typed.
#[derive(Debug, PartialEq, Eq)]
pub enum TypedLine<'a> {
    Command(Command, &'a str),
    /// A slash and a word that is not a command.
    Unknown(&'a str),
    Message(&'a str),
    Call(&'a str),
    Nothing,
}

/// A slash command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Chat,
    Cmd,
    Yes,
    No,
    Edit,
    Always,
    Show,
    Answer,
    Stop,
    Plan,
    Steps,
    Tools,
    Status,
    Save,
    Help,
    Exit,
}

/// Each command with its name, its argument, and its help.
pub const COMMANDS: [(Command, &str, &str, &str); 16] = [
    (Command::Chat, "/chat", "", "chat mode: lines are messages to the agent"),
    (
        Command::Cmd,
        "/cmd",
        "",
        "cmd mode: lines are calls, such as `browser_navigate url=https://shop.example`, or JSON",
    ),
    (Command::Yes, "/yes", "[TEXT]", "approve the held call; TEXT goes into the records"),
    (Command::No, "/no", "[TEXT]", "reject it, or decline a tool's question; TEXT is for the agent"),
    (Command::Edit, "/edit", "[NAME=VALUE]", "change its arguments: one, or all in your editor"),
    (Command::Always, "/always", "[N]", "approve it, and every call of this tool, or of rule N, in this session"),
    (Command::Show, "/show", "", "show the held call at full length"),
    (Command::Answer, "/answer", "[NAME=VALUE ...]", "answer a tool's question"),
    (Command::Stop, "/stop", "", "stop what the agent is doing, like Ctrl-C"),
    (Command::Plan, "/plan", "", "show the plan"),
    (Command::Steps, "/steps", "", "show the calls so far"),
    (Command::Tools, "/tools", "[WORD]", "list the tools"),
    (Command::Status, "/status", "", "show the mode, the goal, the open question, steps, tokens, cost"),
    (Command::Save, "/save", "FILE", "write the transcript to a file"),
    (Command::Help, "/help", "", "show this"),
    (Command::Exit, "/exit", "", "leave chat mode; in cmd mode, end"),
];

/// Reads a line. A message that starts with a slash needs a blank before it.
pub fn read(line: &str, mode: InputMode) -> TypedLine<'_> {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return TypedLine::Nothing;
    }
    if line.starts_with('/') {
        let (word, rest) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
        let command = COMMANDS.iter().find(|(_, name, ..)| *name == word);
        return command.map_or(TypedLine::Unknown(word), |(command, ..)| TypedLine::Command(*command, rest.trim()));
    }
    match mode {
        InputMode::Chat => TypedLine::Message(trimmed),
        InputMode::Cmd => TypedLine::Call(trimmed),
    }
}

/// The help.
pub fn help() -> String {
    let line = |(_, name, behind, what): &(Command, &str, &str, &str)| {
        let command = format!("{name} {behind}");
        format!("  {command:<24} {what}\n")
    };
    COMMANDS.iter().map(line).collect()
}

/// A call by the person: its tool, and its arguments as JSON text.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    pub tool: String,
    pub arguments: String,
}

impl Call {
    /// Reads `TOOL NAME=VALUE ...`, split into words like a shell command, or a call in JSON, whose id is ignored.
    ///
    /// # Errors
    /// Why the line is not a call.
    pub fn read(line: &str) -> Result<Call, String> {
        if line.starts_with('{') {
            return match recognise(line) {
                Ok(Some(call)) => {
                    Ok(Call { tool: call.tool.clone().into_owned(), arguments: call.arguments_text().to_owned() })
                }
                Ok(None) => Err("the JSON is not a call: \"tool\" is missing".to_owned()),
                Err(why) => Err(why.to_string()),
            };
        }
        let words = shlex::split(line).ok_or("a closing quotation mark is missing")?;
        let (tool, words) = words.split_first().ok_or("the tool is missing")?;
        let arguments = pairs(words, "").map_err(|failure| {
            format!("{failure}. A call is TOOL NAME=VALUE ...; to send messages, switch to chat mode with /chat")
        })?;
        Ok(Call { tool: tool.clone(), arguments })
    }

    /// The record.
    pub fn record(&self, call_id: &str) -> String {
        ToolCall::new(raw(&quoted(call_id)), &self.tool, Some(raw(&self.arguments))).json()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_a_message_or_a_call() {
        assert_eq!(read("/no not now ", InputMode::Chat), TypedLine::Command(Command::No, "not now"));
        assert_eq!(read("/etc/hosts is wrong", InputMode::Chat), TypedLine::Unknown("/etc/hosts"));
        assert_eq!(read(" /etc/hosts is wrong", InputMode::Chat), TypedLine::Message("/etc/hosts is wrong"));
        assert_eq!(read("look x=1", InputMode::Cmd), TypedLine::Call("look x=1"));
        assert_eq!(read("  ", InputMode::Cmd), TypedLine::Nothing);
    }

    #[test]
    fn calls_are_words_or_json() {
        let call = Call::read("browser_overlay_act index=3 action=click 'text=a b'").unwrap();
        assert_eq!(call.tool, "browser_overlay_act");
        assert_eq!(call.arguments, r#"{"index":3,"action":"click","text":"a b"}"#);
        let json = Call::read(r#"{"tool":"look","args":{"n":1.10},"id":7}"#).unwrap();
        assert_eq!(
            json.record("u1"),
            r#"{"type":"tool_call","call_id":"u1","tool_name":"look","arguments":{"n":1.10}}"#
        );
        for wrong in ["look 'x", "look at", r#"{"type":"status"}"#, "{"] {
            assert!(Call::read(wrong).is_err(), "{wrong}");
        }
    }
}
