//! The tools of a Godot game: the addon's own commands, as `godot/addons/agent_bridge/agent_commands.gd` declares them
//! and its README.md describes them, and those that the nodes of a running game declare (`commands` of `list_actions`).
//!
//! Arguments that exclude each other are described in words, because some model providers reject a schema with `oneOf`
//! at its top.

use pipewright_record::Tool;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

const TOOLS: &str = include_str!("tools.json");

#[derive(Deserialize)]
struct Entry {
    name: &'static str,
    description: &'static str,
    #[serde(borrow)]
    input_schema: &'static RawValue,
    #[serde(borrow)]
    annotations: Option<&'static RawValue>,
}

/// The tools that every game with the addon has, in the order of the addon's README.
pub fn tools() -> impl Iterator<Item = Tool<'static>> {
    // Reading cannot fail: the file is built in, and a test reads it.
    let entries: Vec<Entry> = serde_json::from_str(TOOLS).unwrap_or_default();
    entries.into_iter().map(|entry| Tool {
        name: entry.name,
        description: entry.description,
        input_schema: entry.input_schema.get(),
        annotations: entry.annotations.map(RawValue::get),
    })
}

#[derive(Deserialize)]
struct Actions {
    commands: Map<String, Value>,
}

/// The tools that the nodes of a game declare in `data`, the answer to `list_actions`, each as [`Tool::json`]. Commands
/// that the addon has itself (`is_built_in`), such as `get_state`, are left out.
pub fn declared_tools(data: &str, is_built_in: impl Fn(&str) -> bool) -> Vec<String> {
    let commands = serde_json::from_str::<Actions>(data).map(|actions| actions.commands).unwrap_or_default();
    let own = commands.iter().filter(|(name, _)| !is_built_in(name));
    own.map(|(name, declared)| {
        let input_schema = schema(&declared["args"]).to_string();
        let description = declared["about"].as_str().unwrap_or_default();
        Tool { name, description, input_schema: &input_schema, annotations: None }.json()
    })
    .collect()
}

/// The JSON Schema of arguments that are declared as `{"from":"int","to":"int?"}`; without a declaration, any object is
/// valid.
fn schema(declared: &Value) -> Value {
    let Value::Object(declared) = declared else { return json!({"type": "object"}) };
    let kinds = declared.iter().map(|(name, kind)| (name, kind.as_str().unwrap_or("any").to_lowercase()));
    let kinds: Vec<(&String, String)> = kinds.collect();
    let property = |kind: &str| match kind.trim_end_matches('?') {
        "int" => json!({"type": "integer"}),
        "float" | "number" => json!({"type": "number"}),
        "bool" => json!({"type": "boolean"}),
        "dictionary" => json!({"type": "object"}),
        kind @ ("string" | "array" | "object") => json!({"type": kind}),
        _ => json!({}),
    };
    let properties: Map<String, Value> = kinds.iter().map(|(name, kind)| ((*name).clone(), property(kind))).collect();
    let required: Vec<&String> = kinds.iter().filter(|(_, kind)| !kind.ends_with('?')).map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::godot::ADDON;
    use pipewright_record::{ListTools, ToolList};

    #[test]
    fn the_tools_are_the_commands_of_the_addons_readme() {
        let readme = ADDON.iter().find(|asset| asset.path == "README.md").unwrap().text;
        let commands = readme.split("\n## Commands\n").nth(1).unwrap().split("\n## ").next().unwrap();
        let names = commands.lines().filter_map(|row| row.strip_prefix("| `")?.split(" |").next());
        let mut names: Vec<String> =
            names.flat_map(|cell| cell.split(", ")).map(|name| name.replace('`', "")).collect();
        let mut tools: Vec<String> = tools().map(|tool| tool.name.to_owned()).collect();
        // The page groups them by purpose.
        names.sort_unstable();
        tools.sort_unstable();
        assert_eq!(tools, names);
    }

    #[test]
    fn commands_that_a_game_declares_are_tools() {
        let data = r#"{"actions":[],"commands":{"swap":{"about":"Swaps two","args":{"from":"int","all":"Array?"}},"go":{"about":""},"get_state":{"about":"x","args":{}}}}"#;
        assert_eq!(
            declared_tools(data, |name| name == "get_state"),
            [
                r#"{"name":"swap","description":"Swaps two","input_schema":{"type":"object","properties":{"from":{"type":"integer"},"all":{"type":"array"}},"required":["from"],"additionalProperties":false}}"#,
                r#"{"name":"go","description":"","input_schema":{"type":"object"}}"#,
            ]
        );
        for other in [r#"{"cmd":"list_actions"}"#, "[]", r#"{"commands":[]}"#] {
            assert!(declared_tools(other, |_| false).is_empty(), "{other}");
        }
    }

    #[test]
    fn the_list_is_one_line_that_can_be_read_back() {
        let request = ListTools { request_id: None };
        let answer = request.answer("godot", &Vec::from_iter(tools().map(|tool| tool.json())), None);
        assert!(!answer.contains('\n'));
        assert_eq!(ToolList::read(&answer).unwrap().unwrap().tools.len(), tools().count());
    }
}
