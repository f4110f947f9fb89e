//! Has the engine import a project's assets and classes before the project is played, if that is needed.

use super::project::FILE;
use pipewright_games::godot::{EngineOutput, class_name};
use pipewright_io::child;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_sys::process::describe;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The deepest level of folders that is searched, which also ends cycles of symbolic links.
const MAX_DEPTH: usize = 16;
/// Lists the files that an import left unimported, one path per line. They cause no further import until they change.
const NOT_IMPORTED: &str = ".godot/agent_bridge_not_imported.txt";

/// Runs the engine's import if the project has a script with a class_name that the engine does not know yet, an
/// extension or a uid that it does not know, or an asset that is not imported.
///
/// # Errors
/// [`Status::NotStarted`] if the import fails.
pub fn import_where_needed(godot: &OsStr, folder: &Path, report: &Report) -> Result<(), Failure> {
    let mut waiting = files_to_import(folder);
    if !has_changed_since_import(folder, &waiting) {
        return Ok(());
    }
    let project = folder.join(FILE);
    let failed = |error: io::Error| Failure::new(Status::NotStarted, format_args!("{}: {error}", project.display()));
    let before = fs::read(&project).map_err(failed)?;
    report.note(format_args!("{}: importing the project once; this may take half a minute", folder.display()));
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
    // If the list cannot be written, the next run imports again.
    let _ = fs::create_dir_all(folder.join(".godot")).and_then(|()| fs::write(folder.join(NOT_IMPORTED), lines));
    if fs::read(&project).map_err(failed)? != before {
        let kept = keep(&project, &before).map_err(failed)?;
        let (kept, project) = (kept.display(), project.display());
        report.note(format_args!(
            "the import has changed {project}; the previous file is {kept}; to undo: mv {kept} {project}"
        ));
    }
    Ok(())
}

/// Whether one of these files is not in the list of the last import, or is newer than the list.
fn has_changed_since_import(folder: &Path, files: &[PathBuf]) -> bool {
    let modified = |path: &Path| fs::metadata(path).and_then(|found| found.modified());
    let list = folder.join(NOT_IMPORTED);
    let left = fs::read_to_string(&list).unwrap_or_default();
    let left: Vec<&str> = left.lines().collect();
    files.iter().any(|path| {
        let is_older = modified(path).is_ok_and(|changed| modified(&list).is_ok_and(|imported| changed < imported));
        !is_older || !left.contains(&path.to_string_lossy().as_ref())
    })
}

/// The script of a project that defines a class of this name.
pub fn script_of_class(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut files = Vec::new();
    files_below(folder, MAX_DEPTH, &mut files);
    let is_script = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "gd");
    files.into_iter().filter(is_script).find(|path| class_name(&text_of(path)).is_some_and(|class| class == name))
}

/// A file's text. The engine cannot read unreadable files either, and reports them itself.
fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn files_to_import(folder: &Path) -> Vec<PathBuf> {
    let known = text_of(&folder.join(".godot/global_script_class_cache.cfg"));
    let extensions = text_of(&folder.join(".godot/extension_list.cfg"));
    let has_uids = folder.join(".godot/uid_cache.bin").exists();
    // A script may contain the prefix alone.
    let is_uid = |rest: &str| rest.starts_with(|first: char| first.is_ascii_alphanumeric());
    let names_unknown_uid = |text: &str| !has_uids && text.split("uid://").skip(1).any(is_uid);
    let waits = |path: &Path| {
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        match extension {
            "gd" => {
                let script = text_of(path);
                let is_unknown = |name: String| !known.contains(&format!("&\"{name}\""));
                class_name(&script).is_some_and(is_unknown) || names_unknown_uid(&script)
            }
            // The main scene and the autoloads may have only a uid.
            "godot" => names_unknown_uid(&text_of(path)),
            "gdextension" => {
                let inside = path.strip_prefix(folder).unwrap_or(path).to_string_lossy();
                !extensions.lines().any(|line| line.strip_prefix("res://") == Some(&inside))
            }
            // The file lies beside its asset, which may have been deleted.
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
    files_below(folder, MAX_DEPTH, &mut found);
    found.retain(|path| waits(path));
    found
}

/// Extensions of assets that a game cannot load before they are imported.
const ASSETS: &[&str] = &[
    "png", "jpg", "jpeg", "webp", "svg", "bmp", "tga", "exr", "hdr", "dds", "ktx", "wav", "ogg", "mp3", "ttf", "otf",
    "woff", "woff2", "glb", "gltf", "obj", "fbx", "dae", "csv",
];

/// Whether the imported file that an `.import` file names exists.
fn imported_file_exists(folder: &Path, text: &str) -> bool {
    let made = text.lines().find_map(|line| line.strip_prefix("path=\"res://")?.strip_suffix('"'));
    made.is_none_or(|made| folder.join(made).exists())
}

/// Collects the files that the engine scans.
fn files_below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if depth == 0 || folder.join(".gdignore").exists() {
        return;
    }
    // The engine cannot read unreadable folders either, and reports them itself.
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
    let mut tail = EngineOutput::default();
    let status = child::run(&words.map(OsString::from), |line| _ = tail.take(line))?;
    if status.success() {
        return Ok(());
    }
    tail.text().lines().for_each(|line| report.say(format_args!("  | {line}")));
    let how = describe(status);
    Err(Failure::new(Status::NotStarted, format_args!("{}: the import failed: {how}", folder.display())))
}

/// Saves the previous text of the project file in a new file beside it.
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
