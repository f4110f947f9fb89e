//! The check of arguments against a tool's JSON Schema.

use boon::{CompileError, Compiler, Schemas, UrlLoader, ValidationError};
use pipewright_record::Reason;
use serde_json::Value;
use std::error::Error;

/// A tool's schema, compiled.
pub struct Schema {
    schemas: Schemas,
    index: boon::SchemaIndex,
}

/// Schemas fetch nothing and read no files: they come from a server, which would choose the address.
struct NoExternalSchemas;

impl UrlLoader for NoExternalSchemas {
    fn load(&self, _: &str) -> Result<Value, Box<dyn Error>> {
        Err("a schema may only refer to its own parts".into())
    }
}

const SCHEMA_URI: &str = "mcp:tool";

impl Schema {
    /// Compiles a schema (JSON text). Without `$schema` its draft is 2020-12, as MCP specifies.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn compile(schema: &str) -> Result<Schema, Reason> {
        let mut schema: Value = serde_json::from_str(schema).map_err(|error| error.to_string())?;
        require_no_defaults(&mut schema);
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.use_loader(Box::new(NoExternalSchemas));
        compiler.add_resource(SCHEMA_URI, schema).map_err(|error| error.to_string())?;
        let index = compiler.compile(SCHEMA_URI, &mut schemas).map_err(|error| match &error {
            CompileError::ValidationError { src, .. } => describe_error(src),
            _ => error.to_string(),
        })?;
        Ok(Schema { schemas, index })
    }

    /// Checks arguments (JSON text).
    ///
    /// # Errors
    /// Each mismatch, with its path: `/a/0: want string, but got number`.
    pub fn check(&self, arguments: &str) -> Result<(), Reason> {
        let arguments: Value = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        self.schemas.validate(&arguments, self.index).map_err(|error| describe_error(&error).into())
    }
}

fn describe_error(error: &ValidationError<'_, '_>) -> String {
    let mut wrong = Vec::new();
    collect_causes(error, &mut wrong);
    wrong.join("; ")
}

/// Makes properties with a default optional, even if `required` lists them: generators that describe a tool's arguments
/// after defaults were filled in (three tools of Playwright's server are like this) list them there.
fn require_no_defaults(schema: &mut Value) {
    /// These contain values, which may look like schemas.
    const VALUES: [&str; 4] = ["default", "const", "enum", "examples"];
    let schema = match schema {
        Value::Array(schemas) => return schemas.iter_mut().for_each(require_no_defaults),
        Value::Object(schema) => schema,
        _ => return,
    };
    let has_default = |properties: Option<&Value>, name: &Value| {
        let property = name.as_str().and_then(|name| properties?.get(name));
        property.is_some_and(|property| property.get("default").is_some())
    };
    if let Some(mut required) = schema.remove("required") {
        if let Some(names) = required.as_array_mut() {
            names.retain(|name| !has_default(schema.get("properties"), name));
        }
        // The oldest draft does not allow an empty list.
        if required.as_array().is_none_or(|names| !names.is_empty()) {
            schema.insert("required".to_owned(), required);
        }
    }
    let deeper = schema.iter_mut().filter(|(key, _)| !VALUES.contains(&key.as_str()));
    deeper.for_each(|(_, schema)| require_no_defaults(schema));
}

/// The innermost causes: those around them only report that there are some.
fn collect_causes(error: &ValidationError<'_, '_>, wrong: &mut Vec<String>) {
    /// More causes than a person can correct at once are dropped.
    const MAX_CAUSES: usize = 5;
    if error.causes.is_empty() && wrong.len() < MAX_CAUSES {
        let place = error.instance_location.to_string();
        let place = if place.is_empty() { "the arguments".to_owned() } else { place };
        wrong.push(format!("{place}: {}", error.kind));
    }
    error.causes.iter().for_each(|cause| collect_causes(cause, wrong));
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn each_mismatch_is_named_with_its_path() {
        let schema = Schema::compile(
            r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1},"names":{"type":"array","items":{"type":"string"}}},"required":["n"]}"#,
        )
        .unwrap();
        assert_eq!(schema.check(r#"{"n":1,"names":["a"]}"#), Ok(()));
        let wrong = schema.check(r#"{"n":0,"names":["a",7]}"#).unwrap_err();
        assert!(wrong.contains("/n:") && wrong.contains("/names/1:"), "{wrong}");
        let wrong = schema.check("{}").unwrap_err();
        assert!(wrong.starts_with("the arguments: ") && wrong.contains('n'), "{wrong}");
    }

    #[test]
    fn arguments_with_a_default_are_optional() {
        let schema = Schema::compile(
            r#"{"properties":{"scale":{"type":"string","default":"css"},"file":{"type":"string"},
                "clip":{"properties":{"unit":{"default":"px"},"width":{}},"required":["unit","width"]}},"required":["scale","file"]}"#,
        )
        .unwrap();
        assert_eq!(schema.check(r#"{"file":"a.png","clip":{"width":7}}"#), Ok(()));
        assert!(schema.check(r#"{"file":"a.png","scale":7}"#).is_err(), "present arguments are still checked");
        assert!(schema.check(r#"{"scale":"css"}"#).unwrap_err().contains("'file'"));
        assert!(schema.check(r#"{"file":"a.png","clip":{}}"#).unwrap_err().contains("'width'"));
        let oldest = r##"{"$schema":"http://json-schema.org/draft-04/schema#","definitions":{"a":{"properties":{"b":{"default":1}},
            "required":["b"]}},"properties":{"a":{"$ref":"#/definitions/a"},"n":{"type":"number"}}}"##;
        let oldest = Schema::compile(oldest).unwrap();
        assert_eq!(oldest.check(r#"{"a":{}}"#), Ok(()));
        assert!(oldest.check(r#"{"n":"7"}"#).is_err());
    }

    #[test]
    fn every_draft_that_servers_use_is_supported() {
        let draft7 = r##"{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}},"properties":{"a":{"$ref":"#/definitions/a"}}}"##;
        assert!(Schema::compile(draft7).unwrap().check(r#"{"a":1}"#).is_err());
        assert!(Schema::compile("true").unwrap().check("{}").is_ok());
    }

    #[test]
    fn a_schema_fetches_nothing() {
        for schema in [r#"{"$ref":"file:///etc/passwd"}"#, r#"{"$ref":"http://127.0.0.1/x"}"#] {
            assert!(Schema::compile(schema).is_err(), "{schema}");
        }
        assert!(Schema::compile("[").is_err());
    }
}
