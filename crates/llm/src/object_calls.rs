//! Calls as one JSON object by schema, for models that do not answer with structured calls. The system text has a compact list of the tools
//! in place of their JSON Schemas: the core tools on a line each, the others by name. A model that needs another tool asks for it, and the
//! description is appended to the conversation.
//!
//! | object | meaning |
//! |---|---|
//! | `{"mode":"act","tool":NAME,"args":{...}}` | a call |
//! | `{"mode":"ask",...}`, `{"mode":"done",...}` | a call of `assistant_ask` or `assistant_done`; an answer in words if the request has no such tool |
//! | `{"mode":"describe","tool":NAME}` | asks for the description of a tool |
//! | `{"steps":[TEXT,...]}` | the plan, if the request's [`choices`] want one |
//! | `{"step":TEXT,"mode":VERB,"element":NAME,...}` | one of the request's [`choices`] |

mod choices;

use super::text_calls::messages_as_text;
pub use choices::chosen;
use pipewright_record::json::{Object, quoted};
use pipewright_record::{Arguments, Fields, Message, ModelCall, ModelRequest, OwnTurn, OwnedTool, ToolChoice};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The tools behind the modes `ask` and `done`.
const WORDS: [(&str, &str); 2] = [("ask", "assistant_ask"), ("done", "assistant_done")];

/// The request with the compact list, and the schema of its answer.
#[must_use]
pub fn by_schema(request: &ModelRequest) -> ModelRequest {
    if let Some(offered) = &request.choices {
        return choices::by_choices(request, offered);
    }
    let mut written = request.clone();
    written.messages = messages_as_text(&request.messages, object);
    written.tools.clear();
    written.tool_choice = ToolChoice::Auto;
    let system = request.system.iter().cloned().chain([description(request)]);
    written.system = Some(system.collect::<Vec<_>>().join("\n\n"));
    // A report has no calls, but the same beginning as the requests before it.
    let is_report = request.tool_choice == ToolChoice::None;
    written.schema = RawValue::from_string(schema(request).to_string()).ok().filter(|_| !is_report);
    written
}

/// The tool whose description an answer asks for.
pub fn asked_tool<'a>(answer: &str, request: &'a ModelRequest) -> Option<&'a OwnedTool> {
    let fields = Fields::read(answer.trim()).ok()?;
    let name = fields.text("tool").filter(|_| fields.text("mode").as_deref() == Some("describe"))?;
    request.tools.iter().find(|tool| tool.name == name)
}

/// The words of an answer that is no call: of `ask` and `done` without tools of their own.
pub fn words(answer: &str) -> Option<String> {
    let fields = Fields::read(answer.trim()).ok()?;
    let mode = fields.text("mode").filter(|mode| WORDS.iter().any(|(word, _)| word == mode))?;
    fields.text(if mode == "ask" { "question" } else { "reason" })
}

/// A tool with its JSON Schema, for a model that asked for it.
pub fn full(tool: &OwnedTool) -> String {
    format!("{}: {} The JSON Schema of its args: {}", tool.name, tool.description, tool.input_schema)
}

/// A call as the model writes it.
fn object(call: &ModelCall) -> String {
    let arguments = match &call.arguments {
        Arguments::Object(object) => object.get().to_owned(),
        Arguments::Text(text) => quoted(text),
    };
    match WORDS.iter().find(|(_, tool)| *tool == call.tool_name) {
        Some((mode, _)) => {
            let fields = Fields::read(&arguments).unwrap_or_default();
            fields.iter().fold(Object::default().text("mode", mode), |object, (key, json)| object.put_any(key, json))
        }
        None => Object::default().text("mode", "act").text("tool", &call.tool_name).put("args", &arguments),
    }
    .end()
}

/// The tools of a request.
struct Kinds<'a> {
    /// Those of the modes `ask` and `done`.
    words: Vec<(&'static str, &'a OwnedTool)>,
    /// The core tools with the schemas of their arguments, in the request's order.
    core: Vec<(&'a OwnedTool, Value)>,
    others: Vec<&'a OwnedTool>,
}

