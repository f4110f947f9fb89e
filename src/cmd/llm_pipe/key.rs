//! The key for one server: from an environment variable or a private file.

use crate::cmd::models::variable;
use crate::cmd::usage;
use pipewright_io::report::Failure;
use pipewright_sys::file;
use std::fs;
use std::path::Path;

/// The options for the key.
#[derive(Debug, Default, Clone, clap::Args)]
pub struct KeyOptions {
    /// Take the key from this environment variable instead of the provider's usual one
    #[arg(long, value_name = "NAME", conflicts_with = "key_file", help_heading = "Model")]
    key_env: Option<String>,
    /// Take the key from this file, which no other user may be able to read
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    key_file: Option<std::path::PathBuf>,
}

/// The key that the options name; otherwise of the variable `configured`; otherwise of the first variable in `usual`
/// that is set.
///
/// # Errors
/// [`usage`]: a named key is missing or empty, or its file can be read by others.
pub fn key(options: &KeyOptions, configured: Option<&str>, usual: &[&str]) -> Result<Option<String>, Failure> {
    if let Some(path) = &options.key_file {
        return read(path).map(Some).map_err(|why| usage(format!("--key-file: {}: {why}", path.display())));
    }
    let (place, named) = match &options.key_env {
        Some(name) => ("--key-env", Some(&**name)),
        None => ("key_env in models.toml", configured),
    };
    if let Some(name) = named {
        let missing = || usage(format!("{place}: {name} is not set in the environment, or is empty"));
        return variable(name).ok_or_else(missing).map(Some);
    }
    Ok(usual.iter().find_map(|name| variable(name)))
}

fn read(path: &Path) -> Result<String, String> {
    let found = fs::metadata(path).map_err(|error| error.to_string())?;
    if file::others_can_use(&found) {
        return Err("other users can read or write it; run chmod 600 on it".to_owned());
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    match text.trim() {
        "" => Err("the file is empty".to_owned()),
        key if key.contains(char::is_whitespace) => {
            Err("the file has more than one word: it must contain only the key".to_owned())
        }
        key => Ok(key.to_owned()),
    }
}
