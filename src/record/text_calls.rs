//! The forms of calls in text.
//!
//! | form | used by |
//! |---|---|
//! | `function_call: name=NAME args={...}` | what `llm::text_calls` asks for where a model takes no tools |
//! | `<tool_call>{"name","arguments"}</tool_call>` | Hermes, Qwen |
//! | `<tool_call><function=NAME><parameter=NAME>value</parameter></function></tool_call>` | Qwen3-Coder |
//! | `[TOOL_CALL]{...}[/TOOL_CALL]` | MiniMax and others |
//! | `[TOOL_CALLS][{"name","arguments"}]` | Mistral |
//! | `<\|python_tag\|>{"name","parameters"}` | Llama 3.1 |
//! | a code block with the language `json` | models that were asked for JSON |
//! | a text that is only an object, also `{"mode":"act","tool","args"}` | the same; `ask` and `done` call `assistant_ask` and `assistant_done` |

use crate::json::{Object, quoted};
use crate::record::{Arguments, Fields, OwnedTool};
use serde_json::value::RawValue;

/// A tool's name and arguments.
pub(crate) type Call = (String, Arguments);

/// The beginning of each form, and its end marker if it has one.
const MARKS: [(&str, &str); 6] = [
    (LINE, ""),
    (TAG, "</tool_call>"),
    ("[TOOL_CALLS]", ""),
    ("[TOOL_CALL]", "[/TOOL_CALL]"),
    ("<|python_tag|>", ""),
    ("```json", "```"),
];
const LINE: &str = "function_call:";
const TAG: &str = "<tool_call>";

/// The beginning of reasoning.
pub(crate) const THINK: &str = "<think>";

/// The reasoning at the beginning of a text, and the rest.
pub(crate) fn reasoning(text: &str) -> Option<(&str, &str)> {
    let (reasoning, rest) = text.trim_start().strip_prefix(THINK)?.split_once("</think>")?;
    Some((reasoning.trim(), rest.trim_start()))
}

/// The calls of these tools in a text, and the text without them.
pub(crate) fn calls(text: &str, tools: &[OwnedTool]) -> (Vec<Call>, String) {
    if let Some((json, rest)) = first_json(text)
        && rest.trim().is_empty()
        && let Some(call) = of_object(json, tools)
    {
        return (vec![call], String::new());
    }
    let (mut calls, mut left, mut rest) = (Vec::new(), String::new(), text);
    while let Some((at, mark, end)) = next_mark(rest) {
        let behind = &rest[at + mark.len()..];
        let found = match mark {
            // Within a sentence, a call is only quoted.
            LINE => of_line(behind, tools).filter(|(_, behind)| begins_line(&rest[..at]) || behind.trim().is_empty()),
            TAG if behind.trim_start().starts_with("<function=") => of_tags(behind, tools),
            _ => of_json(behind, tools),
        };
        match found {
            Some((found, behind)) => {
                calls.extend(found);
                left.push_str(&rest[..at]);
                rest = behind.trim_start();
                rest = rest.strip_prefix(end).unwrap_or(rest);
            }
            None => {
                left.push_str(&rest[..at + mark.len()]);
                rest = behind;
            }
        }
    }
    left.push_str(rest);
    (calls, left.trim().to_owned())
}

/// Whether the text after this begins a line, apart from Markdown marks.
fn begins_line(before: &str) -> bool {
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    line.chars().all(|character| character.is_whitespace() || "`*-".contains(character))
}

/// The next mark: its position, the mark, and its end marker.
fn next_mark(text: &str) -> Option<(usize, &'static str, &'static str)> {
    // Every mark begins with one of these characters.
    let mut from = 0;
    loop {
        let at = from + text[from..].find(['f', '<', '[', '`'])?;
        if let Some((mark, end)) = MARKS.into_iter().find(|(mark, _)| text[at..].starts_with(mark)) {
            return Some((at, mark, end));
        }
        from = at + 1;
    }
}

/// The JSON value at the beginning of a text, and the rest.
fn first_json(text: &str) -> Option<(&RawValue, &str)> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let value = values.next()?.ok()?;
    Some((value, &text[values.byte_offset()..]))
}

