//! Arguments with the name of a file that is written to.

use super::plain_key;
use crate::lists::files::{OUTPUT_KEYS, OUTPUTS, PLACES, SHOWING_PAGES};
use pipewright_record::identifier::words;

/// Keys for files that are written to, if the value is a path.
const OUTPUT_PATH_KEYS: &[&str] = &["output", "out", "dest", "destination", "dst", "export", "save"];
/// Keys for files that are written to by tools that show a page.
const FILE_KEYS: &[&str] = &["filename", "file", "filepath", "path"];
/// Extensions of pictures.
const PICTURES: &[&str] = &["bmp", "gif", "jpeg", "jpg", "pdf", "png", "webp"];

/// A longer key has no meaning that is known here.
const MAX_KEY: usize = 50;

/// Whether a key may be for a file.
pub fn is_file(key: &str) -> bool {
    [OUTPUT_PATH_KEYS, FILE_KEYS].iter().any(|keys| keys.contains(&&*plain_key(key))) || is_output(key)
}

/// Whether a tool, by the words of its name, writes to the file in this argument.
pub fn is_written(tool: &[String], key: &str, value: &str) -> bool {
    let has = |list: &[&str]| tool.iter().any(|word| list.contains(&word.as_str()));
    let plain = &*plain_key(key);
    is_output(key)
        || OUTPUT_PATH_KEYS.contains(&plain) && is_path(value)
        || FILE_KEYS.contains(&plain)
            && has(SHOWING_PAGES)
            && !(has(&["screenshot", "screenshots"]) && is_picture(value))
}

/// Whether a key is for a file that is always written to: `outputDirPath`, `pdf_save_to`.
fn is_output(key: &str) -> bool {
    if key.len() > MAX_KEY {
        return false;
    }
    let plain = plain_key(key);
    OUTPUT_KEYS.contains(&&*plain)
        || ends_with_output(&plain)
        || *plain != *key && {
            let words = words(key);
            (1..words.len()).any(|at| ends_with_output(&words[at..].concat()))
        }
}

fn ends_with_output(text: &str) -> bool {
    OUTPUTS.iter().any(|output| text.strip_prefix(output).is_some_and(|rest| !rest.is_empty() && are_places(rest)))
}

/// Whether a text has nothing but words for a file or a folder.
fn are_places(text: &str) -> bool {
    text.is_empty() || PLACES.iter().any(|place| text.strip_prefix(place).is_some_and(are_places))
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
