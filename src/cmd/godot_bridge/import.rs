//! What the engine has to look through before a project can be played, and having it do so.

use super::project::FILE;
use crate::godot::{Engine, class_name};
use crate::io::child;
use crate::io::report::{Failure, Report, Status};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders within folders; a link that leads back up ends there.
const DEEPEST: usize = 16;
/// The files that were still to be imported after an import, a path a line. Until they change they are no reason for another.
const LEFT: &str = ".godot/agent_bridge_not_imported.txt";

/// Has the engine look through the project where it has to: for a script's class_name that it doesn't know yet, or an asset
/// that isn't imported.
///
/// # Errors
/// [`Status::NotStarted`] where it can't.
pub fn import_where_needed(godot: &OsStr, folder: &Path, report: &Report) -> Result<(), Failure> {
    let mut waiting = files_to_import(folder);
    if !has_changed_since_import(folder, &waiting) {
        return Ok(());
    }
    let project = folder.join(FILE);
    let failed = |error: io::Error| Failure::new(Status::NotStarted, format_args!("{}: {error}", project.display()));
    let before = fs::read(&project).map_err(failed)?;
    report.note(format_args!("{}: importing, once; it may take half a minute", folder.display()));
    loop {
        import(godot, folder, report)?;
        let count = waiting.len();
        waiting = files_to_import(folder);
        // With translations in a project, the engine needs two runs (godotengine/godot#97952).
        if waiting.is_empty() || waiting.len() >= count {
            break;
        }
    }
    let lines: String = waiting.iter().map(|path| format!("{}\n", path.display())).collect();
    // Where it can't be written, the project is imported again.
    let _ = fs::create_dir_all(folder.join(".godot")).and_then(|()| fs::write(folder.join(LEFT), lines));
    if fs::read(&project).map_err(failed)? != before {
        let kept = keep(&project, &before).map_err(failed)?;
        let (kept, project) = (kept.display(), project.display());
        report.note(format_args!(
            "the import has changed {project}; the former file is {kept}: to undo it, mv {kept} {project}"
        ));
    }
    Ok(())
}

/// Whether one of these files was not left by the last import, or is younger.
fn has_changed_since_import(folder: &Path, files: &[PathBuf]) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|found| found.modified());
    let list = folder.join(LEFT);
    let left = fs::read_to_string(&list).unwrap_or_default();
    let left: Vec<&str> = left.lines().collect();
    files.iter().any(|path| {
        let is_older = modified(path).is_ok_and(|changed| modified(&list).is_ok_and(|imported| changed < imported));
        !is_older || !left.contains(&path.to_string_lossy().as_ref())
    })
}

fn files_to_import(folder: &Path) -> Vec<PathBuf> {
    let known = fs::read_to_string(folder.join(".godot/global_script_class_cache.cfg")).unwrap_or_default();
    let waits = |path: &Path| {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        match extension {
            "gd" => {
                let name = fs::read_to_string(path).ok().and_then(|script| class_name(&script));
                name.is_some_and(|name| !known.contains(&format!("&\"{name}\"")))
            }
            // Beside its asset, which may be gone.
            "import" => {
                path.with_extension("").exists()
                    && fs::read_to_string(path).is_ok_and(|text| !imported_file_exists(folder, &text))
            }
            _ => {
                ASSETS.contains(&extension.to_lowercase().as_str())
                    && !path.with_extension(format!("{extension}.import")).exists()
            }
        }
    };
    let mut found = Vec::new();
    files_below(folder, DEEPEST, &mut found);
    found.retain(|path| waits(path));
    found
}

/// What a game can't load before it was imported.
const ASSETS: &[&str] = &[
    "png", "jpg", "jpeg", "webp", "svg", "bmp", "tga", "exr", "hdr", "dds", "ktx", "wav", "ogg", "mp3", "ttf", "otf",
    "woff", "woff2", "glb", "gltf", "obj", "fbx", "dae", "csv",
];

/// Whether what an `.import` file says was made is there.
fn imported_file_exists(folder: &Path, text: &str) -> bool {
    let made = text.lines().find_map(|line| line.strip_prefix("path=\"res://")?.strip_suffix('"'));
    made.is_none_or(|made| folder.join(made).exists())
}

/// The files that the engine looks at.
fn files_below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if depth == 0 || folder.join(".gdignore").exists() {
        return;
    }
    // What can't be read, the engine can't either, and says so.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        match path.is_dir() {
            true => files_below(&path, depth - 1, found),
            false => found.push(path),
        }
    }
}

fn import(godot: &OsStr, folder: &Path, report: &Report) -> Result<(), Failure> {
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

/// Writes what the project file said to a new file beside it.
fn keep(project: &Path, before: &[u8]) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let end = if number == 1 { String::new() } else { format!("-{number}") };
        let kept = project.with_extension(format!("godot.before-import{end}"));
        match fs::File::create_new(&kept).and_then(|mut file| io::Write::write_all(&mut file, before)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            result => return result.map(|()| kept),
        }
    }
}
