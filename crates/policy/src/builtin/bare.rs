//! Names of a single word that act on a page if it is a browser's tool, and on anything else otherwise: `reload`, `forward`.
//! The name tells nothing more; the keys of the arguments do.

use super::names::Class;
use super::parts::own;
use super::plain_key;
use crate::lists::bare::{BROWSERS, KEYS, NAMES};
use pipewright_record::Fields;
use pipewright_record::identifier::words;

/// The class of such a tool, given the class that it has in a browser.
pub fn class_with(class: Class, tool: &str, tool_words: &[String], arguments: &Fields<'_>) -> Class {
    let is_of_page = matches!(class, Class::Observe | Class::Navigate);
    if !is_of_page || arguments.iter().all(|(key, _)| KEYS.contains(&&*plain_key(key))) {
        return class;
    }
    let own = words(own(tool));
    let is_bare = NAMES.contains(&own.join("_").as_str());
    let names_browser = tool_words.iter().any(|word| BROWSERS.contains(&word.as_str()));
    if is_bare && !names_browser { Class::Unknown } else { class }
}
