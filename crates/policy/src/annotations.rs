//! A server's hints about its own tools (MCP's `ToolAnnotations`). A hint may always add a question. It removes one
//! only if the server is trusted. A tool whose [definition](definitions) changes is asked about.

mod definitions;

use definitions::Definitions;
use pipewright_record::{Fields, ListTools, is_same_id};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// At most this many tools are remembered.
const MAX_TOOLS: usize = 10_000;
/// At most this many requests for a list are remembered until one is answered.
const MAX_ASKED: usize = 100;

/// A server's hint about a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hint {
    /// None.
    #[default]
    None,
    /// The tool only reads: `readOnlyHint` of a trusted server.
    ReadOnly,
    /// A trusted server lists the tool without a hint.
    Unsaid,
    /// The tool is destructive: `destructiveHint`.
    Destructive,
    /// `destructiveHint`, but the server gives this hint to every tool that does more than read, as Playwright's does
    /// for clicking, typing and opening a page. The hint does not distinguish tools then.
    DestructiveAsAll,
}

/// A server with at least this many tools, all of them `destructiveHint`, does not distinguish them.
const MIN_TOOLS: usize = 5;

/// The hints of a server's tools.
#[derive(Debug, Default)]
pub struct Annotations {
    is_trusted: bool,
    /// By name.
    hints: HashMap<String, Hints>,
    tells_apart: bool,
    /// A list arrived since the last call of [`Annotations::take_changed`].
    has_changed: bool,
    /// The ids of the requests for the list, as JSON text, and whether the hints in it count.
    asked: Vec<(String, bool)>,
    definitions: Definitions,
}

#[derive(Deserialize)]
struct ToolsPage<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(borrow, rename = "nextCursor")]
    next_cursor: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    annotations: Option<Hints>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hints {
    #[serde(default, deserialize_with = "unless_false")]
    destructive_hint: Option<bool>,
    #[serde(default, deserialize_with = "only_true")]
    read_only_hint: Option<bool>,
}

/// A hint that is not a Boolean counts as the value that adds a question.
fn unless_false<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => None,
        value => Some(value != Value::Bool(false)),
    })
}

fn only_true<'de, D: Deserializer<'de>>(from: D) -> Result<Option<bool>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => None,
        value => Some(value == Value::Bool(true)),
    })
}

impl Hints {
    fn hint(&self, is_trusted: bool, tells_apart: bool) -> Hint {
        match (self.destructive_hint, self.read_only_hint) {
            (Some(true), _) if tells_apart => Hint::Destructive,
            (Some(true), _) => Hint::DestructiveAsAll,
            (_, Some(true)) if is_trusted => Hint::ReadOnly,
            (_, None) if is_trusted => Hint::Unsaid,
            _ => Hint::None,
        }
    }
}

/// Whether `destructiveHint` distinguishes tools among those that change something.
fn distinguishes<'a>(hints: impl Iterator<Item = &'a Hints>) -> bool {
    let mut changing = hints.filter(|hints| hints.read_only_hint != Some(true) || hints.destructive_hint == Some(true));
    let mut count = 0;
    changing.any(|hints| {
        count += 1;
        hints.destructive_hint != Some(true)
    }) || count < MIN_TOOLS
}

impl Annotations {
    /// No hints yet. `readOnlyHint` counts if the server `is_trusted`.
    pub fn new(is_trusted: bool) -> Annotations {
        Annotations { is_trusted, ..Annotations::default() }
    }

    /// Reads a line that passes to the server: if it requests the list, the answer will count. (That of a world of ours
    /// tells only whether a tool has changed.)
    pub fn observe_request(&mut self, line: &str) {
        if let Ok(Some(request)) = ListTools::read(line)
            && let Some(id) = request.request_id
        {
            return self.expect_list(id.get(), false);
        }
        if !line.contains("tools/list") && !line.contains("tools\\/list") {
            return;
        }
        if let Ok(fields) = Fields::read(line)
            && fields.get("method").is_some_and(|method| text(method).as_deref() == Some("tools/list"))
            && let Some(id) = fields.get("id")
        {
            self.expect(id.get());
        }
    }

    /// The answer to the request with this id, JSON text, will count.
    pub fn expect(&mut self, id: &str) {
        self.expect_list(id, true);
    }

    fn expect_list(&mut self, id: &str, has_hints: bool) {
        if self.asked.len() < MAX_ASKED {
            self.asked.push((id.to_owned(), has_hints));
        }
    }

