//! The forms of calls in text.
//!
//! | form | used by |
//! |---|---|
//! | `function_call: name=NAME args={...}` | the form that `llm::text_calls` asks of models without tools |
//! | `<tool_call>{"name","arguments"}</tool_call>` | Hermes, Qwen |
//! | `<tool_call><function=NAME><parameter=NAME>value</parameter></function></tool_call>` | Qwen3-Coder |
//! | `[TOOL_CALL]{...}[/TOOL_CALL]` | MiniMax and others |
//! | `[TOOL_CALLS][{"name","arguments"}]` | Mistral |
//! | `<\|python_tag\|>{"name","parameters"}` | Llama 3.1 |
//! | a code block with the language `json` | models that were asked for JSON |
//! | a text that is only an object, also `{"mode":"act","tool","args"}` | the same; `ask` and `done` call `assistant_ask` and `assistant_done` |

mod quotation;
mod thinking;

pub(crate) use thinking::reasoning;

use crate::json::{Object, quoted};
use crate::record::{Arguments, Fields, OwnedTool};
use quotation::{Quotation, unwrapped};
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
    (FENCE, "```"),
];
const LINE: &str = "function_call:";
const TAG: &str = "<tool_call>";
const FENCE: &str = "```json";

/// What may follow the last call: marks at the end of a turn that a server leaves in the text, and results that the model makes up.
const ENDS: [&str; 5] = ["<|", "</s>", "<end_of_turn>", "<tool_response>", "function_result:"];

/// The calls of these tools in a text, and the text without them. Calls that are only quoted are not found: those in reasoning, in code
/// besides other text, in quoted lines and comments, and those that text follows, except for calls on lines of their own.
pub(crate) fn calls(text: &str, tools: &[OwnedTool]) -> (Vec<Call>, String) {
    let said = thinking::behind(text).unwrap_or_default();
    let whole =
        first_json(said).filter(|(_, rest)| rest.trim().is_empty()).and_then(|(json, _)| of_object(json, tools));
    let found = match whole {
        Some(call) => Some((vec![call], String::new())),
        None => {
            search(said, tools).or_else(|| search(unwrapped(said)?, tools).filter(|(_, left)| left.trim().is_empty()))
        }
    };
    let Some((calls, left)) = found else { return (Vec::new(), text.trim().to_owned()) };
    let before = &text[..text.len() - said.len()];
    (calls, format!("{before}{left}").trim().to_owned())
}

/// The calls that are marked, if there are any, and the text without them.
fn search(text: &str, tools: &[OwnedTool]) -> Option<(Vec<Call>, String)> {
    let (mut calls, mut left, mut rest) = (Vec::new(), String::new(), text);
    let mut quotation = Quotation::default();
    // Whether only calls may follow.
    let mut must_end = false;
    while let Some((at, mark, end)) = next_mark(rest).filter(|(at, ..)| !must_end || rest[..*at].trim().is_empty()) {
        let behind = &rest[at + mark.len()..];
        quotation.read(&rest[..at]);
        let found = match mark {
            LINE => of_line(behind, tools),
            TAG if behind.trim_start().starts_with("<function=") => of_tags(behind, tools),
            _ => of_json(behind, tools),
        };
        let is_in_sentence = |behind: &str| mark == LINE && !begins_line(&rest[..at]) && !behind.trim().is_empty();
        let is_quoted = quotation.is_quoted() || found.as_ref().is_some_and(|(_, behind)| is_in_sentence(behind));
        let read = match found {
            Some((found, behind)) if !is_quoted => {
                calls.extend(found);
                must_end |= mark != LINE;
                left.push_str(&rest[..at]);
                rest = behind.trim_start();
                quotation.read(&behind[..behind.len() - rest.len()]);
                rest = rest.strip_prefix(end).unwrap_or(rest);
                continue;
            }
            _ if must_end => return None,
            // What cannot be read has no known end, and may contain text like a call.
            None if !is_quoted && mark != FENCE && is_begun(mark, behind) => return None,
            Some((_, behind)) => rest.len() - behind.len(),
            None => at + mark.len(),
        };
        quotation.read(&rest[at..read]);
        left.push_str(&rest[..read]);
        rest = &rest[read..];
    }
    let is_ended = rest.trim().is_empty() || ENDS.iter().any(|end| rest.trim_start().starts_with(end));
    if calls.is_empty() || (must_end && !is_ended) {
        return None;
    }
    left.push_str(rest);
    Some((calls, left))
}

