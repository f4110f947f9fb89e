//! A project on the disk: whether it can be played, whether it has to be imported first, and the addon put in and out.

use crate::godot::{ADDON, AUTOLOAD, Change, Engine, has_autoload, install, remove};
use crate::io::child;
use crate::io::report::{Failure, Report, Status};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const FILE: &str = "project.godot";
const ADDON_FOLDER: &str = "addons/agent_bridge";
/// Folders within folders; a link that leads back up ends there.
const DEEPEST: usize = 16;

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
    if has_autoload(&text) && folder.join(script).exists() {
        return Ok((folder, text));
    }
    let name = folder.display();
    Err(usage(format_args!("{name} has no AgentBridge: put it in with godot-bridge install {name}")))
}

/// Whether the engine has to look through the project once before it can be played: a script's class_name that it doesn't
/// know yet, or an asset that isn't imported.
pub fn needs_import(folder: &Path) -> bool {
    let known = fs::read_to_string(folder.join(".godot/global_script_class_cache.cfg")).unwrap_or_default();
    any_file(folder, DEEPEST, &mut |path| {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        match extension {
            "gd" => class_name(path).is_some_and(|name| !known.contains(&format!("&\"{name}\""))),
            "import" => fs::read_to_string(path).is_ok_and(|text| !imported_file_exists(folder, &text)),
            _ => ASSETS.contains(&extension) && !path.with_extension(format!("{extension}.import")).exists(),
        }
    })
}

/// What a game can't load before it was imported.
const ASSETS: &[&str] =
    &["png", "jpg", "jpeg", "webp", "svg", "bmp", "tga", "wav", "ogg", "mp3", "ttf", "otf", "woff2", "glb", "gltf"];

fn class_name(script: &Path) -> Option<String> {
    let text = fs::read_to_string(script).ok()?;
    let named = text.lines().find_map(|line| line.trim_start().strip_prefix("class_name "))?;
    let name: String = named.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

/// Whether what an `.import` file says was made is there.
fn imported_file_exists(folder: &Path, text: &str) -> bool {
    let made = text.lines().find_map(|line| line.strip_prefix("path=\"res://")?.strip_suffix('"'));
    made.is_none_or(|made| folder.join(made).exists())
}

fn any_file(folder: &Path, depth: usize, is_it: &mut impl FnMut(&Path) -> bool) -> bool {
    if depth == 0 || folder.join(".gdignore").exists() {
        return false;
    }
    // What can't be read, the engine can't either, and says so.
    fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        !hidden && if path.is_dir() { any_file(&path, depth - 1, is_it) } else { is_it(&path) }
    })
}

/// Has the engine look through the project.
///
/// # Errors
/// [`Status::NotStarted`] where it can't.
pub fn import(godot: &OsStr, folder: &Path, report: &Report) -> Result<(), Failure> {
    report.note(format_args!("{}: importing, once; it may take half a minute", folder.display()));
    let words = [godot, OsStr::new("--headless"), OsStr::new("--path"), folder.as_os_str(), OsStr::new("--import")];
    let mut tail = Engine::default();
    let status = child::run(&words.map(OsString::from), |line| _ = tail.take(line))?;
    if status.success() {
        return Ok(());
    }
    tail.text().lines().for_each(|line| report.say(format_args!("  | {line}")));
    let how = child::describe(status);
    Err(Failure::new(Status::NotStarted, format_args!("{}: the import has failed: {how}", folder.display())))
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
    let project = if taking_out {
        if fs::symlink_metadata(&addon).is_ok_and(|found| found.is_symlink()) {
            fs::remove_file(&addon).map_err(|error| failed(&addon, error))?;
            told.push(format!("-{ADDON_FOLDER} (a link)"));
        } else if addon.exists() {
            fs::remove_dir_all(&addon).map_err(|error| failed(&addon, error))?;
            told.push(format!("-{ADDON_FOLDER}/"));
            // Only where nothing else is in it.
            let _ = fs::remove_dir(folder.join("addons"));
        }
        remove(&text)
    } else {
        // As in a copy of a project that shares its addon with another.
        if fs::symlink_metadata(&addon).is_ok_and(|found| found.is_symlink()) && !addon.exists() {
            fs::remove_file(&addon).map_err(|error| failed(&addon, error))?;
            told.push(format!("-{ADDON_FOLDER} (a link that led nowhere)"));
        }
        let written = write_addon(&addon).map_err(|error| failed(&addon, error))?;
        told.extend(written.into_iter().map(|path| format!("{path} in {ADDON_FOLDER}")));
        install(&text)
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
