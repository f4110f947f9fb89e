//! Forms that are calls only if a text has nothing else: they occur in ordinary text as well.

use super::lenient::{lenient, string_length};
use super::{Call, of_json, offered};
use crate::json::Object;
use crate::{Arguments, OwnedTool};

/// Parts of the names of tags and tokens around calls.
const AROUND: [&str; 6] = ["tool", "call", "function", "action", "plugin", "python"];

/// The most bytes of such a tag.
const LONGEST: usize = 48;

/// The languages of code blocks with calls. A block of Python or XML is an answer with code.
const LANGUAGES: [&str; 6] = ["", "json", "tool_code", "tool_call", "tool_calls", "function_call"];

/// The calls of a text that is nothing else.
pub(super) fn calls(text: &str, tools: &[OwnedTool]) -> Option<Vec<Call>> {
    let text = text.trim();
    if let Some(call) = text.strip_prefix("to=") {
        return harmony(call, tools);
    }
    let mut inner = text;
    // A block in a tag, a tag in a block, a token in a tag.
    for _ in 0..3 {
        inner = within_block(inner).unwrap_or(inner);
        inner = inner.strip_prefix("Action:").unwrap_or(inner).trim();
        inner = within_tag(inner).unwrap_or(inner).trim();
    }
    let is_all = |(calls, rest): (Vec<Call>, &str)| rest.trim().is_empty().then_some(calls);
    let json = of_json(inner, tools).and_then(is_all).or_else(|| lines(inner, tools));
    // What was read leniently is one value.
    let json = json.or_else(|| of_json(&lenient(inner)?, tools).map(|(calls, _)| calls));
    json.or_else(|| python(inner, tools)).or_else(|| is_all(tagged(inner, tools).filter(|_| inner.len() < text.len())?))
}

/// Calls whose arguments are in tags of their own.
fn tagged<'a>(text: &'a str, tools: &[OwnedTool]) -> Option<(Vec<Call>, &'a str)> {
    super::of_tags(text, tools).or_else(|| super::of_invocations(text, tools))
}

/// The content of a tag, or the text behind a token that has no end.
fn within_tag(text: &str) -> Option<&str> {
    let is_around = |tag: &str| {
        let name = tag.to_ascii_lowercase();
        let is_name = |each: char| each.is_alphanumeric() || "_-:/|\u{ff5c}\u{2581}".contains(each);
        name.chars().all(is_name) && AROUND.iter().any(|part| name.contains(part))
    };
    let (tag, rest) = text.strip_prefix('<')?.split_once('>')?;
    if tag.len() > LONGEST || !is_around(tag) {
        return None;
    }
    let end = rest.trim_end().strip_suffix('>').and_then(|rest| rest.rsplit_once('<'));
    let end = end.filter(|(_, end)| end.len() <= LONGEST && is_around(end));
    // Only a token stands alone.
    end.map(|(content, _)| content).or_else(|| tag.starts_with('|').then_some(rest))
}

fn within_block(text: &str) -> Option<&str> {
    let (language, content) = text.strip_prefix("```")?.strip_suffix("```")?.split_once('\n')?;
    (LANGUAGES.contains(&language.trim()) && !content.contains("```")).then(|| content.trim())
}

/// One object on each line.
fn lines(text: &str, tools: &[OwnedTool]) -> Option<Vec<Call>> {
    let mut calls = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let (found, rest) = of_json(line, tools)?;
        calls.extend(found);
        rest.trim().is_empty().then_some(())?;
    }
    (!calls.is_empty()).then_some(calls)
}

/// `functions.NAME <|constrain|>json<|message|>{...}<|call|>`, which gpt-oss writes behind `<|channel|>commentary to=`.
fn harmony(text: &str, tools: &[OwnedTool]) -> Option<Vec<Call>> {
    let (head, message) = text.split_once("<|message|>")?;
    let name = head.split(|each: char| each.is_whitespace() || each == '<').next()?;
    let tool = offered(name, tools)?;
    let message = message.trim();
    let object = message.strip_suffix("<|call|>").unwrap_or(message).trim();
    let (json, rest) = super::first_json(object)?;
    let is_object = json.get().starts_with('{') && rest.trim().is_empty();
    is_object.then(|| vec![(tool.name.clone(), Arguments::of_text(json.get()))])
}

/// `[NAME(argument="value"), ...]`, or one call without the brackets.
fn python(text: &str, tools: &[OwnedTool]) -> Option<Vec<Call>> {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text).trim();
    let mut calls = Vec::new();
    for call in split(inner)? {
        let (name, arguments) = call.trim().strip_suffix(')')?.split_once('(')?;
        let tool = offered(name.trim(), tools)?;
        let mut object = Object::default();
        for argument in split(arguments)?.into_iter().filter(|argument| !argument.trim().is_empty()) {
            let (key, value) = argument.split_once('=')?;
            let is_name = |key: &str| !key.is_empty() && key.chars().all(|each| each.is_alphanumeric() || each == '_');
            object = object.put_any(Some(key.trim()).filter(|key| is_name(key))?, lenient(value)?);
        }
        calls.push((tool.name.clone(), Arguments::of_text(&object.end())));
    }
    (!calls.is_empty()).then_some(calls)
}

/// The parts of a text between commas outside of brackets and strings.
fn split(text: &str) -> Option<Vec<&str>> {
    let (mut parts, mut depth, mut begin, mut at) = (Vec::new(), 0_usize, 0, 0);
    while let Some(next) = text[at..].chars().next() {
        at += match next {
            '"' | '\'' => string_length(&text[at..], next)?,
            _ => {
                match next {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.checked_sub(1)?,
                    ',' if depth == 0 => {
                        parts.push(&text[begin..at]);
                        begin = at + 1;
                    }
                    _ => {}
                }
                next.len_utf8()
            }
        };
    }
    parts.push(&text[begin..]);
    (depth == 0).then_some(parts)
}
