//! The token that clients of our HTTP servers have to know.

use crate::io::report::{Failure, Status};
use std::path::Path;

/// A shorter one could be guessed.
const SHORTEST: usize = 16;

/// The token in this file, else in this variable, else a new one; and whether it is new.
///
/// # Errors
/// [`Status::Usage`] for a file that cannot be read or a text that is no token, [`Status::NotStarted`] where none can be made.
pub fn read_or_make(file: Option<&Path>, variable: &str) -> Result<(String, bool), Failure> {
    let (token, place) = match (file, std::env::var_os(variable)) {
        (Some(path), _) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::new(Status::Usage, format_args!("--token-file: {}: {error}", path.display()))
            })?;
            (text, "--token-file")
        }
        (None, Some(token)) => (token.to_string_lossy().into_owned(), variable),
        (None, None) => return Ok((make()?, true)),
    };
    let token = token.trim();
    if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let why = format!("{place}: a token is {SHORTEST} or more visible ASCII characters");
        return Err(Failure::new(Status::Usage, why));
    }
    Ok((token.to_owned(), false))
}

/// A text that nobody can guess.
///
/// # Errors
/// [`Status::NotStarted`] where the system's source of random bytes cannot be read.
pub fn make() -> Result<String, Failure> {
    crate::io::session::token().map_err(|error| Failure::new(Status::NotStarted, format_args!("/dev/urandom: {error}")))
}
