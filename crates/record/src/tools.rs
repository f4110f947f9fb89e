//! Tool discovery: `list_tools` asks a world for its tools, `tool_list` is its answer. Neither is a call, so gates and recorders
//! pass both unchanged.

use super::{Fields, Record, Unreadable, schema, unreadable};
use crate::json::{one_line, raw};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// A request for the tools of a world.
///
/// Answered with exactly one tool_list, which may come before the results of earlier calls.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "list_tools")]
pub struct ListTools<'a> {
    /// The answer has the same value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Id>")]
    pub request_id: Option<&'a RawValue>,
}

impl Record for ListTools<'_> {}

impl<'a> ListTools<'a> {
    /// Reads a line; `None` is another record.
    ///
    /// # Errors
    /// Text that is not a JSON object, or has a key twice.
    pub fn read(line: &'a str) -> Result<Option<ListTools<'a>>, Unreadable> {
        // Most lines are other records and need not be parsed a second time.
        if !line.contains("list_tools") {
            return Ok(None);
        }
        let fields = Fields::read(line)?;
        let is_it = fields.get("type").is_some_and(|value| value.get() == "\"list_tools\"");
        Ok(is_it.then(|| ListTools { request_id: fields.get("request_id") }))
    }

    /// The answer, JSON text without a line feed. `world` is the name of the world, `tools` each tool as [`Tool::json`] gives it,
    /// `error` why tools are missing.
    pub fn answer(&self, world: &str, tools: &[String], error: Option<&str>) -> String {
        ListedTools { request_id: self.request_id, world, tools, error }.json()
    }
}

/// The tools of a world.
///
/// The answer to list_tools.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "tool_list")]
pub struct ListedTools<'a> {
    /// The request_id of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<schema::Id>")]
    request_id: Option<&'a RawValue>,
    /// The name of the world, such as godot.
    world: &'a str,
    /// All tools.
    #[serde(serialize_with = "objects")]
    #[schemars(with = "Vec<Tool>")]
    tools: &'a [String],
    /// Why tools are missing, such as a server that did not start.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl Record for ListedTools<'_> {}

/// One tool of a [`ToolList`].
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[schemars(inline, description = "A tool.")]
pub struct Tool<'a> {
    /// The name that calls use.
    pub name: &'a str,
    /// For people and models: what it does.
    pub description: &'a str,
    /// A JSON Schema of its arguments.
    #[serde(serialize_with = "object")]
    #[schemars(with = "Map<String, Value>")]
    pub input_schema: &'a str,
    /// MCP's `ToolAnnotations` (`readOnlyHint` and so on).
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "object_if_any")]
    #[schemars(with = "Value", extend("$ref" = "mcp_tool.json#/properties/annotations"))]
    pub annotations: Option<&'a str>,
}

impl Tool<'_> {
    /// `{"name","description","input_schema","annotations"?}`, one line of JSON text.
    pub fn json(&self) -> String {
        crate::json::text(self)
    }
}

/// Writes JSON text on one line.
fn object<S: Serializer>(json: &str, to: S) -> Result<S::Ok, S::Error> {
    raw(&one_line(json)).serialize(to)
}

fn object_if_any<S: Serializer>(json: &Option<&str>, to: S) -> Result<S::Ok, S::Error> {
    json.map(one_line).as_deref().map(raw).serialize(to)
}

fn objects<S: Serializer>(list: &[String], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(list.iter().map(|json| raw(json)))
}

/// `{"type":"tool_list","request_id"?,"world","tools":[{"name","description","input_schema","annotations"?}],"error"?}`.
#[derive(Debug, Clone)]
pub struct ToolList<'a> {
    /// The id of the request, as JSON text.
    pub request_id: Option<&'a RawValue>,
    /// The name of the world, if it gives one.
    pub world: String,
    /// In the order of the list.
    pub tools: Vec<OwnedTool>,
    /// Why tools are missing, such as a server that did not start.
    pub error: Option<String>,
}

