//! The key: from a variable or a private file, for one server.

use crate::cmd::models::variable;
use crate::io::report::{Failure, Status};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Where a key comes from, as the options say.
#[derive(Debug, Default, clap::Args)]
pub struct KeyOptions {
    /// Take the key from this environment variable instead of the provider's usual one
    #[arg(long, value_name = "NAME", conflicts_with = "key_file", help_heading = "Model")]
    key_env: Option<String>,
    /// Take the key from this file, which nobody else may be able to read
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    key_file: Option<std::path::PathBuf>,
}

/// The key that the options name, else that of the variable `configured`, else of the first of `usual` that is set.
///
/// # Errors
/// [`Status::Usage`]: a key that was named is missing or empty, or its file can be read by others.
pub fn key(options: &KeyOptions, configured: Option<&str>, usual: &[&str]) -> Result<Option<String>, Failure> {
    let usage = |why: String| Failure::new(Status::Usage, why);
    if let Some(path) = &options.key_file {
        return read(path).map(Some).map_err(|why| usage(format!("--key-file: {}: {why}", path.display())));
    }
    let (place, named) = match &options.key_env {
        Some(name) => ("--key-env", Some(&**name)),
        None => ("key_env in models.toml", configured),
    };
    if let Some(name) = named {
        let missing = || usage(format!("{place}: the environment has no {name}, or it is empty"));
        return variable(name).ok_or_else(missing).map(Some);
    }
    Ok(usual.iter().find_map(|name| variable(name)))
}

fn read(path: &Path) -> Result<String, String> {
    let mode = fs::metadata(path).map_err(|error| error.to_string())?.mode();
    if mode & 0o077 != 0 {
        return Err("others can read or write it; run chmod 600 on it".to_owned());
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    match text.trim() {
        "" => Err("it is empty".to_owned()),
        key if key.contains(char::is_whitespace) => {
            Err("it has more than one word: the key alone stands in it".to_owned())
        }
        key => Ok(key.to_owned()),
    }
}