/// Whether a call begins behind a mark, and not only a text about the mark.
fn is_begun(mark: &str, behind: &str) -> bool {
    let behind = behind.trim_start();
    if mark == LINE {
        behind.starts_with("name=")
    } else {
        behind.starts_with(['{', '[']) || behind.starts_with("<function=")
    }
}

/// Whether the text after this begins a line, apart from Markdown marks.
fn begins_line(before: &str) -> bool {
    let line = &before[before.rfind('\n').map_or(0, |end| end + 1)..];
    line.chars().all(|character| character.is_whitespace() || "*-".contains(character))
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
    let rest = rest.trim_start_matches([' ', ',', '\t']);
    let given = rest.strip_prefix("args=");
    if let Some((json, rest)) = given.and_then(first_json)
        && json.get().starts_with('{')
        && !rest.trim_start_matches([' ', ',', '\t']).starts_with(['{', '['])
    {
        return Some((vec![(tool.name.clone(), Arguments::of_text(json.get()))], rest));
    }
    let (line, rest) = rest.split_at(rest.find('\n').unwrap_or(rest.len()));
    let arguments = match given {
        None if line.trim().is_empty() => Arguments::of_text(""),
        // Arguments in another form are not left out.
        _ => Arguments::Text(line.strip_prefix("args=").unwrap_or(line).trim().to_owned()),
    };
    Some((vec![(tool.name.clone(), arguments)], rest))
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

/// The names of a call's arguments.
const ARGUMENTS: [&str; 4] = ["arguments", "args", "parameters", "input"];

/// The other fields of a call.
const LABELS: [&str; 13] = [
    "name",
    "tool",
    "tool_name",
    "function",
    "action",
    "mode",
    "type",
    "id",
    "call_id",
    "arguments",
    "args",
    "parameters",
    "input",
];

/// `{"name","arguments"}` in all its spellings, or `{"mode",...}`.
fn of_object(json: &RawValue, tools: &[OwnedTool]) -> Option<Call> {
    let fields = Fields::read(json.get()).ok()?;
    let fields = fields.object("function").unwrap_or(fields);
    let name = ["name", "tool", "tool_name", "function", "action"].iter().find_map(|key| fields.text(key));
    let given = ARGUMENTS.iter().find_map(|key| fields.present(key));
    let mode = fields.text("mode");
    let (name, arguments) = match (name, mode.as_deref()) {
        (None, Some("ask")) => ("assistant_ask".to_owned(), given.map_or_else(|| without_mode(&fields), spelled_out)),
        (None, Some("done")) => ("assistant_done".to_owned(), given.map_or_else(|| without_mode(&fields), spelled_out)),
        // Arguments under another name are not left out, and the definition of a tool is no call.
        _ if given.is_none() && fields.iter().any(|(key, _)| !LABELS.contains(&key)) => return None,
        _ if fields.present("description").is_some() => return None,
        _ if ARGUMENTS.iter().filter(|key| fields.present(key).is_some()).count() > 1 => return None,
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
    let is_text =
        |name: &str| properties.as_ref().and_then(|all| all.object(name)).is_some_and(|schema| takes_text(&schema));
    let mut arguments = Object::default();
    while let Some(parameter) = rest.trim_start().strip_prefix("<parameter=") {
        let (name, after) = parameter.split_once('>')?;
        let (value, after) = after.split_once("</parameter>")?;
        let value = value.strip_prefix("\r\n").or(value.strip_prefix('\n')).unwrap_or(value);
        let value = value.strip_suffix("\r\n").or(value.strip_suffix('\n')).unwrap_or(value);
        let json = serde_json::from_str::<&RawValue>(value).ok().filter(|_| !is_text(name));
        arguments = arguments.put_any(name, json.map_or_else(|| quoted(value), |json| json.get().to_owned()));
        rest = after;
    }
    let rest = rest.trim_start().strip_prefix("</function>")?;
    Some((vec![(tool.name.clone(), Arguments::of_text(&arguments.end()))], &text[own.len() - rest.len()..]))
}

/// Whether a schema allows a text: a number in it then stays the text that it is.
fn takes_text(schema: &Fields<'_>) -> bool {
    let is_one = |json: &RawValue| Fields::read(json.get()).is_ok_and(|schema| takes_text(&schema));
    schema.get("type").is_some_and(|kind| kind.get().contains("\"string\""))
        || ["anyOf", "oneOf"].iter().any(|key| schema.list(key).unwrap_or_default().into_iter().any(is_one))
}

fn offered<'t>(name: &str, tools: &'t [OwnedTool]) -> Option<&'t OwnedTool> {
    tools.iter().find(|tool| tool.name == name)
}
