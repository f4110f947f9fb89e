//! `godot-bridge tree`: what is on the screen, for people.

use super::script::{Script, Step};
use crate::godot;
use serde_json::{Value, json};

/// Asks once, and draws what comes.
pub struct Tree {
    arguments: Option<Value>,
}

impl Tree {
    pub fn new(root: String, depth: Option<u32>) -> Tree {
        let mut arguments = json!({ "root": root });
        if let Some(depth) = depth {
            arguments["depth"] = depth.into();
        }
        Tree { arguments: Some(arguments) }
    }
}

impl Script for Tree {
    fn next(&mut self, data: &Value, show: &mut String) -> Result<Step, String> {
        if let Some(arguments) = self.arguments.take() {
            return Ok(Step::Ask("get_tree", arguments));
        }
        let tree = data.get("tree").ok_or("there is no tree in the answer")?;
        show.push_str(&godot::tree(tree));
        if data.get("truncated") == Some(&Value::Bool(true)) {
            show.push_str("(more was left out)\n");
        }
        Ok(Step::Done(true))
    }
}
