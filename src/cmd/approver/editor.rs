//! Editing the arguments in a person's own editor.

use crate::cmd::options::TOO_LONG;
use pipewright_io::report::Failure;
use pipewright_sys::private;
use pipewright_sys::process::describe;
use pipewright_sys::run_folder::RunFolder;
use pipewright_sys::terminal::Asking;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

/// The result of editing.
pub enum EditResult {
    /// The text as the editor left it.
    Text(String),
    /// The editor was stopped, since no edit is needed any more.
    Stopped,
}

/// Lets a person edit `text` in $VISUAL or $EDITOR, or else vi, in a file that only they can read, until `stop` gives
/// true.
///
/// # Errors
/// Why there is no valid text, for people.
pub fn edit(text: &str, most: usize, terminal: &mut Asking, stop: impl Fn() -> bool) -> Result<EditResult, String> {
    let failed = |error: io::Error| format!("nothing was changed: {error}");
    let folder = RunFolder::create("approver-draft").map_err(failed)?;
    let path = folder.path().join("arguments.json");
    let mut file = private::file().write(true).create_new(true).open(&path).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    drop(file);
    let status = run(&path, terminal, stop);
    terminal.resume();
    match status.map_err(|failure| format!("nothing was changed: {failure}"))? {
        None => Ok(EditResult::Stopped),
        Some(status) if !status.success() => {
            Err(format!("nothing was changed: the editor ended with {}", describe(status)))
        }
        Some(_) => read(&path, most).map(EditResult::Text).map_err(failed),
    }
}

fn run(path: &Path, terminal: &mut Asking, stop: impl Fn() -> bool) -> Result<Option<ExitStatus>, Failure> {
    let set = |name| std::env::var_os(name).filter(|editor| !editor.is_empty());
    let editor = set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| "vi".into());
    // The editor may have its own arguments (`code --wait`): a shell reads it, as is usual.
    let mut script = editor;
    script.push(" \"$@\"");
    let command = ["sh".into(), "-c".into(), script, OsString::from("sh"), path.into()];
    let mut running = terminal.start(&command).map_err(Failure::not_started)?;
    loop {
        if let Some(status) = running.ended() {
            return Ok(Some(status));
        }
        if stop() {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn read(path: &Path, most: usize) -> io::Result<String> {
    let mut text = String::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    File::open(path)?.take(limit.saturating_add(1)).read_to_string(&mut text)?;
    if text.len() > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is {TOO_LONG}")));
    }
    Ok(text)
}
