//! Random numbers that nobody can guess.

use std::io;

/// 32 random hexadecimal digits.
///
/// # Errors
/// If the system's source of random bytes cannot be read.
pub fn token() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
