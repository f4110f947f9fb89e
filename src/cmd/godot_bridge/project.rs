//! A project on the disk: whether it can be played, and the addon put in and out.

use crate::godot::{ADDON, AUTOLOAD, Asset, Change, Foreign, has_autoload, install, remove};
use crate::io::report::{Failure, Status};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub const FILE: &str = "project.godot";
const ADDON_FOLDER: &str = "addons/agent_bridge";

fn usage(message: impl std::fmt::Display) -> Failure {
    Failure::new(Status::Usage, message)
}

/// The folder of a project, named by itself or by its `project.godot`; with what that file says.
///
/// # Errors
/// [`Status::Usage`] where there is no project.
pub fn open(path: &Path) -> Result<(PathBuf, String), Failure> {
    let folder = if path.file_name() == Some(OsStr::new(FILE)) { path.parent().unwrap_or(path) } else { path };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let text = fs::read_to_string(folder.join(FILE));
    let text = text.map_err(|error| usage(format_args!("{}: {error}", folder.join(FILE).display())))?;
    Ok((folder.to_owned(), text))
}

/// The same, for a project that is to be played.
///
/// # Errors
/// [`Status::Usage`] where it doesn't start the bridge.
pub fn open_to_play(path: &Path) -> Result<(PathBuf, String), Failure> {
    let (folder, text) = open(path)?;
    let script = AUTOLOAD.1.trim_start_matches("res://");
    if has_autoload(&text, uid(&folder).as_deref()) && folder.join(script).exists() {
        return Ok((folder, text));
    }
    let name = folder.display();
    Err(usage(format_args!("{name} has no AgentBridge: put it in with godot-bridge install {name}")))
}

/// Whether the addon's files are those of this version.
pub fn has_current_addon(folder: &Path) -> bool {
    let is_same = |asset: &Asset| {
        fs::read(folder.join(ADDON_FOLDER).join(asset.path)).is_ok_and(|text| text == asset.text.as_bytes())
    };
    ADDON.iter().all(is_same)
}

/// Whether the addon reads its options from environment variables, as it does since 0.2.0.
pub fn has_addon_with_variables(folder: &Path) -> bool {
    folder.join(ADDON_FOLDER).join("agent_options.gd").exists()
}

/// The engine's name for the addon's script, which an editor may write instead of its path.
fn uid(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(ADDON_FOLDER).join("agent_bridge.gd.uid")).ok()?;
    Some(text.trim().to_owned())
}

/// Puts the addon into a project, or takes it out; gives what changed, a line each.
///
/// # Errors
/// [`Status::Usage`] where there is no project or it can't be written.
pub fn change(path: &Path, taking_out: bool) -> Result<Vec<String>, Failure> {
    let (folder, text) = open(path)?;
    let failed = |path: &Path, error: io::Error| usage(format_args!("{}: {error}", path.display()));
    let addon = folder.join(ADDON_FOLDER);
    let mut told = Vec::new();
    let uid = uid(&folder);
    let project = if taking_out {
        let removed = remove(&text, uid.as_deref()).unwrap_or_else(|Foreign { number, line }| {
            told.push(format!(" {line}    ({FILE}:{number}, not the addon's: left as it is)"));
            None
        });
        if fs::symlink_metadata(&addon).is_ok_and(|found| found.is_symlink()) {
            fs::remove_file(&addon).map_err(|error| failed(&addon, error))?;
            told.push(format!("-{ADDON_FOLDER} (a link)"));
        } else if addon.exists() {
            fs::remove_dir_all(&addon).map_err(|error| failed(&addon, error))?;
            told.push(format!("-{ADDON_FOLDER}/"));
            // Only where nothing else is in it.
            let _ = fs::remove_dir(folder.join("addons"));
        }
        removed
    } else {
        let installed = install(&text, uid.as_deref()).map_err(|Foreign { number, line }| {
            let name = folder.join(FILE);
            let advice = "give that autoload another name, or remove the line; nothing was written";
            usage(format_args!(
                "{}:{number}: AgentBridge is another autoload of this project: {line}: {advice}",
                name.display()
            ))
        })?;
        // As in a copy of a project that shares its addon with another.
        if fs::symlink_metadata(&addon).is_ok_and(|found| found.is_symlink()) && !addon.exists() {
            fs::remove_file(&addon).map_err(|error| failed(&addon, error))?;
            told.push(format!("-{ADDON_FOLDER} (a link that led nowhere)"));
        }
        let written = write_addon(&addon).map_err(|error| failed(&addon, error))?;
        told.extend(written.into_iter().map(|path| format!("{path} in {ADDON_FOLDER}")));
        installed
    };
    if let Some(Change { text, diff }) = project {
        let file = folder.join(FILE);
        replace(&file, &text).map_err(|error| failed(&file, error))?;
        told.extend(diff.into_iter().map(|line| format!("{line}    ({FILE})")));
    }
    Ok(told)
}

/// Writes the addon's files where they differ; gives their paths, with `+` before what is new and `~` before what changed.
///
/// # Errors
/// What the system says.
fn write_addon(folder: &Path) -> io::Result<Vec<String>> {
    let mut written = Vec::new();
    for asset in ADDON {
        let path = folder.join(asset.path);
        let before = fs::read(&path);
        if before.as_ref().is_ok_and(|before| before == asset.text.as_bytes()) {
            continue;
        }
        // Which of them it was, nobody could guess (a link that leads nowhere, say).
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", asset.path));
        fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(named)?;
        fs::write(&path, asset.text).map_err(named)?;
        written.push(format!("{}{}", if before.is_ok() { '~' } else { '+' }, asset.path));
    }
    Ok(written)
}

/// Whole or not at all; where it is a link, what it leads to.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = &fs::canonicalize(path)?;
    let new = path.with_extension("godot.new");
    fs::write(&new, text)?;
    fs::set_permissions(&new, fs::metadata(path)?.permissions())?;
    fs::rename(&new, path)
}
