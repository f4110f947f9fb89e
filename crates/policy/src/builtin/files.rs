//! Arguments with the name of a file that is written to.

use crate::lists::files::{OUTPUT_KEYS, SHOWING_PAGES};

/// Keys for files that are written to, if the value is a path.
const OUTPUT_PATH_KEYS: &[&str] = &["output", "out", "dest", "destination", "dst", "export", "save"];
/// Keys for files that are written to by tools that show a page.
const FILE_KEYS: &[&str] = &["filename", "file", "filepath", "path"];
/// Extensions of pictures.
const PICTURES: &[&str] = &["bmp", "gif", "jpeg", "jpg", "pdf", "png", "webp"];

/// Whether a key, without punctuation, may be for a file.
pub fn is_file(key: &str) -> bool {
    [OUTPUT_KEYS, OUTPUT_PATH_KEYS, FILE_KEYS].iter().any(|keys| keys.contains(&key))
}

/// Whether a tool, by the words of its name, writes to the file in this argument.
pub fn is_written(tool: &[String], key: &str, value: &str) -> bool {
    let has = |list: &[&str]| tool.iter().any(|word| list.contains(&word.as_str()));
    OUTPUT_KEYS.contains(&key)
        || OUTPUT_PATH_KEYS.contains(&key) && is_path(value)
        || FILE_KEYS.contains(&key) && has(SHOWING_PAGES) && !(has(&["screenshot", "screenshots"]) && is_picture(value))
}

fn is_path(text: &str) -> bool {
    let begins = ["/", "./", "../", "~", "\\"].into_iter().any(|start| text.starts_with(start));
    let has_ending = ending(text).is_some_and(|ending| {
        (1..=5).contains(&ending.len())
            && ending.chars().all(|one| one.is_ascii_alphanumeric())
            && ending.contains(|one: char| one.is_ascii_alphabetic())
    });
    begins || has_ending && !text.contains(' ') || text.as_bytes().get(1..3) == Some(b":\\")
}

/// Whether a path is a picture below the folder that the tool writes to.
fn is_picture(path: &str) -> bool {
    let is_below = !path.starts_with(['/', '~', '.']) && !path.contains("..") && !path.contains(['\\', ':', '%', '$']);
    is_below
        && !path.contains(char::is_control)
        && ending(path).is_some_and(|ending| PICTURES.contains(&ending.to_ascii_lowercase().as_str()))
}

fn ending(path: &str) -> Option<&str> {
    path.rsplit_once('.').map(|(_, ending)| ending)
}
