//! Checks calls against the server's own list of tools before they are sent.

use super::connection::Prefix;
use pipewright_mcp::{Client, READ_RESOURCE, Schema};
use pipewright_record::{Fields, Kind, Reason};
use std::collections::HashMap;

/// The least similarity of a suggested name: 1 is equal, 0 has nothing in common.
const MIN_SIMILARITY: f64 = 0.75;
/// The most names that are suggested.
const MAX_SUGGESTIONS: usize = 3;

/// The tools' schemas, compiled on first use.
#[derive(Default)]
pub struct Schemas(HashMap<String, Result<Schema, Reason>>);

impl Schemas {
    /// Removes the schemas, because the tools have changed.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Checks that the server has the tool, and that the arguments match its schema. Callers write `prefix` in front of
    /// its tools' names.
    ///
    /// # Errors
    /// What does not match, with its path in the arguments.
    pub fn check(
        &mut self,
        client: &Client,
        prefix: &Prefix,
        tool: &str,
        arguments: &str,
    ) -> Result<(), (Kind, String)> {
        let Some(listed) = client.tool(tool) else { return check_unlisted(client, prefix, tool, arguments) };
        let Some(schema) = &listed.schema else { return Ok(()) };
        let compiled = self.0.entry(tool.to_owned()).or_insert_with(|| Schema::compile(schema));
        match compiled {
            Ok(schema) => schema
                .check(arguments)
                .map_err(|wrong| (Kind::InvalidArgs, format!("{}: {wrong}", prefix.full_name(tool)))),
            // An invalid schema is the server's fault; its arguments are not checked then.
            Err(_) => Ok(()),
        }
    }
}

fn check_unlisted(client: &Client, prefix: &Prefix, tool: &str, arguments: &str) -> Result<(), (Kind, String)> {
    if tool != READ_RESOURCE {
        let why = format!("the server has no tool {:?}; {}", prefix.full_name(tool), instead(client, prefix, tool));
        return Err((Kind::UnknownTool, why));
    }
    let has_uri = |fields: Fields<'_>| fields.get("uri").is_some_and(|uri| uri.get().starts_with('"'));
    if Fields::read(arguments).is_ok_and(has_uri) {
        return Ok(());
    }
    Err((Kind::InvalidArgs, format!("{}: the arguments must be {{\"uri\":\"...\"}}", prefix.full_name(READ_RESOURCE))))
}

/// Suggests the tools with the most similar names.
fn instead(client: &Client, prefix: &Prefix, tool: &str) -> String {
    let similarity = |name: &str| strsim::jaro_winkler(&name.to_lowercase(), &tool.to_lowercase());
    let named = client.tools().map(|tool| (similarity(&tool.name), tool.name.as_str()));
    let mut nearest: Vec<(f64, &str)> = named.filter(|(similarity, _)| *similarity >= MIN_SIMILARITY).collect();
    nearest.sort_by(|one, other| other.0.total_cmp(&one.0));
    let names = Vec::from_iter(nearest.iter().take(MAX_SUGGESTIONS).map(|(_, name)| prefix.full_name(name))).join(", ");
    match client.tools().count() {
        0 => "it has no tools".to_owned(),
        count if names.is_empty() => format!("--list prints its {count} tools"),
        count => format!("nearest: {names} (--list prints all {count})"),
    }
}
