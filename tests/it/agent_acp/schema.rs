//! Checks every message between an editor and `agent-acp` against the schema of ACP version 1.

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

const PLACE: &str = "acp:schema";

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sender {
    Editor,
    Agent,
}

struct Schema {
    compiler: Compiler,
    compiled: Schemas,
    /// The definitions of a method's parameters and results, by the side that handles the method.
    parameters: HashMap<(String, String), String>,
    results: HashMap<(String, String), String>,
    indices: HashMap<String, SchemaIndex>,
}

thread_local! {
    static SCHEMA: RefCell<Schema> = RefCell::new(Schema::read());
}

impl Schema {
    fn read() -> Schema {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/acp/schema_v1.json");
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let (mut parameters, mut results) = (HashMap::new(), HashMap::new());
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            let Some(method) = definition["x-method"].as_str() else { continue };
            let key = (definition["x-side"].as_str().unwrap().to_owned(), method.to_owned());
            let of_side = if name.ends_with("Response") { &mut results } else { &mut parameters };
            assert_eq!(of_side.insert(key, name.clone()), None, "{name}");
        }
        assert!(parameters.len() > 20 && results.len() > 15);
        let mut compiler = Compiler::new();
        compiler.add_resource(PLACE, schema).unwrap();
        Schema { compiler, compiled: Schemas::new(), parameters, results, indices: HashMap::new() }
    }

    fn check(&mut self, definition: &str, value: &Value) {
        let compile = || self.compiler.compile(&format!("{PLACE}#/$defs/{definition}"), &mut self.compiled).unwrap();
        let index = *self.indices.entry(definition.to_owned()).or_insert_with(compile);
        if let Err(error) = self.compiled.validate(value, index) {
            panic!("not what the schema says of {definition}: {value}\n{error:#}");
        }
    }
}

/// Checks a value against a definition.
#[track_caller]
pub fn hold(definition: &str, value: &Value) {
    SCHEMA.with_borrow_mut(|schema| schema.check(definition, value));
}

/// The messages between the two sides on which the check of answers depends.
#[derive(Debug, Default)]
pub struct Traffic {
    requests: HashMap<(Sender, String), String>,
}

impl Traffic {
    /// Checks a message against the schema.
    #[track_caller]
    pub fn hold(&mut self, sender: Sender, message: &Value) {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        // The side that handles the sender's requests.
        let (handler, other) = match sender {
            Sender::Editor => ("agent", Sender::Agent),
            Sender::Agent => ("client", Sender::Editor),
        };
        let key = |side: &str, method: &str| (side.to_owned(), method.to_owned());
        SCHEMA.with_borrow_mut(|schema| match message["method"].as_str() {
            Some(method) => {
                let handler = if method.starts_with("$/") { "protocol" } else { handler };
                let definition = schema.parameters.get(&key(handler, method)).cloned();
                let definition = definition.unwrap_or_else(|| panic!("the schema has no {method}: {message}"));
                schema.check(&definition, message.get("params").unwrap_or(&json!({})));
                let is_request = message.get("id").is_some();
                assert_eq!(is_request, definition.ends_with("Request"), "{message}");
                if is_request {
                    schema.check("RequestId", &message["id"]);
                    self.requests.insert((sender, message["id"].to_string()), method.to_owned());
                }
            }
            None => {
                schema.check("RequestId", &message["id"]);
                if let Some(error) = message.get("error") {
                    assert!(message.get("result").is_none(), "{message}");
                    return schema.check("Error", error);
                }
                let method = self.requests.remove(&(other, message["id"].to_string()));
                let method = method.unwrap_or_else(|| panic!("an answer to nothing: {message}"));
                let handler = if sender == Sender::Agent { "agent" } else { "client" };
                let definition = schema.results[&key(handler, &method)].clone();
                schema.check(&definition, &message["result"]);
            }
        });
    }
}
