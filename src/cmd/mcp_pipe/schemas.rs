//! Calls held against the server's own list of tools, before they are sent.

use crate::mcp::Client;
use crate::record::Kind;
use pipewright_mcp::Schema;
use std::collections::HashMap;

/// The tools' schemas, compiled when they are first asked for.
#[derive(Default)]
pub struct Schemas(HashMap<String, Result<Schema, String>>);

impl Schemas {
    /// Forgets them: the tools have changed.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether the server has the tool, and the arguments are what it asks for.
    ///
    /// # Errors
    /// What is wrong, with its path in the arguments.
    pub fn check(&mut self, client: &Client, tool: &str, arguments: &str) -> Result<(), (Kind, String)> {
        let Some(listed) = client.tool(tool) else {
            let names: Vec<&str> = client.tools().map(|tool| tool.name.as_str()).collect();
            let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err((Kind::UnknownTool, format!("the server has no tool {tool:?}; it has {has}")));
        };
        let Some(schema) = &listed.schema else { return Ok(()) };
        let compiled = self.0.entry(tool.to_owned()).or_insert_with(|| Schema::compile(schema));
        match compiled {
            Ok(schema) => schema.check(arguments).map_err(|wrong| (Kind::InvalidArgs, format!("{tool}: {wrong}"))),
            // A schema that can't be read is the server's affair, and so are arguments then.
            Err(_) => Ok(()),
        }
    }
}