    /// Reads a line of the server: if it is a requested list (`tools/list`'s result, or a `tool_list` record), its
    /// hints count. Gives the id of the request that it answers, and the cursor of the list's next page, as JSON text.
    pub fn observe_answer(&mut self, line: &[u8]) -> Option<ListAnswer> {
        if self.asked.is_empty() {
            return None;
        }
        // Some clients take several answers in one line.
        if line.trim_ascii_start().starts_with(b"[") {
            let answers = serde_json::from_slice::<Vec<&RawValue>>(line).unwrap_or_default();
            answers.into_iter().for_each(|answer| _ = self.observe_answer(answer.get().as_bytes()));
            return None;
        }
        let fields = std::str::from_utf8(line).ok().and_then(|line| Fields::read(line).ok())?;
        let is_record = fields.get("type").is_some_and(|value| text(value).as_deref() == Some("tool_list"));
        let id = fields.get(if is_record { "request_id" } else { "id" })?.get();
        if !is_record && fields.get("method").is_some() {
            return None;
        }
        let asked = self.asked.iter().position(|(asked, _)| is_same_id(Some(asked), Some(id)))?;
        let (id, has_hints) = self.asked.swap_remove(asked);
        let listed =
            if is_record { Some(std::str::from_utf8(line).ok()?) } else { fields.get("result").map(RawValue::get) };
        let listed = listed.and_then(|listed| serde_json::from_str::<ToolsPage<'_>>(listed).ok());
        let next_cursor = listed.as_ref().and_then(|listed| Some(listed.next_cursor?.get().to_owned()));
        let tools = listed.map_or(Vec::new(), |listed| listed.tools);
        self.definitions.take(&tools);
        if has_hints {
            self.remember(tools);
        }
        Some(ListAnswer { id, next_cursor: next_cursor.filter(|cursor| cursor != "null") })
    }

    fn remember(&mut self, tools: Vec<&RawValue>) {
        self.has_changed = true;
        for (name, hints) in hints_of(tools) {
            if self.hints.len() < MAX_TOOLS || self.hints.contains_key(&name) {
                self.hints.insert(name, hints);
            }
        }
        self.tells_apart = distinguishes(self.hints.values());
    }

    /// The list has changed: until it is read again, no tool is taken to be read-only.
    pub fn invalidate(&mut self) {
        self.hints.values_mut().for_each(|hints| hints.read_only_hint = Some(false));
    }

    /// Whether a list arrived since the last call.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// The tools whose definitions have changed since the last call.
    pub fn take_changed_tools(&mut self) -> Vec<String> {
        self.definitions.take_changed()
    }

    /// Whether the server has changed the definition of a tool since it was listed first.
    pub fn has_changed(&self, tool: &str) -> bool {
        self.definitions.have_changed(tool)
    }

    /// The names of the tools, in any order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.hints.keys().map(String::as_str)
    }

    /// The server's hint about a tool.
    pub fn hint(&self, tool: &str) -> Hint {
        self.hints.get(tool).map_or(Hint::None, |hints| hints.hint(self.is_trusted, self.tells_apart))
    }
}

/// An answer to a request for the list.
#[derive(Debug, PartialEq, Eq)]
pub struct ListAnswer {
    /// The request's id, JSON text as in the request.
    pub id: String,
    /// The cursor of the next page, JSON text.
    pub next_cursor: Option<String>,
}

/// The tools of a list, in their order, with their hints. The list is the answer to `tools/list`, its result alone, or
/// a `tool_list` record. `None` if the text is none of these.
pub fn listed(list: &str, is_trusted: bool) -> Option<Vec<(String, Hint)>> {
    let fields = Fields::read(list).ok()?;
    let list = fields.get("result").map_or(list, RawValue::get);
    let listed: ToolsPage<'_> = serde_json::from_str(list).ok()?;
    let tools: Vec<(String, Hints)> = hints_of(listed.tools).collect();
    let tells_apart = distinguishes(tools.iter().map(|(_, hints)| hints));
    Some(tools.into_iter().map(|(name, hints)| (name, hints.hint(is_trusted, tells_apart))).collect())
}

fn hints_of(tools: Vec<&RawValue>) -> impl Iterator<Item = (String, Hints)> {
    let tools = tools.into_iter().filter_map(|tool| serde_json::from_str::<Tool>(tool.get()).ok());
    tools.map(|tool| (tool.name, tool.annotations.unwrap_or_default()))
}

fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const LIST: &[u8] = br#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","annotations":{"destructiveHint":true,"readOnlyHint":true}},{"name":"b"},{"name":7},{"name":"c","annotations":{"readOnlyHint":true,"destructiveHint":false}}]}}"#;

    #[test]
    fn only_a_requested_list_counts() {
        let mut annotations = Annotations::default();
        annotations.observe_answer(LIST);
        assert_eq!(annotations.hint("a"), Hint::None);
        annotations.observe_request(r#"{"jsonrpc":"2.0","id":2.0,"method":"tools\/list"}"#);
        annotations.observe_answer(b"noise");
        let answer = annotations.observe_answer(LIST);
        assert_eq!(answer, Some(ListAnswer { id: "2.0".to_owned(), next_cursor: None }));
        assert_eq!(["a", "b", "c"].map(|tool| annotations.hint(tool)), [Hint::Destructive, Hint::None, Hint::None]);
    }

    #[test]
    fn the_hints_of_a_trusted_server_count_until_its_list_changes() {
        let mut annotations = Annotations::new(true);
        annotations.expect("2");
        annotations.observe_answer(LIST);
        assert_eq!(["a", "c"].map(|tool| annotations.hint(tool)), [Hint::Destructive, Hint::ReadOnly]);
        annotations.invalidate();
        assert_eq!(["a", "c"].map(|tool| annotations.hint(tool)), [Hint::Destructive, Hint::None]);
    }

    #[test]
    fn a_hint_of_another_type_adds_a_question_and_removes_none() {
        let list = r#"{"tools":[{"name":"a","annotations":{"destructiveHint":1}},{"name":"b","annotations":{"destructiveHint":true,"readOnlyHint":"x"}},{"name":"c","annotations":{"readOnlyHint":1}},{"name":"d","annotations":{"destructiveHint":null}}]}"#;
        let hints: Vec<Hint> = listed(list, true).unwrap().into_iter().map(|(_, hint)| hint).collect();
        assert_eq!(hints, [Hint::Destructive, Hint::Destructive, Hint::None, Hint::Unsaid]);
    }

    #[test]
    fn a_hint_on_all_changing_tools_does_not_distinguish_them() {
        let tool = |name: &str, destructive: bool| {
            format!(
                r#"{{"name":"{name}","annotations":{{"destructiveHint":{destructive},"readOnlyHint":{}}}}}"#,
                !destructive
            )
        };
        let list = |names: &[(&str, bool)]| {
            let tools: Vec<_> = names.iter().map(|(name, destructive)| tool(name, *destructive)).collect();
            format!(r#"{{"tools":[{}]}}"#, tools.join(","))
        };
        let all =
            [("snapshot", false), ("click", true), ("type", true), ("navigate", true), ("drag", true), ("press", true)];
        assert_eq!(listed(&list(&all), false).unwrap()[1].1, Hint::DestructiveAsAll);
        assert_eq!(listed(&list(&all[..5]), false).unwrap()[1].1, Hint::Destructive, "too few tools to tell");
        let other = list(&all).replace("]}", r#",{"name":"hover"}]}"#);
        assert_eq!(listed(&other, false).unwrap()[1].1, Hint::Destructive);
    }

    #[test]
    fn a_tool_has_changed_if_its_description_or_schema_has() {
        let first = r#"{"name":"a","description":"x","inputSchema":{"type":"object","properties":{"n":{}}}}"#;
        let changed = |other: &str| {
            let mut annotations = Annotations::default();
            for tool in [first, other] {
                annotations.observe_request(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
                annotations
                    .observe_answer(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{tool}]}}}}"#).as_bytes());
            }
            assert_eq!(annotations.take_changed_tools().contains(&"a".to_owned()), annotations.has_changed("a"));
            annotations.has_changed("a")
        };
        for same in [
            first,
            r#"{"inputSchema": {"properties": {"n": {}}, "type": "object"}, "description": "\u0078", "name": "a"}"#,
            r#"{"name":"a","description":"x","inputSchema":{"type":"object","properties":{"n":{}}},"_meta":{"n":1}}"#,
            r#"{"name":"b","description":"y"}"#,
        ] {
            assert!(!changed(same), "{same}");
        }
        for other in [
            r#"{"name":"a"}"#,
            &first.replace("\"x\"", "\"y\""),
            &first.replace("{}", "{\"default\":1}"),
            &first.replace("{\"name", "{\"annotations\":{\"readOnlyHint\":true},\"name"),
            &first.replace("\"x\"", "\"x\",\"description\":\"x\""),
            &first.replace("\"a\"", "\"b\",\"name\":\"a\""),
            &first.replace("\"a\",", "\"\\u0061\",\"title\":\"t\","),
            // Twice in one list.
            &format!("{first},{}", first.replace("\"x\"", "\"z\"")),
        ] {
            assert!(changed(other), "{other}");
        }
    }

    #[test]
    fn a_record_of_our_own_worlds_counts_too() {
        let mut annotations = Annotations::new(true);
        annotations.expect("\"x\"");
        let record = br#"{"type":"tool_list","request_id":"\u0078","tools":[{"name":"a","annotations":{"readOnlyHint":true}}],"nextCursor":null}"#;
        assert!(annotations.observe_answer(record).is_some_and(|answer| answer.next_cursor.is_none()));
        assert_eq!(annotations.hint("a"), Hint::ReadOnly);
    }
}
