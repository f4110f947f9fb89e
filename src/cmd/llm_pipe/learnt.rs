//! What servers were found to refuse, kept in the state folder by address and model, so that the next run does not try it again. A server may
//! be configured anew: what was learnt is forgotten after a day, or when `llm-pipe check` is run.

use pipewright_llm::Abilities;
use pipewright_record::json::Object;
use pipewright_sys::{folders, private, regular};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How long it is kept.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 16;

fn file(url: &str, model: &str) -> Option<PathBuf> {
    let hash = Sha256::new().chain_update(url).chain_update([0]).chain_update(model).finalize();
    let name: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Some(folders::state()?.join("pipewright/abilities").join(name + ".json"))
}

/// What is known of a model at an address; nothing if the file is missing, old, or not readable.
pub fn read(url: &str, model: &str) -> Abilities {
    let Some(path) = file(url, model) else { return Abilities::default() };
    let changed = fs::metadata(&path).and_then(|found| found.modified());
    let is_recent = changed.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age < KEPT));
    let text = if is_recent { regular::read_text(&path, MAX_FILE).ok() } else { None };
    text.map(|text| Abilities::read(text.trim())).unwrap_or_default()
}

/// Keeps what is known. `place` is the address without secrets, for people who read the file.
///
/// # Errors
/// The file cannot be written.
pub fn write(url: &str, model: &str, place: &str, abilities: &Abilities) -> io::Result<()> {
    let Some(path) = file(url, model) else { return Ok(()) };
    if let Some(folder) = path.parent() {
        private::folder().recursive(true).create(folder)?;
    }
    let known = abilities.json();
    let line = Object::default().text("server", place).text("model", model).end();
    // One object: that of the abilities, with two more fields.
    let line = format!("{},{}\n", &line[..line.len() - 1], &known[1..]);
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let written = private::file().write(true).create(true).truncate(true).open(&new);
    written.and_then(|mut file| file.write_all(line.as_bytes())).and_then(|()| fs::rename(&new, &path))
}
