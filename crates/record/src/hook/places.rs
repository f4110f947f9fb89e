//! Where the input of a hook has the tool's name and the arguments.

use crate::json::Object;
use crate::{Fields, Unreadable, unreadable};
use serde_json::value::RawValue;

/// Where an input has the tool's name.
#[derive(Debug)]
pub(super) enum ToolPlace {
    Key(&'static str),
    /// Here, with the name of an MCP server in another field.
    OfServer {
        tool: &'static str,
        server: &'static str,
    },
    /// Here, or, for a tool of an MCP server, in the object under the other key.
    OfContext {
        tool: &'static str,
        context: &'static str,
    },
    /// The event is about this tool only.
    Always(&'static str),
}

/// Where an input has the arguments.
#[derive(Debug)]
pub(super) enum ArgumentsPlace {
    /// An object.
    Key(&'static str),
    /// An object, or the text of one.
    KeyOrText(&'static str),
    /// These fields; the first must be there.
    Fields(&'static [&'static str]),
}

/// The value under a key, which no reader may find in another spelling. Null is no value.
pub(super) fn exact<'a>(fields: &Fields<'a>, key: &str) -> Result<Option<&'a RawValue>, Unreadable> {
    match (fields.get(key), fields.get_ignoring_case(key)) {
        (None, Some(_)) => unreadable(format_args!("{key:?} is there in another spelling")),
        (value, _) => Ok(value.filter(|value| value.get() != "null")),
    }
}

pub(super) fn string(key: &str, value: &RawValue) -> Result<String, Unreadable> {
    serde_json::from_str(value.get()).or_else(|_| unreadable(format_args!("{key:?} is not a string")))
}

fn required(fields: &Fields<'_>, key: &str) -> Result<String, Unreadable> {
    match exact(fields, key)? {
        Some(value) => match string(key, value)? {
            text if text.is_empty() => unreadable(format_args!("{key:?} is empty")),
            text => Ok(text),
        },
        None => unreadable(format_args!("it has no {key:?}")),
    }
}

impl ToolPlace {
    pub(super) fn read(&self, fields: &Fields<'_>) -> Result<String, Unreadable> {
        match self {
            ToolPlace::Always(tool) => Ok((*tool).to_owned()),
            ToolPlace::Key(key) => required(fields, key),
            ToolPlace::OfContext { tool, context } => {
                let tool = required(fields, tool)?;
                // Gemini joins the names of server and tool by a sign that both may have.
                match exact(fields, context)?.map(|context| Fields::read(context.get())).transpose()? {
                    Some(context) => {
                        let own = required(&context, "tool_name")?;
                        Ok(of_server(&required(&context, "server_name")?, &own))
                    }
                    None => Ok(tool),
                }
            }
            ToolPlace::OfServer { tool, server } => {
                let own = required(fields, tool)?;
                let server = exact(fields, server)?.map(|value| string(server, value)).transpose()?;
                Ok(of_server(server.as_deref().unwrap_or("mcp"), &own))
            }
        }
    }
}

/// A tool's name as most clients of MCP give it.
fn of_server(server: &str, tool: &str) -> String {
    // A mark in the server's name would move its end.
    format!("mcp__{}__{tool}", server.replace("__", "_"))
}

impl ArgumentsPlace {
    /// JSON text: an object.
    pub(super) fn read(&self, fields: &Fields<'_>) -> Result<String, Unreadable> {
        // Whether other readers would find the same in it is for the policy to judge.
        let object = |key: &str, json: &str| match serde_json::from_str::<&RawValue>(json) {
            Ok(value) if value.get().starts_with('{') => Ok(value.get().to_owned()),
            _ => unreadable(format_args!("{key:?} is not an object")),
        };
        match self {
            ArgumentsPlace::Key(key) => match exact(fields, key)? {
                Some(value) => object(key, value.get()),
                None => unreadable(format_args!("it has no {key:?}")),
            },
            ArgumentsPlace::KeyOrText(key) => match exact(fields, key)? {
                Some(value) if value.get().starts_with('"') => object(key, &string(key, value)?),
                Some(value) => object(key, value.get()),
                None => unreadable(format_args!("it has no {key:?}")),
            },
            ArgumentsPlace::Fields(keys) => {
                let mut own = Object::default();
                for (index, key) in keys.iter().enumerate() {
                    match exact(fields, key)? {
                        Some(value) => own = own.text(key, &string(key, value)?),
                        None if index == 0 => return unreadable(format_args!("it has no {key:?}")),
                        None => {}
                    }
                }
                Ok(own.end())
            }
        }
    }
}
