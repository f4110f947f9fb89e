//! Draws the scene tree for people.

use serde_json::Value;
use std::fmt::Write;

/// The tree of a `get_tree` answer as indented lines: name, type, fields and actions.
pub fn tree(root: &Value) -> String {
    let mut out = String::new();
    draw(root, "", "", &mut out);
    out
}

fn draw(node: &Value, first: &str, rest: &str, out: &mut String) {
    let text = |key: &str| node.get(key).and_then(Value::as_str);
    let _ = write!(out, "{first}{}  {}", text("name").unwrap_or("?"), text("type").unwrap_or("?"));
    if let Some(text) = node.get("text") {
        let _ = write!(out, "  {text}");
    }
    for (key, value) in node.as_object().into_iter().flatten() {
        let _ = match (key.as_str(), value) {
            ("name" | "type" | "path" | "text" | "actions" | "children", _) => Ok(()),
            ("visible", Value::Bool(true)) | ("disabled", Value::Bool(false)) => Ok(()),
            ("visible", Value::Bool(false)) => write!(out, "  hidden"),
            (key, Value::Bool(true)) => write!(out, "  {key}"),
            (key, value) => write!(out, "  {key}={value}"),
        };
    }
    if let Some(actions) = node.get("actions").and_then(Value::as_array) {
        let names: Vec<&str> = actions.iter().filter_map(Value::as_str).collect();
        let _ = write!(out, "  [{}]", names.join(", "));
    }
    out.push('\n');
    let children = node.get("children").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (at, child) in children.iter().enumerate() {
        let (turn, below) = if at + 1 == children.len() { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        draw(child, &format!("{rest}{turn}"), &format!("{rest}{below}"), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_tree_is_drawn() {
        let root = json!({"name":"root","type":"Window","path":"/root","children":[
            {"name":"HUD","type":"CanvasLayer","children":[
                {"name":"Count","type":"Label","text":"Symmetries: 0 / 3","visible":true},
                {"name":"Go","type":"Button","text":"Go","visible":true,"disabled":true,"actions":["press"]}]},
            {"name":"Edge","type":"EdgeRenderer","from":0,"to":1}]});
        assert_eq!(
            tree(&root),
            "root  Window\n├─ HUD  CanvasLayer\n│  ├─ Count  Label  \"Symmetries: 0 / 3\"\n\
             │  └─ Go  Button  \"Go\"  disabled  [press]\n└─ Edge  EdgeRenderer  from=0  to=1\n"
        );
    }
}
