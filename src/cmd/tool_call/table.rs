//! Formats the tools of a world as a table.

use pipewright_record::{Fields, ToolList};
use serde_json::value::RawValue;
use unicode_width::UnicodeWidthStr;

/// The maximum width of the first column; a longer name gets its own line.
const WIDEST_NAME: usize = 24;
/// The minimum width of the second column, even on a narrower terminal.
const NARROWEST_TEXT: usize = 30;

/// For each tool its name, the first sentence of its description, and its arguments as `KEY=TYPE`, optional ones in
/// brackets. Lines are at most `width` columns wide unless a word is longer.
pub fn table(list: &ToolList<'_>, width: usize) -> String {
    let widest = list.tools.iter().map(|tool| tool.name.width()).filter(|width| *width <= WIDEST_NAME).max();
    let indent = widest.unwrap_or(WIDEST_NAME) + 2;
    let width = width.saturating_sub(indent).max(NARROWEST_TEXT);
    let mut table = String::new();
    for tool in &list.tools {
        let mut lines = wrapped(first_sentence(&tool.description).split_whitespace(), width);
        lines.extend(wrapped(arguments(&tool.input_schema).iter().map(String::as_str), width));
        let mut left = tool.name.as_str();
        if left.width() + 2 > indent || lines.is_empty() {
            table += &format!("{left}\n");
            left = "";
        }
        for line in lines {
            table += &format!("{left}{:pad$}{line}\n", "", pad = indent - left.width());
            left = "";
        }
    }
    table
}

fn first_sentence(description: &str) -> &str {
    let line = description.trim().lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |(first, _)| first).trim_end_matches('.')
}

/// The words in lines of this width; a longer word gets its own line.
fn wrapped<'a>(words: impl Iterator<Item = &'a str>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => *line = format!("{line} {word}"),
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The properties of a JSON Schema, in their order.
fn arguments(schema: &str) -> Vec<String> {
    let Ok(schema) = Fields::read(schema) else { return Vec::new() };
    let required = schema.get("required").and_then(|list| serde_json::from_str::<Vec<String>>(list.get()).ok());
    let required = required.unwrap_or_default();
    let Some(properties) = schema.get("properties").and_then(|object| Fields::read(object.get()).ok()) else {
        return Vec::new();
    };
    let argument = |(key, schema): (&str, &RawValue)| {
        let argument = format!("{key}={}", type_in(schema.get(), 0));
        if required.iter().any(|name| name == key) { argument } else { format!("[{argument}]") }
    };
    properties.iter().map(argument).collect()
}

/// Below this depth a schema is shown as `any`: a table has no room for it.
const MAX_DEPTH: usize = 3;

/// The type that a schema allows: `string`, `a|b|c` for an enumeration, `string[]` for an array.
fn type_in(schema: &str, depth: usize) -> String {
    const ANY: &str = "any";
    let Some(fields) = Fields::read(schema).ok().filter(|_| depth < MAX_DEPTH) else { return ANY.to_owned() };
    let list = |key| fields.get(key).and_then(|list| serde_json::from_str::<Vec<&RawValue>>(list.get()).ok());
    let joined = |parts: Vec<String>| parts.join("|");
    if let Some(values) = list("enum") {
        return joined(values.iter().map(|value| word(value.get())).collect());
    }
    if let Some(value) = fields.get("const") {
        return word(value.get());
    }
    if let Some(schemas) = list("anyOf").or_else(|| list("oneOf")) {
        return joined(schemas.iter().map(|schema| type_in(schema.get(), depth + 1)).collect());
    }
    match fields.get("type").map(|name| name.get()) {
        Some("\"array\"") => {
            let items = fields.get("items").map_or_else(|| ANY.to_owned(), |items| type_in(items.get(), depth + 1));
            if items.contains('|') { format!("({items})[]") } else { format!("{items}[]") }
        }
        Some(name) => match serde_json::from_str::<Vec<String>>(name) {
            Ok(names) => joined(names),
            Err(_) => word(name),
        },
        None => ANY.to_owned(),
    }
}

/// A string without its quotes; other JSON unchanged.
fn word(json: &str) -> String {
    serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_types_and_optional_ones_are_in_brackets() {
        let schema = r#"{"type":"object","required":["a","e"],"properties":{"a":{"type":"string"},
            "b":{"type":["integer","null"]},"c":{"enum":["x",1]},"d":{"type":"array","items":{"type":"string"}},
            "e":{"anyOf":[{"type":"number"},{"const":"auto"}]},"f":{},"g":true,"h":{"type":"array","items":{"enum":["p","q"]}}}}"#;
        assert_eq!(
            arguments(schema),
            [
                "a=string",
                "[b=integer|null]",
                "[c=x|1]",
                "[d=string[]]",
                "e=number|auto",
                "[f=any]",
                "[g=any]",
                "[h=(p|q)[]]"
            ]
        );
        for none in ["{}", "true", r#"{"properties":3}"#] {
            assert!(arguments(none).is_empty(), "{none}");
        }
        let nested = r#"{"items":"#.repeat(50_000) + "1" + &"}".repeat(50_000);
        assert_eq!(type_in(&nested.replace(r#"{"items""#, r#"{"type":"array","items""#), 0), "any[][][]");
    }

    #[test]
    fn a_table_is_as_wide_as_the_terminal() {
        let line = r#"{"type":"tool_list","tools":[{"name":"click","description":"Clicks an element. And waits.","input_schema":{"properties":{"ref":{"type":"string"},"button":{"enum":["left","right","middle"]}},"required":["ref"]}},{"name":"a_name_that_is_longer_than_any","description":"x"},{"name":"bare"}]}"#;
        let list = ToolList::read(line).unwrap().unwrap();
        assert_eq!(
            table(&list, 80),
            "click  Clicks an element\n       ref=string \
             [button=left|right|middle]\na_name_that_is_longer_than_any\n       x\nbare\n"
        );
        let wide = table(&list, 36);
        assert!(
            wide.starts_with("click  Clicks an element\n       ref=string\n       [button=left|right|middle]\n"),
            "{wide}"
        );
    }
}
