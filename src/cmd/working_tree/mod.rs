//! Whether files of a folder make programs that read run other code, for the policy, which reads no files itself.
//!
//! A repository that was unpacked, or a folder within one that was cloned, may have a configuration that its reader has
//! never seen. What cannot be read counts as code. A configuration of the user (in the home folder) does not count: it
//! is theirs.

mod azure;
mod browser;
mod compose;
mod git;
mod node;
mod rust;

use pipewright_policy::working_folder::ProgramFamily;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Whether no file in a folder, or above it, makes these programs run other code.
pub fn runs_nothing(runner: ProgramFamily, folder: &Path) -> bool {
    match runner {
        ProgramFamily::Any => names_no_program(folder),
        ProgramFamily::Azure => azure::runs_nothing(folder),
        ProgramFamily::Browser => browser::runs_nothing(folder),
        ProgramFamily::Compose => compose::fetches_nothing(folder),
        ProgramFamily::Git => git::runs_nothing(folder),
        ProgramFamily::Rust => rust::runs_nothing(folder),
        ProgramFamily::Node => node::runs_nothing(folder),
    }
}

/// Where an absolute path leads when its links are followed, as far as it exists. `None` if that cannot be told, as for
/// a link to nowhere, through which a file can be created.
pub fn resolve(path: &Path) -> Option<PathBuf> {
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = real.pop(),
            part => {
                real.push(part);
                match real.symlink_metadata() {
                    Ok(found) if found.is_symlink() => real = real.canonicalize().ok()?,
                    Err(error) if !is_absent(&error) => return None,
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }
    Some(real)
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A file's text, or `None` if there is no such file.
fn text(path: &Path) -> io::Result<Option<String>> {
    let metadata = match path.metadata() {
        Err(error) if is_absent(&error) => return Ok(None),
        metadata => metadata?,
    };
    // A FIFO would stop the reader.
    if !metadata.is_file() || metadata.len() > MAX_FILE {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = String::new();
    std::fs::File::open(path)?.take(MAX_FILE).read_to_string(&mut text)?;
    Ok(Some(text))
}

/// Whether each of these files in a folder or above it is absent or harmless. The user's own do not count.
fn all_above(folder: &Path, names: &[&str], of_user: &[PathBuf], is_harmless: impl Fn(&str) -> bool) -> bool {
    // The folder as the system sees it: what is above a link is above its target.
    let real = folder.canonicalize();
    let folders = [Some(folder), real.as_deref().ok()].into_iter().flatten().flat_map(Path::ancestors);
    let files = folders.flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    files
        .filter(|file| !of_user.contains(file))
        .all(|file| text(&file).is_ok_and(|text| text.is_none_or(|text| is_harmless(&text))))
}

/// Files in a folder of the user, which a variable names, or else is in their home.
fn of_user(variable: &str, in_home: &str, files: &[&str]) -> Vec<PathBuf> {
    let named = std::env::var_os(variable).filter(|named| !named.is_empty()).map(PathBuf::from);
    let folder = named.or_else(|| Some(home()?.join(in_home)));
    folder.iter().flat_map(|folder| files.iter().map(|file| folder.join(file))).collect()
}

/// The user's home.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// Whether no file names a folder in place of the version of a program. Managers of versions (asdf, mise) run what is
/// in it.
fn names_no_program(folder: &Path) -> bool {
    const VERSIONS: &[&str] = &[
        ".tool-versions",
        ".mise.toml",
        ".mise.local.toml",
        "mise.toml",
        "mise.local.toml",
        ".config/mise.toml",
        ".config/mise/config.toml",
        ".mise/config.toml",
        "mise/config.toml",
    ];
    const VERSION_FILES: &[&str] =
        &[".go-version", ".java-version", ".node-version", ".python-version", ".ruby-version"];
    // A template may run a command.
    let is_version = |text: &str| !text.contains("path:") && !text.contains("{{");
    all_above(folder, VERSIONS, &of_user("XDG_CONFIG_HOME", ".config", &["mise.toml", "mise/config.toml"]), is_version)
        && all_above(folder, VERSION_FILES, &[], |text| is_version(text) && !text.contains(".."))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
