//! The nodes of a Godot game, as the addon shows them (godot/addons/agent_bridge/README.md).
//!
//! A path is not a number: developers name nodes by their function, and a node keeps its path. So the last known state
//! of a node stays valid, and a node that was never shown is known by its name. A short name (`@7`) belongs to one node
//! for its lifetime, and never to another; one that was never shown is unknown.

use super::tree::{ElementKind, TreeNode};
use pipewright_record::identifier::split;
use serde_json::{Map, Value};

/// The nodes that a result shows, at any place; parents before their children.
pub(super) fn read(value: &Value, most: usize) -> Vec<TreeNode> {
    let mut items: Vec<TreeNode> = Vec::new();
    let mut open: Vec<(&Value, Option<usize>)> = vec![(value, None)];
    while let Some((value, parent)) = open.pop() {
        match value {
            Value::Object(fields) => {
                if let Some(lines) = fields.get("tree").and_then(Value::as_array) {
                    compact(lines, most, &mut items);
                    continue;
                }
                let mut parent = parent;
                if let Some(mut item) = node(fields).or_else(|| action(fields)).filter(|_| items.len() < most) {
                    item.parent = parent;
                    parent = Some(items.len());
                    items.push(item);
                }
                // The stack gives the last one first.
                open.extend(fields.values().rev().map(|value| (value, parent)));
            }
            Value::Array(values) => open.extend(values.iter().rev().map(|value| (value, parent))),
            _ => {}
        }
    }
    items
}

/// The lines of the view for agents, such as `  @7 button(disabled) Buy`. A line with two more spaces of indentation is
/// inside the line above.
fn compact(lines: &[Value], most: usize, items: &mut Vec<TreeNode>) {
    // Only the neighbours tell what an "OK" is about.
    let mut open = vec![items.len()];
    items.push(TreeNode { kind: ElementKind::Group, ..TreeNode::default() });
    for line in lines.iter().filter_map(Value::as_str) {
        let own = line.trim_start_matches(' ');
        let Some(mut item) = line_item(own).filter(|_| items.len() < most) else { continue };
        open.truncate((line.len() - own.len()) / 2 + 1);
        item.parent = open.last().copied();
        open.push(items.len());
        items.push(item);
    }
}

/// `@7 slider(0..100 step 1) Volume = 40`: short name, role, states, name, value.
fn line_item(line: &str) -> Option<TreeNode> {
    let (short, rest) = line.split_once(' ').filter(|(short, _)| is_short(short))?;
    let end = rest.find([' ', '(']).unwrap_or(rest.len());
    let (role, behind) = rest.split_at(end);
    let said =
        behind.strip_prefix('(').map_or(behind, |marks| marks.split_once(')').map_or("", |(_, said)| said)).trim();
    let kind = match role {
        "button" | "link" | "checkbox" | "radio" | "menu" | "color" | "object" => ElementKind::Active,
        "textbox" | "spinbutton" => ElementKind::Typed,
        "dialog" | "window" => ElementKind::Container,
        _ => ElementKind::Other,
    };
    // All of a button's text is its name, whatever characters it has.
    let is_valued =
        !matches!(role, "button" | "link" | "checkbox" | "radio" | "object" | "dialog" | "window" | "label");
    let valued = said.find(" = ").or_else(|| said.find(" [")).filter(|_| is_valued);
    let (name, value) = valued.map_or((said, None), |at| (&said[..at], Some(said[at..].trim_start_matches(" = "))));
    Some(TreeNode {
        key: Some(key(short)),
        role: if role == "label" { "text" } else { role }.to_owned(),
        name: name.to_owned(),
        value: value.filter(|_| kind == ElementKind::Typed).map(str::to_owned),
        kind,
        ..TreeNode::default()
    })
}

/// Whether it is a short name: `@7`.
pub(crate) fn is_short(text: &str) -> bool {
    text.strip_prefix('@').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The paths of the nodes that a difference removes.
pub(super) fn removed(value: &Value) -> impl Iterator<Item = &str> {
    value.get("removed").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The key of a node.
pub(super) fn key(path: &str) -> String {
    format!("path={path}")
}

fn node(fields: &Map<String, Value>) -> Option<TreeNode> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let path = text("path").filter(|path| path.starts_with("/root"))?;
    if !["type", "name", "text"].iter().any(|key| fields.contains_key(*key)) {
        return None;
    }
    let class = text("type").unwrap_or_default();
    let kind = kind(class, fields.contains_key("children"));
    let shown = ["text", "title"].iter().find_map(|key| text(key)).unwrap_or_default();
    let asked = text("dialog_text").unwrap_or_default();
    let mut item = TreeNode { key: Some(key(path)), role: role(class), kind, ..TreeNode::default() };
    match kind {
        ElementKind::Typed => item.value = Some(shown.to_owned()),
        _ => item.name = shown.to_owned(),
    }
    item.text = asked.to_owned();
    if item.name.is_empty() {
        item.name = own_name(path).unwrap_or_default();
    }
    Some(item)
}

/// An entry of `list_actions`: the call, and the text of its element.
fn action(fields: &Map<String, Value>) -> Option<TreeNode> {
    let path = fields.get("args")?.get("path")?.as_str().filter(|path| path.starts_with("/root"))?;
    let text = fields.get("text")?.as_str().filter(|text| !text.is_empty())?;
    Some(TreeNode { key: Some(key(path)), name: text.to_owned(), kind: ElementKind::Active, ..TreeNode::default() })
}

/// The meaning of a node's own name: `/root/Menu/DeleteSave` is "Delete Save". Names that the engine gives have none.
pub(super) fn own_name(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let words = split(name);
    let says = !name.contains('@') && words.iter().any(|word| word.chars().any(char::is_alphabetic));
    says.then(|| words.join(" "))
}

fn kind(class: &str, has_children: bool) -> ElementKind {
    match class {
        _ if class.ends_with("Button") || class == "CheckBox" => ElementKind::Active,
        "LineEdit" | "TextEdit" | "CodeEdit" | "SpinBox" => ElementKind::Typed,
        _ if has_children => ElementKind::Container,
        _ => ElementKind::Other,
    }
}

/// ARIA's word, if there is one.
fn role(class: &str) -> String {
    match class {
        "CheckBox" | "CheckButton" => "checkbox",
        "LineEdit" | "TextEdit" | "CodeEdit" => "textbox",
        "SpinBox" => "spinbutton",
        "LinkButton" => "link",
        "Label" | "RichTextLabel" => "text",
        _ if class.ends_with("Button") => "button",
        _ if class.ends_with("Dialog") => "dialog",
        class => class,
    }
    .to_owned()
}
