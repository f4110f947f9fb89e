//! A project on disk: checks whether it can be played, and installs and removes the addon.

use super::import::script_of_class;
use crate::cmd::usage;
use pipewright_games::godot::{
    ADDON, AUTOLOAD, Asset, AutoloadConflict, ProjectChange, has_autoload, install, remove, unfit,
};
use pipewright_io::report::Failure;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub const FILE: &str = "project.godot";
const ADDON_FOLDER: &str = "addons/agent_bridge";

/// Opens a project, named by its folder or its `project.godot`; returns the folder and the text of that file.
///
/// # Errors
/// [`usage`] if there is no project.
pub fn open(path: &Path) -> Result<(PathBuf, String), Failure> {
    let folder = if path.file_name() == Some(OsStr::new(FILE)) { path.parent().unwrap_or(path) } else { path };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let text = fs::read_to_string(folder.join(FILE));
    let text = text.map_err(|error| usage(format_args!("{}: {error}", folder.join(FILE).display())))?;
    Ok((folder.to_owned(), text))
}

/// Opens a project that is to be played, now or later.
fn open_fit(path: &Path) -> Result<(PathBuf, String), Failure> {
    let (folder, text) = open(path)?;
    match unfit(&text) {
        None => Ok((folder, text)),
        Some(why) => Err(usage(format_args!("{} {why}; nothing was written", folder.join(FILE).display()))),
    }
}

/// Opens a project that is to be played.
///
/// # Errors
/// [`usage`] if it is not of Godot 4, has no addon, or does not load it.
pub fn open_to_play(path: &Path) -> Result<(PathBuf, String), Failure> {
    let (folder, text) = open_fit(path)?;
    let script = AUTOLOAD.1.trim_start_matches("res://");
    if has_autoload(&text, uid(&folder).as_deref()) && folder.join(script).exists() {
        return Ok((folder, text));
    }
    let name = folder.display();
    Err(usage(format_args!("{name} has no AgentBridge: run godot-bridge install {name}")))
}

/// Whether the addon's files are those of this version.
pub fn has_current_addon(folder: &Path) -> bool {
    let is_same = |asset: &Asset| {
        fs::read(folder.join(ADDON_FOLDER).join(asset.path)).is_ok_and(|text| text == asset.text.as_bytes())
    };
    ADDON.iter().all(is_same)
}

/// Whether the addon reads its options from environment variables, as it does since version 0.2.0.
pub fn has_addon_with_variables(folder: &Path) -> bool {
    folder.join(ADDON_FOLDER).join("agent_options.gd").exists()
}

/// The engine's name for the addon's script, which an editor may write instead of its path.
fn uid(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join(ADDON_FOLDER).join("agent_bridge.gd.uid")).ok()?;
    Some(text.trim().to_owned())
}

/// Installs the addon in a project, or removes it; returns what changed, one line each.
///
/// # Errors
/// [`usage`] if there is no project, the addon does not fit it, or it cannot be written.
pub fn change(path: &Path, removing: bool) -> Result<Vec<String>, Failure> {
    let (folder, text) = if removing { open(path)? } else { open_fit(path)? };
    let failed = |path: &Path, error: io::Error| usage(format_args!("{}: {error}", path.display()));
    let addon = folder.join(ADDON_FOLDER);
    let mut changes = Vec::new();
    let uid = uid(&folder);
    let project = if removing {
        let removed = remove(&text, uid.as_deref()).unwrap_or_else(|AutoloadConflict { number, line }| {
            changes.push(format!(" {line}    ({FILE}:{number}, not the addon's: left unchanged)"));
            None
        });
        if fs::symlink_metadata(&addon).is_ok_and(|found| found.is_symlink()) {
            fs::remove_file(&addon).map_err(|error| failed(&addon, error))?;
            changes.push(format!("-{ADDON_FOLDER} (a link)"));
        } else if addon.exists() {
            fs::remove_dir_all(&addon).map_err(|error| failed(&addon, error))?;
            changes.push(format!("-{ADDON_FOLDER}/"));
            // Removing fails, as intended, if anything else is in the folder.
            let _ = fs::remove_dir(folder.join("addons"));
        }
        removed
    } else {
        let installed = install(&text, uid.as_deref()).map_err(|AutoloadConflict { number, line }| {
            let name = folder.join(FILE);
            let advice = "give that autoload another name, or remove the line; nothing was written";
            usage(format_args!(
                "{}:{number}: AgentBridge is another autoload of this project: {line}: {advice}",
                name.display()
            ))
        })?;
        if let Some(script) = script_of_class(&folder, AUTOLOAD.0) {
            let advice = "give it another name; nothing was written";
            let script = script.display();
            return Err(usage(format_args!(
                "{script}: this class has the name of the addon's autoload, {}: {advice}",
                AUTOLOAD.0
            )));
        }
        // A dangling link, as in a copy of a project that shares its addon with another project.
        if fs::symlink_metadata(&addon).is_ok_and(|found| found.is_symlink()) && !addon.exists() {
            fs::remove_file(&addon).map_err(|error| failed(&addon, error))?;
            changes.push(format!("-{ADDON_FOLDER} (a dangling link)"));
        }
        let written = write_addon(&addon).map_err(|error| failed(&addon, error))?;
        changes.extend(written.into_iter().map(|path| format!("{path} in {ADDON_FOLDER}")));
        installed
    };
    if let Some(ProjectChange { text, diff }) = project {
        let file = folder.join(FILE);
        replace(&file, &text).map_err(|error| failed(&file, error))?;
        changes.extend(diff.into_iter().map(|line| format!("{line}    ({FILE})")));
    }
    Ok(changes)
}

/// Writes the addon's files that differ; returns their paths, with `+` before new files and `~` before changed ones.
///
/// # Errors
/// Any I/O error.
fn write_addon(folder: &Path) -> io::Result<Vec<String>> {
    let mut written = Vec::new();
    for asset in ADDON {
        let path = folder.join(asset.path);
        let before = fs::read(&path);
        if before.as_ref().is_ok_and(|before| before == asset.text.as_bytes()) {
            continue;
        }
        // Without the name, the cause (a dangling link, for example) could not be found.
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", asset.path));
        fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(named)?;
        fs::write(&path, asset.text).map_err(named)?;
        written.push(format!("{}{}", if before.is_ok() { '~' } else { '+' }, asset.path));
    }
    Ok(written)
}

/// Replaces a file atomically; if it is a link, the file it points to.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = &fs::canonicalize(path)?;
    let new = path.with_extension("godot.new");
    fs::write(&new, text)?;
    fs::set_permissions(&new, fs::metadata(path)?.permissions())?;
    fs::rename(&new, path)
}