/// A tool read from a [`ToolList`]; the fields are those of [`Tool`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // Tool has them
pub struct OwnedTool {
    pub name: String,
    pub description: String,
    pub input_schema: String,
    pub annotations: Option<String>,
}

impl<'a> ToolList<'a> {
    /// Reads a line; `None` is another record.
    ///
    /// # Errors
    /// Why it is not valid: text that is not a JSON object, or tools that are not a list of named objects.
    pub fn read(line: &'a str) -> Result<Option<ToolList<'a>>, Unreadable> {
        if !line.contains("tool_list") {
            return Ok(None);
        }
        let fields = Fields::read(line)?;
        if fields.get("type").is_none_or(|value| value.get() != "\"tool_list\"") {
            return Ok(None);
        }
        let list = fields.get("tools").and_then(|tools| serde_json::from_str::<Vec<&RawValue>>(tools.get()).ok());
        let Some(list) = list else {
            return unreadable("a tool_list whose \"tools\" is not a list");
        };
        let tools = list.into_iter().map(OwnedTool::read).collect::<Result<_, _>>()?;
        let world = fields.get("world").and_then(text).unwrap_or_default();
        let error = fields.get("error").and_then(text);
        Ok(Some(ToolList { request_id: fields.get("request_id"), world, tools, error }))
    }
}

impl OwnedTool {
    /// As [`Tool::json`].
    pub fn json(&self) -> String {
        let OwnedTool { name, description, input_schema, annotations } = self;
        Tool { name, description, input_schema, annotations: annotations.as_deref() }.json()
    }

    /// Reads `{"name","description"?,"input_schema"?,"annotations"?}`.
    ///
    /// # Errors
    /// Text that is not a JSON object, or one without a name.
    pub fn read(json: &RawValue) -> Result<OwnedTool, Unreadable> {
        let tool = Fields::read(json.get())?;
        let Some(name) = tool.get("name").and_then(text) else {
            return unreadable("a tool has no \"name\"");
        };
        let object = |key| tool.get(key).map(RawValue::get).filter(|value| value.starts_with('{')).map(str::to_owned);
        Ok(OwnedTool {
            name,
            description: tool.get("description").and_then(text).unwrap_or_default(),
            input_schema: object("input_schema").unwrap_or_else(|| r#"{"type":"object"}"#.to_owned()),
            annotations: object("annotations"),
        })
    }
}

fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_request_and_its_answer_keep_the_id_as_it_was_written() {
        let line = r#"{"type":"list_tools","request_id":7.10}"#;
        let request = ListTools::read(line).unwrap().unwrap();
        assert_eq!(request.json(), line);
        let schema = "{\n\"type\": \"object\"}";
        let tool = Tool { name: "a", description: "b\"", input_schema: schema, annotations: None };
        let answer = request.answer("game", &[tool.json()], None);
        assert_eq!(
            answer,
            r#"{"type":"tool_list","request_id":7.10,"world":"game","tools":[{"name":"a","description":"b\"","input_schema":{ "type": "object"}}]}"#
        );
        let list = ToolList::read(&answer).unwrap().unwrap();
        assert_eq!((list.request_id.unwrap().get(), &*list.world), ("7.10", "game"));
        assert_eq!((&*list.tools[0].name, &*list.tools[0].description), ("a", "b\""));
    }

    #[test]
    fn other_records_are_neither() {
        for line in [r#"{"type":"observation","text":"list_tools tool_list"}"#, r#"{"tool":"list_tools"}"#] {
            assert!(ListTools::read(line).unwrap().is_none() && ToolList::read(line).unwrap().is_none());
        }
    }

    #[test]
    fn a_list_without_names_is_an_error() {
        for line in
            [r#"{"type":"tool_list"}"#, r#"{"type":"tool_list","tools":[{}]}"#, r#"{"type":"tool_list","tools":[1]}"#]
        {
            assert!(ToolList::read(line).is_err(), "{line}");
        }
    }
}
