//! The model command, and the environment variables of its keys.

use super::Arguments;
use crate::cmd::usage;
use pipewright_io::report::Failure;
use pipewright_llm::PROVIDERS;
use std::ffi::OsString;
use std::path::Path;

/// The command of `--llm`.
///
/// # Errors
/// [`usage`]: a quotation mark is not closed, or the command is empty.
pub fn command(llm: &str) -> Result<Vec<OsString>, Failure> {
    let words = shlex::split(llm).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| {
        usage(format_args!("--llm: {llm:?} is not a command: it is empty, or a closing quotation mark is missing"))
    })?;
    Ok(words.into_iter().map(OsString::from).collect())
}

/// llm-pipe with the model of `--model`; `streams` makes it stream its answers. An llm-pipe in our own program's folder is preferred to one
/// in `PATH`.
pub fn llm_pipe(arguments: &Arguments, streams: bool, images: &Path) -> Vec<OsString> {
    let own = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join("llm-pipe")));
    let program = own.filter(|program| program.is_file()).map_or_else(|| OsString::from("llm-pipe"), OsString::from);
    let model = arguments.model.as_deref().unwrap_or_default();
    let mut command = vec![program, "--model".into(), model.into(), "--images".into(), images.into()];
    command.extend(arguments.base_url.iter().flat_map(|url| ["--base-url".into(), url.into()]));
    command.extend(arguments.set.iter().flat_map(|setting| ["--set".into(), setting.into()]));
    command.extend(["--busy-timeout".into(), format!("{}ms", arguments.busy_timeout.as_millis()).into()]);
    command.extend(streams.then(|| "--stream".into()));
    command
}

/// The environment variables of keys, which the world does not get: of all providers, of models.toml, and of the model
/// command's `--key-env`.
///
/// # Errors
/// [`usage`]: models.toml cannot be read.
pub fn key_variables(command: &[OsString]) -> Result<Vec<String>, Failure> {
    let usual = PROVIDERS.iter().flat_map(|provider| provider.key_variables()).map(|&name| name.to_owned());
    let words: Vec<&str> = command.iter().filter_map(|word| word.to_str()).collect();
    let behind = words.windows(2).filter(|pair| pair[0] == "--key-env").map(|pair| pair[1]);
    let named = behind.chain(words.iter().filter_map(|word| word.strip_prefix("--key-env="))).map(str::to_owned);
    Ok(usual.chain(named).chain(configured()?).collect())
}

/// The variables that models.toml names.
#[cfg(feature = "http")]
fn configured() -> Result<Vec<String>, Failure> {
    Ok(crate::cmd::models::Models::read()?.key_variables().map(str::to_owned).collect())
}

/// Without llm-pipe there is no models.toml.
#[cfg(not(feature = "http"))]
fn configured() -> Result<Vec<String>, Failure> {
    Ok(Vec::new())
}
