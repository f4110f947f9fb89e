//! Calls in tags, whose values are text: each is read by the schema of its argument.

use super::{Call, FUNCTION, TAG, offered};
use crate::json::{Object, quoted};
use crate::{Arguments, Fields, OwnedTool};
use serde_json::value::RawValue;

/// The arguments of a tool while they are read.
struct Values<'t> {
    tool: &'t OwnedTool,
    properties: Option<Fields<'t>>,
    arguments: Object,
}

impl<'t> Values<'t> {
    fn of(tool: &'t OwnedTool) -> Values<'t> {
        let properties = Fields::read(&tool.input_schema).ok().and_then(|schema| schema.object("properties"));
        Values { tool, properties, arguments: Object::default() }
    }

    /// Adds a value: text if its schema allows text, otherwise JSON if it is that.
    fn add(&mut self, name: &str, value: &str) {
        let takes = self.properties.as_ref().and_then(|all| all.object(name)).and_then(|own| takes_text(&own));
        let is_json = |json: &&RawValue| match takes {
            Some(is_text) => !is_text,
            None => json.get().starts_with(['{', '[']),
        };
        let json = serde_json::from_str::<&RawValue>(value).ok().filter(is_json);
        let value = json.map_or_else(|| quoted(value), |json| json.get().to_owned());
        self.arguments = std::mem::take(&mut self.arguments).put_any(name, value);
    }

    fn end(self) -> Call {
        (self.tool.name.clone(), Arguments::of_text(&self.arguments.end()))
    }
}

/// A value on lines of its own.
fn unlined(value: &str) -> &str {
    let value = value.strip_prefix("\r\n").or(value.strip_prefix('\n')).unwrap_or(value);
    value.strip_suffix("\r\n").or(value.strip_suffix('\n')).unwrap_or(value)
}

/// `<function=NAME><parameter=NAME>value</parameter>...</function>`, as Qwen3-Coder's template writes it: values are on lines of
/// their own. Llama 3 writes one object instead of the parameters.
pub(super) fn of_tags<'a>(text: &'a str, tools: &[OwnedTool]) -> Option<(Vec<Call>, &'a str)> {
    // The beginning of another call ends this one, so a text with many beginnings is searched only once.
    let own = &text[..text.find(TAG).unwrap_or(text.len())];
    let (name, mut rest) = own.trim_start().strip_prefix(FUNCTION)?.split_once('>')?;
    let tool = offered(name.trim(), tools)?;
    if let Some((json, behind)) = super::first_json(rest).filter(|(json, _)| json.get().starts_with('{')) {
        let behind = behind.trim_start().strip_prefix("</function>")?;
        let call = (tool.name.clone(), Arguments::of_text(json.get()));
        return Some((vec![call], &text[own.len() - behind.len()..]));
    }
    let mut values = Values::of(tool);
    while let Some(parameter) = rest.trim_start().strip_prefix("<parameter=") {
        let (name, after) = parameter.split_once('>')?;
        let (value, after) = after.split_once("</parameter>")?;
        values.add(name, unlined(value));
        rest = after;
    }
    let rest = rest.trim_start().strip_prefix("</function>")?;
    Some((vec![values.end()], &text[own.len() - rest.len()..]))
}

/// `NAME<arg_key>k</arg_key><arg_value>v</arg_value>...` up to `</tool_call>`, as GLM writes it.
pub(super) fn of_keys<'a>(text: &'a str, tools: &[OwnedTool]) -> Option<(Vec<Call>, &'a str)> {
    let own = &text[..text.find(TAG).unwrap_or(text.len())];
    let (name, mut rest) = own.trim_start().split_at(own.trim_start().find('<')?);
    let mut values = Values::of(offered(name.trim(), tools)?);
    while let Some(key) = rest.trim_start().strip_prefix("<arg_key>") {
        let (key, after) = key.split_once("</arg_key>")?;
        let (value, after) = after.trim_start().strip_prefix("<arg_value>")?.split_once("</arg_value>")?;
        values.add(key.trim(), value);
        rest = after;
    }
    let rest = rest.trim_start();
    rest.starts_with("</tool_call>").then(|| (vec![values.end()], &text[own.len() - rest.len()..]))
}

/// `<invoke name="NAME"><parameter name="k">v</parameter>...</invoke>`, one or more; DeepSeek puts a mark into the tags.
pub(super) fn of_invocations<'a>(text: &'a str, tools: &[OwnedTool]) -> Option<(Vec<Call>, &'a str)> {
    let mut calls = Vec::new();
    let mut rest = text;
    loop {
        let begun = rest.trim_start();
        let Some((mark, begun)) = ["", "｜DSML｜"].into_iter().find_map(|mark| {
            Some((mark, begun.strip_prefix('<')?.strip_prefix(mark)?.strip_prefix("invoke name=\"")?))
        }) else {
            return (!calls.is_empty()).then_some((calls, rest));
        };
        let (name, mut inner) = begun.split_once("\">")?;
        let mut values = Values::of(offered(name, tools)?);
        let (begin, end) = (format!("<{mark}parameter name=\""), format!("</{mark}parameter>"));
        while let Some(parameter) = inner.trim_start().strip_prefix(&*begin) {
            let (head, after) = parameter.split_once('>')?;
            let (name, about) = head.split_once('"')?;
            let (value, after) = after.split_once(&*end)?;
            if about.contains("string=\"true\"") {
                let quoted = quoted(value);
                values.arguments = std::mem::take(&mut values.arguments).put_any(name, quoted);
            } else {
                values.add(name, unlined(value));
            }
            inner = after;
        }
        rest = inner.trim_start().strip_prefix(&*format!("</{mark}invoke>"))?;
        calls.push(values.end());
    }
}

/// Fields of a schema that are about texts.
const ABOUT_TEXT: [&str; 6] = ["pattern", "format", "minLength", "maxLength", "contentEncoding", "contentMediaType"];

/// Whether a schema allows a text: a number in it then stays the text that it is. `None` if the schema does not say.
fn takes_text(schema: &Fields<'_>) -> Option<bool> {
    let is_text = |json: &RawValue| json.get().starts_with('"');
    let values = schema.list("enum").unwrap_or_default();
    let stated = schema.get("type").map(|kind| kind.get().contains("\"string\""));
    let stated = stated.or_else(|| schema.get("const").map(is_text));
    let stated = stated.or_else(|| (!values.is_empty()).then(|| values.into_iter().any(is_text)));
    let stated = stated.or_else(|| ABOUT_TEXT.iter().any(|key| schema.get(key).is_some()).then_some(true));
    if stated.is_some() {
        return stated;
    }
    let branches = |key: &&str| schema.list(key).unwrap_or_default();
    let each = ["anyOf", "oneOf", "allOf"].iter().flat_map(branches);
    let each: Vec<_> = each.map(|json| Fields::read(json.get()).ok().and_then(|own| takes_text(&own))).collect();
    let is_stated = !each.is_empty() && each.iter().all(Option::is_some);
    if each.contains(&Some(true)) { Some(true) } else { is_stated.then_some(false) }
}