fn kinds(request: &ModelRequest) -> Kinds<'_> {
    let mode = |tool: &OwnedTool| WORDS.iter().find(|(_, name)| *name == tool.name).map(|(mode, _)| *mode);
    let words = request.tools.iter().filter_map(|tool| Some((mode(tool)?, tool))).collect();
    let plain: Vec<&OwnedTool> = request.tools.iter().filter(|tool| mode(tool).is_none()).collect();
    if request.core_tools.is_empty() {
        let core = plain.into_iter().map(|tool| (tool, schema_of(tool, None))).collect();
        return Kinds { words, core, others: Vec::new() };
    }
    let named: Vec<(&str, Option<&str>)> = request.core_tools.iter().map(|entry| core_tool(entry)).collect();
    let found = |(name, arguments): &(&str, Option<&str>)| {
        let tool = *plain.iter().find(|tool| tool.name == *name)?;
        Some((tool, schema_of(tool, *arguments)))
    };
    let core = named.iter().filter_map(found).collect();
    let others = plain.iter().copied().filter(|tool| !named.iter().any(|(name, _)| *name == tool.name)).collect();
    Kinds { words, core, others }
}

/// An entry of `core_tools`: a tool's name and, in parentheses, the arguments to be described.
fn core_tool(entry: &str) -> (&str, Option<&str>) {
    match entry.split_once('(') {
        Some((name, arguments)) => (name, Some(arguments.trim_end_matches(')'))),
        None => (entry, None),
    }
}

/// The schema of a tool's arguments. Of named ones, only these, in their order; those without `?` are required.
fn schema_of(tool: &OwnedTool, named: Option<&str>) -> Value {
    let mut schema: Value = serde_json::from_str(&tool.input_schema).unwrap_or_default();
    let Some(named) = named else { return schema };
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for name in named.split(',').map(str::trim) {
        let plain = name.trim_end_matches('?');
        let Some(property) = schema["properties"].get(plain) else { continue };
        properties.insert(plain.to_owned(), property.clone());
        required.extend((plain == name).then(|| json!(plain)));
    }
    if schema.is_object() {
        schema["properties"] = properties.into();
        schema["required"] = required.into();
    }
    schema
}

fn description(request: &ModelRequest) -> String {
    let Kinds { words, core, others } = kinds(request);
    let mut text = "Answer with one JSON object and nothing else:\n\
        - {\"mode\":\"act\",\"tool\":NAME,\"args\":{...}} calls a tool. The result is in the next message."
        .to_owned();
    for (mode, tool) in &words {
        let arguments: Vec<String> =
            arguments(&schema_of(tool, None)).into_iter().map(|(name, kind)| format!(",\"{name}\":{kind}")).collect();
        text.push_str(&format!("\n- {{\"mode\":\"{mode}\"{}}}: {}", arguments.concat(), tool.description));
    }
    if words.is_empty() && request.tool_choice != ToolChoice::Any {
        text.push_str("\n- {\"mode\":\"done\",\"reason\":TEXT} answers in words, without a tool.");
    }
    if !others.is_empty() {
        text.push_str(
            "\n- {\"mode\":\"describe\",\"tool\":NAME} shows what one of the other tools does, and its args.",
        );
    }
    text.push_str("\nThe tools, each with its args (? marks those that may be left out):");
    for (tool, schema) in &core {
        text.push_str(&line(tool, schema));
    }
    if !others.is_empty() {
        let names: Vec<&str> = others.iter().map(|tool| &*tool.name).collect();
        text.push_str(&format!("\nOther tools, to be described before they are called: {}", names.join(", ")));
    }
    text
}

/// The compact list of all tools, for a model that cannot ask what one does: the core tools, then the others.
pub(super) fn all_lines(request: &ModelRequest) -> String {
    let Kinds { words, core, others } = kinds(request);
    let rest = words.into_iter().map(|(_, tool)| tool).chain(others);
    let rest = rest.map(|tool| line(tool, &schema_of(tool, None)));
    core.iter().map(|(tool, schema)| line(tool, schema)).chain(rest).collect()
}

/// A tool with its arguments in one line.
fn line(tool: &OwnedTool, schema: &Value) -> String {
    let arguments: Vec<String> = arguments(schema).into_iter().map(|(name, kind)| format!("{name}: {kind}")).collect();
    format!("\n- {}({}): {}", tool.name, arguments.join(", "), tool.description)
}

