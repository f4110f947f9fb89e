//! What a server says of its own tools. That isn't to be trusted: it may add a question, and never takes one away.

use crate::record::Fields;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashSet;

/// So many tools are remembered.
const MOST: usize = 10_000;
/// So many lists may be asked for before one is answered.
const MOST_ASKED: usize = 100;

/// The tools that say of themselves that they destroy.
#[derive(Debug, Default)]
pub struct Annotations {
    destructive: HashSet<String>,
    /// The ids of the requests for the list, as they were written.
    asked: Vec<String>,
}

#[derive(Deserialize)]
struct Listed<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    annotations: Option<Hints>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hints {
    destructive_hint: Option<bool>,
}

impl Annotations {
    /// Takes note of a line that passes, if it asks for the list.
    pub fn observe_request(&mut self, line: &str) {
        if !line.contains("tools/list") || self.asked.len() >= MOST_ASKED {
            return;
        }
        if let Ok(fields) = Fields::read(line)
            && fields.get("method").is_some_and(|method| method.get() == "\"tools/list\"")
            && let Some(id) = fields.get("id")
        {
            self.asked.push(id.get().to_owned());
        }
    }

    /// Looks at a line of the server's.
    pub fn observe_answer(&mut self, line: &[u8]) {
        if self.asked.is_empty() {
            return;
        }
        let Some(fields) = std::str::from_utf8(line).ok().and_then(|line| Fields::read(line).ok()) else { return };
        let id = fields.get("id").map(RawValue::get);
        let Some(asked) = self.asked.iter().position(|asked| Some(asked.as_str()) == id) else { return };
        self.asked.swap_remove(asked);
        let Some(result) = fields.get("result") else { return };
        let Ok(listed) = serde_json::from_str::<Listed<'_>>(result.get()) else { return };
        for tool in listed.tools.into_iter().filter_map(|tool| serde_json::from_str::<Tool>(tool.get()).ok()) {
            if tool.annotations.is_some_and(|hints| hints.destructive_hint == Some(true))
                && self.destructive.len() < MOST
            {
                self.destructive.insert(tool.name);
            }
        }
    }

    /// Whether the server says that a tool destroys.
    pub fn is_destructive(&self, tool: &str) -> bool {
        self.destructive.contains(tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_list_that_was_asked_for_says_counts() {
        let mut annotations = Annotations::default();
        let list = br#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","annotations":{"destructiveHint":true}},{"name":"b"},{"name":7},{"name":"c","annotations":{"destructiveHint":false}}]}}"#;
        annotations.observe_answer(list);
        assert!(!annotations.is_destructive("a"));
        annotations.observe_request(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
        annotations.observe_answer(b"noise");
        annotations.observe_answer(list);
        assert_eq!(["a", "b", "c"].map(|tool| annotations.is_destructive(tool)), [true, false, false]);
    }
}
