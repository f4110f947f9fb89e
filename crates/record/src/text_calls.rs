//! The forms of calls in text.
//!
//! | form | used by |
//! |---|---|
//! | `function_call: name=NAME args={...}` | the form that our requests ask of models without tools |
//! | `<tool_call>{"name","arguments"}</tool_call>` | Hermes, Qwen |
//! | `<tool_call><function=NAME><parameter=NAME>value</parameter></function></tool_call>`, also without the outer tag | Qwen3-Coder |
//! | `<function=NAME>{...}</function>` | Llama 3 |
//! | `<tool_call>NAME<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>` | GLM |
//! | `<invoke name="NAME"><parameter name="k">v</parameter></invoke>` in a tag of calls | MiniMax, DeepSeek |
//! | `<\|tool_call_begin\|>functions.NAME:0<\|tool_call_argument_begin\|>{...}<\|tool_call_end\|>` | Kimi |
//! | `<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{...}<｜tool▁call▁end｜>` | DeepSeek |
//! | `[TOOL_CALLS]NAME[ARGS]{...}` | Mistral |
//! | `<\|channel\|>commentary to=functions.NAME <\|message\|>{...}<\|call\|>` | gpt-oss |
//! | `<\|tool_call\|>[...]`, `<TOOLCALL>[...]</TOOLCALL>`, `<\|START_ACTION\|>[...]` | Phi and Granite, Nemotron, Command |
//! | `[TOOL_CALL]{...}[/TOOL_CALL]` | MiniMax and others |
//! | `[TOOL_CALLS][{"name","arguments"}]` | Mistral |
//! | `<\|python_tag\|>{"name","parameters"}` | Llama 3.1 |
//! | a code block with the language `json` | models that were asked for JSON |
//! | a text that is only `[NAME(argument="value")]`, or only objects in a tag such as `<tools>` or in any code block | Llama 4, Gemma; small models |
//! | a text that is only an object, or a list of these, also `{"mode":"act","tool","args"}` | the same; `ask` and `done` call `assistant_ask` and `assistant_done` |

mod lenient;
mod marked;
mod quotation;
mod tagged;
mod thinking;
mod whole;

pub use thinking::reasoning;

use crate::json::Object;
use crate::{Arguments, Fields, OwnedTool};
use lenient::lenient;
use marked::{of_arguments, of_deepseek, of_kimi};
use quotation::{Quotation, unwrapped};
use serde_json::value::RawValue;
use tagged::{of_invocations, of_keys, of_tags};

/// A tool's name and arguments.
pub type Call = (String, Arguments);