/// The arguments of this schema, and what each may be.
fn arguments(schema: &Value) -> Vec<(String, String)> {
    let is_required =
        |name: &str| schema["required"].as_array().is_some_and(|list| list.iter().any(|each| each == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    let argument = |(name, schema): (&String, &Value)| {
        let mark = if is_required(name) { "" } else { "?" };
        (format!("{name}{mark}"), kind(schema))
    };
    properties.map(argument).collect()
}

/// What a value may be, in one word if possible.
fn kind(schema: &Value) -> String {
    let choices = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
    match (schema["enum"].as_array(), schema.get("const"), choices) {
        (Some(values), ..) => values.iter().map(Value::to_string).collect::<Vec<_>>().join("|"),
        (_, Some(value), _) => value.to_string(),
        (_, _, Some(choices)) => choices.iter().map(kind).collect::<Vec<_>>().join("|"),
        _ => match &schema["type"] {
            Value::String(name) if name == "string" => "text".to_owned(),
            Value::String(name) if name == "boolean" => "true|false".to_owned(),
            Value::String(name) if name == "array" => format!("[{}, ...]", kind(&schema["items"])),
            Value::String(name) if name == "object" && schema["properties"].is_object() => {
                let members = arguments(schema).into_iter().map(|(name, kind)| format!("{name}: {kind}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }
            Value::String(name) => name.clone(),
            Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
            _ => "any".to_owned(),
        },
    }
}

/// The schema of an answer.
fn schema(request: &ModelRequest) -> Value {
    let Kinds { words, core, others } = kinds(request);
    let act = |tool: Value, args: Value| object_of([("mode", json!({"const": "act"})), ("tool", tool), ("args", args)]);
    let mut forms: Vec<Value> =
        core.iter().map(|(tool, schema)| act(json!({"const": tool.name}), args(schema))).collect();
    for (mode, tool) in &words {
        let mut form = args(&schema_of(tool, None));
        // The mode comes first, as in the other forms: models write the fields in this order.
        let own = form["properties"].as_object().cloned().unwrap_or_default();
        let mode = ("mode".to_owned(), json!({"const": mode}));
        form["properties"] = std::iter::once(mode).chain(own).collect::<Map<_, _>>().into();
        let required = form["required"].as_array().into_iter().flatten().cloned();
        form["required"] = std::iter::once(json!("mode")).chain(required).collect();
        forms.push(form);
    }
    if words.is_empty() && request.tool_choice != ToolChoice::Any {
        forms.push(object_of([("mode", json!({"const": "done"})), ("reason", json!({"type": "string"}))]));
    }
    if !others.is_empty() {
        let names = |tools: &[&OwnedTool]| json!({"enum": tools.iter().map(|tool| &tool.name).collect::<Vec<_>>()});
        let known: Vec<&OwnedTool> = others.iter().copied().filter(|tool| is_known(tool, request)).collect();
        if !known.is_empty() {
            forms.push(act(names(&known), json!({"type": "object"})));
        }
        forms.push(object_of([("mode", json!({"const": "describe"})), ("tool", names(&others))]));
    }
    json!({"anyOf": forms})
}

/// Whether a tool was described or called in this conversation. A small model calls whatever sounds fitting, so it is not free to call others.
fn is_known(tool: &OwnedTool, request: &ModelRequest) -> bool {
    let knows = |turn: &OwnTurn| {
        let has_called = turn.calls.iter().any(|call| call.tool_name == tool.name);
        has_called || asked_tool(&turn.text, request).is_some_and(|asked| asked.name == tool.name)
    };
    request.messages.iter().any(|message| matches!(message, Message::Assistant(turn) if knows(turn)))
}

/// An object with exactly these fields.
fn object_of<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The schema of a tool's arguments, with those keywords only that every server knows.
fn args(schema: &Value) -> Value {
    let mut plain = plain(schema);
    if plain["type"] != "object" {
        return json!({"type": "object"});
    }
    if plain.get("properties").is_some_and(Value::is_object) {
        plain["additionalProperties"] = json!(false);
    }
    plain
}

fn plain(schema: &Value) -> Value {
    const KEPT: [&str; 4] = ["type", "enum", "const", "required"];
    let Value::Object(members) = schema else { return json!({}) };
    let mut new = Map::new();
    for (key, value) in members {
        let value = match key.as_str() {
            "properties" => match value {
                Value::Object(properties) => properties.iter().map(|(name, own)| (name.clone(), plain(own))).collect(),
                _ => continue,
            },
            "items" => plain(value),
            "anyOf" | "oneOf" => value.as_array().into_iter().flatten().map(plain).collect(),
            key if KEPT.contains(&key) => value.clone(),
            _ => continue,
        };
        new.insert(if key == "oneOf" { "anyOf".to_owned() } else { key.clone() }, value);
    }
    Value::Object(new)
}
