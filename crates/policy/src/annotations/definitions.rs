//! The definitions of a server's tools: their descriptions and schemas, and which of them have changed since they were
//! listed first. A person has approved a tool as it was; a server may give it another meaning later.

use super::MAX_TOOLS;
use crate::audit::sha256;
use pipewright_record::Fields;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// Fields of a tool that neither a model nor a person reads as its meaning.
const WITHOUT_MEANING: [&str; 3] = ["_meta", "icons", "name"];

/// The tools that were listed.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// The hash of each definition as it was listed last, by the tool's name.
    known: HashMap<String, String>,
    /// The tools that have changed.
    changed: HashSet<String>,
    /// Those that have changed since the last call of [`Definitions::take_changed`].
    new: Vec<String>,
}

impl Definitions {
    /// Takes the tools of a list.
    pub(super) fn take(&mut self, tools: &[&RawValue]) {
        for tool in tools {
            let Ok(value) = serde_json::from_str::<Value>(tool.get()) else { continue };
            let Some(name) = value.get("name").and_then(Value::as_str).map(str::to_owned) else { continue };
            if self.known.len() >= MAX_TOOLS && !self.known.contains_key(&name) {
                continue;
            }
            let hash = hash(tool, value);
            if self.known.insert(name.clone(), hash.clone()).is_some_and(|before| before != hash) {
                self.new.push(name.clone());
                self.changed.insert(name);
            }
        }
    }

    pub(super) fn take_changed(&mut self) -> Vec<String> {
        std::mem::take(&mut self.new)
    }

    pub(super) fn have_changed(&self, tool: &str) -> bool {
        self.changed.contains(tool)
    }
}

/// The hash of a definition. The order of its keys does not count, unless a key is there twice: readers may take either.
fn hash(raw: &RawValue, mut tool: Value) -> String {
    if Fields::read_deep(raw.get()).is_err() {
        return sha256(raw.get());
    }
    if let Value::Object(fields) = &mut tool {
        fields.retain(|key, _| !WITHOUT_MEANING.contains(&key.as_str()));
    }
    tool.sort_all_objects();
    sha256(tool.to_string())
}
