//! The tools of a Godot game: the addon's own commands, as `godot/addons/agent_bridge/agent_commands.gd` declares them and its
//! README.md describes them. The commands of a game's hooks are not among them: only the running game has those (`list_actions`).
//!
//! Which arguments exclude each other stands in the descriptions: some model providers reject a schema with `oneOf` at its top.

use crate::record::Tool;
use serde::Deserialize;
use serde_json::value::RawValue;

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
    // The file is ours, and a test reads it: it cannot fail.
    let entries: Vec<Entry> = serde_json::from_str(TOOLS).unwrap_or_default();
    entries.into_iter().map(|entry| Tool {
        name: entry.name,
        description: entry.description,
        input_schema: entry.input_schema.get(),
        annotations: entry.annotations.map(RawValue::get),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::godot::ADDON;
    use crate::record::{ListTools, ToolList};

    #[test]
    fn the_tools_are_the_commands_of_the_addons_readme() {
        let readme = ADDON.iter().find(|asset| asset.path == "README.md").unwrap().text;
        let commands = readme.split("\n## Commands\n").nth(1).unwrap().split("\n## ").next().unwrap();
        let names = commands.lines().filter_map(|row| row.strip_prefix("| `")?.split(" |").next());
        let names: Vec<String> = names.flat_map(|cell| cell.split(", ")).map(|name| name.replace('`', "")).collect();
        assert_eq!(tools().map(|tool| tool.name).collect::<Vec<_>>(), names);
    }

    #[test]
    fn the_list_is_one_line_that_can_be_read_back() {
        let request = ListTools { request_id: None };
        let answer = request.answer("godot", &Vec::from_iter(tools().map(|tool| tool.json())));
        assert!(!answer.contains('\n'));
        assert_eq!(ToolList::read(&answer).unwrap().unwrap().tools.len(), tools().count());
    }
}
