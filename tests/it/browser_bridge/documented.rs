//! docs/browser.md lists the existing tools, with their arguments and defaults.

use pipewright_browser::tools::declared;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const PAGE: &str = include_str!("../../../docs/browser.md");

/// The texts in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Each tool, with the arguments cell of its row.
fn rows() -> BTreeMap<&'static str, &'static str> {
    let rows = PAGE.lines().filter(|line| line.starts_with("| `browser_"));
    rows.flat_map(|row| {
        let mut cells = row.split('|').skip(1);
        let (tools, arguments) = (cells.next().unwrap(), cells.next().unwrap());
        quoted(tools).map(move |tool| (tool, arguments))
    })
    .collect()
}

#[test]
fn the_page_lists_the_existing_tools_and_their_arguments() {
    let mut rows = rows();
    for tool in declared(true) {
        let cell = rows.remove(tool.name).unwrap_or_else(|| panic!("docs/browser.md has no row for {}", tool.name));
        let properties = tool.input_schema["properties"].as_object().cloned().unwrap_or_default();
        let taken: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        assert_eq!(quoted(cell).collect::<BTreeSet<&str>>(), taken, "{} in docs/browser.md", tool.name);
        for (name, schema) in &properties {
            let default = match &schema["default"] {
                Value::String(text) => text.clone(),
                Value::Array(_) | Value::Object(_) | Value::Null => continue,
                Value::Number(number) if number.as_f64() == Some(0.0) => "0".to_owned(),
                other => other.to_string(),
            };
            let documented = cell.split_once(&format!("`{name}` (")).map_or("", |(_, default)| default);
            let documented = documented.split(|end: char| !end.is_alphanumeric() && end != '-').next();
            assert_eq!(documented, Some(&*default), "the default of {name} of {} in docs/browser.md", tool.name);
        }
    }
    assert!(rows.is_empty(), "docs/browser.md has tools that do not exist: {:?}", rows.keys());
}

#[test]
fn the_page_names_no_tool_that_does_not_exist() {
    let known: BTreeSet<&str> = declared(true).iter().map(|tool| tool.name).collect();
    let words = PAGE.split(|end: char| !end.is_ascii_lowercase() && end != '_');
    let unknown: Vec<&str> = words.filter(|word| word.starts_with("browser_") && !known.contains(word)).collect();
    assert_eq!(unknown, Vec::<&str>::new());
}