/// ` name=NAME args={...}`. Arguments that are not JSON extend to the end of the line.
fn of_line<'a>(text: &'a str, tools: &[OwnedTool]) -> Option<(Vec<Call>, &'a str)> {
    let text = text.trim_start().strip_prefix("name=")?;
    let (name, rest) = text.split_at(text.find([' ', ',', '\t', '\r', '\n']).unwrap_or(text.len()));
    let tool = offered(name.trim_matches(['"', '\'', '`']), tools)?;
    let Some(arguments) = rest.trim_start_matches([' ', ',', '\t']).strip_prefix("args=") else {
        return Some((vec![(tool.name.clone(), Arguments::of_text(""))], rest));
    };
    if let Some((json, rest)) = first_json(arguments).filter(|(json, _)| json.get().starts_with('{')) {
        return Some((vec![(tool.name.clone(), Arguments::of_text(json.get()))], rest));
    }
    let (line, rest) = arguments.split_at(arguments.find('\n').unwrap_or(arguments.len()));
    Some((vec![(tool.name.clone(), Arguments::Text(line.trim().to_owned()))], rest))
}

/// An object, or a list of objects that are all calls.
fn of_json<'a>(text: &'a str, tools: &[OwnedTool]) -> Option<(Vec<Call>, &'a str)> {
    let (json, rest) = first_json(text)?;
    let calls = match serde_json::from_str::<Vec<&RawValue>>(json.get()) {
        Ok(list) if !list.is_empty() => list.into_iter().map(|json| of_object(json, tools)).collect::<Option<_>>()?,
        Ok(_) => return None,
        Err(_) => vec![of_object(json, tools)?],
    };
    Some((calls, rest))
}

/// `{"name","arguments"}` in all its spellings, or `{"mode",...}`.
fn of_object(json: &RawValue, tools: &[OwnedTool]) -> Option<Call> {
    let fields = Fields::read(json.get()).ok()?;
    let fields = fields.object("function").unwrap_or(fields);
    let name = ["name", "tool", "tool_name", "function", "action"].iter().find_map(|key| fields.text(key));
    let given = ["arguments", "args", "parameters", "input"].iter().find_map(|key| fields.present(key));
    let mode = fields.text("mode");
    let (name, arguments) = match (name, mode.as_deref()) {
        (None, Some("ask")) => ("assistant_ask".to_owned(), given.map_or_else(|| without_mode(&fields), spelled_out)),
        (None, Some("done")) => ("assistant_done".to_owned(), given.map_or_else(|| without_mode(&fields), spelled_out)),
        (name, _) => (name?, given.map_or_else(String::new, spelled_out)),
    };
    Some((offered(&name, tools)?.name.clone(), Arguments::of_text(&arguments)))
}

fn without_mode(fields: &Fields<'_>) -> String {
    let others = fields.iter().filter(|(key, _)| *key != "mode");
    others.fold(Object::default(), |object, (key, json)| object.put_any(key, json)).end()
}

/// Arguments as JSON text, also if they are given as a string that contains it.
fn spelled_out(json: &RawValue) -> String {
    serde_json::from_str(json.get()).unwrap_or_else(|_| json.get().to_owned())
}

/// `<function=NAME><parameter=NAME>value</parameter>...</function>`, as Qwen3-Coder's template writes it: values are on lines of
/// their own.
fn of_tags<'a>(text: &'a str, tools: &[OwnedTool]) -> Option<(Vec<Call>, &'a str)> {
    // The beginning of another call ends this one, so a text with many beginnings is searched only once.
    let own = &text[..text.find(TAG).unwrap_or(text.len())];
    let (name, mut rest) = own.trim_start().strip_prefix("<function=")?.split_once('>')?;
    let tool = offered(name.trim(), tools)?;
    let properties = Fields::read(&tool.input_schema).ok().and_then(|schema| schema.object("properties"));
    let is_string = |name: &str| properties.as_ref()?.object(name)?.text("type").map(|kind| kind == "string");
    let mut arguments = Object::default();
    while let Some(parameter) = rest.trim_start().strip_prefix("<parameter=") {
        let (name, after) = parameter.split_once('>')?;
        let (value, after) = after.split_once("</parameter>")?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        let json = serde_json::from_str::<&RawValue>(value).ok().filter(|_| is_string(name) != Some(true));
        arguments = arguments.put_any(name, json.map_or_else(|| quoted(value), |json| json.get().to_owned()));
        rest = after;
    }
    let rest = rest.trim_start().strip_prefix("</function>")?;
    Some((vec![(tool.name.clone(), Arguments::of_text(&arguments.end()))], &text[own.len() - rest.len()..]))
}

fn offered<'t>(name: &str, tools: &'t [OwnedTool]) -> Option<&'t OwnedTool> {
    tools.iter().find(|tool| tool.name == name)
}
