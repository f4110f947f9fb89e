//! The tools that a server lists, and which of them may be called.

use pipewright_record as record;
use pipewright_record::glob;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A tool, as its server describes it.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The complete description, as JSON text.
    pub raw: String,
    /// Its `inputSchema`, as JSON text.
    pub schema: Option<String>,
    /// Whether the server declares that a call changes nothing, or that a second call changes nothing more. Only
    /// trusted for the decision to send a call again.
    pub is_repeatable: bool,
}

impl Tool {
    /// Reads an entry of `tools/list`; `None` if it has no name.
    pub fn read(raw: &RawValue) -> Option<Tool> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ListedTool<'a> {
            name: String,
            #[serde(borrow)]
            input_schema: Option<&'a RawValue>,
            annotations: Option<Hints>,
        }
        #[derive(serde::Deserialize, Default)]
        #[serde(rename_all = "camelCase", default)]
        struct Hints {
            read_only_hint: Option<bool>,
            idempotent_hint: Option<bool>,
        }
        let listed: ListedTool<'_> = serde_json::from_str(raw.get()).ok()?;
        let hints = listed.annotations.unwrap_or_default();
        Some(Tool {
            name: listed.name,
            raw: raw.get().to_owned(),
            schema: listed.input_schema.map(|schema| schema.get().to_owned()),
            is_repeatable: hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true),
        })
    }
}

impl Tool {
    /// The tool as an entry of `tool_list`, under this name: one line of JSON text.
    pub fn listed_as(&self, name: &str) -> String {
        #[derive(serde::Deserialize)]
        struct Listed<'a> {
            #[serde(borrow)]
            description: Option<&'a RawValue>,
            #[serde(borrow)]
            annotations: Option<&'a RawValue>,
        }
        let listed = serde_json::from_str::<Listed<'_>>(&self.raw).ok();
        let text = |value: &RawValue| serde_json::from_str::<String>(value.get()).ok();
        let description = listed.as_ref().and_then(|listed| text(listed.description?)).unwrap_or_default();
        let annotations = listed.as_ref().and_then(|listed| listed.annotations).map(RawValue::get);
        let input_schema = self.schema.as_deref().unwrap_or(r#"{"type":"object"}"#);
        record::Tool { name, description: &description, input_schema, annotations }.json()
    }
}

/// Tools, sorted by name.
pub(super) type Tools = BTreeMap<String, Tool>;

/// Patterns of names, with `*` for any text and `?` for any one character.
#[derive(Debug, Clone, Default)]
pub struct NameFilter {
    /// If not empty, only these.
    pub allow: Vec<String>,
    /// Never these.
    pub deny: Vec<String>,
}

impl NameFilter {
    /// Whether a tool may be called and listed.
    pub fn permits(&self, name: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| glob::matches(pattern, name));
        (self.allow.is_empty() || any(&self.allow)) && !any(&self.deny)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_are_permitted_by_pattern() {
        let names = NameFilter { allow: vec!["browser_*".to_owned()], deny: vec!["*_close".to_owned()] };
        assert!(names.permits("browser_click") && !names.permits("browser_close") && !names.permits("echo"));
        assert!(NameFilter::default().permits("anything"));
    }

    #[test]
    fn hints_are_read_and_nothing_is_lost() {
        let raw = r#"{"name":"x","inputSchema":{"a":1.10},"annotations":{"readOnlyHint":true},"unknown":7}"#;
        let raw: Box<RawValue> = serde_json::from_str(raw).unwrap();
        let tool = Tool::read(&raw).unwrap();
        assert!(tool.is_repeatable && tool.raw == raw.get() && tool.schema.as_deref() == Some("{\"a\":1.10}"));
        let none: Box<RawValue> = serde_json::from_str(r#"{"title":"x"}"#).unwrap();
        assert!(Tool::read(&none).is_none());
    }
}
