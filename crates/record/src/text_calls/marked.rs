//! Calls between the tokens of models: a name, then an object.

use super::{Call, DEEPSEEK_CALL, KIMI_CALL, first_json, offered};
use crate::{Arguments, OwnedTool};

/// An object, and the text behind it.
fn object<'a>(text: &'a str, name: &str, tools: &[OwnedTool]) -> Option<(Call, &'a str)> {
    let tool = offered(name.trim(), tools)?;
    let (json, rest) = first_json(text).filter(|(json, _)| json.get().starts_with('{'))?;
    Some(((tool.name.clone(), Arguments::of_text(json.get())), rest))
}

/// `<|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{...}<|tool_call_end|>`, one or more, as Kimi writes them.
pub(super) fn of_kimi<'a>(text: &'a str, tools: &[OwnedTool]) -> Option<(Vec<Call>, &'a str)> {
    let mut calls = Vec::new();
    let mut rest = text;
    while let Some(begun) = rest.trim_start().strip_prefix(KIMI_CALL) {
        let (name, arguments) = begun.split_once("<|tool_call_argument_begin|>")?;
        let (call, after) = object(arguments, name, tools)?;
        rest = after.trim_start().strip_prefix("<|tool_call_end|>")?;
        calls.push(call);
    }
    (!calls.is_empty()).then_some((calls, rest))
}

/// `<｜tool▁call▁begin｜>NAME<｜tool▁sep｜>{...}<｜tool▁call▁end｜>`, one or more; before version 3.1, `function` stands in the place of
/// the name, and the name and a code block behind it.
pub(super) fn of_deepseek<'a>(text: &'a str, tools: &[OwnedTool]) -> Option<(Vec<Call>, &'a str)> {
    let mut calls = Vec::new();
    let mut rest = text;
    while let Some(begun) = rest.trim_start().strip_prefix(DEEPSEEK_CALL) {
        let (name, arguments) = begun.split_once("<｜tool▁sep｜>")?;
        let (call, after) = match arguments.split_once("```json").filter(|_| name.trim() == "function") {
            Some((name, block)) => {
                let (call, after) = object(block, name, tools)?;
                (call, after.trim_start().strip_prefix("```")?)
            }
            None => object(arguments, name, tools)?,
        };
        rest = after.trim_start().strip_prefix("<｜tool▁call▁end｜>")?;
        calls.push(call);
    }
    (!calls.is_empty()).then_some((calls, rest))
}

/// `NAME[ARGS]{...}`, possibly with `[CALL_ID]ID` behind the name, as Mistral's newer models write it.
pub(super) fn of_arguments<'a>(text: &'a str, tools: &[OwnedTool]) -> Option<(Vec<Call>, &'a str)> {
    let (name, arguments) = text.split_once("[ARGS]")?;
    let name = name.split("[CALL_ID]").next().unwrap_or_default();
    let (call, rest) = object(arguments, name, tools)?;
    Some((vec![call], rest))
}
