//! Calls that name files below one folder, and nothing else.
//!
//! An agent may name a file in many ways: through `..`, a link, another case, or an argument of which nothing is known.
//! So each argument must be known here, and each path must be plain, in its text as well as after its links.

use super::facts::Facts;
use super::{condition, effective_rows};
use crate::lists::rules::{PATH_KEYS, TEXT_KEYS};
use pipewright_lines::plain_text;
use std::path::{Component, Path, PathBuf};

/// Whether each path of a call is that of a file below the folder. No name below it is hidden: such files tell programs
/// what to run, or hold secrets.
pub fn holds(folder: &str, facts: &Facts<'_>) -> bool {
    let Some(paths) = paths(facts) else { return false };
    !paths.is_empty() && paths.iter().all(|path| is_below(folder, path, facts))
}

/// The innermost folder of all files that a call names, if a rule may have it: it is not the user's home or above it,
/// nor a folder of the whole system, nor hidden.
pub fn offered(facts: &Facts<'_>) -> Option<String> {
    let files = paths(facts)?;
    let mut folders = files.iter().map(|file| absolute(file, facts)?.parent().map(Path::to_owned));
    let first = folders.next()??;
    let common = folders.try_fold(first, |common, folder| {
        let folder = folder?;
        common.ancestors().find(|above| folder.starts_with(above)).map(Path::to_owned)
    })?;
    let home = facts.place.and_then(|place| place.home.as_deref());
    let is_wide = common.components().count() < 3 || home.is_some_and(|home| home.starts_with(&common));
    // Of a hidden name or `..`.
    let is_odd = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
    let folder = common.to_str().filter(|_| !is_wide && !common.components().any(is_odd))?;
    holds(folder, facts).then(|| folder.to_owned())
}

/// The paths that a call names; `None` if an argument may be anything.
fn paths(facts: &Facts<'_>) -> Option<Vec<String>> {
    let mut paths = Vec::new();
    for row in effective_rows(facts.arguments).filter(|row| row.value.starts_with('"')) {
        let key = row.path.rsplit('.').next().unwrap_or_default();
        let key = key.split_once('[').map_or(key, |(key, _)| key).replace(['_', '-'], "").to_lowercase();
        match key {
            key if PATH_KEYS.contains(&&*key) => paths.push(plain_text(&row.value).into_owned()),
            key if TEXT_KEYS.contains(&&*key) => {}
            _ => return None,
        }
    }
    Some(paths)
}

fn absolute(path: &str, facts: &Facts<'_>) -> Option<PathBuf> {
    let path = Path::new(path);
    match path.is_absolute() {
        true => Some(path.to_owned()),
        false => Some(facts.place?.folder.as_ref()?.join(path)),
    }
}

fn is_below(folder: &str, path: &str, facts: &Facts<'_>) -> bool {
    let resolve = facts.place.and_then(|place| place.resolve);
    let (Some(resolve), Some(path)) = (resolve, absolute(path, facts)) else { return false };
    let Some(text) = path.to_str() else { return false };
    let is_in_text = condition::below(text, folder).is_some_and(|names| names.iter().all(|name| is_plain(name)));
    let real = resolve(&path).zip(resolve(Path::new(folder)));
    let real = real.as_ref().and_then(|(path, folder)| path.strip_prefix(folder).ok()?.to_str());
    is_in_text && real.is_some_and(|below| !below.is_empty() && below.split('/').all(is_plain))
}

/// Whether a name is that of an ordinary file on every system: not hidden, not shortened (`GIT~1`), without signs that
/// separate names elsewhere, or that are left out when names are compared.
fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && !name.ends_with(['.', ' '])
        && name.chars().all(|one| one.is_alphanumeric() || "_-., +@=()[]#!&'".contains(one))
}
