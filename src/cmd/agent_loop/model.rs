//! The model side: which command it is, and what its keys are called.

use crate::io::report::{Failure, Status};
use crate::llm::PROVIDERS;
use std::ffi::OsString;
use std::path::Path;

/// The command of `--llm`, or llm-pipe with the model of `--model`. The one beside our own program is taken before that of `PATH`.
///
/// # Errors
/// [`Status::Usage`]: quotation marks that are not closed.
pub fn command(llm: Option<&str>, model: Option<&str>, images: &Path) -> Result<Vec<OsString>, Failure> {
    if let Some(command) = llm {
        let words = shlex::split(command).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| {
            Failure::new(
                Status::Usage,
                format_args!("--llm: {command:?} is not a command: a quotation mark is open, or there is no word"),
            )
        })?;
        return Ok(words.into_iter().map(OsString::from).collect());
    }
    let own = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.join("llm-pipe")));
    let program = own.filter(|program| program.is_file()).map_or_else(|| OsString::from("llm-pipe"), OsString::from);
    let mut command = vec![program, "--model".into(), model.unwrap_or_default().into(), "--images".into()];
    command.push(images.into());
    Ok(command)
}

/// The environment variables of all providers' keys, which the world does not get.
pub fn key_variables() -> Vec<&'static str> {
    PROVIDERS.iter().flat_map(|provider| provider.key_variables()).copied().collect()
}
