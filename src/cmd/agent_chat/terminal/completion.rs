//! Completion with Tab: commands, tools, and the names and values of arguments.

use super::line_owner::LineOwner;
use crate::cmd::agent_chat::command::{COMMANDS, InputMode};
use pipewright_io::printable::is_printable;
use pipewright_record::OwnedTool;
use pipewright_sys::lock;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper, Result};
use serde_json::Value;
use std::sync::{Arc, Mutex};

/// The words that completion offers.
#[derive(Debug)]
pub struct CompletionWords {
    pub mode: InputMode,
    pub tools: Vec<OwnedTool>,
}

pub struct Completion {
    pub known: Arc<Mutex<CompletionWords>>,
    pub begun: Arc<LineOwner>,
    pub files: FilenameCompleter,
}

impl Helper for Completion {}
impl Validator for Completion {}
impl Highlighter for Completion {}

impl Hinter for Completion {
    type Hint = String;

    /// No hints are shown; rustyline calls this whenever the line changes.
    fn hint(&self, line: &str, _at: usize, _context: &Context<'_>) -> Option<String> {
        self.begun.change(line);
        None
    }
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, context: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        if line.starts_with("/save ") {
            return self.files.complete(line, at, context);
        }
        let (start, words) = candidates(&line[..at], &lock(&self.known));
        // A complete word is followed by a blank.
        let behind = |word: &str| if word.ends_with('=') { "" } else { " " };
        let pair = |word: String| Pair { replacement: format!("{word}{}", behind(&word)), display: word };
        Ok((start, words.into_iter().map(pair).collect()))
    }
}

/// Where the word before the cursor begins, and its completions.
fn candidates(line: &str, known: &CompletionWords) -> (usize, Vec<String>) {
    let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &line[start..];
    let tools = || known.tools.iter().map(|tool| tool.name.clone());
    let all: Vec<String> = if start == 0 && word.starts_with('/') {
        COMMANDS.iter().map(|(_, name, ..)| (*name).to_owned()).collect()
    } else if start == 0 && known.mode == InputMode::Cmd || line.starts_with("/tools ") {
        tools().collect()
    } else if known.mode == InputMode::Cmd && !line.starts_with(['/', '{']) {
        arguments(line.split_whitespace().next().unwrap_or_default(), word, known)
    } else {
        Vec::new()
    };
    // The terminal shows candidates unescaped.
    let is_word = |candidate: &String| candidate.chars().all(|character| is_printable(character) && character != '\t');
    (start, all.into_iter().filter(|candidate| candidate.starts_with(word) && is_word(candidate)).collect())
}

/// The arguments of a tool, as `NAME=`; after that, the values that its schema lists.
fn arguments(tool: &str, word: &str, known: &CompletionWords) -> Vec<String> {
    let Some(tool) = known.tools.iter().find(|known| known.name == tool) else { return Vec::new() };
    let schema: Value = serde_json::from_str(&tool.input_schema).unwrap_or_default();
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    match word.split_once('=') {
        None => properties.keys().map(|name| format!("{name}=")).collect(),
        Some((name, _)) => {
            let property = properties.get(name).unwrap_or(&Value::Null);
            let listed = property["enum"].as_array().cloned().unwrap_or_default();
            let booleans = if property["type"] == "boolean" { vec![true.into(), false.into()] } else { Vec::new() };
            let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            listed.into_iter().chain(booleans).map(|value| format!("{name}={}", text(value))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_tools_and_arguments_are_completed() {
        let schema = r#"{"type":"object","properties":{"action":{"enum":["click","clear"]},"index":{"type":"integer"},"new":{"type":"boolean"}}}"#;
        let tool = |name: &str| OwnedTool {
            name: name.to_owned(),
            description: String::new(),
            input_schema: schema.to_owned(),
            annotations: None,
        };
        let mut known =
            CompletionWords { mode: InputMode::Cmd, tools: vec![tool("browser_act"), tool("browser_open")] };
        assert_eq!(candidates("/st", &known), (0, vec!["/stop".to_owned(), "/steps".to_owned(), "/status".to_owned()]));
        assert_eq!(candidates("browser_a", &known), (0, vec!["browser_act".to_owned()]));
        assert_eq!(candidates("browser_act in", &known), (12, vec!["index=".to_owned()]));
        assert_eq!(candidates("browser_act action=cl", &known).1, ["action=click", "action=clear"]);
        assert_eq!(candidates("browser_act new=t", &known).1, ["new=true"]);
        assert_eq!(candidates("/tools browser_o", &known).1, ["browser_open"]);
        known.tools.push(tool("browser_open\u{1b}[2J"));
        assert_eq!(candidates("browser_open", &known).1, ["browser_open"], "no text controls the terminal");
        known.mode = InputMode::Chat;
        assert!(candidates("brow", &known).1.is_empty(), "a message is not completed");
    }
}
