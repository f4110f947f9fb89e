//! A tool's question to the person during a call (MCP's elicitation), as a form of an editor.

use super::markdown::id_text;
use pipewright_record::Fields;
use pipewright_record::json::Object;
use serde_json::{Map, Value};

/// A JSON Schema keyword that forms support, and the check of its value.
type SupportedKeyword = (&'static str, fn(&Value) -> bool);

/// The parameters of `elicitation/create`, JSON text, for an `input_request` record. Keywords that ACP's forms do not
/// support are dropped. `None` if the request is not for a form.
pub fn input_form(session: &str, record: &str) -> Option<String> {
    let record = Fields::read(record).ok()?;
    let params = record.object("params")?;
    let is_form = record.text("method").as_deref() == Some("elicitation/create")
        && params.present("mode").is_none_or(|mode| mode.get() == "\"form\"");
    let schema: Value = serde_json::from_str(params.get("requestedSchema").filter(|_| is_form)?.get()).ok()?;
    let mut properties = Map::new();
    for (name, property) in schema.get("properties")?.as_object()? {
        properties.insert(name.clone(), field(property)?);
    }
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: Vec<&Value> =
        names.filter(|name| name.as_str().is_some_and(|name| properties.contains_key(name))).collect();
    let required = serde_json::to_string(&required).ok()?;
    let properties = Value::Object(properties);
    let schema = Object::default().text("type", "object").put("properties", properties).put("required", required).end();
    let who = record.text("tool").map(|tool| format!("{tool} asks: ")).unwrap_or_default();
    let message = who + &params.text("message").unwrap_or_default();
    let request = Object::default().text("mode", "form").text("sessionId", session);
    let request = request.put_some("toolCallId", record.present("call_id").map(|id| id_text(id.get())));
    Some(request.text("message", &message).put("requestedSchema", schema).end())
}

/// A field of the form; `None` if forms do not support its type.
fn field(property: &Value) -> Option<Value> {
    let is_text: fn(&Value) -> bool = Value::is_string;
    let is_count: fn(&Value) -> bool = |value| value.as_u64().is_some_and(|count| u32::try_from(count).is_ok());
    let is_texts: fn(&Value) -> bool = |value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
    let is_options: fn(&Value) -> bool = |value| {
        let is_option = |option: &Value| option["const"].is_string() && option["title"].is_string();
        value.as_array().is_some_and(|list| list.iter().all(is_option))
    };
    let is_format: fn(&Value) -> bool =
        |value| value.as_str().is_some_and(|format| ["email", "uri", "date", "date-time"].contains(&format));
    let is_choice: fn(&Value) -> bool = |value| value["type"] == "string" && value.get("enum").is_some();
    let own: &[SupportedKeyword] = match property["type"].as_str()? {
        "string" => &[
            ("minLength", is_count),
            ("maxLength", is_count),
            ("format", is_format),
            ("default", is_text),
            ("enum", is_texts),
            ("oneOf", is_options),
        ],
        "integer" => &[("minimum", Value::is_i64), ("maximum", Value::is_i64), ("default", Value::is_i64)],
        "number" => &[("minimum", Value::is_number), ("maximum", Value::is_number), ("default", Value::is_number)],
        "boolean" => &[("default", Value::is_boolean)],
        "array" => {
            let items = property.get("items").filter(|items| is_choice(items) && is_texts(&items["enum"]))?;
            let items = serde_json::json!({"type": "string", "enum": items["enum"]});
            let mut field = supported(property, &[("title", is_text), ("description", is_text), ("default", is_texts)]);
            field.insert("items".to_owned(), items);
            field.insert("type".to_owned(), "array".into());
            return Some(Value::Object(field));
        }
        _ => return None,
    };
    let mut field = supported(property, own);
    field.extend(supported(property, &[("type", is_text), ("title", is_text), ("description", is_text)]));
    Some(Value::Object(field))
}

/// The supported keywords of a property whose values are valid.
fn supported(property: &Value, wanted: &[SupportedKeyword]) -> Map<String, Value> {
    let present =
        wanted.iter().filter_map(|(key, is_right)| Some((key, property.get(key).filter(|value| is_right(value))?)));
    present.map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}
