//! An editor's requests.

use pipewright_record::{Fields, Reason};
use serde_json::value::RawValue;
use std::path::PathBuf;

/// The editor's capabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// The editor can show forms.
    pub has_forms: bool,
}

impl ClientCapabilities {
    /// Reads the parameters of `initialize`.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(params: &Fields<'_>) -> Result<ClientCapabilities, Reason> {
        let version = params.get("protocolVersion").ok_or("protocolVersion is missing")?;
        version.get().parse::<u16>().map_err(|_| "protocolVersion is not a version number")?;
        let capabilities = params.object("clientCapabilities");
        let elicitation = capabilities.and_then(|capabilities| capabilities.object("elicitation"));
        Ok(ClientCapabilities {
            has_forms: elicitation.is_some_and(|elicitation| elicitation.present("form").is_some()),
        })
    }
}

/// The parameters of `session/new` and `session/load`.
#[derive(Debug)]
pub struct SessionRequest {
    /// An absolute path.
    pub folder: PathBuf,
    /// What the editor offers to its agents and is not used here, for people.
    pub unused: Option<String>,
}

impl SessionRequest {
    /// Reads the parameters.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(params: &Fields<'_>) -> Result<SessionRequest, Reason> {
        let folder = PathBuf::from(params.text("cwd").ok_or("cwd is missing")?);
        if !folder.is_absolute() {
            return Err(format!("cwd is not an absolute path: {}", folder.display()).into());
        }
        let count = |key: &str| params.list(key).map(|list| list.len()).map_err(|why| why.to_string());
        let counted =
            [(count("mcpServers")?, "mcpServers"), (count("additionalDirectories")?, "additionalDirectories")];
        let unused = counted.iter().filter(|(count, _)| *count > 0).map(|(count, key)| format!("{count} {key}"));
        let unused = unused.collect::<Vec<_>>().join(", ");
        Ok(SessionRequest { folder, unused: Some(unused).filter(|unused| !unused.is_empty()) })
    }
}

/// The fields of a request's parameters; empty without parameters.
///
/// # Errors
/// If the parameters are not an object.
pub fn parameters<'a>(params: Option<&'a RawValue>) -> Result<Fields<'a>, Reason> {
    match params.map(RawValue::get).filter(|params| *params != "null") {
        None => Ok(Fields::default()),
        Some(json) => Fields::read(json).map_err(|why| format!("params: {why}").into()),
    }
}
