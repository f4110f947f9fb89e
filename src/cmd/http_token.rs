//! The token for clients of our HTTP servers.

use crate::cmd::usage;
use pipewright_io::report::{Failure, Status};
use std::path::Path;

/// Shorter tokens could be guessed.
const MIN_LEN: usize = 16;

/// The token from this file, otherwise from this variable, otherwise a new one; and whether it is new.
///
/// # Errors
/// [`usage`] if the file cannot be read or the token is invalid, [`Status::NotStarted`] if no token can be generated.
pub fn read_or_make(file: Option<&Path>, variable: &str) -> Result<(String, bool), Failure> {
    let (token, place) = match (file, std::env::var_os(variable)) {
        (Some(path), _) => {
            let text = std::fs::read_to_string(path)
                .map_err(|error| usage(format_args!("--token-file: {}: {error}", path.display())))?;
            (text, "--token-file")
        }
        (None, Some(token)) => (token.to_string_lossy().into_owned(), variable),
        (None, None) => return Ok((make()?, true)),
    };
    let token = token.trim();
    if token.len() < MIN_LEN || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let why = format!("{place}: a token is {MIN_LEN} or more visible ASCII characters");
        return Err(usage(why));
    }
    Ok((token.to_owned(), false))
}

/// An unguessable text.
///
/// # Errors
/// [`Status::NotStarted`] if the system's source of random bytes cannot be read.
pub fn make() -> Result<String, Failure> {
    pipewright_sys::random::token()
        .map_err(|error| Failure::new(Status::NotStarted, format_args!("/dev/urandom: {error}")))
}