/// The beginning of each form, and its end marker if it has one.
const MARKS: [(&str, &str); 17] = [
    (LINE, ""),
    (TAG, "</tool_call>"),
    ("[TOOL_CALLS]", ""),
    ("[TOOL_CALL]", "[/TOOL_CALL]"),
    ("<|python_tag|>", ""),
    (FENCE, "```"),
    (FUNCTION, "</function>"),
    (KIMI, "<|tool_calls_section_end|>"),
    (KIMI_CALL, "<|tool_calls_section_end|>"),
    (DEEPSEEK, "<｜tool▁calls▁end｜>"),
    (DEEPSEEK_CALL, "<｜tool▁calls▁end｜>"),
    ("<minimax:tool_call>", "</minimax:tool_call>"),
    ("<function_calls>", "</function_calls>"),
    ("<｜DSML｜function_calls>", "</｜DSML｜function_calls>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("<TOOLCALL>", "</TOOLCALL>"),
    ("<|START_ACTION|>", "<|END_ACTION|>"),
];
const LINE: &str = "function_call:";
const TAG: &str = "<tool_call>";
const FENCE: &str = "```json";
const FUNCTION: &str = "<function=";
const KIMI: &str = "<|tool_calls_section_begin|>";
const KIMI_CALL: &str = "<|tool_call_begin|>";
const DEEPSEEK: &str = "<｜tool▁calls▁begin｜>";
const DEEPSEEK_CALL: &str = "<｜tool▁call▁begin｜>";

/// Results that the model makes up. They and all that follows them may stand behind the last call.
const RESULTS: [&str; 2] = ["<tool_response>", "function_result:"];

/// The calls of these tools in a text, and the text without them. Calls that are only quoted are not found: those in reasoning, in code
/// besides other text, in quoted lines and comments, and those that text follows.
pub fn calls(text: &str, tools: &[OwnedTool]) -> (Vec<Call>, String) {
    // The strings of a JSON text are data, whatever they contain.
    let said = if is_json(text) { text } else { thinking::behind(text).unwrap_or_default() }.trim_start();
    let found = match is_json(said) {
        true => of_json(said, tools).map(|(calls, _)| (calls, String::new())),
        false => search(said, tools)
            .or_else(|| search(unwrapped(said)?, tools).filter(|(_, left)| left.trim().is_empty()))
            .or_else(|| Some((whole::calls(said, tools)?, String::new()))),
    };
    let Some((calls, left)) = found else { return (Vec::new(), text.trim().to_owned()) };
    let before = &text[..text.len() - said.len()];
    // The channel of gpt-oss belongs to the call.
    let before = if said.starts_with("to=") {
        before.rsplit_once("<|channel|>").map_or(before, |(before, _)| before)
    } else {
        before
    };
    let before = before.trim_end().strip_suffix("<|start|>assistant").unwrap_or(before);
    (calls, format!("{before}{left}").trim().to_owned())
}

fn is_json(text: &str) -> bool {
    first_json(text).is_some_and(|(_, rest)| rest.trim().is_empty())
}

/// The calls that are marked, if there are any, and the text without them. Only calls may follow a call.
fn search(text: &str, tools: &[OwnedTool]) -> Option<(Vec<Call>, String)> {
    let (mut calls, mut left, mut rest) = (Vec::new(), String::new(), text);
    let mut quotation = Quotation::default();
    while let Some((at, mark, end)) =
        next_mark(rest).filter(|(at, ..)| calls.is_empty() || rest[..*at].trim().is_empty())
    {
        let behind = &rest[at + mark.len()..];
        quotation.read(&rest[..at]);
        let found = match mark {
            LINE => of_line(behind, tools),
            TAG if behind.trim_start().starts_with(FUNCTION) => of_tags(behind, tools),
            TAG if is_name_begun(behind) => of_keys(behind, tools),
            FUNCTION => of_tags(&rest[at..], tools)
                .map(|(calls, behind)| (calls, behind.trim_start().strip_prefix("</tool_call>").unwrap_or(behind))),
            KIMI => of_kimi(behind, tools),
            KIMI_CALL => of_kimi(&rest[at..], tools),
            DEEPSEEK => of_deepseek(behind, tools),
            DEEPSEEK_CALL => of_deepseek(&rest[at..], tools),
            "[TOOL_CALLS]" if is_name_begun(behind) => of_arguments(behind, tools),
            _ if mark.ends_with("function_calls>") || mark.ends_with("minimax:tool_call>") => {
                of_invocations(behind, tools)
            }
            _ => of_json(behind, tools).or_else(|| of_lenient(behind, end, tools)),
        };
        let is_in_sentence = |behind: &str| mark == LINE && !begins_line(&rest[..at]) && !behind.trim().is_empty();
        let is_quoted = quotation.is_quoted() || found.as_ref().is_some_and(|(_, behind)| is_in_sentence(behind));
        let read = match found {
            Some((found, behind)) if !is_quoted => {
                calls.extend(found);
                left.push_str(&rest[..at]);
                rest = behind.trim_start();
                quotation.read(&behind[..behind.len() - rest.len()]);
                rest = rest.strip_prefix(end).unwrap_or(rest);
                continue;
            }
            _ if !calls.is_empty() => return None,
            // What cannot be read has no known end, and may contain text like a call.
            None if !is_quoted && mark != FENCE && is_begun(mark, behind) => return None,
            Some((_, behind)) => rest.len() - behind.len(),
            None => at + mark.len(),
        };
        quotation.read(&rest[at..read]);
        left.push_str(&rest[..read]);
        rest = &rest[read..];
    }
    if calls.is_empty() || !is_ended(rest) {
        return None;
    }
    left.push_str(rest);
    Some((calls, left))
}

/// Whether this is no text: nothing but marks at the end of a turn that a server leaves in it, and results that the model makes up.
fn is_ended(mut rest: &str) -> bool {
    loop {
        rest = rest.trim_start();
        if rest.is_empty() || RESULTS.iter().any(|begin| rest.starts_with(begin)) {
            return true;
        }
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        let named = || rest.strip_prefix("<|")?.split_once("|>").filter(|(name, _)| is_name(name));
        let plain = || rest.strip_prefix("</s>").or_else(|| rest.strip_prefix("<end_of_turn>"));
        match named().map(|(_, rest)| rest).or_else(plain) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
}

/// Whether a text ends within a call that it begins: what follows belongs to the call's arguments.
fn is_within_call(text: &str) -> bool {
    let mut rest = text.trim_start();
    if rest.starts_with('{') && first_json(rest).is_none() {
        return true;
    }
    while let Some((at, mark, end)) = next_mark(rest) {
        rest = &rest[at + mark.len()..];
        if !is_begun(mark, rest) {
            continue;
        }
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let given = line.find("args=").map_or("", |at| &rest[at + "args=".len()..]);
        let arguments = if mark == LINE { given } else { rest };
        rest = match first_json(arguments) {
            Some((_, behind)) => behind,
            None if mark == LINE => {
                if given.starts_with('{') && !line.trim_end().ends_with('}') {
                    return true;
                }
                &rest[line.len()..]
            }
            None if end.is_empty() => return true,
            None => match rest.split_once(end) {
                Some((_, behind)) => behind,
                None => return true,
            },
        };
    }
    false
}

/// Whether a call begins behind a mark, and not only a text about the mark.
fn is_begun(mark: &str, behind: &str) -> bool {
    let behind = behind.trim_start();
    match mark {
        LINE => behind.starts_with("name="),
        FUNCTION => behind.find(['>', '\n', ' ']).is_some_and(|at| behind[at..].starts_with('>')),
        // These marks are tokens of models, not words.
        KIMI | KIMI_CALL | DEEPSEEK | DEEPSEEK_CALL => true,
        _ => {
            let begins = ["{", "[", FUNCTION, "<invoke", "<｜DSML｜invoke"];
            begins.iter().any(|begin| behind.starts_with(begin)) || is_name_begun(behind)
        }
    }
}

/// Whether the name of a tool begins, with its arguments behind it.
fn is_name_begun(behind: &str) -> bool {
    let behind = behind.trim_start();
    let name = behind.find(|each: char| !each.is_alphanumeric() && !"_.:-".contains(each)).unwrap_or(behind.len());
    let next = behind[name..].trim_start();
    name > 0 && ["<arg_key>", "</tool_call>", "[ARGS]", "[CALL_ID]"].iter().any(|begin| next.starts_with(begin))
}

/// Whether the text after this begins a line.
fn begins_line(before: &str) -> bool {
    before[before.rfind('\n').map_or(0, |end| end + 1)..].trim().is_empty()
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

/// Calls up to an end marker, in the spelling of Python or with surplus commas.
fn of_lenient<'a>(text: &'a str, end: &str, tools: &[OwnedTool]) -> Option<(Vec<Call>, &'a str)> {
    let (inner, _) = text.split_once(end).filter(|_| !end.is_empty())?;
    let (calls, rest) = of_json(&lenient(inner)?, tools).map(|(calls, rest)| (calls, rest.trim().is_empty()))?;
    rest.then(|| (calls, &text[inner.len()..]))
}

/// The names of a call's arguments.
const ARGUMENTS: [&str; 4] = ["arguments", "args", "parameters", "input"];

/// The fields with its name.
const NAMES: [&str; 4] = ["name", "tool", "tool_name", "function"];

/// The fields that say whether an object is a call, and what they say then.
const KINDS: [&str; 3] = ["mode", "type", "action"];
const CALL: [&str; 6] = ["act", "call", "function", "function_call", "tool_call", "tool_use"];

/// `{"name","arguments"}` in all its spellings, or `{"mode",...}`.
fn of_object(json: &RawValue, tools: &[OwnedTool]) -> Option<Call> {
    let outer = Fields::read(json.get()).ok()?;
    let inner = outer.object("function");
    let both = || [Some(&outer), inner.as_ref()].into_iter().flatten();
    let given: Vec<&RawValue> =
        both().flat_map(|fields| ARGUMENTS.iter().filter_map(|key| fields.present(key))).collect();
    let mut names = both().flat_map(|fields| NAMES.iter().filter_map(|key| fields.text(key)));
    let action = outer.text("action");
    let first = names.next();
    if let (None, None, Some(mode @ ("ask" | "done"))) = (&first, &action, outer.text("mode").as_deref()) {
        let arguments = given.first().map_or_else(|| without_mode(&outer), |json| spelled_out(json));
        return Some((offered(&format!("assistant_{mode}"), tools)?.name.clone(), Arguments::of_text(&arguments)));
    }
    let name = first.or_else(|| action.clone())?;
    let is_call = |key: &str, json: &RawValue| {
        let text = serde_json::from_str::<String>(json.get()).unwrap_or_default();
        json.get() == "null" || CALL.contains(&&*text) || (key == "action" && text == name)
    };
    // Arguments under another name are not left out, and the definition of a tool is no call.
    let is_other = |(key, json): (&str, &RawValue)| match key {
        _ if ARGUMENTS.contains(&key) || (key == "function" && inner.is_some()) => false,
        _ if KINDS.contains(&key) => !is_call(key, json),
        "description" => json.get() != "null",
        _ if NAMES.contains(&key) || ["id", "call_id"].contains(&key) => json.get().starts_with(['{', '[']),
        _ => given.is_empty() || json.get().starts_with(['{', '[']),
    };
    if given.len() > 1 || names.any(|other| other != name) || both().any(|fields| fields.iter().any(is_other)) {
        return None;
    }
    let tool = offered(&name, tools)?;
    let arguments = given.first().map_or_else(String::new, |json| spelled_out(json));
    (!is_definition(&arguments, tool)).then(|| (tool.name.clone(), Arguments::of_text(&arguments)))
}

/// Whether these are not a tool's arguments, but their JSON Schema.
fn is_definition(arguments: &str, tool: &OwnedTool) -> bool {
    let is_schema = Fields::read(arguments).is_ok_and(|fields| fields.text("type").as_deref() == Some("object"));
    let properties = || Fields::read(&tool.input_schema).ok()?.object("properties");
    is_schema && properties().is_none_or(|own| own.get("type").is_none())
}

fn without_mode(fields: &Fields<'_>) -> String {
    let others = fields.iter().filter(|(key, _)| *key != "mode");
    others.fold(Object::default(), |object, (key, json)| object.put_any(key, json)).end()
}

/// Arguments as JSON text, also if they are given as a string that contains it.
fn spelled_out(json: &RawValue) -> String {
    serde_json::from_str(json.get()).unwrap_or_else(|_| json.get().to_owned())
}

/// The tool of this name, which some models write with the name of a namespace or a number.
fn offered<'t>(name: &str, tools: &'t [OwnedTool]) -> Option<&'t OwnedTool> {
    let exact = |name: &str| tools.iter().find(|tool| tool.name == name);
    exact(name).or_else(|| {
        let name = ["functions.", "function.", "default_api."]
            .iter()
            .find_map(|before| name.strip_prefix(before))
            .unwrap_or(name);
        let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
        exact(name).or_else(|| exact(name.rsplit_once(':').filter(|(_, rest)| is_number(rest))?.0))
    })
}
