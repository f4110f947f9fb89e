//! `--remember`: rules for the session that a person also writes to a rules file.

use pipewright_policy::rules::{Rules, table};
use pipewright_sys::private;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Reads the file: its text and its rules. A file that does not exist has none.
///
/// # Errors
/// If it can't be read, or is not a rules file.
pub fn read(path: &Path) -> Result<(String, Rules), String> {
    let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let text = match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(wrong(&error)),
        // Other files may have no end.
        Ok(file) if !file.is_file() => return Err(wrong(&"not a regular file")),
        Ok(_) => fs::read_to_string(path).map_err(|error| wrong(&error))?,
    };
    let rules = Rules::read(&text).map_err(|why| wrong(&why))?;
    Ok((text, rules))
}

/// Adds a rule to the file, which is created if it does not exist.
///
/// # Errors
/// If the file can't be read or written, or would not be a rules file then.
pub fn remember(path: &Path, rule: &str) -> Result<(), String> {
    let failed = |why: &dyn std::fmt::Display| format!("the rule is not written to {}: {why}", path.display());
    let (before, known) = read(path).map_err(|why| format!("the rule is not written: {why}"))?;
    let id =
        (1..).map(|number| format!("remembered-{number}")).find(|id| known.rules.iter().all(|rule| rule.id != *id));
    let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
    let added = format!("{end}\n{}", table(&id.unwrap_or_default(), rule));
    Rules::read(&(before + &added)).map_err(|why| failed(&why))?;
    let written = private::file().append(true).create(true).open(path).and_then(|mut file| {
        file.write_all(added.as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| failed(&error))
}
