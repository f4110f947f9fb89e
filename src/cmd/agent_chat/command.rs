//! What the person types: slash commands, calls, messages.

use crate::cmd::call_arguments::pairs;
use crate::json::Object;
use crate::record::recognise;

/// What a line without a slash is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A call.
    Cmd,
    /// A message to the agent.
    Chat,
}

impl Mode {
    /// As seed and status call it.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Cmd => "cmd",
            Mode::Chat => "chat",
        }
    }
}

/// A line that was typed.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed<'a> {
    Command(Command, &'a str),
    /// A slash and a word that is no command.
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

/// Each command with its name, what stands behind it, and what it does.
pub const COMMANDS: [(Command, &str, &str, &str); 16] = [
    (Command::Chat, "/chat", "", "messages: what is typed goes to the agent"),
    (
        Command::Cmd,
        "/cmd",
        "",
        "calls: what is typed is a call, such as `browser_navigate url=https://shop.example`, or JSON",
    ),
    (Command::Yes, "/yes", "[TEXT]", "let the held call pass; TEXT goes into the records"),
    (Command::No, "/no", "[TEXT]", "reject it, or decline what a tool asks; TEXT is for the agent"),
    (Command::Edit, "/edit", "[NAME=VALUE]", "change its arguments: one, or all in your editor"),
    (Command::Always, "/always", "", "let it pass, and every call of this tool for the session"),
    (Command::Show, "/show", "", "show the held call at full length"),
    (Command::Answer, "/answer", "[NAME=VALUE ...]", "answer what a tool asks"),
    (Command::Stop, "/stop", "", "stop what the agent does, as Ctrl-C does"),
    (Command::Plan, "/plan", "", "show the plan"),
    (Command::Steps, "/steps", "", "show the calls so far"),
    (Command::Tools, "/tools", "[WORD]", "show the tools that can be called"),
    (Command::Status, "/status", "", "show the mode, the goal, what is waited for, steps, tokens, cost"),
    (Command::Save, "/save", "FILE", "write what was said and done to a file"),
    (Command::Help, "/help", "", "show this"),
    (Command::Exit, "/exit", "", "leave chat mode; in cmd mode, end"),
];

/// Reads a line. A message that begins with a slash has a blank before it.
pub fn read(line: &str, mode: Mode) -> Typed<'_> {
    let trimmed = line.trim();
    if trimmed.is_empty() {
        return Typed::Nothing;
    }
    if line.starts_with('/') {
        let (word, rest) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
        let command = COMMANDS.iter().find(|(_, name, ..)| *name == word);
        return command.map_or(Typed::Unknown(word), |(command, ..)| Typed::Command(*command, rest.trim()));
    }
    match mode {
        Mode::Chat => Typed::Message(trimmed),
        Mode::Cmd => Typed::Call(trimmed),
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

/// A call of the person's own: its tool, and its arguments, JSON text.
#[derive(Debug, PartialEq, Eq)]
pub struct Call {
    pub tool: String,
    pub arguments: String,
}

impl Call {
    /// Reads `TOOL NAME=VALUE ...`, with words as in a shell, or a call in JSON, whose id does not count.
    ///
    /// # Errors
    /// Why it is none.
    pub fn read(line: &str) -> Result<Call, String> {
        if line.starts_with('{') {
            return match recognise(line) {
                Ok(Some(call)) => {
                    Ok(Call { tool: call.tool.clone().into_owned(), arguments: call.arguments_text().to_owned() })
                }
                Ok(None) => Err("the JSON is no call: it has no tool".to_owned()),
                Err(why) => Err(why.to_string()),
            };
        }
        let words = shlex::split(line).ok_or("a quotation mark is open")?;
        let (tool, words) = words.split_first().ok_or("there is no tool")?;
        let arguments = pairs(words, "")
            .map_err(|failure| format!("{failure}. A call is TOOL NAME=VALUE ...; /chat switches to messages"))?;
        Ok(Call { tool: tool.clone(), arguments })
    }

    /// The record.
    pub fn record(&self, call_id: &str) -> String {
        let call = Object::default().text("type", "tool_call").text("call_id", call_id);
        call.text("tool_name", &self.tool).put("arguments", &self.arguments).end()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_command_a_message_or_a_call() {
        assert_eq!(read("/no not now ", Mode::Chat), Typed::Command(Command::No, "not now"));
        assert_eq!(read("/etc/hosts is wrong", Mode::Chat), Typed::Unknown("/etc/hosts"));
        assert_eq!(read(" /etc/hosts is wrong", Mode::Chat), Typed::Message("/etc/hosts is wrong"));
        assert_eq!(read("look x=1", Mode::Cmd), Typed::Call("look x=1"));
        assert_eq!(read("  ", Mode::Cmd), Typed::Nothing);
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
