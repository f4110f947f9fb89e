//! Formats the records of a session for a person. All foreign text is made printable.

use super::markdown::render;
use super::style::{Style, Styles};
use pipewright_io::printable::printable;
use pipewright_lines::plain_text;
use pipewright_record::{AssistantMessage, Fields, MessageKind, Step};
use pipewright_sys::terminal::width;
use std::time::Duration;
use unicode_width::UnicodeWidthChar;

/// The most columns of a call's arguments, and of its outcome, on a line.
const MAX_COLUMNS: usize = 160;

/// How texts are laid out.
#[derive(Debug, Clone, Copy)]
pub struct View {
    pub styles: Styles,
    /// Whether Markdown is rendered, as wide as the terminal on stdout. Otherwise texts stay as they are.
    pub is_rendered: bool,
}

impl View {
    /// Text from the agent, with line feeds.
    pub fn text(&self, text: &str) -> String {
        match self.is_rendered {
            true => render(text, self.styles, width(std::io::stdout()).saturating_sub(1)),
            false => lines(text),
        }
    }

    /// A complete `assistant_message`.
    pub fn message(&self, message: &AssistantMessage<'_>) -> String {
        if message.kind == MessageKind::Progress.name() {
            return self.lines(Style::Dim, &message.token);
        }
        let options = message.question.iter().flat_map(|question| &question.options);
        let options = options.map(|option| format!("  - {}\n", printable(option)));
        self.text(&message.token) + &options.collect::<String>()
    }

    /// Lines of this command, or text that is not Markdown.
    pub fn lines(&self, style: Style, text: &str) -> String {
        text.lines().map(|line| format!("{}\n", self.styles.paint(style, &printable(line)))).collect()
    }

    /// A call and its outcome; `error` is why it failed.
    pub fn call(&self, call: &str, error: Option<&str>, took: Option<Duration>) -> String {
        let mark = match error {
            None => self.styles.paint(Style::Good, "+"),
            Some(_) => self.styles.paint(Style::Bad, "x"),
        };
        let took = took.filter(|took| took.as_secs() > 0).map(|took| format!(" ({} s)", took.as_secs()));
        let line = format!("{mark} {call}{}\n", self.styles.paint(Style::Dim, &took.unwrap_or_default()));
        match error {
            None => line,
            Some(error) => line + &self.lines(Style::Bad, &format!("  {}", cut(error, MAX_COLUMNS))),
        }
    }

    /// The result, JSON text, of a call by the person.
    pub fn result(&self, result: &str) -> String {
        self.lines(Style::Plain, &readable(result))
    }

    /// The steps of a plan, one line of at most `columns` columns each.
    pub fn plan(&self, steps: &[Step<'_>], columns: usize) -> Vec<String> {
        let line = |step: &Step<'_>| {
            let (mark, style) = match &*step.status {
                "done" => ("[x]", Style::Good),
                "running" => ("[>]", Style::Bold),
                "error" => ("[!]", Style::Bad),
                "blocked" => ("[-]", Style::Dim),
                _ => ("[ ]", Style::Dim),
            };
            self.styles.paint(style, &format!("{mark} {}", printable(&cut(&step.desc, columns.saturating_sub(5)))))
        };
        steps.iter().map(line).collect()
    }
}

/// A call on one line: `tool name=value ...`, printable.
pub fn call_line(tool: &str, arguments: &str) -> String {
    let arguments = match Fields::read(arguments) {
        Ok(fields) => fields.iter().map(|(name, value)| format!(" {name}={}", value.get())).collect(),
        Err(_) => format!(" {arguments}"),
    };
    printable(&cut(&format!("{tool}{arguments}"), MAX_COLUMNS)).into_owned()
}

/// A result as text: the text blocks of an MCP result, the content of a string, otherwise the JSON.
pub fn readable(result: &str) -> String {
    let Ok(fields) = Fields::read(result) else { return plain_text(result).into_owned() };
    let blocks = fields.list("content").unwrap_or_default();
    let texts: Vec<String> = blocks
        .iter()
        .filter_map(|block| {
            let block = Fields::read(block.get()).ok()?;
            block.text("text").or_else(|| Some(format!("({})", block.text("type")?)))
        })
        .collect();
    if texts.is_empty() { result.to_owned() } else { texts.join("\n") }
}

/// Text without control characters, with a line feed at the end.
fn lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", printable(line))).collect()
}

/// As much text as fits into `room` columns, on one line.
pub fn cut(text: &str, room: usize) -> String {
    let mut used = 0;
    let mut shown = String::new();
    for character in text.chars() {
        // The width of a tab is not known here.
        let character = if matches!(character, '\n' | '\t') { ' ' } else { character };
        used += character.width().unwrap_or(0).max(1);
        if used > room {
            shown.push('…');
            break;
        }
        shown.push(character);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_one_line() {
        assert_eq!(call_line("act", r#"{"b":1.10,"a":"x\u001b[2J"}"#), r#"act b=1.10 a="x\u001b[2J""#);
        assert_eq!(call_line("a\x1b\nct", "{}"), "a? ct");
        assert!(call_line("act", &format!(r#"{{"a":"{}"}}"#, "é".repeat(1000))).chars().count() <= MAX_COLUMNS + 1);
    }

    #[test]
    fn a_result_is_read_as_text() {
        assert_eq!(
            readable(r#"{"content":[{"type":"text","text":"a\nb"},{"type":"image","data":""}]}"#),
            "a\nb\n(image)"
        );
        assert_eq!(readable(r#""a\nb""#), "a\nb");
        assert_eq!(readable(r#"{"n":1.10}"#), r#"{"n":1.10}"#);
    }
}
