//! The schemas of our own records are made from their types, as man pages are from the definitions of the commands.
//!
//! `UPDATE_DOCUMENTS=1 cargo test --test it schemas` writes them again.

use super::{BASE, Folder, SCHEMAS};
use crate::documents::compare;
use boon::UrlLoader;
#[cfg(feature = "gates")]
use pipewright::cmd::policy_check::cases::CaseResult;
#[cfg(feature = "jq")]
use pipewright::cmd::{jsonl_log::check::Check, replay::report::Line};
use pipewright_clients::approvals::{RevokeRule, RulesInForce};
use pipewright_games::spire::record::{SpireRecord, SpireRunOver};
use pipewright_policy::audit::{AuditLine, AuditVerification};
use pipewright_policy::request::PolicyRequest;
use pipewright_record::*;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Records that are the examples in the schemas.
const EXAMPLES: &str = include_str!("../../fixtures/schemas/examples.jsonl");

/// The schemas that are made: of each record the file, and of what several records share the definitions.
#[derive(Default)]
struct Made {
    files: Vec<(String, Value)>,
    shared: Map<String, Value>,
}

impl Made {
    /// Makes the schema of a record whose `type` is its name.
    fn record<R: Record>(self) -> Made {
        self.add::<R>(true)
    }

    /// Makes the schema of a record that has no `type`, or several.
    fn untagged<R: Record>(self) -> Made {
        self.add::<R>(false)
    }

    /// Makes a schema, in a file with the record's name.
    fn add<R: Record>(mut self, is_tagged: bool) -> Made {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        let mut schema = settings.into_generator().into_root_schema_for::<R>().to_value();
        refine(&mut schema);
        let name = R::schema_name();
        let file = format!("{name}.json");
        let members = schema.as_object_mut().unwrap();
        if let Some(Value::Object(shared)) = members.shift_remove("$defs") {
            self.shared.extend(shared);
        }
        let about = members.shift_remove("description").unwrap();
        let (title, description) = about.as_str().unwrap().split_once("\n\n").unwrap_or((about.as_str().unwrap(), ""));
        members.insert("$id".to_owned(), file.as_str().into());
        members.insert("title".to_owned(), title.trim_end_matches('.').into());
        if !description.is_empty() {
            members.insert("description".to_owned(), description.into());
        }
        if is_tagged {
            // schemars knows the tag of an enum, and not that of a struct.
            let tag = ("type".to_owned(), json!({ "const": name }));
            members["properties"].as_object_mut().unwrap().shift_insert(0, tag.0, tag.1);
            let required = members.entry("required").or_insert(json!([]));
            required.as_array_mut().unwrap().insert(0, json!("type"));
        }
        let mut made: Map<String, Value> = FIRST.iter().filter_map(|key| members.shift_remove_entry(*key)).collect();
        made.extend(std::mem::take(members));
        let examples = EXAMPLES.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let examples = examples.filter(|example| SCHEMAS.with_borrow(|schemas| schemas.of(example)).contains(&file));
        made.insert("examples".to_owned(), examples.collect());
        self.files.push((file, made.into()));
        self
    }
}

/// The members that come first, in this order.
const FIRST: [&str; 7] = ["$schema", "$id", "title", "description", "type", "properties", "required"];

/// Restates what schemars makes: line breaks of comments are spaces, an optional field is left out and never null, and shared definitions
/// are in a file of their own.
fn refine(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if let Some(Value::String(description)) = members.get_mut("description") {
                let paragraphs = description.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
                let description = paragraphs.collect::<Vec<_>>().join("\n\n");
                members.shift_insert(0, "description".to_owned(), description.into());
            }
            if let Some(Value::String(place)) = members.get_mut("$ref")
                && place.starts_with('#')
            {
                place.insert_str(0, "definitions.json");
            }
            members.retain(|key, value| {
                (key != "format" || !value.is_string()) && (key != "additionalProperties" || *value != json!(true))
            });
            let required = members.get("required").cloned().unwrap_or(json!([]));
            if let Some(Value::Object(properties)) = members.get_mut("properties") {
                let optional =
                    properties.iter_mut().filter(|(key, _)| !required.as_array().unwrap().contains(&json!(key)));
                optional.for_each(|(_, property)| without_null(property));
            }
            members.values_mut().for_each(refine);
        }
        Value::Array(values) => values.iter_mut().for_each(refine),
        _ => {}
    }
}

fn without_null(property: &mut Value) {
    let Value::Object(members) = property else { return };
    if let Some(Value::Array(types)) = members.get_mut("type") {
        // A record that itself says that null is read like a missing field has it first.
        types.pop_if(|last| *last == "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            members.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(choices)) = members.get("anyOf")
        && let [Value::Object(only), null] = choices.as_slice()
        && *null == json!({"type": "null"})
    {
        let only = only.clone();
        members.remove("anyOf");
        only.into_iter().for_each(|(key, value)| _ = members.entry(key).or_insert(value));
    }
}

fn made() -> Made {
    let made = Made::default()
        .record::<AssistantMessage>()
        .record::<Cancel<&str>>()
        .record::<ChainUpdate>()
        .record::<ErrorRecord>()
        .record::<Final>()
        .record::<Gap>()
        .record::<History>()
        .record::<HitlResponse>()
        .record::<InputRequest>()
        .record::<InputResponse>()
        .record::<ListTools>()
        .record::<ListedTools>()
        .record::<PlanProgress>()
        .record::<PlanUpdate>()
        .record::<PolicyRequest>()
        .record::<PolicyResult>()
        .record::<RevokeRule>()
        .record::<RulesInForce>()
        .record::<Status>()
        .record::<TurnRecord>()
        .record::<UserMessage>()
        .untagged::<AuditLine>()
        .untagged::<AuditVerification>()
        .untagged::<SpireRecord>()
        .untagged::<SpireRunOver>();
    #[cfg(feature = "gates")]
    let made = made.untagged::<CaseResult>();
    #[cfg(feature = "jq")]
    let made = made.untagged::<Check>().untagged::<Line>();
    made
}

/// The columns of a line.
const WIDTH: usize = 120;

/// A schema as text: what fits on a line is on one line.
fn text(schema: &Value, indent: usize) -> String {
    let on_a_line = serde_json::to_string(schema).unwrap();
    let (open, items, close) = match schema {
        Value::Object(members) => {
            let item = |(key, value)| format!("{}: {}", json!(key), text(value, indent + 2));
            ("{", members.iter().map(item).collect::<Vec<String>>(), "}")
        }
        Value::Array(values) => ("[", values.iter().map(|value| text(value, indent + 2)).collect(), "]"),
        _ => return on_a_line,
    };
    let space = if open == "{" { " " } else { "" };
    let line = format!("{open}{space}{}{space}{close}", items.join(", "));
    if items.is_empty() {
        return on_a_line;
    }
    if indent > 0 && indent + line.len() < WIDTH && !line.contains('\n') {
        return line;
    }
    let inner = " ".repeat(indent + 2);
    format!("{open}\n{inner}{}\n{}{close}", items.join(&format!(",\n{inner}")), " ".repeat(indent))
}

#[test]
fn schemas_match_the_types() {
    let Made { files, shared } = made();
    for (file, schema) in files {
        compare(&format!("schemas/{file}"), (text(&schema, 0) + "\n").as_bytes());
    }
    // Definitions that no type needs are written by hand.
    let mut definitions = Folder.load(&format!("{BASE}definitions.json")).unwrap();
    definitions["$defs"].as_object_mut().unwrap().extend(shared);
    compare("schemas/definitions.json", (text(&definitions, 0) + "\n").as_bytes());
}
